package generate

import (
	"strings"

	"github.com/operon-dev/operon/internal/gen/generate/marker"
	"github.com/operon-dev/operon/internal/gen/load"
	"sigs.k8s.io/controller-tools/pkg/genall"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
	"sigs.k8s.io/controller-tools/pkg/webhook"
)

// webhookGenerator is the generator of webhook configurations, with the positions of the markers that it refuses.
type webhookGenerator struct {
	webhook.Generator
	set *load.Set
}

// Generate implements genall.Generator.
func (g webhookGenerator) Generate(ctx *genall.GenerationContext) error {
	err := g.Generator.Generate(ctx)
	if err == nil {
		return nil
	}
	placed := false
	for _, root := range ctx.Roots {
		if root.PkgPath == "" {
			continue // a package of recorded markers, which the last run accepted
		}
		root.NeedSyntax()
		for _, f := range root.Syntax {
			for _, group := range f.Comments {
				for _, c := range group.List {
					text := strings.TrimSpace(strings.TrimPrefix(c.Text, "//"))
					if strings.HasPrefix(text, "+"+webhook.ConfigDefinition.Name+":") && g.refuses(ctx, text, err) {
						root.AddError(loader.ErrFromNode(err, c))
						placed = true
					}
				}
			}
		}
	}
	if placed {
		return nil
	}
	return err
}

// refuses reports whether the library returns an error for a marker alone.
func (g webhookGenerator) refuses(ctx *genall.GenerationContext, text string, err error) bool {
	alone, wrong := marker.Only(g.set.Fset, []string{text})
	if wrong != nil {
		return false
	}
	wrong = webhook.Generator{}.Generate(&genall.GenerationContext{
		Collector: &markers.Collector{Registry: ctx.Collector.Registry}, Roots: []*loader.Package{alone},
		InputRule: ctx.InputRule, OutputRule: genall.OutputToNothing,
	})
	return wrong != nil && wrong.Error() == err.Error()
}
