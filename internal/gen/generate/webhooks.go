package generate

import (
	"fmt"
	"go/ast"
	"go/token"
	"reflect"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/gen/generate/marker"
	"sigs.k8s.io/controller-tools/pkg/genall"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
	"sigs.k8s.io/controller-tools/pkg/webhook"
)

// webhookGenerator is the generator webhook. The errors of controller-gen's name no marker: this one reports them at
// the markers that it does not accept.
type webhookGenerator struct{ webhook.Generator }

// Generate implements genall.Generator.
func (g webhookGenerator) Generate(ctx *genall.GenerationContext) error {
	err := g.Generator.Generate(ctx)
	if err == nil {
		return nil
	}
	found := false
	for _, root := range ctx.Roots {
		values, _ := markers.PackageMarkers(ctx.Collector, root) // the generator has reported the error
		if reportWebhooks(root, ctx.Collector.Registry, values) {
			found = true
		}
	}
	if found {
		return nil
	}
	return err
}

// reportWebhooks generates configurations for the first marker of a package, the first two, and so on, and reports
// the error at the last one. It leaves those with an error out. values are the values of the markers with an effect.
func reportWebhooks(root *loader.Package, reg *markers.Registry, values markers.MarkerValues) (found bool) {
	var texts []string
	for _, c := range comments(root.Syntax) {
		text := strings.TrimSpace(strings.TrimPrefix(c.Text, "//"))
		if !strings.HasPrefix(text, "+") {
			continue // the registry panics at an empty comment
		}
		def := reg.Lookup(text, markers.DescribesPackage)
		if def != webhook.ConfigDefinition && def != webhook.WebhookConfigDefinition {
			continue
		}
		value, err := def.Parse(text)
		if err != nil || !slices.ContainsFunc(values[def.Name], func(v any) bool { return reflect.DeepEqual(v, value) }) {
			continue
		}
		if err := tryWebhooks(reg, append(slices.Clone(texts), text)); err != nil {
			root.AddError(loader.ErrFromNode(withWords(err, value), c))
			found = true
			continue
		}
		texts = append(texts, text)
	}
	return found
}

// withWords returns the error for a marker with an unknown word, and with the known words. The library reports such a
// word for sideEffects as a missing one.
func withWords(err error, marker any) error {
	c, is := marker.(webhook.Config)
	switch known := "None or NoneOnDryRun"; {
	case is && strings.HasPrefix(err.Error(), "SideEffects ") && c.SideEffects == "":
		return fmt.Errorf("%w; write sideEffects=%s", err, known)
	case is && strings.HasPrefix(err.Error(), "SideEffects ") && !strings.Contains(c.Patch, "sideEffects"):
		return fmt.Errorf("API servers refuse sideEffects=%s; write %s", c.SideEffects, known)
	case is && strings.HasSuffix(err.Error(), " for matchPolicy"):
		return fmt.Errorf("%w; write Exact or Equivalent", err)
	}
	return err
}

// comments returns the comments of files in their order.
func comments(files []*ast.File) (all []*ast.Comment) {
	for _, f := range files {
		for _, group := range f.Comments {
			all = append(all, group.List...)
		}
	}
	return all
}

// tryWebhooks returns the error for markers of one package.
func tryWebhooks(reg *markers.Registry, texts []string) error {
	pkg, err := marker.Only(token.NewFileSet(), texts)
	if err != nil {
		return nil //nolint:nilerr // unreachable: the texts were comments of a file
	}
	return webhook.Generator{}.Generate(&genall.GenerationContext{
		Collector: &markers.Collector{Registry: reg}, Roots: []*loader.Package{pkg}, OutputRule: genall.OutputToNothing,
	})
}
