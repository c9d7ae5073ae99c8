package watches

import (
	"strings"

	"go.yaml.in/yaml/v3"
	kyaml "sigs.k8s.io/yaml"
)

// converted returns a text as helm-operator reads it: it turns numbers and booleans into texts. It warns about those that
// become another text, and reports what is no scalar.
func (v *validator) converted(n *yaml.Node, key string) (string, bool) {
	plain := n.Kind == yaml.ScalarNode && n.Style == 0 && !strings.Contains(n.Value, "\n")
	var all map[string]string
	if !plain || kyaml.Unmarshal([]byte("text: "+n.Value), &all) != nil {
		text := ""
		ok := v.decode(n, key, "a string", &text)
		return text, ok
	}
	if text := all["text"]; text != n.Value {
		v.report(n, ruleText, "write what you mean in quotes", "%s is %q for helm-operator", key, text)
	}
	return all["text"], true
}
