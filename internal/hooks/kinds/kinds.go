// Package kinds knows the kinds that an API server serves, by all their names: those of
// Kubernetes and those of CRDs. It does not contact a cluster.
//
// Hooks name kinds in two places with different rules: Find is for bindings and patch
// operations, as the engine reads them; Argument is for the arguments of kubectl.
package kinds

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
)

// Kind is a kind as an API server lists it, in one version.
type Kind struct {
	Group        string // full name; "" for the core group
	Version      string
	Kind         string
	Resource     string   // the plural, as in URLs and RBAC rules
	Singular     string   // lower case
	Short        []string // deploy
	Categories   []string // all
	Subresources []string // status, scale
	Verbs        []string // supported by the API server, as in RBAC rules; sorted
	Versions     []string // all served versions, the preferred one first
	Fields       []string // selectableFields of a CRD; see Selectable
	Namespaced   bool
}

// APIVersion returns the apiVersion of objects, such as apps/v1, or v1 for the core group.
func (k Kind) APIVersion() string { return k.GroupVersion().String() }

// GroupVersion is the group and the version.
func (k Kind) GroupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: k.Group, Version: k.Version}
}

// GVK names the kind.
func (k Kind) GVK() schema.GroupVersionKind { return k.GroupVersion().WithKind(k.Kind) }

// GVR names the resource.
func (k Kind) GVR() schema.GroupVersionResource { return k.GroupVersion().WithResource(k.Resource) }

// String returns the resource and group, such as deployments.apps or secrets.
func (k Kind) String() string {
	return schema.GroupResource{Group: k.Group, Resource: k.Resource}.String()
}

// Has reports whether the API server serves a subresource, such as status.
func (k Kind) Has(subresource string) bool { return slices.Contains(k.Subresources, subresource) }

// Can reports whether the API server supports a verb, such as watch.
func (k Kind) Can(verb string) bool { return slices.Contains(k.Verbs, verb) }

// isCalled reports whether a name refers to k in the engine: its kind, plural or short
// name, in any case. The engine ignores the singular name of a CRD.
func (k Kind) isCalled(name string) bool {
	return strings.EqualFold(name, k.Kind) || strings.EqualFold(name, k.Resource) ||
		slices.ContainsFunc(k.Short, func(s string) bool { return strings.EqualFold(name, s) })
}

// Table is a list of kinds, in the order in which an API server lists them. It
// does not change.
type Table struct {
	kinds []Kind // one for each version, the preferred version of a group first
	own   int    // number of builtin kinds, which come first
}

// UnknownError means that no kind has the name.
type UnknownError struct {
	APIVersion string // "" means any
	Name       string
	Near       string   // a kind with a similar name, or ""
	Versions   []string // apiVersions that serve the kind, if only APIVersion is wrong
}

func (e *UnknownError) Error() string {
	what := fmt.Sprintf("no kind %q is known", e.Name)
	switch {
	case len(e.Versions) > 0:
		return fmt.Sprintf("%s is not served in %s, but in %s", e.Name, e.APIVersion, strings.Join(e.Versions, ", "))
	case e.APIVersion != "":
		what += " in " + e.APIVersion
	}
	if e.Near != "" {
		what += "; did you mean " + e.Near + "?"
	}
	return what
}

// All returns the kinds, each in every version that is served.
func (t *Table) All() []Kind { return slices.Clone(t.kinds) }

// Preferred returns the kinds, each in its preferred version.
func (t *Table) Preferred() []Kind {
	return slices.DeleteFunc(t.All(), func(k Kind) bool { return k.Version != k.Versions[0] })
}

// Find returns the kind of a binding or a patch operation, with the lookup of the engine:
// by kind, plural or short name, in any case. Without an apiVersion it returns the first
// match that the API server lists, in its preferred version. The error is an
// *UnknownError.
func (t *Table) Find(apiVersion, name string) (Kind, error) {
	var elsewhere []string
	for _, k := range t.kinds {
		switch {
		case !k.isCalled(name):
		case apiVersion == "" || apiVersion == k.APIVersion():
			return k, nil
		default:
			elsewhere = append(elsewhere, k.APIVersion())
		}
	}
	e := &UnknownError{APIVersion: apiVersion, Name: name, Versions: elsewhere}
	if len(elsewhere) == 0 {
		e.Near = t.near(name)
	}
	return Kind{}, e
}

