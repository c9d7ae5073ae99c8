package generate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/gen/controllertools"
	"github.com/operon-dev/operon/internal/gen/incremental/depcache"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/genall"
	"sigs.k8s.io/controller-tools/pkg/loader"
)

// crdGenerator writes the same files as [crd.Generator], and uses the same parser. It
// differs in two ways. The annotation has the version of controller-tools; the library
// would write the version of this program. Package crdyaml encodes the CRDs.
type crdGenerator struct {
	crd.Generator
	deps   *depcache.World
	known  *Kinds                // may be nil
	groups map[string]string     // gets the API groups of the roots, by path
	report func(done, total int) // reports the number of finished kinds
}

// Generate implements genall.Generator.
func (g crdGenerator) Generate(ctx *genall.GenerationContext) error {
	if slices.ContainsFunc(g.CRDVersions, func(v string) bool { return v != apiextensionsv1.SchemeGroupVersion.Version }) {
		return g.Generator.Generate(ctx) // it reports the unsupported version
	}
	parser := &crd.Parser{
		Collector:                  ctx.Collector,
		Checker:                    ctx.Checker,
		IgnoreUnexportedFields:     IsTrue(g.IgnoreUnexportedFields),
		AllowDangerousTypes:        IsTrue(g.AllowDangerousTypes),
		GenerateEmbeddedObjectMeta: IsTrue(g.GenerateEmbeddedObjectMeta),
	}
	crd.AddKnownTypes(parser)
	for _, root := range ctx.Roots {
		parser.NeedPackage(root)
	}
	defer func() { g.known.finish(parser, ctx.Roots) }()
	g.group(parser, ctx.Roots)
	metav1 := crd.FindMetav1(ctx.Roots)
	if metav1 == nil {
		return nil // all kinds use its types
	}
	kinds := crd.FindKubeKinds(parser, metav1)
	if len(kinds) == 0 {
		return nil
	}
	g.deps.Override(parser, kinds)
	defer g.deps.Collect(parser)
	flat := g.flattener(parser)
	out, err := g.printer(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = out.finish() }() // even if the library panics
	for i, kind := range kinds {
		g.report(i, len(kinds))
		key, known := g.known.upToDate(parser, kind)
		if known {
			continue
		}
		c := flat.crd(kind)
		if !IsTrue(g.OmitToolVersion) {
			if c.Annotations == nil {
				c.Annotations = map[string]string{}
			}
			c.Annotations[controllertools.Annotation] = controllertools.Version()
		}
		crd.FixTopLevelMetadata(c)
		if err := out.add(printed{kind, key, c}); err != nil {
			return err
		}
	}
	return out.finish()
}

func (g crdGenerator) group(p *crd.Parser, roots []*loader.Package) {
	for _, root := range roots {
		if gv, ok := p.GroupVersions[root]; ok {
			g.groups[root.PkgPath] = gv.Group
		}
	}
}

func (g crdGenerator) header(ctx *genall.GenerationContext) (string, error) {
	if g.HeaderFile == "" {
		return "", nil
	}
	header, err := ctx.ReadFile(g.HeaderFile)
	return strings.ReplaceAll(string(header), " YEAR", " "+g.Year), err
}

// fileNames returns a file name for each CRD version. The first has no suffix.
func (g crdGenerator) fileNames(c apiextensionsv1.CustomResourceDefinition) []string {
	stem := fmt.Sprintf("%s_%s", c.Spec.Group, c.Spec.Names.Plural)
	names := []string{stem + ".yaml"}
	for _, v := range g.CRDVersions[min(1, len(g.CRDVersions)):] {
		names = append(names, stem+"."+v+".yaml")
	}
	return names
}

// transforms returns the changes that the library makes when it writes a CRD.
func (g crdGenerator) transforms() []*genall.WriteYAMLOptions {
	options := []*genall.WriteYAMLOptions{
		genall.WithTransform(func(c map[string]any) error { delete(c, "status"); return nil }),
		genall.WithTransform(genall.TransformRemoveCreationTimestamp),
	}
	if preserve := g.DeprecatedV1beta1CompatibilityPreserveUnknownFields; preserve != nil {
		options = append(options, genall.WithTransform(func(c map[string]any) error {
			if spec, ok := c["spec"].(map[string]any); ok {
				spec["preserveUnknownFields"] = *preserve
			}
			return nil
		}))
	}
	return options
}

// IsTrue reports whether an optional boolean is set to true.
func IsTrue(b *bool) bool { return b != nil && *b }
