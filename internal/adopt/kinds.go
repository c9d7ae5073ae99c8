package adopt

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/lazyregexp"
	"github.com/operon-dev/operon/internal/project"
	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// kind is a version of a kind that the repository defines.
type kind struct {
	group, version string // the full group
	name           string
	plural         string // of +kubebuilder:resource, or ""
	namespaced     bool
	served         bool // has a CRD: it has metadata, and its package is not skipped
	applied        bool // controller-gen generates its apply configuration
	dir            string
	at             place
	confidence     Confidence
	note           string

	hub     bool
	spoke   bool
	methods []string // Default, ValidateCreate
}

func (k *kind) resource() project.Resource {
	return project.Resource{Group: k.group, Version: k.version, Kind: k.name, Plural: k.plural}
}

// packageGroup is the API group and version of a package.
type packageGroup struct {
	group, version string
	at             place
	skip           bool // +kubebuilder:skip: the package has no CRDs
	applied        bool // +kubebuilder:ac:generate=true: its kinds have apply configurations
}

// groupOf returns the group of a package: the group in the variable that its types are registered with, or
// in the marker +groupName.
func (s *sources) groupOf(dir string) (g packageGroup, ok bool) {
	var marked, version marker
	var variables []packageGroup
	preferred := -1
	for _, f := range s.byDir[dir] {
		for _, m := range f.markers {
			switch m.name {
			case "groupName":
				marked = m
				g.at = f.at(m.line)
			case "versionName":
				version = m
			case "kubebuilder:skip":
				g.skip = true
			case applyMarker:
				g.applied = m.value == "true"
			}
		}
		for _, v := range f.groupVersions {
			group, ok := s.text(f, v.group)
			text, ok2 := s.text(f, v.version)
			if !ok || !ok2 || group == "" || text == "" || strings.HasPrefix(text, "__") {
				continue
			}
			if preferred < 0 && (v.name == "GroupVersion" || v.name == "SchemeGroupVersion") {
				preferred = len(variables)
			}
			variables = append(variables, packageGroup{group: group, version: text, at: f.at(v.line)})
		}
	}
	g.group, g.version = strings.Trim(marked.value, `" `), strings.TrimSpace(version.value)
	i := slices.IndexFunc(variables, func(v packageGroup) bool { return v.group == g.group })
	if i >= 0 && (preferred < 0 || variables[preferred].group != g.group) {
		preferred = i
	}
	if len(variables) > 0 {
		v := variables[max(preferred, 0)]
		v.skip, v.applied = g.skip, g.applied
		return v, true
	}
	g.version = cmp.Or(g.version, s.byDir[dir][0].pkg)
	return g, g.group != "" && project.CheckVersion(g.version) == nil
}

// kinds returns the kinds that the packages define, sorted.
func (s *sources) kinds() []*kind {
	var all []*kind
	for dir, files := range s.byDir {
		has := func(f *goFile) bool { return len(f.types) > 0 }
		if !slices.ContainsFunc(files, has) {
			continue
		}
		if g, ok := s.groupOf(dir); ok {
			all = append(all, kindsIn(dir, files, g)...)
		}
	}
	slices.SortFunc(all, func(a, b *kind) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.dir, b.dir), cmp.Compare(a.name, b.name))
	})
	return all
}

// kindsIn returns the kinds of a package. Like controller-gen, it takes a type with TypeMeta and ObjectMeta
// for a kind with a CRD.
func kindsIn(dir string, files []*goFile, g packageGroup) []*kind {
	registered, methods := map[string]bool{}, map[string][]string{}
	for _, f := range files {
		for name := range f.registered {
			registered[name] = true
		}
		for receiver, list := range f.methods {
			for _, m := range list {
				methods[receiver] = append(methods[receiver], m.name)
			}
		}
	}
	var all []*kind
	for _, f := range files {
		for _, t := range f.types {
			if t.has("kubebuilder:skip") || strings.HasSuffix(t.name, "List") && !t.objectMeta {
				continue
			}
			crd := t.names()
			k := &kind{
				group: g.group, version: g.version, name: t.name, plural: crd.Names.Plural, dir: dir, at: f.at(t.line),
				namespaced: crd.Scope != apiext.ClusterScoped,
				served:     t.objectMeta && !g.skip && !t.has("kubebuilder:skipversion"),
				confidence: Certain, hub: slices.Contains(methods[t.name], "Hub"), spoke: slices.Contains(methods[t.name], "ConvertTo"),
				methods: methods[t.name], applied: g.applied && t.hasApplyConfiguration(),
			}
			if !t.isMarkedKind() && !registered[t.name] {
				k.confidence, k.note = Likely, "no marker, not registered"
			}
			all = append(all, k)
		}
	}
	return all
}

// crdFile returns the file of the kind's CRD, by the name that controller-gen gives it, or that kubebuilder v1 gave it.
func (l listing) crdFile(k *kind) (name string, ok bool) {
	r := k.resource()
	group, _, _ := strings.Cut(k.group, ".")
	for _, base := range []string{k.group + "_" + r.PluralName() + ".yaml", group + "_" + k.version + "_" + r.Lower() + ".yaml"} {
		if dir, found := l.crds[base]; found {
			return path.Join(dir, base), true
		}
	}
	return "", false
}

// crdScope matches the scope in a CRD.
var crdScope = lazyregexp.New(`(?m)^  scope: ["']?(Cluster|Namespaced)\b`)

// readScopes takes the scopes of kinds from their CRDs, which say what clusters have. Kinds without a CRD keep the scope
// of their markers.
func (l listing) readScopes(fsys fs.FS, kinds []*kind) {
	for _, k := range kinds {
		name, ok := l.crdFile(k)
		if !ok {
			continue
		}
		src, err := fs.ReadFile(fsys, name)
		if scope := crdScope().FindSubmatch(src); err == nil && scope != nil {
			k.namespaced = string(scope[1]) != string(apiext.ClusterScoped)
		}
	}
}

// withoutCRDs marks kinds without a file of their CRD in a repository that has such files. If that is true of
// the whole group, its kinds have no CRDs: an API server of the repository serves them.
func (l listing) withoutCRDs(kinds []*kind) {
	groups := map[string]bool{}
	for _, k := range kinds {
		if _, has := l.crdFile(k); has {
			groups[k.group] = true
		}
	}
	for _, k := range kinds {
		if _, has := l.crdFile(k); has || !k.served || len(groups) == 0 {
			continue
		}
		k.confidence, k.note = Likely, "no file of its CRD"
		if !groups[k.group] {
			k.served, k.note = false, "the repository has CRDs, but none of this group"
		}
	}
}
