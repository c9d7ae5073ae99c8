package generate

import (
	"fmt"
	"strings"

	"github.com/operon-dev/operon/internal/gen/controllertools"
	"github.com/operon-dev/operon/internal/gen/generate/flatten"
	"github.com/operon-dev/operon/internal/gen/generate/schemas"
	"github.com/operon-dev/operon/internal/gen/incremental/depcache"
	"github.com/operon-dev/operon/internal/gen/request"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-tools/pkg/genall"
	"sigs.k8s.io/controller-tools/pkg/loader"
)

// crdGenerator is the generator crd. It can skip kinds whose CRDs are known.
type crdGenerator struct {
	request.CRD
	deps   *depcache.World
	known  *Kinds                // may be nil
	groups map[string]string     // gets the API groups of the roots, by path
	report func(done, total int) // reports the number of finished kinds
}

// Generate implements genall.Generator.
func (g crdGenerator) Generate(ctx *genall.GenerationContext) error {
	parser := schemas.NewParser(ctx.Collector, ctx.Checker, g.SchemaOptions())
	for _, root := range ctx.Roots {
		parser.Read(root)
	}
	flat := &flatten.Flattener{Parser: parser, MaxDescLen: g.MaxDescLen}
	defer func() { g.known.finish(parser, ctx.Roots, flat.Cycle) }()
	g.group(parser, ctx.Roots)
	kinds := parser.Kinds(ctx.Roots)
	if len(kinds) == 0 {
		return nil
	}
	g.deps.Override(parser, kinds)
	defer g.deps.Collect(parser)
	out, err := g.printer(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = out.finish() }() // even after a panic
	for i, kind := range kinds {
		g.report(i, len(kinds))
		key, known := g.known.upToDate(parser, kind)
		if known {
			continue
		}
		c := define(kind, flat)
		if err := unsupported(g.CRDVersions); err != nil {
			return err
		}
		if !request.IsTrue(g.OmitToolVersion) {
			if c.Annotations == nil {
				c.Annotations = map[string]string{}
			}
			c.Annotations[controllertools.Annotation] = controllertools.Version()
		}
		if err := out.add(printed{kind, key, c}); err != nil {
			return err
		}
	}
	return out.finish()
}

func (g crdGenerator) group(p *schemas.Parser, roots []*loader.Package) {
	for _, root := range roots {
		if gv, ok := p.Groups[root]; ok {
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
