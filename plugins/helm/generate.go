package helm

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/operon-dev/operon/internal/chart"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/gen/store"
	"github.com/operon-dev/operon/internal/helm/rbac"
	crdschema "github.com/operon-dev/operon/internal/helm/schema"
	"github.com/operon-dev/operon/internal/helm/watches"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/roles"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/internal/hookscaffold"
	helmchart "helm.sh/helm/v3/pkg/chart"
)

const crdBases = "config/crd/bases"

// crdFile returns the path of a kind's CRD.
func crdFile(r project.Resource) string {
	return crdBases + "/" + r.QualifiedGroup() + "_" + r.PluralName() + ".yaml"
}

// generate plans CRDs, samples and permissions from the charts in the plan. What the user changed in
// them stays.
func generate(ctx context.Context, e plugin.Event, p *scaffold.Plan) error {
	if len(e.Args) > 0 {
		return fault.Usage("omit it", "%s is an argument of controller-gen, and this project has no Go code", e.Args[0])
	}
	p.DependsOn(func() (paths []string, ok bool) { return nil, true }) // on files of the plan only
	list, err := readWatches(p)
	if err != nil {
		return err
	}
	known, err := hookscaffold.Kinds(p, hookscaffold.IsYAML, crdBases)
	if err != nil {
		return err
	}
	var reports []*rbac.Report
	cache := store.Open(e.Environment.CacheDir)
	for _, w := range list {
		files, err := p.ReadBelow(w.Chart)
		if err != nil {
			return err
		}
		c, err := chart.LoadFiles(files)
		if err != nil {
			return chartError(w.Chart, err)
		}
		if i := slices.IndexFunc(e.Project.Resources, func(r project.Resource) bool { return watchOf(r).SameKind(w) }); i >= 0 {
			r := e.Project.Resources[i]
			found, err := planKind(e.Project, r, w, p)
			if reference, is := errors.AsType[*crdschema.ReferenceError](err); is && p.Exists(crdFile(r)) { // the others do not depend on it
				p.Warn(scaffold.Warning{File: crdFile(r), Rule: "chart-reference",
					Message: "the CRD stays as it is: " + reference.Error() + "; " + fault.HintOf(err)})
				err = nil
			}
			if err != nil {
				return err
			}
			warn(summarize(w.Chart, found), p)
		}
		report, err := rbac.DeriveCached(ctx, cache, files, c, rbac.OfWatch(w, e.Project, known))
		if err != nil {
			return chartError(w.Chart, err)
		}
		reports = append(reports, report)
	}
	derived, err := derives(p, rbac.Path)
	if err != nil || !derived {
		return err
	}
	for _, report := range reports {
		warn(report.Findings, p)
	}
	content, err := rbac.Roles(e.Project.Namespaced, reports...).File(roles.Scaffolded)
	if err != nil {
		return err
	}
	return p.Seed(rbac.Path, 0o644, content)
}

// readWatches reads watches.yaml of the plan. A project without the file has no kinds.
func readWatches(p *scaffold.Plan) ([]watches.Watch, error) {
	src, err := p.Read(watches.File)
	if errors.Is(err, fs.ErrNotExist) {
		return []watches.Watch{}, fault.Failed("restore it from version control, or write an empty file", "%s is missing", watches.File)
	}
	if err != nil {
		return []watches.Watch{}, err
	}
	return watches.Read(src, func(folder string) bool { return p.Exists(folder + "/Chart.yaml") })
}

// readChart loads a chart from the plan.
func readChart(folder string, p *scaffold.Plan) (*helmchart.Chart, error) {
	files, err := p.ReadBelow(folder)
	if err != nil {
		return nil, err
	}
	c, err := chart.LoadFiles(files)
	return c, chartError(folder, err)
}

// chartError returns an error of a chart with the path of its file in the project.
func chartError(folder string, err error) error {
	located, isChart := chart.InFolder(folder, err)
	if !isChart {
		return err
	}
	return fault.Usage(cmp.Or(fault.HintOf(err), "correct the chart, then repeat the command"), "%v", located)
}

// maxOpen is the number of values without a schema that generate lists.
const maxOpen = 3

// summarize replaces the findings about many values without a schema by one.
func summarize(folder string, all []finding.Finding) []finding.Finding {
	rest := slices.DeleteFunc(slices.Clone(all), func(f finding.Finding) bool { return f.Rule == crdschema.RuleOpen.Name })
	n := len(all) - len(rest)
	if n <= maxOpen {
		return all
	}
	return append(rest, crdschema.RuleOpen.At(folder+"/values.yaml", 0, 0, `%d values accept any fields; "operon chart validate" lists them`, n))
}

// warn adds findings to the warnings of the plan.
func warn(findings []finding.Finding, p *scaffold.Plan) {
	for _, f := range findings {
		message := f.Message
		if f.Fix != "" {
			message += ": " + f.Fix
		}
		p.Warn(scaffold.Warning{File: f.File, Line: f.Line, Column: f.Column, Rule: f.Rule, Message: message})
	}
}

// derives reports whether operon derives a file. Files that another tool or the user wrote stay,
// unless --force replaces them.
func derives(p *scaffold.Plan, name string) (bool, error) {
	disk, base, err := p.Before(name)
	return disk == nil || base != nil || p.Forced(), err
}
