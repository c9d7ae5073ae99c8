package rbac

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/operon-dev/operon/internal/chart"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gen/progress"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/operon-dev/operon/internal/jsonvalue"
)

// renderSets renders the chart with all sets of values, and collects the objects.
func (d *deriver) renderSets(ctx context.Context) error {
	given, err := ciValues(d.chart)
	if err != nil {
		return err
	}
	given = append(given, d.Values...)
	base := ValueSet{}
	failure := d.render(ValueSet{}, "")
	for _, set := range given {
		before := len(d.sets)
		err := d.render(set, "with "+set.Name)
		switch {
		case err != nil:
			d.reportFailure(err, "with "+set.Name)
		case failure != nil && base.Name == "":
			base = set
		}
		if !slices.ContainsFunc(d.sets[before:], func(s Set) bool { return s.Objects > 0 || s.Error != "" }) {
			d.findings = append(d.findings, ruleEmpty.At("Chart.yaml", 0, 0, "the chart renders no objects with %s", set.Name))
		}
	}
	if failure != nil && base.Name == "" && !d.renderStandIns(failure) {
		return &fault.Error{Code: fault.CodeUsage, Hint: hintValues + ", or correct the chart", Err: failure}
	}
	d.renderUpgrade(base)

	values := defaultsOf(d.chart)
	jsonvalue.Merge(values, base.Values)
	booleans := d.booleans(values)
	if err := d.renderJobs(ctx, toggled(base, booleans)); err != nil {
		return err
	}
	all := d.renderAll(base, booleans)
	if err := d.renderJobs(ctx, toggled(base, d.conditions(values))); err != nil {
		return err
	}
	return d.renderJobs(ctx, toggled(all, d.conditions(values)))
}

// hintValues says how a chart gets the values that its defaults lack.
const hintValues = "add a file ci/NAME-values.yaml to the chart, with values that it needs"

// renderStandIns renders a chart that needs values with stand-ins for them, in this rendering and in all that follow,
// and warns. It reports whether the chart renders objects then. failure is the reason why the defaults do not.
func (d *deriver) renderStandIns(failure error) bool {
	for i := range d.renderers {
		d.renderers[i].Lenient = true
	}
	before := len(d.sets)
	_ = d.render(ValueSet{Name: "stand-ins for required values"}, "with stand-ins for required values") // Set has the error
	if !slices.ContainsFunc(d.sets[before:], func(s Set) bool { return s.Objects > 0 }) {
		return false
	}
	e := errorOf(failure)
	f := RuleNeedsValues.At(e.File, e.Line, e.Column, "the chart does not render with its defaults: %s; permissions are derived with placeholder values", e.Msg)
	f.Fix = hintValues
	d.findings = append(d.findings, f)
	return true
}

// toggled returns the jobs for single changes of values.
func toggled(base ValueSet, toggles []toggle) []job {
	var all []job
	for _, t := range toggles {
		name := strings.TrimPrefix(base.Name+", "+t.name(), ", ")
		all = append(all, job{release: release, set: ValueSet{name, base.Values}, change: t.apply, why: "with " + name, optional: true})
	}
	return all
}

// renderAll renders the chart with as many booleans set to true as it accepts together. It returns
// the values.
func (d *deriver) renderAll(base ValueSet, booleans []toggle) ValueSet {
	accepted := d.values(base.Values)
	var add func(list []toggle)
	add = func(list []toggle) {
		if len(list) == 0 {
			return
		}
		values, _ := jsonvalue.Clone(accepted).(map[string]any)
		for _, t := range list {
			t.apply(values)
		}
		if _, err := d.renderers[0].Render(d.chart, d.values(values), release, d.cluster(true)); err == nil {
			accepted = values
		} else if len(list) > 1 {
			add(list[:len(list)/2])
			add(list[len(list)/2:])
		}
	}
	add(slices.DeleteFunc(slices.Clone(booleans), func(t toggle) bool { return t.value != true }))
	all := ValueSet{"all booleans true", accepted}
	_ = d.render(all, "with "+all.Name) // Set has the error
	return all
}

// renderUpgrade renders the chart as an upgrade if its templates differ then.
func (d *deriver) renderUpgrade(base ValueSet) {
	if slices.ContainsFunc(d.templates, func(t template) bool {
		return strings.Contains(t.text, "IsUpgrade") || strings.Contains(t.text, "IsInstall")
	}) {
		upgrade := release
		upgrade.Upgrade = true
		_ = d.renderJob(job{release: upgrade, set: ValueSet{"upgrade", base.Values}, why: "in upgrades", optional: true})
	}
}

