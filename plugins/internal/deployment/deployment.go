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
	if !p.Exists(file) || p.HasBase(file) {
		return nil
	}
	return p.Edit(file, func(src []byte) ([]byte, error) {
		return editManager(src, func(container fields) { watch(container, limited) })
	})
}

// SetVariable returns a manifest with a variable in the environment of the manager. It replaces the value of
// an existing one only with force. found is false if the manifest does not have the manager.
func SetVariable(src []byte, name, value string, force bool) (next []byte, found bool, err error) {
	next, err = editManager(src, func(container fields) {
		found = true
		env, _ := container["env"].([]any)
		i := slices.IndexFunc(env, func(v any) bool { return sameName(v, fields{"name": name}) })
		switch {
		case i < 0:
			container["env"] = append(env, fields{"name": name, "value": value})
		case force:
			env[i] = fields{"name": name, "value": value}
		}
	})
	return next, found, err
}

const file = "config/manager/manager.yaml"

// editManager changes the container of the manager in a manifest with several documents.
func editManager(src []byte, change func(container fields)) ([]byte, error) {
	docs := bytes.SplitAfter(src, []byte("\n---\n"))
	for i, doc := range docs {
		var was, want fields
		body := bytes.TrimSuffix(doc, []byte("---\n"))
		if yaml.Unmarshal(body, &was) != nil || yaml.Unmarshal(body, &want) != nil || was["kind"] != "Deployment" {
			continue
		}
		container := managerOf(want)
		if container == nil {
			continue
		}
		change(container)
		next, err := yamledit.Reconcile(body, was, want, sameName)
		if err != nil {
			return nil, err
		}
		docs[i] = append(next, doc[len(body):]...)
	}
	return bytes.Join(docs, nil), nil
}

// managerOf returns the container of the manager in a Deployment, or nil.
func managerOf(deployment fields) fields {
	spec, _ := deployment["spec"].(fields)
	template, _ := spec["template"].(fields)
	pod, _ := template["spec"].(fields)
	containers, _ := pod["containers"].([]any)
	for _, item := range containers {
		if container, ok := item.(fields); ok && container["name"] == "manager" {
			return container
		}
	}
	return nil
}

// watch sets or removes the variable of the manager's container.
func watch(container fields, limited bool) {
	env, _ := container["env"].([]any)
	rest := slices.DeleteFunc(slices.Clone(env), func(v any) bool { return sameName(v, fields{"name": watchVariable}) })
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

// watchVariable contains the namespaces that a namespaced manager watches.
const watchVariable = "WATCH_NAMESPACE"

// sameName reports whether two list items are versions of the same item.
func sameName(a, b any) bool {
	x, _ := a.(fields)
	y, _ := b.(fields)
	return x["name"] != nil && x["name"] == y["name"]
}
