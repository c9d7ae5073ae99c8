package rbac

import (
	"context"
	"reflect"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/chart"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/gen/progress"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	helmchart "helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// immutableChanges returns findings about fields that an upgrade would have to change and cannot. Helm
// replaces hooks.
func immutableChanges(before, after []objectIn, how string) []finding.Finding {
	var found []finding.Finding
	for _, b := range before {
		i := slices.IndexFunc(after, b.same)
		if i < 0 || b.object.GetAnnotations()[hookAnnotation] != "" {
			continue
		}
		for _, field := range kubeapi.ImmutableFields(b.object.GroupVersionKind().GroupKind()) {
			steps := strings.Split(field, ".")
			old, _, _ := unstructured.NestedFieldNoCopy(b.object.Object, steps...)
			if changed, _, _ := unstructured.NestedFieldNoCopy(after[i].object.Object, steps...); !reflect.DeepEqual(old, changed) {
				found = append(found, ruleImmutable.At(after[i].file, 0, 0, "%s of %s %s changes%s, but cannot change: an upgrade fails", field, b.object.GetKind(), b.object.GetName(), how))
			}
		}
	}
	return found
}

// same reports whether Helm takes two objects for one.
func (b objectIn) same(o objectIn) bool {
	x, y := b.object, o.object
	return x.GroupVersionKind().GroupKind() == y.GroupVersionKind().GroupKind() &&
		x.GetName() == y.GetName() && x.GetNamespace() == y.GetNamespace()
}

// ObjectChange is an object that only one of two versions of a chart renders, or that has another kind
// or API version in the second one.
type ObjectChange struct {
	From string `json:"from,omitempty"` // API version and kind; "" if the object is new
	To   string `json:"to,omitempty"`   // the same; "" if the object is removed
	Name string `json:"name"`           // in a release with the name release-name
	File string `json:"file"`           // the template, relative to the project
	With string `json:"with,omitempty"` // the first set of values that shows the change; "" for the defaults
}

// Upgrade is what an upgrade of releases to another version of their chart changes.
type Upgrade struct {
	Objects  []ObjectChange
	Findings []finding.Finding // immutable fields that would change, and values that only the old version renders with
}

// CompareUpgrade compares two versions of a chart. It renders both with the defaults, the values in ci,
// the defaults of the options, and each boolean of the old version flipped.
func CompareUpgrade(ctx context.Context, before, after *helmchart.Chart, o Options) (Upgrade, error) {
	var u Upgrade
	d, err := newDeriver(before, o)
	if err != nil {
		return u, err
	}
	sets, err := d.upgradeSets()
	if err != nil {
		return u, err
	}
	for i, set := range sets {
		progress.From(ctx)(d.phase(), i, len(sets))
		if err := ctx.Err(); err != nil {
			return u, err
		}
		old, err := d.objectsWith(before, set)
		if err != nil {
			continue // nobody has such a release
		}
		objects, err := d.objectsWith(after, set)
		if err != nil {
			d.reportFailure(err, strings.TrimSpace("the old version renders "+set.with()))
			continue
		}
		u.add(set.with(), d.Folder, old, objects)
		d.findings = append(d.findings, immutableChanges(old, objects, "")...)
	}
	u.Findings = slices.Compact(finding.Sort(finding.InFolder(o.Folder, d.findings)))
	return u, nil
}

// add adds the differences between the objects of two versions that no earlier set of values shows.
func (u *Upgrade) add(with, folder string, before, after []objectIn) {
	var changes []ObjectChange
	for _, b := range before {
		i := slices.IndexFunc(after, b.same)
		to, file := "", b.file
		if i >= 0 {
			to, file = after[i].kind(), after[i].file
		}
		if b.kind() != to {
			changes = append(changes, ObjectChange{From: b.kind(), To: to, Name: b.object.GetName(), File: file})
		}
	}
	for _, a := range after {
		if slices.ContainsFunc(before, a.same) {
			continue
		}
		i := slices.IndexFunc(changes, func(c ObjectChange) bool { return c.To == "" && c.Name == a.object.GetName() && c.File == a.file })
		if i >= 0 {
			changes[i].To = a.kind() // the template has another kind now
			continue
		}
		changes = append(changes, ObjectChange{To: a.kind(), Name: a.object.GetName(), File: a.file})
	}
	for _, c := range changes {
		c.File = strings.TrimPrefix(folder+"/"+c.File, "/")
		known := slices.ContainsFunc(u.Objects, func(o ObjectChange) bool { return o.From == c.From && o.To == c.To && o.Name == c.Name })
		if !known {
			c.With = strings.TrimPrefix(with, "with ")
			u.Objects = append(u.Objects, c)
		}
	}
}

// kind returns the API version and the kind, such as apps/v1 Deployment.
func (b objectIn) kind() string { return b.object.GetAPIVersion() + " " + b.object.GetKind() }

// with names a set of values for messages; the defaults have no name.
func (s ValueSet) with() string {
	if s.Name == "" {
		return ""
	}
	return "with " + s.Name
}

// upgradeSets returns the sets of values that releases of a chart may have.
func (d *deriver) upgradeSets() ([]ValueSet, error) {
	given, err := ciValues(d.chart)
	if err != nil {
		return nil, err
	}
	sets := append([]ValueSet{{}}, slices.Concat(given, d.Values)...)
	for _, t := range d.booleans(defaultsOf(d.chart)) {
		set := ValueSet{t.name(), map[string]any{}}
		t.apply(set.Values)
		sets = append(sets, set)
	}
	return sets, nil
}

// objectsWith returns the objects that a chart renders with a set of values.
func (d *deriver) objectsWith(c *helmchart.Chart, set ValueSet) ([]objectIn, error) {
	rendered, err := chart.Render(c, d.values(set.Values), release, d.cluster(true))
	if err != nil {
		return nil, err
	}
	return objectsIn(rendered)
}
