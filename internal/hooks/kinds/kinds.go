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
	Group        string // in full, and "" for the core group
	Version      string
	Kind         string
	Resource     string   // the plural, as in URLs and RBAC rules
	Singular     string   // lower case
	Short        []string // deploy
	Categories   []string // all
	Subresources []string // status, scale
	Verbs        []string // what the API server takes for it, as in RBAC rules; sorted
	Versions     []string // all that are served, the preferred one first
	Fields       []string // those of a CRD that objects can be selected by; see Selectable
	Namespaced   bool
}

// APIVersion is what objects have: apps/v1, and v1 of the core group.
func (k Kind) APIVersion() string { return k.GroupVersion().String() }

// GroupVersion is the group and the version.
func (k Kind) GroupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: k.Group, Version: k.Version}
}

// GVK names the kind.
func (k Kind) GVK() schema.GroupVersionKind { return k.GroupVersion().WithKind(k.Kind) }

// GVR names the resource.
func (k Kind) GVR() schema.GroupVersionResource { return k.GroupVersion().WithResource(k.Resource) }

// String is deployments.apps, or secrets.
func (k Kind) String() string {
	return schema.GroupResource{Group: k.Group, Resource: k.Resource}.String()
}

// Has reports whether the API server serves a subresource, such as status.
func (k Kind) Has(subresource string) bool { return slices.Contains(k.Subresources, subresource) }

// Can reports whether the API server takes requests of a verb, such as watch.
func (k Kind) Can(verb string) bool { return slices.Contains(k.Verbs, verb) }

// isCalled reports whether the engine means k by a name: its kind, its plural or a
// short name, in any case. An unusual singular of a CRD it does not know.
func (k Kind) isCalled(name string) bool {
	return strings.EqualFold(name, k.Kind) || strings.EqualFold(name, k.Resource) ||
		slices.ContainsFunc(k.Short, func(s string) bool { return strings.EqualFold(name, s) })
}

// Table is a list of kinds, in the order in which an API server lists them. It
// does not change.
type Table struct {
	kinds []Kind // one for each version, the preferred version of a group first
	own   int    // how many of them are Kubernetes' own: they come first
}

// UnknownError says that no kind has a name.
type UnknownError struct {
	APIVersion string // "" when any would do
	Name       string
	Near       string   // a kind with a similar name, or ""
	Versions   []string // in which apiVersions the kind is served, when only APIVersion is wrong
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

// Find returns the kind that a binding or a patch operation means, as the engine
// looks it up: by kind, plural or short name, in any case. With an apiVersion, it
// is that of the version, and otherwise the first one that the API server lists,
// in its preferred version. The error is an *UnknownError.
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

// HasGroup reports whether any kind is of a group, "" being the core one: of others
// nothing is known, and a kind may well be there.
func (t *Table) HasGroup(group string) bool {
	return slices.ContainsFunc(t.kinds, func(k Kind) bool { return k.Group == group })
}

// FindObject returns the kind that an object says it is of: the letters of its kind
// must have the right case.
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

// Resource returns the kind of a resource as RBAC rules and webhooks name it: its
// full group and its plural, in the preferred version.
func (t *Table) Resource(group, resource string) (k Kind, known bool) {
	i := slices.IndexFunc(t.kinds, func(k Kind) bool { return k.Group == group && k.Resource == resource })
	if i < 0 {
		return Kind{}, false
	}
	return t.kinds[i], true
}

// Argument returns the kind that an argument of kubectl means, such as deploy,
// Deployment, deployments.apps or deployments.v1.apps. Of a group, the beginning is
// enough when no group has the whole name. The error is an *UnknownError.
func (t *Table) Argument(arg string) (Kind, error) {
	lower := strings.ToLower(arg)
	name, group, qualified := strings.Cut(lower, ".")
	if !qualified {
		return t.argument(arg, func(k Kind) bool { return k.answers(lower) })
	}
	if inVersion, rest, full := strings.Cut(group, "."); full {
		if k, err := t.argument(arg, func(k Kind) bool { return k.answers(name) && k.Version == inVersion && k.Group == rest }); err == nil {
			return k, nil
		}
	}
	if k, err := t.argument(arg, func(k Kind) bool { return k.answers(name) && k.Group == group }); err == nil {
		return k, nil
	}
	return t.argument(arg, func(k Kind) bool { return k.answers(name) && strings.HasPrefix(k.Group, group) })
}

// answers reports whether kubectl means k by a name in lower case.
func (k Kind) answers(name string) bool { return k.isCalled(name) || name == k.Singular }

func (t *Table) argument(arg string, is func(Kind) bool) (Kind, error) {
	if i := slices.IndexFunc(t.kinds, is); i >= 0 {
		return t.kinds[i], nil
	}
	return Kind{}, &UnknownError{Name: arg, Near: t.near(arg)}
}

// Category returns the kinds that kubectl means by the name of a category, such as
// all, in their preferred versions.
func (t *Table) Category(name string) []Kind {
	return slices.DeleteFunc(t.Preferred(), func(k Kind) bool { return !slices.Contains(k.Categories, name) })
}

// near returns the kind whose name is most like a name, or "".
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

// With returns a table that also has the kinds of CRDs. A CRD stands in for what
// has its group and resource already.
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

// New makes a table of the kinds that an API server serves, in the order in which
// it lists them, each with all its versions.
func New(all []Kind) *Table { return &Table{all, len(all)} }
