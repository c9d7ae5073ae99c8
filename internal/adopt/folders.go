package adopt

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/project"
)

// folderOf is a folder with code for a resource.
type folderOf struct {
	dir string
	res project.Resource
}

// patterns returns the patterns that a folder follows: with {group} and {version} for the elements that are
// named after the resource, most general first.
func (f folderOf) patterns() []string {
	elements := strings.Split(f.dir, "/")
	replace := func(from []string, name, placeholder string) ([]string, bool) {
		i := lastIndex(from, name)
		if name == "" || i < 0 {
			return from, false
		}
		to := slices.Clone(from)
		to[i] = placeholder
		return to, true
	}
	versioned, _ := replace(elements, f.res.Version, "{version}")
	grouped, ok := replace(versioned, f.res.Group, "{group}")
	if !ok {
		return []string{path.Join(versioned...)}
	}
	return []string{path.Join(grouped...), path.Join(versioned...)}
}

func lastIndex(list []string, s string) int {
	for i, word := range slices.Backward(list) {
		if word == s {
			return i
		}
	}
	return -1
}

// commonPattern returns the pattern that most folders follow. Of several, it prefers those with more placeholders.
func commonPattern(folders []folderOf) string {
	votes := map[string]int{}
	for _, f := range folders {
		for _, p := range f.patterns() {
			votes[p]++
		}
	}
	best := ""
	for p, n := range votes {
		better := cmp.Or(n-votes[best], strings.Count(p, "{")-strings.Count(best, "{"), strings.Compare(best, p))
		if best == "" || better > 0 {
			best = p
		}
	}
	return best
}

// example returns the first folder that follows a pattern.
func example(folders []folderOf, pattern string) string {
	for _, f := range folders {
		if slices.Contains(f.patterns(), pattern) {
			return f.dir
		}
	}
	return pattern
}

// folderForNew returns the folder for new code: the pattern that most of the folders follow. If most kinds
// have folders of their own, it is their parent.
func folderForNew(folders []folderOf) string {
	best := commonPattern(folders)
	follow := 0
	dirs := map[string]bool{}
	for _, f := range folders {
		dirs[f.dir] = true
		if slices.Contains(f.patterns(), best) {
			follow++
		}
	}
	if len(dirs) < 2 || follow*2 > len(folders) || len(dirs)*2 < len(folders) {
		return best
	}
	parents := slices.Clone(folders)
	for i := range parents {
		parents[i].dir = path.Dir(parents[i].dir)
	}
	parent := commonPattern(parents)
	if parent == "." || path.Base(parent) == "internal" || path.Base(parent) == "pkg" || path.Base(parent) == "cmd" {
		return shortest(dirs) // these folders are no packages
	}
	return parent
}

// shortest returns the folder nearest to the root, and the first one of several.
func shortest(dirs map[string]bool) string {
	return slices.MinFunc(slices.Sorted(maps.Keys(dirs)), func(a, b string) int {
		return cmp.Compare(strings.Count(a, "/"), strings.Count(b, "/"))
	})
}

// recordPlaces records where code is, as far as it differs from kubebuilder's layout.
func (r *recorder) recordPlaces(controllers []controller, hooks []webhook, m manager, hasManager bool) {
	places := r.cfg.Places()
	if hasManager {
		places.Main = m.at.file
	}
	var types, reconcilers, webhooks []folderOf
	for _, k := range r.kinds {
		if i := r.entry(k); i >= 0 && k.served {
			types = append(types, folderOf{k.dir, r.cfg.Resources[i]})
		}
	}
	add := func(list *[]folderOf, t target, dir string) {
		if res := r.resource(t); res != nil && dir != "" && !slices.ContainsFunc(types, func(f folderOf) bool { return f.dir == dir }) {
			*list = append(*list, folderOf{dir, *res})
		}
	}
	for _, c := range controllers {
		if c.own != nil {
			add(&reconcilers, c.target, c.dir)
		}
	}
	for _, w := range hooks {
		if w.own != nil {
			add(&webhooks, w.target, w.dir)
		}
	}
	group := ""
	if r.cfg.MultiGroup {
		group = "{group}"
	}
	for _, p := range []struct {
		what, rule string
		folders    []folderOf
		to         *string
	}{
		{"types", path.Join("api", group, "{version}"), types, &places.API},
		{"controllers", path.Join("internal/controller", group), reconcilers, &places.Controllers},
		{"webhooks", path.Join("internal/webhook", group, "{version}"), webhooks, &places.Webhooks},
	} {
		pattern := folderForNew(p.folders)
		if *p.to != "" || pattern == "" || pattern == p.rule {
			continue
		}
		before := *p.to
		*p.to = pattern
		if places.Validate() != nil {
			*p.to = before
			continue
		}
		r.found(p.what+" in", pattern, place{file: example(p.folders, pattern)}, Likely, "")
	}
	r.cfg.SetPlaces(places)
}
