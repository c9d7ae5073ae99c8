package generate

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/gen/controllertools"
	"github.com/operon-dev/operon/internal/gen/load"
	"github.com/operon-dev/operon/internal/gen/overlay"
	"github.com/operon-dev/operon/internal/gen/record"
	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/scaffold"
	"golang.org/x/sync/errgroup"
	"golang.org/x/tools/go/packages"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/genall"
	"sigs.k8s.io/controller-tools/pkg/loader"
)

// crdGenerator writes the files of [crd.Generator], with the same parser, in three different ways: it gets the
// schemas of dependencies from the cache, skips kinds whose CRDs are known, and encodes several CRDs at once. It also
// writes the version of controller-tools, where the library would write the version of this program.
type crdGenerator struct {
	crd.Generator
	set    *load.Set
	known  *Kinds                // may be nil
	groups map[string]string     // gets the API groups of the roots, by path
	report func(done, total int) // reports the number of finished kinds
	warn   func(scaffold.Warning)
	src    *overlay.Project
}

// Generate implements genall.Generator.
func (g crdGenerator) Generate(ctx *genall.GenerationContext) error {
	parser := &crd.Parser{
		Collector: ctx.Collector, Checker: ctx.Checker,
		IgnoreUnexportedFields:     request.IsTrue(g.IgnoreUnexportedFields),
		AllowDangerousTypes:        request.IsTrue(g.AllowDangerousTypes),
		GenerateEmbeddedObjectMeta: request.IsTrue(g.GenerateEmbeddedObjectMeta),
	}
	crd.AddKnownTypes(parser)
	g.read(parser, ctx.Roots)
	defer func() { g.known.finish(parser, ctx.Roots) }()
	defer func() { g.moveErrors(parser) }()
	meta := crd.FindMetav1(ctx.Roots)
	if meta == nil {
		return nil // kinds embed its types
	}
	kinds := crd.FindKubeKinds(parser, meta)
	if len(kinds) == 0 {
		return nil
	}
	g.set.Deps.Override(parser, kinds)
	defer g.set.Deps.Collect(parser)
	header, err := g.header(ctx)
	if err != nil {
		return err
	}
	var printers errgroup.Group
	refused := make([][]record.Refusal, len(kinds))
	var warn []func()
	printers.SetLimit(printing)
	defer func() { _ = printers.Wait() }() // also if the library panics
	for i, kind := range kinds {
		g.report(i, len(kinds))
		versions := versionsOf(parser, kind) // before their schemas lead to other packages of the group
		key, known := g.known.upToDate(parser, kind, versions)
		warn = append(warn, func() { g.warnRefused(parser, kind, versions, refused[i]) })
		if known {
			refused[i] = *g.known.refusals(kind)
			continue
		}
		c := define(parser, kind, versions, g.MaxDescLen)
		if !request.IsTrue(g.OmitToolVersion) {
			metav1.SetMetaDataAnnotation(&c.ObjectMeta, controllertools.Annotation, controllertools.Version())
		}
		files, err := g.open(ctx, c)
		if err != nil {
			return err
		}
		printers.Go(func() error { return g.print(c, header, files) })
		printers.Go(func() error {
			refused[i] = refusals(c)
			return nil
		})
		g.known.made(kind, key, files)
	}
	if err := printers.Wait(); err != nil {
		return err
	}
	for _, f := range warn {
		f()
	}
	return nil
}

// read makes the parser read the roots, and collects their API groups.
func (g crdGenerator) read(p *crd.Parser, roots []*loader.Package) {
	for _, root := range roots {
		p.NeedPackage(root)
		if gv, ok := p.GroupVersions[root]; ok {
			g.groups[root.PkgPath] = gv.Group
		}
	}
}

// printing is the number of CRDs that are encoded at once. They are large.
const printing = 4

// versions returns the versions of the API of CRDs to write.
func (g crdGenerator) versions() []string {
	if len(g.CRDVersions) == 0 {
		return []string{apiextensionsv1.SchemeGroupVersion.Version}
	}
	return g.CRDVersions
}

// open opens the files of a CRD: one for each version of the API of CRDs. The first has no suffix.
func (g crdGenerator) open(ctx *genall.GenerationContext, c apiextensionsv1.CustomResourceDefinition) (opened, error) {
	var files opened
	stem := fmt.Sprintf("%s_%s", c.Spec.Group, c.Spec.Names.Plural)
	for i, version := range g.versions() {
		name := stem + ".yaml"
		if i > 0 {
			name = stem + "." + version + ".yaml"
		}
		f, err := ctx.Open(nil, name)
		if err != nil {
			return nil, err
		}
		files = append(files, f.(*memoryFile))
	}
	return files, nil
}

