package project

import (
	"cmp"
	_ "embed"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/operon-dev/operon/internal/fault"
)

// KubernetesVersion is the release of BuiltinKinds.
const KubernetesVersion = "1.37"

// coreKinds is the discovery of an API server, which a test of hooks/kubeapi records. Each line has group and
// version, kind, plural, scope, short names, categories, subresources and verbs.
//
//go:embed core_kinds.txt
var coreKinds string

//go:embed core_objects.yaml
var coreObjects string

// StoredVerbs are the verbs of kinds whose objects the API server stores. In core_kinds.txt, they are "*".
var StoredVerbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}

// CoreKind is a version of a built-in kind of Kubernetes.
type CoreKind struct {
	Group        string // as in PROJECT: core, apps, rbac.authorization
	Domain       string // "k8s.io", or "" for groups that are older than this convention
	Version      string
	Kind         string
	Plural       string
	Path         string // Go import path of the types
	Module       string // Go module of the path, if it is not k8s.io/api
	Namespaced   bool   // false: cluster-scoped
	Stored       bool   // the API server stores and watches objects, unlike a TokenReview
	Object       string // a minimal object that the API server accepts, as YAML; "" if not stored
	ShortNames   []string
	Categories   []string
	Subresources []string
	Verbs        []string
}

// BuiltinKinds returns the kinds that every API server serves, in the order of its discovery.
var BuiltinKinds = sync.OnceValue(func() []CoreKind {
	objects := map[string]string{} // by their first two lines
	for object := range strings.SplitSeq(strings.TrimSuffix(coreObjects, "\n"), "\n---\n") {
		head, _, _ := strings.Cut(object, "\nmetadata:")
		objects[head] = object + "\n"
	}
	var all []CoreKind
	for line := range strings.Lines(coreKinds) {
		f := strings.Fields(line)
		if f[0] == "#" {
			continue
		}
		k := CoreKind{Group: "core", Version: f[0], Kind: f[1], Plural: f[2], Namespaced: f[3] == "namespaced",
			ShortNames: column(f[4]), Categories: column(f[5]), Subresources: column(f[6]), Verbs: column(f[7])}
		if f[7] == "*" {
			k.Verbs = StoredVerbs
		}
		if group, version, named := strings.Cut(f[0], "/"); named {
			name, inDomain := strings.CutSuffix(group, ".k8s.io")
			k.Group, k.Version = name, version
			if inDomain {
				k.Domain = "k8s.io"
			}
		}
		short, _, _ := strings.Cut(k.Group, ".")
		k.Path = path.Join("k8s.io/api", short, k.Version)
		if k.Group == "apiextensions" {
			k.Module = "k8s.io/apiextensions-apiserver"
			k.Path = path.Join(k.Module, "pkg/apis", short, k.Version)
		}
		k.Stored = slices.Contains(k.Verbs, "watch")
		k.Object = objects["apiVersion: "+f[0]+"\nkind: "+k.Kind]
		all = append(all, k)
	}
	return all
})

// column splits a column of core_kinds.txt. A dash means an empty list.
func column(text string) []string {
	if text == "-" {
		return nil
	}
	return strings.Split(text, ",")
}

// CoreKinds returns the built-in kinds that a project can have, sorted. It cannot have the kinds of the aggregation
// layer, whose Go types are in a module that operators do not import.
var CoreKinds = sync.OnceValue(func() []CoreKind {
	all := slices.DeleteFunc(slices.Clone(BuiltinKinds()), func(k CoreKind) bool { return k.Group == "apiregistration" })
	slices.SortFunc(all, func(a, b CoreKind) int {
		if a.Group != b.Group && (a.Group == "core" || b.Group == "core") {
			return map[bool]int{true: -1, false: 1}[a.Group == "core"]
		}
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Version, b.Version))
	})
	return all
})

// Resource returns the resource that PROJECT records for k.
func (k CoreKind) Resource() Resource {
	return Resource{Group: k.Group, Domain: k.Domain, Version: k.Version, Kind: k.Kind, Path: k.Path, Core: true}
}

// IsCoreGroup reports whether group is a built-in API group of Kubernetes. It accepts each
// form of its name: rbac, rbac.authorization or rbac.authorization.k8s.io.
func IsCoreGroup(group string) bool { return len(coreGroup(group)) > 0 }

// coreGroup returns the kinds of a group.
func coreGroup(group string) []CoreKind {
	var all []CoreKind
	for _, k := range CoreKinds() {
		if group == k.Group || k.Domain != "" && group == k.Group+"."+k.Domain || group == path.Base(path.Dir(k.Path)) {
			all = append(all, k)
		}
	}
	return all
}

// HasCoreKind reports whether a built-in API group has a kind in some version. It accepts the same forms of the group.
func HasCoreKind(group, kind string) bool {
	return slices.ContainsFunc(coreGroup(group), func(k CoreKind) bool { return k.Kind == kind })
}

// FindCore returns the built-in kind with this group, version and kind. It accepts the same
// forms of the group as IsCoreGroup.
func FindCore(group, version, kind string) (CoreKind, error) {
	inGroup := coreGroup(group)
	if len(inGroup) == 0 {
		return CoreKind{}, fault.Usage("name a group such as core, apps or batch", "Kubernetes has no API group %s", group)
	}
	name := inGroup[0].Group
	var kinds, versions []string
	for _, k := range inGroup {
		switch {
		case k.Kind != kind:
			kinds = append(kinds, k.Kind)
		case k.Version != version:
			versions = append(versions, k.Version)
		default:
			return k, nil
		}
	}
	if len(versions) > 0 {
		return CoreKind{}, fault.Usage("use --version "+strings.Join(versions, " or --version "),
			"Kubernetes %s does not serve version %s of %s in group %s", KubernetesVersion, version, kind, name)
	}
	slices.Sort(kinds)
	kinds = slices.Compact(kinds)
	hint := "its kinds are " + strings.Join(kinds, ", ")
	if near := fault.Nearest(kind, kinds); near != "" {
		hint = "did you mean --kind " + near + "?"
	}
	return CoreKind{}, fault.Usage(hint, "group %s of Kubernetes %s has no kind %s", name, KubernetesVersion, kind)
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
