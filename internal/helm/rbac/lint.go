package rbac

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/chart"
	"github.com/operon-dev/operon/internal/crdschema"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/operon-dev/operon/internal/hooks/testfile"
	helmchart "helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Lint returns findings about the files of a chart and about the objects that it renders with its defaults:
// those that an API server refuses, and those whose immutable fields depend on the version of the chart,
// so that it cannot be upgraded.
func Lint(c *helmchart.Chart, o Options) []finding.Finding {
	var found []finding.Finding
	for _, e := range chart.LintFiles(c) {
		found = append(found, ruleLint.At(e.File, e.Line, 0, "%s", e.Msg))
	}
	d := &deriver{Options: o, chart: c}
	if d.Kinds == nil {
		d.Kinds = kubeapi.Builtin()
	}
	before, err := d.objectsOf(c)
	if err != nil {
		return found // Derive reports it
	}
	crds, unreadable := crdsOf(c)
	found = append(found, unreadable...)
	for _, b := range append(crds, before...) {
		for _, problem := range slices.Concat(chart.Lint(b.object), crdschema.RefusedObject(b.object)) {
			found = append(found, ruleObject.At(b.file, 0, 0, "%s", problem))
		}
		if _, problem, hint := testfile.InvalidField(b.object); problem != "" {
			f := ruleObject.At(b.file, 0, 0, "%s", problem)
			f.Fix = hint
			found = append(found, f)
		}
	}
	next, metadata := *c, *c.Metadata
	metadata.Version, metadata.AppVersion = "999.0.0", "999.0.0"
	next.Metadata = &metadata
	after, err := d.objectsOf(&next)
	if err != nil {
		return found
	}
	return append(found, immutableChanges(before, after, " with the version of the chart")...)
}

// objectIn is an object with the path of its template.
type objectIn struct {
	file   string
	object *unstructured.Unstructured
}

// crdsOf returns the CRDs in the folder crds, which are no templates, and findings about files with which Helm cannot install the chart.
func crdsOf(c *helmchart.Chart) (all []objectIn, unreadable []finding.Finding) {
	for _, crd := range c.CRDObjects() {
		objects, err := objectsIn(map[string]string{crd.Name: string(crd.File.Data)})
		if bad, is := errors.AsType[*chart.Error](err); is {
			unreadable = append(unreadable, ruleObject.At(crd.Name, bad.Line, 0, "%s", strings.Replace(bad.Msg, "the output", "the file", 1)))
		}
		all = append(all, objects...)
	}
	return all, unreadable
}

// objectsOf returns the objects that a chart renders with the first set of values that it accepts.
func (d *deriver) objectsOf(c *helmchart.Chart) ([]objectIn, error) {
	sets := append([]ValueSet{{}}, d.Values...)
	var failure error
	for _, set := range sets {
		rendered, err := chart.Render(c, d.values(set.Values), release, d.cluster(false))
		if err != nil {
			failure = cmp.Or(failure, err)
			continue
		}
		return objectsIn(rendered)
	}
	return nil, failure
}

// objectsIn returns the objects in rendered files.
func objectsIn(rendered map[string]string) ([]objectIn, error) {
	var all []objectIn
	for _, name := range slices.Sorted(maps.Keys(rendered)) {
		objects, err := chart.Objects(map[string]string{name: rendered[name]})
		if err != nil {
			return nil, err
		}
		for _, o := range objects {
			all = append(all, objectIn{name, o})
		}
	}
	return all, nil
}
