package yamledit

import (
	"encoding/json"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Scalar writes s as a YAML scalar on one line that reads back as text.
func Scalar(s string) string {
	b, err := yaml.Marshal(s)
	if text := strings.TrimSuffix(string(b), "\n"); err == nil && !strings.Contains(text, "\n") {
		return text
	}
	if b, err = json.Marshal(s); err != nil { // text always has a form
		return s
	}
	return string(b)
}
