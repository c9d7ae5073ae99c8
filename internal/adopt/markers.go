package adopt

import (
	"go/ast"
	"slices"
	"strings"
)

// marker is a comment of the form +name, +name=value or +name:key=value,key=value.
type marker struct {
	name, value string
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
		m := marker{line: p.line(c.Pos())}
		if i := slices.IndexFunc(withArguments, func(name string) bool { return strings.HasPrefix(text, name+":") }); i >= 0 {
			m.name, m.value = withArguments[i], text[len(withArguments[i])+1:]
		} else {
			m.name, m.value, _ = strings.Cut(text, "=")
		}
		found = append(found, m)
	}
	return found
}

// arguments returns the values of key=value,key=value. Lists are separated by semicolons or in
// braces; values may be in quotes.
func (m marker) arguments() map[string][]string {
	args := map[string][]string{}
	for _, part := range splitTop(m.value, ',') {
		key, value, _ := strings.Cut(part, "=")
		value = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(value), "{"), "}")
		separator := byte(';')
		if !strings.Contains(value, ";") && strings.Contains(value, ",") {
			separator = ','
		}
		for _, item := range splitTop(value, separator) {
			args[strings.TrimSpace(key)] = append(args[strings.TrimSpace(key)], strings.Trim(strings.TrimSpace(item), "\"`"))
		}
	}
	return args
}

// splitTop splits text at a separator outside of quotes and braces.
func splitTop(text string, separator byte) []string {
	var parts []string
	start, depth, quote := 0, 0, byte(0)
	for i := range len(text) {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '`':
			quote = c
		case c == '{':
			depth++
		case c == '}':
			depth--
		case c == separator && depth == 0:
			parts = append(parts, text[start:i])
			start = i + 1
		}
	}
	return append(parts, text[start:])
}

// first returns the first value of an argument, or "".
func first(args map[string][]string, key string) string {
	if len(args[key]) == 0 {
		return ""
	}
	return args[key][0]
}

// webhookMarker is +kubebuilder:webhook: the declaration of an admission webhook.
type webhookMarker struct {
	mutating bool
	path     string
	groups   []string
	plurals  []string
	versions []string
	line     int
}

func newWebhookMarker(m marker) webhookMarker {
	args := m.arguments()
	return webhookMarker{
		mutating: first(args, "mutating") == "true", path: first(args, "path"), groups: args["groups"],
		plurals: args["resources"], versions: args["versions"], line: m.line,
	}
}

// rbacMarker is +kubebuilder:rbac: it names groups and resources that the manager uses.
type rbacMarker struct{ groups, plurals []string }

func newRBACMarker(m marker) rbacMarker {
	args := m.arguments()
	return rbacMarker{groups: args["groups"], plurals: args["resources"]}
}