// render renders the chart with a set of values and, if templates look for API versions, also without
// these. It fails if both fail.
func (d *deriver) render(set ValueSet, why string) error {
	j := job{release: release, set: set, why: why, optional: true}
	err := d.renderJob(j)
	if slices.ContainsFunc(d.templates, func(t template) bool { return len(t.apis) > 0 }) {
		j.why, j.optional = strings.TrimSpace(why+" without optional APIs"), false
		if d.renderJob(j) == nil {
			err = nil
		}
	}
	return err
}

// job is one rendering of the chart.
type job struct {
	release  chart.Release
	set      ValueSet
	change   func(values map[string]any) // changes a copy of the values; nil for no change
	why      string                      // the set for messages; "" for the defaults
	optional bool                        // with the API versions that templates look for
}

// name returns the name of the set in the report.
func (j job) name() string {
	name := cmp.Or(j.set.Name, "defaults")
	if !j.optional {
		name += ", without optional APIs"
	}
	return name
}

// rendering is the result of a job.
type rendering struct {
	files map[string]string // the outputs by the paths of templates
	err   error
}

// batch is the number of renderings that are in memory at the same time.
const batch = 64

// renderJobs renders the chart several times at once, and keeps the objects in the order of the jobs.
func (d *deriver) renderJobs(ctx context.Context, jobs []job) error {
	report := progress.From(ctx)
	var finished atomic.Int64
	for some := range slices.Chunk(jobs, batch) {
		results := make([]rendering, len(some))
		var started atomic.Int64
		var running sync.WaitGroup
		for i := range min(len(d.renderers), len(some)) {
			running.Go(func() {
				for n := int(started.Add(1)) - 1; n < len(some) && ctx.Err() == nil; n = int(started.Add(1)) - 1 {
					results[n] = d.execute(&d.renderers[i], some[n])
					report(d.phase(), int(finished.Add(1)), len(jobs))
				}
			})
		}
		running.Wait()
		if err := ctx.Err(); err != nil {
			return err
		}
		for n, j := range some {
			_ = d.keep(j, results[n]) // Set has the error
		}
	}
	return nil
}

// phase names the work for the progress of a command.
func (d *deriver) phase() string { return "rendering " + cmp.Or(d.Folder, d.chart.Name()) }

// renderJob renders the chart once, and keeps the objects.
func (d *deriver) renderJob(j job) error { return d.keep(j, d.execute(&d.renderers[0], j)) }

// execute renders the chart.
func (d *deriver) execute(renderer *chart.Renderer, j job) (r rendering) {
	values := d.values(j.set.Values)
	if j.change != nil {
		j.change(values)
		jsonvalue.Merge(values, d.Overrides)
	}
	r.files, r.err = renderer.Render(d.chart, values, j.release, d.cluster(j.optional))
	return r
}

// keep collects the objects of a rendering. It returns the reason why there are none.
func (d *deriver) keep(j job, r rendering) error {
	result, err := Set{Name: j.name()}, r.err
	if err == nil {
		result.Objects, err = d.collect(r.files, j.why)
	}
	if err != nil {
		result.Error = err.Error()
	}
	d.sets = append(d.sets, result)
	return err
}

// cluster describes the cluster. optional adds the API versions that templates look for.
func (d *deriver) cluster(optional bool) chart.Cluster {
	c := chart.Cluster{Version: "v" + kubeapi.Release + ".0", APIVersions: d.Kinds.APIVersions()}
	if optional {
		for _, t := range d.templates {
			c.APIVersions = append(c.APIVersions, t.apis...)
		}
	}
	return c
}

// reportFailure reports that the chart does not render with values that the user gives.
func (d *deriver) reportFailure(err error, with string) {
	e := errorOf(err)
	d.findings = append(d.findings, RuleRender.At(e.File, e.Line, e.Column, "%s (%s)", e.Msg, with))
}

// errorOf returns an error of a rendering with its position.
func errorOf(err error) *chart.Error {
	e := &chart.Error{}
	if !errors.As(err, &e) {
		e.Msg = err.Error()
	}
	return e
}
