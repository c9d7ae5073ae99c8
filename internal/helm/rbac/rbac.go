// Package rbac derives the permissions that an operator needs to install a chart, upgrade it,
// repair it and uninstall it: least-privilege roles, with the templates that need each rule.
//
// It renders the chart with many sets of values, and uses neither disk nor cluster. What templates
// could render and no set of values shows is a finding, never a guess. The verbs are those that the
// runtimes helm-operator and helm-operator-plugins use:
//
//	objects       get, create, patch and delete; update to roll back; list and watch to repair
//	hooks         create, get and delete; list and watch for Jobs and Pods, whose end Helm awaits
//	CRDs in crds  create and get, because Helm neither changes nor deletes them
package rbac

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"

	"github.com/operon-dev/operon/internal/chart"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/operon-dev/operon/internal/jsonvalue"
	"github.com/operon-dev/operon/internal/roles"
	helmchart "helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Path is the file of a project with the derived roles.
const Path = "config/rbac/role.yaml"

// The rules of the findings.
var (
	RuleRender = finding.Rule{Name: "chart-render", Severity: finding.Error,
		Summary: "The templates render with the values"}
	RuleNeedsValues = finding.Rule{Name: "chart-needs-values", Severity: finding.Warning,
		Summary: "The chart renders with its defaults or with the values in its folder ci"}
	ruleEmpty = finding.Rule{Name: "chart-empty", Severity: finding.Error,
		Summary: "The templates render objects with each given set of values"}
	ruleUnseen = finding.Rule{Name: "chart-unseen", Severity: finding.Warning,
		Summary: "Some set of values renders each object of a template"}
	ruleUnknownKind = finding.Rule{Name: "chart-unknown-kind", Severity: finding.Warning,
		Summary: "Kubernetes or a known CRD defines the kinds of rendered objects"}
	RuleClusterScope = finding.Rule{Name: "chart-cluster-scope", Severity: finding.Warning,
		Summary: "An operator of one namespace creates no objects outside of it"}
	RuleEscalation = finding.Rule{Name: "chart-escalation", Severity: finding.Warning,
		Summary: "The chart grants only permissions that the operator can hold"}
	ruleUnstable = finding.Rule{Name: "chart-unstable", Severity: finding.Warning,
		Summary: "Templates render the same each time: the operator upgrades a release whose dry run differs"}
	ruleLint = finding.Rule{Name: "chart-lint", Severity: finding.Error,
		Summary: "Helm's linter accepts the files of the chart"}
	ruleObject = finding.Rule{Name: "chart-object", Severity: finding.Error,
		Summary: "An API server accepts the rendered objects"}
	ruleImmutable = finding.Rule{Name: "chart-immutable", Severity: finding.Error,
		Summary: "Immutable fields do not depend on the version of the chart"}
)

// Rules are the rules of the findings of Derive and Lint.
var Rules = []finding.Rule{
	RuleRender, RuleNeedsValues, ruleEmpty, ruleUnseen, ruleUnknownKind,
	RuleClusterScope, RuleEscalation, ruleUnstable, ruleLint, ruleObject, ruleImmutable,
}

// Resource is the kind of the custom resources that become releases of the chart.
type Resource struct {
	schema.GroupVersionKind
	Plural string
}

// Options are what permissions depend on besides the chart.
type Options struct {
	Folder   string         // the path of the chart, which origins and findings begin with; "" for none
	Source   string         // the origin of the rules for the custom resources; default: watches.yaml
	Resource Resource       // the zero value results in no rules for custom resources
	Kinds    *kubeapi.Kinds // the kinds that the cluster serves, besides the kinds of the chart's CRDs; default: the kinds of Kubernetes

	Values    []ValueSet     // in addition to the sets that Derive makes
	Overrides map[string]any // values that the operator sets in each release

	Namespaced bool // the operator watches custom resources in its own namespace only
	Unwatched  bool // the operator does not watch the objects of its releases
	LooksUp    bool // lookup finds objects in the dry run with which the operator compares a release
}

// Report is the result of Derive.
type Report struct {
	Grants   []roles.Grant
	Findings []finding.Finding // sorted by position
	Sets     []Set             // what the chart was rendered with
	// Kinds are the kinds of the objects of releases, without the objects of hooks. They are sorted by
	// kind and version.
	Kinds []schema.GroupVersionKind
}

