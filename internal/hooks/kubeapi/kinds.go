// Package kubeapi is the API of Kubernetes as hooks use it: the kinds that an API server serves, the kinds of
// Kubernetes and of CRDs, and the operations that a hook writes to $KUBERNETES_PATCH_PATH.
//
// Kinds are found by their names without a cluster. Hooks name kinds in two places, with different rules:
// Find reads the names in bindings and in patch operations as the engine does, and FindArgument the
// arguments of kubectl. An Applier sends the same requests for operations to an API server as shell-operator.
package kubeapi

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
)

// Kind is one version of a kind, as an API server lists it.
type Kind struct {
	Group        string // the full name; "" for the core group
	Version      string
	Kind         string
	Resource     string   // the plural, as in URLs and RBAC rules
	Singular     string   // in lower case
	ShortNames   []string // such as deploy
	Categories   []string // such as all
	Subresources []string // such as status and scale
	Verbs        []string // the supported verbs, as in RBAC rules; sorted
	Versions     []string // all served versions, the preferred one first
	Fields       []string // the selectableFields of a CRD; see Selectable
	Namespaced   bool
}

// APIVersion returns the apiVersion of objects, such as apps/v1, or v1 for the core group.
func (k Kind) APIVersion() string { return k.groupVersion().String() }

// groupVersion returns the group and the version.
func (k Kind) groupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: k.Group, Version: k.Version}
}

// GVK returns the group, version and kind.
func (k Kind) GVK() schema.GroupVersionKind { return k.groupVersion().WithKind(k.Kind) }

// GVR returns the group, version and resource.
func (k Kind) GVR() schema.GroupVersionResource { return k.groupVersion().WithResource(k.Resource) }

// String returns the resource and group, such as deployments.apps or secrets.
func (k Kind) String() string {
	return schema.GroupResource{Group: k.Group, Resource: k.Resource}.String()
}

// HasSubresource reports whether the API server serves a subresource, such as status.
func (k Kind) HasSubresource(subresource string) bool {
	return slices.Contains(k.Subresources, subresource)
}

// Supports reports whether the API server supports a verb, such as watch.
func (k Kind) Supports(verb string) bool { return slices.Contains(k.Verbs, verb) }

// hasName reports whether the engine accepts a name for k: its kind, plural or short name, in
// upper or lower case. The engine ignores the singular name of a CRD.
func (k Kind) hasName(name string) bool {
	return strings.EqualFold(name, k.Kind) || strings.EqualFold(name, k.Resource) ||
		slices.ContainsFunc(k.ShortNames, func(s string) bool { return strings.EqualFold(name, s) })
}

// Kinds is an immutable list of kinds, in the order in which an API server lists them.
type Kinds struct {
	kinds   []Kind // one entry for each version; the preferred version of a group comes first
	builtin int    // the number of builtin kinds, which come first
}

// UnknownKindError means that no kind has the name.
type UnknownKindError struct {
	APIVersion string // "" means any
	Name       string
	Near       string   // a kind with a similar name, or ""
	Versions   []string // apiVersions that serve the kind, if only APIVersion is wrong
}

func (e *UnknownKindError) Error() string {
	message := fmt.Sprintf("unknown kind %q", e.Name)
	switch {
	case len(e.Versions) > 0:
		return fmt.Sprintf("%s is not served in %s, but in %s", e.Name, e.APIVersion, strings.Join(e.Versions, ", "))
	case e.APIVersion != "":
		message += " in " + e.APIVersion
	}
	if e.Near != "" {
		message += "; did you mean " + e.Near + "?"
	}
	return message
}

// All returns the kinds, with one entry for each version.
func (known *Kinds) All() []Kind { return slices.Clone(known.kinds) }

// Preferred returns the kinds in their preferred versions.
func (known *Kinds) Preferred() []Kind {
	return slices.DeleteFunc(known.All(), func(k Kind) bool { return k.Version != k.Versions[0] })
}

