// Package workload finds and edits the object that runs the manager of an operator, and the container in it. Operators
// name both as they like, so it counts signs.
package workload

import (
	"cmp"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/jsonvalue"
)

// Object is a decoded Kubernetes object that runs pods, such as a Deployment.
type Object map[string]any

// Runs reports whether the object can run a manager.
func (o Object) Runs() bool {
	return slices.Contains([]string{"Deployment", "StatefulSet", "DaemonSet"}, o.Kind()) && len(o.Containers()) > 0
}

// Kind returns the kind.
func (o Object) Kind() string { return jsonvalue.String(map[string]any(o), "kind") }

// Name returns the name.
func (o Object) Name() string { return jsonvalue.String(map[string]any(o), "metadata", "name") }

// Pod returns the spec of the pods, or nil.
func (o Object) Pod() map[string]any {
	return jsonvalue.Map(map[string]any(o), "spec", "template", "spec")
}

// Containers returns the containers of the pods.
func (o Object) Containers() []map[string]any { return jsonvalue.Maps(o.Pod(), "containers") }

// Labels returns the labels by which the object selects its pods, or nil.
func (o Object) Labels() map[string]any {
	return jsonvalue.Map(map[string]any(o), "spec", "selector", "matchLabels")
}

// Manager returns the index of the object that runs the manager: the one with the most signs. There must be at least one
// object. The error says that two objects, which file installs, have the same number of signs.
func Manager(all []Object, file string) (int, error) {
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(all[b].signs(), all[a].signs()) })
	if len(order) > 1 && all[order[0]].signs() == all[order[1]].signs() {
		first, second := all[order[0]], all[order[1]]
		return 0, fault.Failed("add the label control-plane: controller-manager to the metadata of the one that runs the manager",
			"%s installs %s %s and %s %s, and operon cannot tell which one runs the manager",
			file, first.Kind(), first.Name(), second.Kind(), second.Name())
	}
	return order[0], nil
}

// signs weighs what the object has in common with the Deployment of the manager that kubebuilder scaffolds.
func (o Object) signs() int {
	const manager = "controller-manager"
	n := 0
	if strings.HasSuffix(o.Name(), manager) || jsonvalue.String(o.Labels(), "control-plane") == manager ||
		jsonvalue.String(map[string]any(o), "metadata", "labels", "control-plane") == manager {
		n += 4
	}
	if slices.ContainsFunc(o.Containers(), func(c map[string]any) bool { return c["name"] == "manager" }) {
		n += 2
	}
	if looksLikeManager(o.Name()) {
		n++
	}
	return n
}

// Container returns the index of the container that runs the manager. There must be at least one container.
func (o Object) Container() int {
	for _, fits := range []func(name string) bool{
		func(name string) bool { return name == "manager" || name == o.Name() }, looksLikeManager,
		func(name string) bool { return name != "kube-rbac-proxy" },
	} {
		i := slices.IndexFunc(o.Containers(), func(c map[string]any) bool { return fits(jsonvalue.String(c, "name")) })
		if i >= 0 {
			return i
		}
	}
	return 0
}

func looksLikeManager(name string) bool {
	return strings.Contains(name, "manager") || strings.Contains(name, "controller") || strings.Contains(name, "operator")
}
