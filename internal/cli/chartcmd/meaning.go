package chartcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/chart"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/helm/rbac"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/operon-dev/operon/internal/olm/crdupgrade"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	helmchart "helm.sh/helm/v3/pkg/chart"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// meaning is what the new versions of charts change for users and for the cluster.
type meaning struct {
	Charts      []chartMeaning `json:"charts"`
	Permissions permissions    `json:"permissions"` // of the operator, for all its charts
}

type permissions struct {
	Added   []string `json:"added"`
	Removed []string `json:"removed"`
}

// chartMeaning is what the new version of a chart changes.
type chartMeaning struct {
	Chart    string              `json:"chart"` // the folder in the project
	Kind     string              `json:"kind"`
	From     string              `json:"from"` // the version of the chart
	To       string              `json:"to"`
	Fields   []fieldChange       `json:"fields"`
	Objects  []rbac.ObjectChange `json:"objects"`
	Findings []finding.Finding   `json:"findings"`
}

// fieldChange is a field of the CRD that is new or gone, or has a keyword that may accept fewer values.
type fieldChange struct {
	Path    string `json:"path"`              // as crdify writes it, such as spec.ports.items
	Keyword string `json:"keyword,omitempty"` // of the schema, such as minimum; "" if the field is new or gone
	Change  string `json:"change"`            // added, removed, or such as "minimum increased: 1 -> 2"
	Effect  string `json:"effect"`            // on existing objects: none, lost (the value of the field), invalid or unknown
}

// The effects of a changed field on existing objects.
const (
	effectNone    = "none"
	effectLost    = "lost"
	effectInvalid = "invalid"
	effectUnknown = "unknown"
)

// snapshot has the charts, CRDs and roles of a project.
type snapshot struct {
	charts []*helmchart.Chart
	crds   [][]*unstructured.Unstructured // by chart, each with one CRD or none
	roles  []*unstructured.Unstructured
}

// takeSnapshot reads the files as the plan has them at this time.
func takeSnapshot(p *scaffold.Plan, all []next) (snapshot, error) {
	var s snapshot
	for _, n := range all {
		files, err := p.ReadBelow(n.watch.Chart)
		if err != nil {
			return s, err
		}
		c, err := chart.LoadFiles(files)
		if err != nil {
			return s, subject{options: rbac.Options{Folder: n.watch.Chart}}.located(err)
		}
		crd, err := readObjects(p, crdBases+"/"+n.kind.QualifiedGroup()+"_"+n.kind.PluralName()+".yaml")
		if err != nil {
			return s, err
		}
		s.charts, s.crds = append(s.charts, c), append(s.crds, crd)
	}
	var err error
	s.roles, err = readObjects(p, rbac.Path)
	return s, err
}

// readObjects reads the objects in a file. A missing file has none.
func readObjects(p *scaffold.Plan, name string) ([]*unstructured.Unstructured, error) {
	content, err := p.Read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	all, err := chart.Objects(map[string]string{name: string(content)})
	if err != nil {
		return nil, fault.Usage("correct the file", "%v", err)
	}
	return all, nil
}

// compare returns what the changes between two snapshots mean.
func compare(ctx context.Context, c *project.Config, all []next, before, after snapshot) (meaning, error) {
	var m meaning
	for i, n := range all {
		u, err := rbac.CompareUpgrade(ctx, before.charts[i], after.charts[i], rbac.OfWatch(n.watch, c, kubeapi.Builtin()))
		if err != nil {
			return m, err
		}
		m.Charts = append(m.Charts, chartMeaning{
			Chart: n.watch.Chart, Kind: n.watch.Kind, From: before.charts[i].Metadata.Version, To: after.charts[i].Metadata.Version,
			Fields:  fieldChanges(before.crds[i], after.crds[i]),
			Objects: append([]rbac.ObjectChange{}, u.Objects...), Findings: append([]finding.Finding{}, u.Findings...),
		})
	}
	added, removed, err := rbac.Changes(before.roles, after.roles)
	m.Permissions = permissions{append([]string{}, added...), append([]string{}, removed...)}
	return m, err
}

