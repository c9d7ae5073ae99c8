// Package deployment edits the Deployment of a manager.
package deployment

import (
	"bytes"
	"slices"

	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/scaffold"
	"go.yaml.in/yaml/v3"
)

type fields = map[string]any

// WatchOwn edits the Deployment of another tool, so that the manager watches only its own
// namespace, or all.
func WatchOwn(limited bool, p *scaffold.Plan) error {
	const name = "config/manager/manager.yaml"
	if !p.Exists(name) || p.HasBase(name) {
		return nil
	}
	return p.Edit(name, func(src []byte) ([]byte, error) {
		docs := bytes.SplitAfter(src, []byte("\n---\n"))
		for i, doc := range docs {
			var was, want fields
			body := bytes.TrimSuffix(doc, []byte("---\n"))
			if yaml.Unmarshal(body, &was) != nil || yaml.Unmarshal(body, &want) != nil || was["kind"] != "Deployment" {
				continue
			}
			watch(want, limited)
			next, err := yamledit.Reconcile(body, was, want, sameName)
			if err != nil {
				return nil, err
			}
			docs[i] = append(next, doc[len(body):]...)
		}
		return bytes.Join(docs, nil), nil
	})
}

// watch sets or removes the variable of the manager's container.
func watch(deployment fields, limited bool) {
	spec, _ := deployment["spec"].(fields)
	template, _ := spec["template"].(fields)
	pod, _ := template["spec"].(fields)
	containers, _ := pod["containers"].([]any)
	for _, item := range containers {
		container, ok := item.(fields)
		if !ok || container["name"] != "manager" {
			continue
		}
		env, _ := container["env"].([]any)
		rest := slices.DeleteFunc(slices.Clone(env), func(v any) bool {
			variable, _ := v.(fields)
			return variable["name"] == watchVariable
		})
		switch {
		case limited && len(rest) == len(env):
			container["env"] = append(env, fields{"name": watchVariable,
				"valueFrom": fields{"fieldRef": fields{"fieldPath": "metadata.namespace"}}})
		case !limited && len(rest) == 0:
			delete(container, "env")
		case !limited:
			container["env"] = rest
		}
	}
}

// watchVariable contains the namespaces that a namespaced manager watches.
const watchVariable = "WATCH_NAMESPACE"

// sameName reports whether two list items are versions of the same item.
func sameName(a, b any) bool {
	x, _ := a.(fields)
	y, _ := b.(fields)
	return x["name"] != nil && x["name"] == y["name"]
}
