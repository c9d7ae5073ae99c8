package project

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
)

// kubernetesVersion is the release of CoreKinds, which are the kinds that its API server
// serves by default.
const kubernetesVersion = "1.37"

// CoreKind is a version of a built-in kind of Kubernetes.
type CoreKind struct {
	Group      string // as in PROJECT: core, apps, rbac.authorization
	Domain     string // "k8s.io", or "" for groups that are older than this convention
	Version    string
	Kind       string
	Plural     string
	Path       string // Go import path of the types
	Module     string // Go module of the path, if it is not k8s.io/api
	Namespaced bool   // false: cluster-scoped
	Stored     bool   // the API server stores and watches objects, unlike those of TokenReview
	Object     string // a minimal object that the API server accepts, as YAML; "" if not stored
}

// Resource returns the resource that PROJECT records for k.
func (k CoreKind) Resource() Resource {
	return Resource{Group: k.Group, Domain: k.Domain, Version: k.Version, Kind: k.Kind, Path: k.Path, Core: true}
}

// IsCoreGroup reports whether group is a built-in API group of Kubernetes. It accepts each
// form of its name: rbac, rbac.authorization or rbac.authorization.k8s.io.
func IsCoreGroup(group string) bool { return findCoreGroup(group) != nil }

func findCoreGroup(group string) *coreGroup {
	for i, g := range coreGroups {
		if group == g.name || g.domain != "" && group == g.name+"."+g.domain || group == path.Base(g.path) {
			return &coreGroups[i]
		}
	}
	return nil
}

// FindCore returns the built-in kind with this group, version and kind. It accepts the same
// forms of the group as IsCoreGroup.
func FindCore(group, version, kind string) (CoreKind, error) {
	g := findCoreGroup(group)
	if g == nil {
		return CoreKind{}, fault.Usage("name a group such as core, apps or batch", "Kubernetes has no API group %s", group)
	}
	var kinds, versions []string
	for _, k := range g.kinds {
		switch {
		case k.kind != kind:
			kinds = append(kinds, k.kind)
		case k.version != version:
			versions = append(versions, k.version)
		default:
			return g.complete(k), nil
		}
	}
	if len(versions) > 0 {
		return CoreKind{}, fault.Usage("use --version "+strings.Join(versions, " or --version "),
			"Kubernetes %s does not serve version %s of %s in group %s", kubernetesVersion, version, kind, g.name)
	}
	slices.Sort(kinds)
	kinds = slices.Compact(kinds)
	hint := "its kinds are " + strings.Join(kinds, ", ")
	if near := fault.Nearest(kind, kinds); near != "" {
		hint = "did you mean --kind " + near + "?"
	}
	return CoreKind{}, fault.Usage(hint, "group %s of Kubernetes %s has no kind %s", g.name, kubernetesVersion, kind)
}

// Builtin returns the built-in kind of a resource that PROJECT records as core. ok is false
// for other resources.
func (r Resource) Builtin() (k CoreKind, ok bool) {
	if !r.Core {
		return CoreKind{}, false
	}
	k, err := FindCore(r.Group, r.Version, r.Kind)
	return k, err == nil
}

// CoreKinds returns all built-in kinds.
func CoreKinds() []CoreKind {
	var all []CoreKind
	for _, g := range coreGroups {
		for _, k := range g.kinds {
			all = append(all, g.complete(k))
		}
	}
	return all
}

func (g *coreGroup) complete(k coreKind) CoreKind {
	c := CoreKind{
		Group: g.name, Domain: g.domain, Version: k.version, Kind: k.kind,
		Path: path.Join(g.path, k.version), Module: g.module,
		Namespaced: k.scope == namespaced, Stored: k.object != unstored,
	}
	r := c.Resource()
	c.Plural = r.regularPlural()
	if c.Stored {
		c.Object = objectOf(r, k)
	}
	return c
}

// objectOf returns the object of k. The table has only the fields after type and name.
func objectOf(r Resource, k coreKind) string {
	apiVersion := strings.TrimPrefix(r.QualifiedGroup()+"/"+r.Version, "/")
	name := cmp.Or(k.name, r.Lower()+"-sample")
	return "apiVersion: " + apiVersion + "\nkind: " + r.Kind + "\nmetadata:\n  name: " + name + "\n" + strings.TrimPrefix(k.object, "\n")
}
