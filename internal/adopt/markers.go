package adopt

import (
	"go/ast"
	"slices"
	"strings"

	crdmarkers "sigs.k8s.io/controller-tools/pkg/crd/markers"
	"sigs.k8s.io/controller-tools/pkg/markers"
	"sigs.k8s.io/controller-tools/pkg/rbac"
	webhookgen "sigs.k8s.io/controller-tools/pkg/webhook"
)

// marker is a comment of the form +name, +name=value or +name:key=value,key=value.
type marker struct {
	name, value string
	text        string // with the plus sign
	line        int
}

// applyMarker turns apply configurations on or off, for a package or a type.
const applyMarker = "kubebuilder:ac:generate"

// withArguments are the markers whose arguments follow a colon.
var withArguments = []string{"kubebuilder:resource", "kubebuilder:rbac", "kubebuilder:webhook"}

// markersIn returns the markers in line comments.
func (p *parsing) markersIn(g *ast.CommentGroup) []marker {
	if g == nil {
		return nil
	}
	var found []marker
	for _, c := range g.List {
		text, isMarker := strings.CutPrefix(strings.TrimSpace(strings.TrimPrefix(c.Text, "//")), "+")
		if !isMarker {
			continue
		}
		m := marker{text: "+" + text, line: p.line(c.Pos())}
		if i := slices.IndexFunc(withArguments, func(name string) bool { return strings.HasPrefix(text, name+":") }); i >= 0 {
			m.name, m.value = withArguments[i], text[len(withArguments[i])+1:]
		} else {
			m.name, m.value, _ = strings.Cut(text, "=")
		}
		found = append(found, m)
	}
	return found
}

// resourceDefinition is the definition of +kubebuilder:resource.
var resourceDefinition = markers.Must(markers.MakeDefinition("kubebuilder:resource", markers.DescribesType, crdmarkers.Resource{}))

// arguments returns the arguments of a marker as controller-gen reads them, as far as it can read them.
func arguments[T any](d *markers.Definition, m marker) T {
	parsed, _ := d.Parse(m.text) // generators report the error
	args, _ := parsed.(T)
	return args
}

// webhookMarker is +kubebuilder:webhook: the declaration of an admission webhook.
type webhookMarker struct {
	webhookgen.Config
	line int
}

func newWebhookMarker(m marker) webhookMarker {
	return webhookMarker{arguments[webhookgen.Config](webhookgen.ConfigDefinition, m), m.line}
}

// newRBACMarker returns +kubebuilder:rbac: it names groups and resources that the manager uses.
func newRBACMarker(m marker) rbac.Rule { return arguments[rbac.Rule](rbac.RuleDefinition, m) }