// Set is a set of values, with the result of rendering it.
type Set struct {
	Name    string `json:"name"`
	Objects int    `json:"objects"`         // the number of rendered objects
	Error   string `json:"error,omitempty"` // the reason why the chart does not render, with the position
}

// Failed returns the sets of values that do not render.
func (r *Report) Failed() []Set {
	return slices.DeleteFunc(slices.Clone(r.Sets), func(s Set) bool { return s.Error == "" })
}

// Roles returns the roles of an operator of one or more charts. The first one is that which the
// scaffolded binding binds: the ClusterRole of the manager or, if the operator watches its own namespace
// only, its Role.
func Roles(namespaced bool, reports ...*Report) roles.List {
	var all []roles.Grant
	for _, r := range reports {
		all = append(all, r.Grants...)
	}
	list := roles.Merge(all)
	if !namespaced {
		return list
	}
	own := roles.Role{}
	isOwn := func(r roles.Role) bool { return !r.Cluster && r.Name == "" && r.Namespace == "" }
	if i := slices.IndexFunc(list, isOwn); i >= 0 {
		own = list[i]
	}
	rest := slices.DeleteFunc(list, func(r roles.Role) bool { return isOwn(r) || r.Cluster && len(r.Rules) == 0 })
	return append(roles.List{own}, rest...)
}

// release is the release that the sets are rendered as. No template has these names.
var release = chart.Release{Name: "release-name", Namespace: "release-namespace"}

// Derive returns the permissions that a chart needs. It fails with a *chart.Error if the chart lacks
// dependencies, or renders neither with its defaults nor with the values in ci or in the options.
func Derive(ctx context.Context, c *helmchart.Chart, o Options) (*Report, error) {
	if err := chart.CheckInstallable(c); err != nil {
		return nil, err
	}
	d, err := newDeriver(c, o)
	if err != nil {
		return nil, err
	}
	if err := d.renderSets(ctx); err != nil {
		return nil, err
	}
	d.useCRDs()
	d.allowOperator()
	d.allowCRDs()
	for _, f := range d.found {
		d.allowObject(f)
	}
	d.allowLookups()
	for _, t := range d.templates {
		d.findings = append(d.findings, d.unseen(t)...)
	}
	d.unstable()
	return &Report{Grants: d.grants, Findings: finding.Sort(finding.InFolder(o.Folder, d.findings)), Sets: d.sets, Kinds: d.objectKinds()}, nil
}

// newDeriver returns a deriver that has read the templates of a chart.
func newDeriver(c *helmchart.Chart, o Options) (*deriver, error) {
	o.Source = cmp.Or(o.Source, "watches.yaml")
	if o.Kinds == nil {
		o.Kinds = kubeapi.Builtin()
	}
	templates, err := readTemplates(c)
	if err != nil {
		return nil, err
	}
	d := &deriver{
		Options: o, chart: c, templates: templates, lookups: map[lookup]bool{},
		outputs: map[string][]output{}, seen: map[string]bool{}, included: map[string]bool{},
	}
	for _, t := range templates {
		for _, name := range t.includes {
			d.included[name] = true
		}
	}
	var together sync.Mutex
	seen := func(apiVersion, kind, _, name string) (map[string]any, error) {
		together.Lock()
		defer together.Unlock()
		d.lookups[lookup{apiVersion: apiVersion, kind: kind, list: name == ""}] = true
		return map[string]any{}, nil
	}
	for range min(runtime.GOMAXPROCS(0), maxRenderers) {
		d.renderers = append(d.renderers, chart.Renderer{ReuseKeys: true, Lookup: seen})
	}
	return d, nil
}

// maxRenderers limits the memory of renderings at the same time.
const maxRenderers = 8

// deriver collects permissions.
type deriver struct {
	Options
	chart     *helmchart.Chart
	templates []template
	renderers []chart.Renderer // for renderings at the same time

	sets    []Set
	outputs map[string][]output // by the path of the template
	found   []found
	seen    map[string]bool // keys of found
	lookups map[lookup]bool // that templates made

	grants   []roles.Grant
	granted  map[roles.Grant]bool
	included map[string]bool // the names of templates that others include
	findings []finding.Finding
}

// values returns the values of a release: the given ones and the overrides.
func (d *deriver) values(given map[string]any) map[string]any {
	values, _ := jsonvalue.Clone(given).(map[string]any)
	if values == nil {
		values = map[string]any{}
	}
	jsonvalue.Merge(values, d.Overrides)
	return values
}