// HasGroup reports whether the table has kinds of a group; "" is the core group. The kinds
// of other groups are unknown, but can exist.
func (t *Table) HasGroup(group string) bool {
	return slices.ContainsFunc(t.kinds, func(k Kind) bool { return k.Group == group })
}

// FindObject returns the kind of an object. The kind is case-sensitive.
func (t *Table) FindObject(gvk schema.GroupVersionKind) (Kind, error) {
	for _, k := range t.kinds {
		if k.GVK() == gvk {
			return k, nil
		}
	}
	_, err := t.Find(gvk.GroupVersion().String(), gvk.Kind)
	if err == nil {
		err = &UnknownError{APIVersion: gvk.GroupVersion().String(), Name: gvk.Kind, Near: t.near(gvk.Kind)}
	}
	return Kind{}, err
}

// Resource returns the kind of a resource by its full group and plural, as in RBAC rules
// and webhooks, in the preferred version.
func (t *Table) Resource(group, resource string) (k Kind, known bool) {
	i := slices.IndexFunc(t.kinds, func(k Kind) bool { return k.Group == group && k.Resource == resource })
	if i < 0 {
		return Kind{}, false
	}
	return t.kinds[i], true
}

// Argument returns the kind of a kubectl argument, such as deploy, Deployment,
// deployments.apps or deployments.v1.apps. A prefix of a group matches if no group has
// the full name. The error is an *UnknownError.
func (t *Table) Argument(arg string) (Kind, error) {
	lower := strings.ToLower(arg)
	name, group, qualified := strings.Cut(lower, ".")
	if !qualified {
		return t.argument(arg, func(k Kind) bool { return k.kubectlMatches(lower) })
	}
	if inVersion, rest, full := strings.Cut(group, "."); full {
		if k, err := t.argument(arg, func(k Kind) bool { return k.kubectlMatches(name) && k.Version == inVersion && k.Group == rest }); err == nil {
			return k, nil
		}
	}
	if k, err := t.argument(arg, func(k Kind) bool { return k.kubectlMatches(name) && k.Group == group }); err == nil {
		return k, nil
	}
	return t.argument(arg, func(k Kind) bool { return k.kubectlMatches(name) && strings.HasPrefix(k.Group, group) })
}

// kubectlMatches reports whether a lower-case name refers to k in kubectl.
func (k Kind) kubectlMatches(name string) bool { return k.isCalled(name) || name == k.Singular }

func (t *Table) argument(arg string, is func(Kind) bool) (Kind, error) {
	if i := slices.IndexFunc(t.kinds, is); i >= 0 {
		return t.kinds[i], nil
	}
	return Kind{}, &UnknownError{Name: arg, Near: t.near(arg)}
}

// Category returns the kinds of a kubectl category, such as all, in their preferred
// versions.
func (t *Table) Category(name string) []Kind {
	return slices.DeleteFunc(t.Preferred(), func(k Kind) bool { return !slices.Contains(k.Categories, name) })
}

// near returns the kind with the most similar name, or "".
func (t *Table) near(name string) string {
	spellings := map[string]string{}
	var all []string
	for _, k := range t.kinds {
		for _, s := range append([]string{k.Kind, k.Resource}, k.Short...) {
			if s = strings.ToLower(s); spellings[s] == "" {
				spellings[s] = k.Kind
				all = append(all, s)
			}
		}
	}
	return spellings[fault.Nearest(strings.ToLower(name), all)]
}

// With returns a table that also has the kinds of CRDs. A CRD replaces kinds with the same
// group and resource.
func (t *Table) With(crds ...CRD) *Table {
	var more []Kind
	for _, c := range crds {
		more = append(more, c...)
	}
	kept := func(all []Kind) []Kind {
		return slices.DeleteFunc(slices.Clone(all), func(k Kind) bool {
			return slices.ContainsFunc(more, func(m Kind) bool { return m.Group == k.Group && m.Resource == k.Resource })
		})
	}
	own, custom := kept(t.kinds[:t.own]), append(kept(t.kinds[t.own:]), more...)
	slices.SortStableFunc(custom, func(a, b Kind) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), -version.CompareKubeAwareVersionStrings(a.Version, b.Version), cmp.Compare(a.Resource, b.Resource))
	})
	return &Table{append(own, custom...), len(own)}
}

// New returns a table of the kinds of an API server, in the order of its discovery, with
// all versions of each.
func New(all []Kind) *Table { return &Table{all, len(all)} }
