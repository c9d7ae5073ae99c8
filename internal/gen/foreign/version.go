package foreign

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ExplainedByVersion reports whether another version of controller-tools can explain how a file differs from the output:
// descriptions have other words and line breaks, rules are grouped in another way, fields without a value are there,
// Go code has build constraints of two forms. Comments in YAML, which no version writes, are never explained.
func ExplainedByVersion(disk, output []byte) bool {
	if bytes.Contains(output, []byte("\npackage ")) {
		return bytes.Equal(withoutPlusBuild(disk), withoutPlusBuild(output))
	}
	if hasComment(disk) {
		return false
	}
	a, errA := objects(bytes.TrimPrefix(disk, separator[1:]))
	b, errB := objects(bytes.TrimPrefix(output, separator[1:]))
	return errA == nil && errB == nil && slices.EqualFunc(a, b, func(a, b object) bool {
		return reflect.DeepEqual(essence(a.value), essence(b.value))
	})
}

// hasComment reports whether YAML has a comment, or cannot be read.
func hasComment(src []byte) bool {
	for decoder := yaml.NewDecoder(bytes.NewReader(src)); ; {
		var node yaml.Node
		if err := decoder.Decode(&node); err != nil {
			return !errors.Is(err, io.EOF)
		}
		if commented(&node) {
			return true
		}
	}
}

func commented(node *yaml.Node) bool {
	return node.HeadComment+node.LineComment+node.FootComment != "" || slices.ContainsFunc(node.Content, commented)
}

// newRole starts the role of a project that operon started.
var newRole = []byte("# Without permissions until a controller has ")

// IsNewRole reports whether a file is the role that operon or kubebuilder wrote for a new project, with nothing that a
// person wrote. kubebuilder's has a rule as an example.
func IsNewRole(disk []byte) bool {
	if bytes.HasPrefix(disk, newRole) {
		_, disk, _ = bytes.Cut(disk, []byte("\napiVersion:"))
		disk = append([]byte("apiVersion:"), disk...)
	}
	all, err := objects(bytes.TrimPrefix(disk, separator[1:]))
	if err != nil || len(all) != 1 || !isRole(all[0].value) || hasComment(disk) {
		return false
	}
	rules, _ := all[0].value["rules"].([]any)
	if len(rules) == 0 {
		return all[0].value["aggregationRule"] == nil
	}
	meta, _ := all[0].value["metadata"].(map[string]any)
	labels, _ := meta["labels"].(map[string]any)
	return labels["app.kubernetes.io/managed-by"] == "kustomize" && slices.Equal(permissions(rules), exampleRule)
}

// exampleRule has the permissions of kubebuilder's role for a new project.
var exampleRule = permissions([]any{map[string]any{
	"apiGroups": []any{""}, "resources": []any{"pods"}, "verbs": []any{"get", "list", "watch"},
}})

// withoutPlusBuild removes the build constraints of the form that Go 1.17 replaced.
func withoutPlusBuild(src []byte) []byte {
	lines := strings.Split(string(src), "\n")
	return []byte(strings.Join(slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, "// +build ") }), "\n"))
}

// essence returns what no version of controller-tools writes in its own way.
func essence(value any) any {
	switch v := value.(type) {
	case map[string]any:
		kept := map[string]any{}
		for key, item := range v {
			switch text, isText := item.(string); {
			case key == "description" && isText && text != "":
				kept[key] = "a description" // a file without any was shortened
			case key == "controller-gen.kubebuilder.io/version", key == "creationTimestamp" && item == nil:
			case key == "default" && item == "": // newer versions write it for the name in references of Kubernetes
			case key == "status" && v["kind"] == "CustomResourceDefinition":
			case key == "rules" && isRole(v):
				kept[key] = permissions(item)
			default:
				kept[key] = essence(item)
			}
		}
		return kept
	case []any:
		kept := make([]any, len(v))
		for i, item := range v {
			kept[i] = essence(item)
		}
		return kept
	}
	return value
}
