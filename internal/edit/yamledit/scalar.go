package yamledit

import (
	"encoding/json"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Scalar formats s as a YAML scalar on one line that decodes to the same
// string.
func Scalar(s string) string {
	b, err := yaml.Marshal(s)
	if text := strings.TrimSuffix(string(b), "\n"); err == nil && !strings.Contains(text, "\n") {
		return text
	}
	if b, err = json.Marshal(s); err != nil { // unreachable: a string can always be encoded
		return s
	}
	return string(b)
}
