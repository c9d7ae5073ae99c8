package adopt

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/project"
)

// recorder completes PROJECT with what the repository has, and reports each finding.
type recorder struct {
	*repository
	cfg  *project.Config
	doc  *yamledit.Document // PROJECT as it is; nil without one
	seen []bool             // whether the repository has the resource of PROJECT with that index
}

func (r *recorder) found(what, value string, at place, c Confidence, note string) {
	r.report.Findings = append(r.report.Findings, Finding{what, value, at.file, at.line, c, note})
}

func (r *recorder) missed(what string, at place) {
	r.found("not understood", what, at, Unknown, "")
}

// inPROJECT returns the place of a key in PROJECT.
func (r *recorder) inPROJECT(keys ...any) place {
	if r.doc == nil {
		return place{}
	}
	return place{project.File, r.doc.Line(keys)}
}

func (r *recorder) record(m manager, confidence Confidence, hasManager bool) error {
	r.recordModule()
	r.recordLayout()
	if err := r.recordNames(); err != nil {
		return err
	}
	within := map[string]bool{}
	if hasManager {
		r.recordMain(m, confidence)
		within = r.src.reachable(path.Dir(m.at.file))
	}
	r.recordKinds()
	controllers, missed := r.controllers(within)
	r.recordControllers(controllers)
	hooks, missedHooks := r.webhooks()
	r.recordWebhooks(hooks)
	r.recordGroups()
	r.recordPlaces(controllers, hooks, m, hasManager)
	r.recordOthers()
	r.reportCalls()
	r.reportUnseen()
	for _, u := range slices.Concat(missed, missedHooks) {
		r.missed(u.what, u.at)
	}
	for _, err := range r.broken {
		text := err.Error()
		file, message, _ := strings.Cut(text, ": ")
		r.missed("a Go file that cannot be read: "+message, place{file: file})
	}
	return r.cfg.Validate()
}

// recordModule records the module path. An old PROJECT can have another one.
func (r *recorder) recordModule() {
	note := ""
	if r.cfg.Repo != "" && r.cfg.Repo != r.module.path {
		note = "PROJECT has the repo " + r.cfg.Repo
	}
	r.cfg.Repo = r.module.path
	r.found("module", r.module.path, place{"go.mod", 1}, Certain, note)
	for _, m := range r.src.modules {
		if m != r.module {
			r.found("other module", m.path, place{path.Join(m.dir, "go.mod"), 1}, Certain, "")
		}
	}
}

// Layout keys. The old ones differ from the new one in the places of files, which PROJECT records.
const (
	layoutGo   = project.LayoutGo
	layoutBase = "base.go.kubebuilder.io/v4" // without the folders of kustomize
)

// recordLayout replaces the keys of kubebuilder's old layouts for Go, and the key with kustomize in a repository
// without its files. Other keys stay.
func (r *recorder) recordLayout() {
	groups, _ := r.groups()
	key, at := layoutGo, place{file: defaultKustomization}
	note := withoutKustomize(r.fsys, len(groups) > 0)
	if note != "" {
		key, at = layoutBase, place{}
	}
	old := slices.Clone(r.cfg.Layout)
	var layout []string
	for _, k := range old {
		if k == "" || k == layoutGo || project.IsOldGoLayout(k) {
			k = key
		}
		if !slices.Contains(layout, k) {
			layout = append(layout, k)
		}
	}
	if len(layout) == 0 {
		layout = []string{key}
	}
	r.cfg.Layout = layout
	switch {
	case slices.Equal(old, layout):
		r.found("layout", strings.Join(layout, ", "), r.inPROJECT("layout"), Certain, "")
	case len(old) > 0:
		if note != "" {
			note = "; " + note
		}
		r.found("layout", strings.Join(layout, ", "), r.inPROJECT("layout"), Certain, "replaces "+strings.Join(old, ", ")+note)
	default:
		r.found("layout", strings.Join(layout, ", "), at, Likely, note)
	}
}

// recordNames records the domain and the name of the project.
func (r *recorder) recordNames() error {
	switch {
	case r.options.Domain != "":
		r.cfg.Domain = r.options.Domain
		r.found("domain", r.cfg.Domain, place{}, Certain, "--domain")
	case r.cfg.Domain != "" || r.doc != nil && len(r.cfg.Resources) > 0:
		r.found("domain", cmp.Or(r.cfg.Domain, `""`), r.inPROJECT("domain"), Certain, "")
	default:
		groups, at := r.groups()
		if len(groups) == 0 {
			return ask(Question{Flag: "domain", Text: "the domain of the API groups is not known, because no package defines kinds"}, "add --domain example.org")
		}
		r.cfg.Domain = domainOf(groups)
		r.found("domain", cmp.Or(r.cfg.Domain, `""`), at, Likely, fmt.Sprintf("common to %s", join(groups)))
	}
	switch {
	case r.options.Name != "":
		r.cfg.ProjectName = r.options.Name
		r.found("project name", r.cfg.ProjectName, place{}, Certain, "--project-name")
	case r.cfg.ProjectName != "":
		r.found("project name", r.cfg.ProjectName, r.inPROJECT("projectName"), Certain, "")
	default:
		name, at := projectName(r.fsys, r.module, r.options.Folder)
		r.cfg.ProjectName = name
		r.found("project name", name, at, Likely, "")
	}
	return nil
}

// groups returns the groups that have CRDs, and where the first one is declared.
func (r *repository) groups() (groups []string, at place) {
	for _, k := range r.kinds {
		if k.served && !slices.Contains(groups, k.group) {
			if len(groups) == 0 {
				at = k.at
			}
			groups = append(groups, k.group)
		}
	}
	return groups, at
}

func (r *recorder) recordMain(m manager, confidence Confidence) {
	note := ""
	var others []string
	for _, other := range r.managersIn(r.module) {
		if other.at.file != m.at.file {
			others = append(others, other.at.String())
		}
	}
	if len(others) > 0 {
		note = "other managers: " + join(others)
	}
	r.found("main", m.at.file, m.at, confidence, note)
}

// recordGroups records whether the project has several groups, each in its own folders.
func (r *recorder) recordGroups() {
	if groups, _ := r.groups(); len(groups) > 1 && !r.cfg.MultiGroup {
		r.cfg.MultiGroup = true
		r.found("multigroup", "true", place{}, Certain, "kinds in the groups "+join(groups))
	}
	if r.doc == nil && isNamespaced(r.fsys) {
		r.cfg.Namespaced = true
		r.found("namespaced", "true", place{file: "config/rbac/role.yaml"}, Likely, "the manager has a Role and no ClusterRole")
	}
}

// recordOthers reports what PROJECT does not record.
func (r *recorder) recordOthers() {
	if charts := r.listing.charts; len(charts) > 0 {
		folders := make([]string, len(charts))
		for i, name := range charts {
			folders[i] = path.Dir(name)
		}
		r.found("charts", join(folders), place{file: charts[0]}, Certain, "not recorded")
	}
	for _, name := range r.listing.nested {
		r.found("other PROJECT", name, place{file: name}, Certain, "not read")
	}
}

// join returns a list for people: at most five items.
func join(list []string) string {
	const most = 5
	if n := len(list) - most; n > 1 {
		return strings.Join(list[:most], ", ") + fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(list, ", ")
}