// APIVersions returns what templates of charts find in .Capabilities.APIVersions, sorted: the
// versions, such as apps/v1, and their kinds, such as apps/v1/Deployment.
func (known *Kinds) APIVersions() []string {
	var all []string
	for _, k := range known.kinds {
		all = append(all, k.APIVersion(), k.APIVersion()+"/"+k.Kind)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Find returns the kind that a binding or a patch operation names. As in the engine, the name
// is a kind, plural or short name, in upper or lower case. Without an apiVersion, Find returns
// the first match that the API server lists, in its preferred version. The error is an
// *UnknownKindError.
func (known *Kinds) Find(apiVersion, name string) (Kind, error) {
	var otherVersions []string
	for _, k := range known.kinds {
		switch {
		case !k.hasName(name):
		case apiVersion == "" || apiVersion == k.APIVersion():
			return k, nil
		default:
			otherVersions = append(otherVersions, k.APIVersion())
		}
	}
	e := &UnknownKindError{APIVersion: apiVersion, Name: name, Versions: otherVersions}
	if len(otherVersions) == 0 {
		e.Near = known.near(name)
	}
	return Kind{}, e
}

// HasGroup reports whether there are kinds of a group. "" is the core group. Kinds of unknown groups may
// exist.
func (known *Kinds) HasGroup(group string) bool {
	return slices.ContainsFunc(known.kinds, func(k Kind) bool { return k.Group == group })
}

// FindObject returns the kind of an object. Unlike Find, it is case-sensitive.
func (known *Kinds) FindObject(gvk schema.GroupVersionKind) (Kind, error) {
	for _, k := range known.kinds {
		if k.GVK() == gvk {
			return k, nil
		}
	}
	_, err := known.Find(gvk.GroupVersion().String(), gvk.Kind)
	if err == nil {
		err = &UnknownKindError{APIVersion: gvk.GroupVersion().String(), Name: gvk.Kind, Near: known.near(gvk.Kind)}
	}
	return Kind{}, err
}

// FindResource returns the kind with a group and a plural, as in RBAC rules and webhooks, in its
// preferred version.
func (known *Kinds) FindResource(group, resource string) (k Kind, found bool) {
	i := slices.IndexFunc(known.kinds, func(k Kind) bool { return k.Group == group && k.Resource == resource })
	if i < 0 {
		return Kind{}, false
	}
	return known.kinds[i], true
}

// FindArgument returns the kind that an argument of kubectl names, such as deploy, Deployment,
// deployments.apps or deployments.v1.apps. The group may be a prefix of a group's name, but a
// full name takes precedence. The error is an *UnknownKindError.
func (known *Kinds) FindArgument(arg string) (Kind, error) {
	lower := strings.ToLower(arg)
	name, group, qualified := strings.Cut(lower, ".")
	if !qualified {
		name, group = lower, ""
	}
	var matches []func(Kind) bool
	if version, rest, hasVersion := strings.Cut(group, "."); hasVersion {
		matches = append(matches, func(k Kind) bool { return k.Version == version && k.Group == rest })
	}
	if qualified {
		matches = append(matches, func(k Kind) bool { return k.Group == group })
	}
	matches = append(matches, func(k Kind) bool { return strings.HasPrefix(k.Group, group) })
	for _, match := range matches {
		if i := slices.IndexFunc(known.kinds, func(k Kind) bool { return k.hasKubectlName(name) && match(k) }); i >= 0 {
			return known.kinds[i], nil
		}
	}
	return Kind{}, &UnknownKindError{Name: arg, Near: known.near(arg)}
}

// hasKubectlName reports whether kubectl accepts a name in lower case for k.
func (k Kind) hasKubectlName(name string) bool { return k.hasName(name) || name == k.Singular }

// near returns the kind with the most similar name, or else short name, or "".
func (known *Kinds) near(name string) string {
	spellings := map[string]string{}
	var names, short []string
	add := func(to *[]string, kind, spelling string) {
		if s := strings.ToLower(spelling); spellings[s] == "" {
			spellings[s] = kind
			*to = append(*to, s)
		}
	}
	for _, k := range known.kinds {
		add(&names, k.Kind, k.Kind)
		add(&names, k.Kind, k.Resource)
	}
	for _, k := range known.kinds {
		for _, s := range k.ShortNames {
			add(&short, k.Kind, s)
		}
	}
	return spellings[cmp.Or(fault.Nearest(strings.ToLower(name), names), fault.Nearest(strings.ToLower(name), short))]
}

// With returns the kinds together with the kinds of CRDs. A CRD replaces existing kinds with the
// same group and resource.
func (known *Kinds) With(crds ...CRD) *Kinds {
	added := slices.Concat(crds...)
	withoutReplaced := func(all []Kind) []Kind {
		return slices.DeleteFunc(slices.Clone(all), func(k Kind) bool {
			return slices.ContainsFunc(added, func(a Kind) bool { return a.Group == k.Group && a.Resource == k.Resource })
		})
	}
	builtin, custom := withoutReplaced(known.kinds[:known.builtin]), append(withoutReplaced(known.kinds[known.builtin:]), added...)
	slices.SortStableFunc(custom, func(a, b Kind) int {
		newer := -version.CompareKubeAwareVersionStrings(a.Version, b.Version)
		return cmp.Or(cmp.Compare(a.Group, b.Group), newer, cmp.Compare(a.Resource, b.Resource))
	})
	return &Kinds{append(builtin, custom...), len(builtin)}
}

// NewKinds returns the kinds of an API server. all has one entry for each version, in the
// order of the server's discovery.
func NewKinds(all []Kind) *Kinds { return &Kinds{all, len(all)} }