// fieldChanges compares two CRDs.
func fieldChanges(before, after []*unstructured.Unstructured) []fieldChange {
	changes := []fieldChange{}
	if len(before) == 0 || len(after) == 0 {
		return changes
	}
	var older, newer apiextensionsv1.CustomResourceDefinition
	convert := runtime.DefaultUnstructuredConverter.FromUnstructured
	if convert(before[0].Object, &older) != nil || convert(after[0].Object, &newer) != nil {
		return changes // the user's CRD is invalid: operon chart validate says why
	}
	for _, c := range crdupgrade.Fields(&newer, &older) {
		if c.Rule == crdupgrade.FieldRemoval {
			changes = append(changes, fieldChange{Path: c.Property, Change: "added", Effect: effectNone})
		}
	}
	for _, c := range crdupgrade.Fields(&older, &newer) {
		switch c.Rule {
		case crdupgrade.FieldRemoval:
			changes = append(changes, fieldChange{Path: c.Property, Change: "removed", Effect: effectLost})
		case crdupgrade.Unhandled:
			changes = append(changes, fieldChange{c.Property, c.Rule, c.Message, effectUnknown})
		default:
			changes = append(changes, fieldChange{c.Property, c.Rule, c.Message, effectInvalid})
		}
	}
	slices.SortStableFunc(changes, func(a, b fieldChange) int { return cmp.Compare(a.Path, b.Path) })
	return changes
}

// text returns the report for people. It is empty if nothing changes.
func (m meaning) text() string {
	var out strings.Builder
	for _, c := range m.Charts {
		if c.From == c.To && len(c.Fields)+len(c.Objects)+len(c.Findings) == 0 {
			continue
		}
		fmt.Fprintf(&out, "\n%s: version %s -> %s\n", c.Chart, c.From, c.To)
		if len(c.Fields)+len(c.Objects)+len(c.Findings) == 0 {
			out.WriteString("  the same fields and objects\n")
		}
		for _, f := range c.Fields {
			out.WriteString(f.text() + "\n")
		}
		for _, o := range c.Objects {
			out.WriteString(line("object", o.Name, o.From, o.To))
			if o.With != "" {
				out.WriteString(" with " + o.With)
			}
			out.WriteString("\n")
		}
		for _, f := range c.Findings {
			out.WriteString("  " + f.Text(func(_, text string) string { return text }) + "\n")
		}
	}
	if len(m.Permissions.Added)+len(m.Permissions.Removed) > 0 {
		fmt.Fprintf(&out, "\n%s\n", rbac.Path)
	}
	for _, p := range joinVerbs(m.Permissions.Added) {
		out.WriteString(line("permission", p, "", " ") + "\n")
	}
	for _, p := range joinVerbs(m.Permissions.Removed) {
		out.WriteString(line("permission", p, " ", "") + "\n")
	}
	return out.String()
}

// joinVerbs returns one text for all verbs on a resource, such as "create, get secrets".
func joinVerbs(grants []string) []string {
	verbs := map[string][]string{}
	for _, g := range grants {
		verb, resource, _ := strings.Cut(g, " ")
		verbs[resource] = append(verbs[resource], verb)
	}
	var all []string
	for _, resource := range slices.Sorted(maps.Keys(verbs)) {
		all = append(all, strings.Join(verbs[resource], ", ")+" "+resource)
	}
	return all
}

// line describes something that is added, removed or changed.
func line(what, name, from, to string) string {
	switch {
	case from == "":
		return strings.TrimRight(fmt.Sprintf("  %-10s  added    %s  %s", what, name, to), " ")
	case to == "":
		return strings.TrimRight(fmt.Sprintf("  %-10s  removed  %s  %s", what, name, from), " ")
	}
	return fmt.Sprintf("  %-10s  changed  %s  %s -> %s", what, name, from, to)
}

// text describes the change and its effect.
func (f fieldChange) text() string {
	switch f.Effect {
	case effectNone:
		return fmt.Sprintf("  field       added    %s", f.Path)
	case effectLost:
		return fmt.Sprintf("  field       removed  %s: existing objects lose its value", f.Path)
	}
	return fmt.Sprintf("  %-10s  changed  %s  %s: existing objects can be invalid", f.Keyword, f.Path, f.Change)
}
