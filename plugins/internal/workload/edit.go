package workload

import (
	"slices"

	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/lazyregexp"
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
// an existing one only with force. A manifest without the manager stays as it is.
func SetVariable(src []byte, name, value string, force bool) ([]byte, error) {
	return editManager(src, func(container fields) {
		env, _ := container["env"].([]any)
		i := variable(env, name)
		switch {
		case i < 0:
			container["env"] = append(env, fields{"name": name, "value": value})
		case force:
			env[i] = fields{"name": name, "value": value}
		}
	})
}

// HasVariable reports whether a manifest has a variable in the environment of the manager.
func HasVariable(src []byte, name string) bool {
	found := false
	_, err := editManager(src, func(container fields) {
		env, _ := container["env"].([]any)
		found = variable(env, name) >= 0
	})
	return err == nil && found
}

// variable returns the index of a variable in an environment, or -1.
func variable(env []any, name string) int {
	return slices.IndexFunc(env, func(v any) bool { return sameName(v, fields{"name": name}) })
}

const file = "config/manager/manager.yaml"

// separator matches the line between two documents.
var separator = lazyregexp.New(`(?m)^---[ \t]*(#.*)?\r?\n`)

// editManager changes the container of the manager in a manifest. Without a manager, the manifest stays as it is.
func editManager(src []byte, change func(container fields)) ([]byte, error) {
	var all []Object
	var places [][2]int // of the documents with the objects
	start := 0
	for _, end := range append(separator().FindAllIndex(src, -1), []int{len(src), len(src)}) {
		var decoded fields
		if yaml.Unmarshal(src[start:end[0]], &decoded) == nil && Object(decoded).Runs() {
			all, places = append(all, decoded), append(places, [2]int{start, end[0]})
		}
		start = end[1]
	}
	if len(all) == 0 {
		return src, nil
	}
	i, err := Manager(all, file)
	if err != nil {
		return nil, err
	}
	doc := src[places[i][0]:places[i][1]]
	var was fields
	if err := yaml.Unmarshal(doc, &was); err != nil {
		return nil, err
	}
	change(all[i].Containers()[all[i].Container()])
	edited, err := yamledit.Reconcile(doc, was, all[i], sameName)
	return slices.Concat(src[:places[i][0]], edited, src[places[i][1]:]), err
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