// print encodes a CRD.
func (g crdGenerator) print(c apiextensionsv1.CustomResourceDefinition, header string, files opened) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
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
	for i, version := range g.versions() {
		converted, err := crd.AsVersion(c, schema.GroupVersion{Group: apiextensionsv1.GroupName, Version: version})
		if err != nil {
			return err
		}
		to := genall.GenerationContext{OutputRule: files[i : i+1]}
		if err := to.WriteYAML("", header, []any{converted}, options...); err != nil {
			return err
		}
	}
	return nil
}

// opened is an output rule with open files. They are open before CRDs are encoded, so that their order does not depend
// on which of several CRDs is ready first.
type opened []*memoryFile

// Open implements genall.OutputRule. It returns the first file.
func (o opened) Open(*loader.Package, string) (io.WriteCloser, error) { return o[0], nil }

// header returns the text of the header file.
func (g crdGenerator) header(ctx *genall.GenerationContext) (string, error) {
	if g.HeaderFile == "" {
		return "", nil
	}
	header, err := ctx.ReadFile(g.HeaderFile)
	return strings.ReplaceAll(string(header), " YEAR", " "+g.Year), err
}

// define returns the CRD of a kind with versions. The library processes them in map order, and panics for one whose
// package does not type-check. Here each run has the same order, and checks all versions, so that it reports the same
// errors.
func define(p *crd.Parser, kind schema.GroupKind, versions []crd.TypeIdent, maxDescLen *int) apiextensionsv1.CustomResourceDefinition {
	var crash any
	for _, id := range versions {
		if c := recovered(func() { p.NeedFlattenedSchemaFor(id) }); crash == nil {
			crash = c
		}
	}
	if crash != nil {
		panic(crash)
	}
	found := maps.Clone(p.GroupVersions)
	maps.DeleteFunc(p.GroupVersions, func(pkg *loader.Package, gv schema.GroupVersion) bool {
		return gv.Group == kind.Group && !slices.Contains(versions, crd.TypeIdent{Package: pkg, Name: kind.Kind})
	})
	p.NeedCRDFor(kind, maxDescLen)
	p.GroupVersions = found
	attribute(p, kind, versions)
	c := p.CustomResourceDefinitions[kind]
	crd.FixTopLevelMetadata(c)
	return c
}

// recovered calls f and returns the value that it panics with, or nil.
func recovered(f func()) (crash any) {
	defer func() { crash = recover() }()
	f()
	return nil
}

// attribute moves errors about all versions of a kind to the first package that has a version. The library adds them
// to an arbitrary package of the group, and prints the versions as pointers.
func attribute(p *crd.Parser, kind schema.GroupKind, versions []crd.TypeIdent) {
	about := "CRD for " + kind.String() + " "
	var errs []packages.Error
	for pkg, gv := range p.GroupVersions {
		if gv.Group != kind.Group {
			continue
		}
		pkg.Errors = slices.DeleteFunc(pkg.Errors, func(e packages.Error) bool {
			is := e.Pos == pkg.ID+":-" && strings.HasPrefix(e.Msg, about)
			if is {
				errs = append(errs, e)
			}
			return is
		})
	}
	var names []string
	for _, id := range versions {
		names = append(names, p.GroupVersions[id.Package].Version)
	}
	for _, e := range errs {
		e.Pos = versions[0].Package.ID + ":-"
		if strings.Contains(e.Msg, "does not serve any version") {
			e.Msg = fmt.Sprintf("%swith version(s) %v does not serve any version", about, names)
		}
		versions[0].Package.Errors = append(versions[0].Package.Errors, e)
	}
}

// versionsOf returns the types of all versions of a kind, sorted.
func versionsOf(p *crd.Parser, kind schema.GroupKind) []crd.TypeIdent {
	var versions []crd.TypeIdent
	for pkg, gv := range p.GroupVersions {
		if id := (crd.TypeIdent{Package: pkg, Name: kind.Kind}); gv.Group == kind.Group && p.Types[id] != nil {
			versions = append(versions, id)
		}
	}
	slices.SortFunc(versions, compareTypes)
	return versions
}

func compareTypes(a, b crd.TypeIdent) int {
	return cmp.Or(cmp.Compare(a.Package.ID, b.Package.ID), cmp.Compare(a.Name, b.Name))
}
