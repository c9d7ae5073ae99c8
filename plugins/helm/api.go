package helm

import (
	"bytes"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/helm/rbac"
	"github.com/operon-dev/operon/internal/helm/watches"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
	"github.com/operon-dev/operon/templates"
)

// createAPI plans the chart of a new kind, its entry in watches.yaml, its CRD, its sample and a first test. In a
// replay, charts and watches.yaml are the user's.
func createAPI(e plugin.Event, p *scaffold.Plan) error {
	r := *e.Resource
	if r.API == nil {
		return nil
	}
	isNew := false
	if e.Chart != nil {
		watched, err := addChart(e, r, p)
		if err != nil {
			return err
		}
		isNew = !watched
	}
	list, err := readWatches(p)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(list, watchOf(r).SameKind)
	if i < 0 {
		return nil
	}
	if _, err := planKind(e.Project, r, list[i], p); err != nil {
		return err
	}
	if isNew || p.HasBase(testFile(list[i])) { // kinds of operator-sdk have no test
		return planTest(e.Project, r, list[i], p)
	}
	return nil
}

// watchOf returns the entry of watches.yaml for a new kind.
func watchOf(r project.Resource) watches.Watch {
	return watches.Watch{Group: r.QualifiedGroup(), Version: r.Version, Kind: r.Kind, Chart: chartsDir + "/" + r.Lower()}
}

// addChart plans the chart of a kind, and its entry in watches.yaml. It reports whether the kind had one.
func addChart(e plugin.Event, r project.Resource, p *scaffold.Plan) (watched bool, err error) {
	for _, o := range e.Project.Resources {
		if o.SameKind(r) && !o.SameVersion(r) && o.API != nil {
			return false, fault.Usage("change the chart instead: its values are optional for existing objects", "the kind %s has the version %s, and a chart has one", r.Kind, o.Version)
		}
	}
	if !p.Exists(watches.File) {
		return false, fault.Failed("restore it from version control", "%s is missing", watches.File)
	}
	before, err := p.Read(watches.File)
	if err != nil {
		return false, err
	}
	known, _, err := watches.Validate(before, func(string) bool { return true })
	if err != nil {
		return false, err
	}
	w := watchOf(r)
	i := slices.IndexFunc(known, w.SameKind)
	watched = i >= 0
	if watched {
		w.Chart = known[i].Chart // operator-sdk names the folder after the chart
	} else if i := slices.IndexFunc(known, func(o watches.Watch) bool { return o.Chart == w.Chart }); i >= 0 {
		return false, fault.Usage("choose another kind, or move that chart", "%s is the chart of %s", w.Chart, known[i].Kind)
	}
	if err := planChart(w.Chart, *e.Chart, p); err != nil {
		return false, err
	}
	if e.Chart.Origin != nil {
		if err := e.Project.RecordChart(w.Chart, *e.Chart.Origin); err != nil {
			return false, err
		}
	}
	if err := p.Edit(watches.File, func(src []byte) ([]byte, error) { return watches.Add(src, w) }); err != nil {
		return false, err
	}
	derived, err := derives(p, rbac.Path)
	if err != nil {
		return false, err
	}
	if !watched && !derived {
		p.Warn(scaffold.Warning{File: rbac.Path, Rule: "kept",
			Message: "another tool wrote it: add the permissions that " + w.Chart + ` needs, which "operon chart rbac" prints, or delete the file and run operon generate`})
	}
	return watched, nil
}

// planChart plans the files of a chart in a folder. Files of the previous version that the chart no
// longer has go, unless the user changed them.
func planChart(folder string, c plugin.Chart, p *scaffold.Plan) error {
	if len(c.Files) == 0 {
		if p.Exists(folder + "/Chart.yaml") {
			return nil
		}
		return starterChart(folder, p)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Files)) {
		if !filepath.IsLocal(name) || path.Clean(name) != name {
			return fault.Usage("correct the chart", "file %q of the chart is outside of its folder", name)
		}
		if err := p.Seed(path.Join(folder, name), 0o644, c.Files[name]); err != nil {
			return err
		}
	}
	old, err := p.Below(folder)
	if err != nil {
		return err
	}
	for _, name := range old {
		if _, stays := c.Files[strings.TrimPrefix(name, folder+"/")]; stays || !p.HasBase(name) {
			continue
		}
		users, base, err := p.Before(name)
		if err != nil {
			return err
		}
		if users == nil {
			continue // the user has deleted it, too
		}
		if !bytes.Equal(users, base) {
			p.Warn(scaffold.Warning{File: name, Rule: "kept", Message: "the new version of the chart does not have this file, which you changed"})
			continue
		}
		if err := p.Remove(name); err != nil {
			return err
		}
	}
	return nil
}

// starterChart plans a chart for a kind that has none. Its templates are no templates of operon's:
// "[kind]" in them stands for the name of the chart.
func starterChart(folder string, p *scaffold.Plan) error {
	vars := map[string]string{"kind": path.Base(folder)}
	return render.Tree(p.Templates(templates.FS), "helm/chart", vars, nil, func(name string, mode fs.FileMode, content []byte) error {
		return p.Seed(name, mode, bytes.ReplaceAll(content, []byte("[kind]"), []byte(path.Base(folder))))
	})
}
