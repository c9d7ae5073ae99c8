package cluster

import (
	"context"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/jsonvalue"
	"github.com/operon-dev/operon/internal/olm/bundle"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The install modes of OLM.
const (
	AllNamespaces   = "AllNamespaces"
	OwnNamespace    = "OwnNamespace"
	SingleNamespace = "SingleNamespace"
	MultiNamespace  = "MultiNamespace"
)

// Mode is an install mode and the namespaces that the operator watches. The zero Mode leaves
// the choice to the bundle and the namespace.
type Mode struct {
	Name    string
	Targets []string // empty for AllNamespaces
}

// ParseMode parses AllNamespaces, OwnNamespace, SingleNamespace=NS or MultiNamespace=NS,NS. The
// operator runs in the namespace.
func ParseMode(s, namespace string) (Mode, error) {
	name, list, given := strings.Cut(s, "=")
	targets := sortedUnique(strings.FieldsFunc(list, func(r rune) bool { return r == ',' }))
	switch {
	case s == "":
		return Mode{}, nil
	case name == AllNamespaces && !given:
		return Mode{Name: name}, nil
	case name == OwnNamespace && (!given || slices.Equal(targets, []string{namespace})):
		return Mode{name, []string{namespace}}, nil
	case name == SingleNamespace && len(targets) == 1 && targets[0] != namespace,
		name == MultiNamespace && len(targets) > 1:
		return Mode{name, targets}, nil
	}
	return Mode{}, fault.Usage("use AllNamespaces, OwnNamespace, SingleNamespace=OTHER or MultiNamespace=ONE,TWO", "--install-mode %q is not an install mode", s)
}

// sortedUnique returns the names of namespaces sorted, each once.
func sortedUnique(namespaces []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(namespaces)))
}

// modeOf returns the mode that an OperatorGroup with these targets means.
func modeOf(targets []string, namespace string) Mode {
	targets = sortedUnique(targets)
	switch {
	case len(targets) == 0 || slices.Contains(targets, ""):
		return Mode{Name: AllNamespaces}
	case len(targets) > 1:
		return Mode{MultiNamespace, targets}
	case targets[0] == namespace:
		return Mode{OwnNamespace, targets}
	default:
		return Mode{SingleNamespace, targets}
	}
}

// String returns the mode as ParseMode accepts it.
func (m Mode) String() string {
	if m.Name == SingleNamespace || m.Name == MultiNamespace {
		return m.Name + "=" + strings.Join(m.Targets, ",")
	}
	return m.Name
}

// chooseMode returns the mode in which a bundle is installed into a namespace with these
// OperatorGroups.
func chooseMode(b *bundle.Bundle, requested Mode, groups []unstructured.Unstructured, namespace string) (Mode, error) {
	supported := b.InstallModes()
	switch {
	case len(supported) == 0:
		return Mode{}, noMode(b)
	case len(groups) > 1:
		return Mode{}, fault.Usage("delete all but one", "namespace %s has %d OperatorGroups, and OLM installs nothing there", namespace, len(groups))
	}
	chosen := requested
	if len(groups) == 1 {
		chosen = modeOf(groupTargets(groups[0]), namespace)
		if requested.Name != "" && requested.String() != chosen.String() {
			return Mode{}, fault.Usage("use another namespace, or delete the group", "OperatorGroup %s in namespace %s has the mode %s, not %s", groups[0].GetName(), namespace, chosen, requested)
		}
	} else if requested.Name == "" {
		for _, name := range []string{AllNamespaces, OwnNamespace} {
			if chosen.Name == "" && slices.Contains(supported, name) {
				chosen, _ = ParseMode(name, namespace) // both are valid
			}
		}
		if chosen.Name == "" {
			return Mode{}, fault.Usage("name the namespaces, such as --install-mode SingleNamespace=OTHER", "%s supports only %s", b.Name(), strings.Join(supported, ", "))
		}
	}
	if slices.Contains(supported, chosen.Name) {
		return chosen, nil
	}
	if len(groups) == 1 {
		return Mode{}, fault.Usage("use another namespace", "OperatorGroup %s in namespace %s has the mode %s, and %s supports %s", groups[0].GetName(), namespace, chosen, b.Name(), strings.Join(supported, ", "))
	}
	return Mode{}, fault.Usage("choose one of these with --install-mode",
		"%s supports %s, not %s", b.Name(), strings.Join(supported, ", "), chosen.Name)
}

// noMode is the error about a bundle that OLM cannot install anywhere.
func noMode(b *bundle.Bundle) error {
	return fault.Usage("set supported: true for AllNamespaces in spec.installModes, and run operon bundle validate", "%s supports no install mode", b.Name())
}

// groupTargets returns the namespaces that an OperatorGroup selects.
func groupTargets(group unstructured.Unstructured) []string {
	targets, found, _ := unstructured.NestedStringSlice(group.Object, "spec", "targetNamespaces")
	if !found && jsonvalue.Map(group.Object, "spec", "selector") != nil {
		targets = jsonvalue.Strings(group.Object, "status", "namespaces")
	}
	return targets
}

// ensureOperatorGroup makes sure that a namespace has an OperatorGroup for the bundle.
func (t *task) ensureOperatorGroup(ctx context.Context, requested Mode) error {
	groups, err := t.list(ctx, operatorGroups, t.namespace, metav1.ListOptions{})
	if err != nil {
		return err
	}
	mode, err := chooseMode(t.bundle, requested, groups, t.namespace)
	if err != nil || len(groups) > 0 {
		return err
	}
	for _, name := range mode.Targets {
		if o, err := t.get(ctx, namespaces, "", name); err != nil {
			return err
		} else if o == nil {
			return fault.Usage("create it: kubectl create namespace "+name, "namespace %s does not exist", name)
		}
	}
	spec := map[string]any{"upgradeStrategy": "Default"}
	if len(mode.Targets) > 0 {
		spec["targetNamespaces"] = jsonvalue.ListOf(mode.Targets)
	}
	return t.add(ctx, operatorGroups, operon, map[string]any{"spec": spec})
}
