package rights

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/chart"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks/kinds"
	"github.com/operon-dev/operon/internal/lazyregexp"
	"github.com/operon-dev/operon/internal/plural"
	"github.com/operon-dev/operon/internal/roles"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Annotations of Helm.
const (
	hookAnnotation   = "helm.sh/hook"
	logsAnnotation   = "helm.sh/hook-output-log-policy"
	policyAnnotation = "helm.sh/resource-policy"
)

// found is an object that a template renders.
type found struct {
	file   string // of the template
	why    string // the set of values, such as "with a=true"; "" for the defaults
	object *unstructured.Unstructured
}

// collect keeps the objects in rendered files, and returns their number. Objects of one template
// that need the same rights are kept once.
func (d *deriver) collect(rendered map[string]string, why string) (count int, err error) {
	for _, name := range slices.Sorted(maps.Keys(rendered)) {
		o := d.output(name, rendered[name], why)
		count += o.objects
		err = cmp.Or(err, o.err)
	}
	return count, err
}

// output is what a template renders.
type output struct {
	text    string
	objects int   // their number
	err     error // the reason why there are none
}

// output keeps the objects in an output, unless another set of values has rendered it before.
func (d *deriver) output(name, text, why string) output {
	for _, known := range d.outputs[name] {
		if known.text == text {
			return known
		}
	}
	o := output{text: text}
	objects, err := chart.Objects(map[string]string{name: text})
	o.err = err
	for _, object := range objects {
		d.each(object, func(object *unstructured.Unstructured) {
			o.objects++
			f := found{d.fileOf(name), why, object}
			if key := f.key(); !d.seen[key] {
				d.seen[key] = true
				d.found = append(d.found, f)
			}
		})
	}
	d.outputs[name] = append(d.outputs[name], o)
	return o
}

var kindName = lazyregexp.New(`^[A-Z][A-Za-z0-9]*$`)

// each calls a function for an object or, if that is a list, for its items.
func (d *deriver) each(o *unstructured.Unstructured, do func(*unstructured.Unstructured)) {
	if !o.IsList() {
		if kindName().MatchString(o.GetKind()) && o.GroupVersionKind().Version != "" {
			do(o) // others come from values that only fill a gap
		}
		return
	}
	_ = o.EachListItem(func(item runtime.Object) error {
		d.each(item.(*unstructured.Unstructured), do)
		return nil
	})
}

// fileOf returns the path of a template whose dependencies may have aliases.
func (d *deriver) fileOf(rendered string) string {
	for _, t := range d.templates {
		if slices.Contains(t.rendered, rendered) {
			return t.file
		}
	}
	return rendered
}

// key identifies objects that need the same rights.
func (f found) key() string {
	o := f.object
	annotations := o.GetAnnotations()
	parts := []string{f.file, o.GroupVersionKind().GroupKind().String(), o.GetNamespace(), annotations[hookAnnotation], annotations[logsAnnotation], annotations[policyAnnotation]}
	if o.GroupVersionKind().Group == rbacv1.GroupName || kinds.IsCRD(o.GroupVersionKind()) {
		content, _ := json.Marshal(o.Object)
		parts = append(parts, string(content))
	}
	return strings.Join(parts, "\x00")
}

// what describes an object in the origin of a rule.
func (f found) what() string {
	text := f.object.GetKind()
	if hook := f.object.GetAnnotations()[hookAnnotation]; hook != "" {
		text += ", hook " + hook
	}
	return text
}

// with is the set of values for messages.
func (f found) with() string {
	if f.why == "" {
		return ""
	}
	return " " + f.why
}

// reason returns an origin for a rule.
func (f found) reason(text string) roles.Reason {
	return roles.Reason{File: f.file, Why: strings.TrimSpace(text + " " + f.why)}
}

// objectKinds returns the kinds of the objects that stay in a release.
func (d *deriver) objectKinds() []schema.GroupVersionKind {
	var all []schema.GroupVersionKind
	for _, f := range d.found {
		if f.object.GetAnnotations()[hookAnnotation] == "" {
			all = append(all, f.object.GroupVersionKind())
		}
	}
	slices.SortFunc(all, func(a, b schema.GroupVersionKind) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Version, b.Version), strings.Compare(a.Group, b.Group))
	})
	return slices.Compact(all)
}

// useCRDs adds the kinds that the chart defines.
func (d *deriver) useCRDs() {
	var all []kinds.CRD
	add := func(o *unstructured.Unstructured) {
		if crd, err := kinds.FromObject(o); err == nil {
			all = append(all, crd)
		}
	}
	for _, f := range d.found {
		if kinds.IsCRD(f.object.GroupVersionKind()) {
			add(f.object)
		}
	}
	for _, f := range d.chart.CRDObjects() {
		objects, err := chart.Objects(map[string]string{f.Filename: string(f.File.Data)})
		if err != nil {
			continue // the lint reports it
		}
		for _, o := range objects {
			if kinds.IsCRD(o.GroupVersionKind()) {
				add(o)
			}
		}
	}
	d.Kinds = d.Kinds.With(all...)
}

// kindOf returns the kind of an object. Rules have no versions, so a kind that is served in others
// will do. ok is false if the plural is a guess.
func (d *deriver) kindOf(gvk schema.GroupVersionKind) (k kinds.Kind, ok bool) {
	k, err := d.Kinds.FindObject(gvk)
	if err == nil {
		return k, true
	}
	for _, k := range d.Kinds.All() {
		if k.Group == gvk.Group && k.Kind == gvk.Kind {
			return k, true
		}
	}
	known, ok := wellKnown()[gvk.GroupKind().String()]
	resource := cmp.Or(known.plural, plural.Of(strings.ToLower(gvk.Kind)))
	return kinds.Kind{Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind, Resource: resource, Namespaced: !known.cluster}, ok
}

// allowOperator allows what the operator itself needs.
func (d *deriver) allowOperator() {
	source := func(why string) roles.Reason { return roles.Reason{File: d.Source, Why: why} }
	own := d.own()
	if r := d.Resource; r.Kind != "" {
		why := source("the operator reconciles " + r.Kind)
		resource := cmp.Or(r.Plural, plural.Of(strings.ToLower(r.Kind)))
		d.allow(own, r.Group, resource, "", why, "get", "list", "watch", "update")
		d.allow(own, r.Group, resource+"/status", "", why, "update")
		d.allow(own, r.Group, resource+"/finalizers", "", why, "update") // its objects block its deletion
	}
	d.allow(own, "", "secrets", "", source("releases are stored in Secrets"), "get", "list", "watch", "create", "update", "delete")
	d.allow(own, "", "events", "", source("the operator reports events"), "create", "patch")
}

// own is the scope of objects in the namespaces of custom resources.
func (d *deriver) own() roles.Scope {
	if d.Namespaced {
		return roles.Scope{}
	}
	return roles.Everywhere
}

// allow grants verbs on a resource.
func (d *deriver) allow(in roles.Scope, group, resource, name string, because roles.Reason, verbs ...string) {
	for _, verb := range verbs {
		d.grant(roles.Grant{Scope: in, Group: group, Resource: resource, Name: name, Verb: verb, Reason: because})
	}
}

// grant adds a grant, unless the template has it already with another set of values.
func (d *deriver) grant(g roles.Grant) {
	g.Reason.File = d.inProject(g.Reason.File)
	key := g
	key.Reason.Why = ""
	if d.granted[key] {
		return
	}
	if d.granted == nil {
		d.granted = map[roles.Grant]bool{}
	}
	d.granted[key] = true
	d.grants = append(d.grants, g)
}

// inProject returns the path that origins have for a file of the chart.
func (d *deriver) inProject(file string) string {
	if d.Folder == "" || file == d.Source {
		return file
	}
	return d.Folder + "/" + file
}

// allowCRDs allows what Helm does with the CRDs in the folders crds.
func (d *deriver) allowCRDs() {
	for _, crd := range d.chart.CRDObjects() {
		file := strings.TrimPrefix(crd.Filename, d.chart.ChartFullPath()+"/")
		d.allow(roles.Everywhere, "apiextensions.k8s.io", "customresourcedefinitions", "", roles.Reason{File: file, Why: "CustomResourceDefinition"}, "get", "create")
		d.reportClusterScope(file, "a CustomResourceDefinition")
	}
}

// allowObject allows what Helm and the operator do with an object.
func (d *deriver) allowObject(f found) {
	o := f.object
	k, known := d.kindOf(o.GroupVersionKind())
	if !known {
		d.find(RuleUnknownKind.At(f.file, 0, 0, "neither Kubernetes nor a known CRD defines %s %s: the rule for %s is a guess; name the file of its CRD with --crd", o.GetAPIVersion(), o.GetKind(), k.Resource))
	}
	in := d.own()
	if namespace := o.GetNamespace(); d.Namespaced && k.Namespaced && namespace != "" && namespace != release.Namespace {
		in = roles.Scope{Namespace: namespace}
		d.reportClusterScope(f.file, fmt.Sprintf("a %s in namespace %s", o.GetKind(), namespace))
	}
	if !k.Namespaced {
		in = roles.Everywhere
		d.reportClusterScope(f.file, "a "+o.GetKind())
	}
	reason := f.reason(f.what())
	annotations := o.GetAnnotations()
	switch hook := annotations[hookAnnotation]; {
	case hook != "":
		d.allowHook(in, k, annotations[logsAnnotation] != "", reason)
	default:
		verbs := []string{"get", "create", "update", "patch"}
		if annotations[policyAnnotation] != "keep" {
			verbs = append(verbs, "delete")
		}
		d.allow(in, k.Group, k.Resource, "", reason, verbs...)
		if !d.Unwatched {
			d.allow(d.watched(k), k.Group, k.Resource, "", reason, "list", "watch")
		}
	}
	d.allowEscalation(f, in)
}

// watched returns the scope in which the operator watches a kind.
func (d *deriver) watched(k kinds.Kind) roles.Scope {
	if !k.Namespaced {
		return roles.Everywhere
	}
	return d.own()
}

// allowHook allows what Helm does with a hook.
func (d *deriver) allowHook(in roles.Scope, k kinds.Kind, logs bool, reason roles.Reason) {
	verbs := []string{"get", "create"}
	if k.Resource != "customresourcedefinitions" { // Helm never deletes those
		verbs = append(verbs, "delete")
	}
	if k.String() == "jobs.batch" || k.String() == "pods" {
		verbs = append(verbs, "list", "watch") // Helm waits for their end
		if logs {
			d.allow(in, "", "pods", "", reason, "list")
			d.allow(in, "", "pods/log", "", reason, "get")
		}
	}
	d.allow(in, k.Group, k.Resource, "", reason, verbs...)
}

// allowEscalation allows the permissions that an object grants: the API server lets an account
// grant only those that it has.
func (d *deriver) allowEscalation(f found, in roles.Scope) {
	gk := f.object.GroupVersionKind().GroupKind()
	if gk.Group != rbacv1.GroupName {
		return
	}
	switch gk.Kind {
	case "ClusterRole", "Role":
		if gk.Kind == "ClusterRole" {
			in = roles.Everywhere
			if _, aggregates, _ := unstructured.NestedMap(f.object.Object, "aggregationRule"); aggregates {
				d.find(RuleEscalation.At(f.file, 0, 0, "only an account with all permissions may create a ClusterRole with an aggregationRule, which the chart has%s: list its rules instead, or create it outside of the chart", f.with()))
			}
		}
		d.allowRules(f, in)
	case "ClusterRoleBinding", "RoleBinding":
		d.allowBinding(f, in)
	}
}

// allowRules allows all that a role allows.
func (d *deriver) allowRules(f found, in roles.Scope) {
	var role rbacv1.ClusterRole // a Role has the same rules
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(f.object.Object, &role); err != nil {
		return // the API server refuses it
	}
	reason := f.reason(f.object.GetKind() + " grants it")
	for _, rule := range role.Rules {
		if what := broad(rule); what != "" {
			d.find(RuleEscalation.At(f.file, 0, 0, "%s %s grants %s%s, so the operator needs that, too", f.object.GetKind(), f.object.GetName(), what, f.with()))
		}
		names := rule.ResourceNames
		if len(names) == 0 {
			names = []string{""}
		}
		for _, verb := range rule.Verbs {
			for _, url := range rule.NonResourceURLs {
				d.grant(roles.Grant{Scope: roles.Everywhere, URL: url, Verb: verb, Reason: reason})
			}
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					for _, name := range names {
						d.allow(in, group, resource, name, reason, verb)
					}
				}
			}
		}
	}
}

// broad describes a rule that grants more than verbs on resources that it names, or returns "".
func broad(rule rbacv1.PolicyRule) string {
	if slices.Contains(rule.NonResourceURLs, "*") || slices.Contains(rule.NonResourceURLs, "/*") {
		return strings.Join(rule.Verbs, ", ") + " on all URLs"
	}
	verbs, groups, resources := slices.Contains(rule.Verbs, "*"), slices.Contains(rule.APIGroups, "*"), slices.Contains(rule.Resources, "*")
	what := strings.Join(rule.Resources, ", ")
	if resources {
		what = "all resources"
	}
	switch {
	case verbs && groups && resources:
		return "all permissions"
	case groups:
		what += " of all API groups"
	case resources:
		what += " of the API groups " + strconv.Quote(strings.Join(rule.APIGroups, ", "))
	case !verbs:
		return ""
	}
	if verbs {
		return "all verbs on " + what
	}
	return strings.Join(rule.Verbs, ", ") + " on " + what
}

// allowBinding allows binding a role that the chart does not create. The operator has the
// permissions of the others.
func (d *deriver) allowBinding(f found, in roles.Scope) {
	kind, _, _ := unstructured.NestedString(f.object.Object, "roleRef", "kind")
	name, _, _ := unstructured.NestedString(f.object.Object, "roleRef", "name")
	if d.creates(kind, name) || name == "" {
		return
	}
	if strings.Contains(name, release.Name) {
		d.find(RuleEscalation.At(f.file, 0, 0, "%s %s refers to a %s that no set of values renders: the operator needs its permissions, or the verb bind on it", f.object.GetKind(), f.object.GetName(), kind))
		return
	}
	resource := "roles"
	if kind == "ClusterRole" {
		resource = "clusterroles"
	}
	d.allow(in, rbacv1.GroupName, resource, name, f.reason(f.object.GetKind()+" binds it"), "bind")
}

// creates reports whether the chart creates a role.
func (d *deriver) creates(kind, name string) bool {
	return slices.ContainsFunc(d.found, func(f found) bool {
		gk := f.object.GroupVersionKind().GroupKind()
		return gk.Group == rbacv1.GroupName && gk.Kind == kind && f.object.GetName() == name
	})
}

// reportClusterScope reports that an operator of one namespace needs rights outside of it.
func (d *deriver) reportClusterScope(file, what string) {
	if d.Namespaced {
		d.find(RuleClusterScope.At(file, 0, 0, "the chart creates %s, but the operator watches one namespace: the operator needs permissions outside of it", what))
	}
}

// find adds a finding once.
func (d *deriver) find(f finding.Finding) {
	if !slices.Contains(d.findings, f) {
		d.findings = append(d.findings, f)
	}
}

// allowLookups allows what templates look up, which no rendering shows if it depends on the cluster.
func (d *deriver) allowLookups() {
	static := map[schema.GroupVersionKind]bool{}
	var computed []place
	for _, t := range d.templates {
		for _, l := range t.lookups {
			if l.apiVersion == "" || l.kind == "" {
				computed = append(computed, place{t.file, l.line})
				continue
			}
			gvk := schema.FromAPIVersionAndKind(l.apiVersion, l.kind)
			static[gvk] = true
			d.allowLookup(gvk, t.file, l) // whatever the condition around it
		}
	}
	if len(computed) == 0 {
		return
	}
	shown := false
	for l := range d.lookups {
		if gvk := schema.FromAPIVersionAndKind(l.apiVersion, l.kind); !static[gvk] {
			shown = true
			d.allowLookup(gvk, computed[0].file, l)
		}
	}
	for _, at := range computed {
		if !shown {
			d.find(RuleUnseen.At(at.file, at.line, 0, "no set of values shows the kind that lookup reads here"))
		}
	}
}

// place is a line of a template.
type place struct {
	file string
	line int
}

func (d *deriver) allowLookup(gvk schema.GroupVersionKind, file string, l lookup) {
	k, _ := d.kindOf(gvk)
	verb := "get"
	if l.list {
		verb = "list"
	}
	in := d.own()
	if !k.Namespaced {
		in = roles.Everywhere
	}
	d.allow(in, k.Group, k.Resource, "", roles.Reason{File: file, Why: "lookup of " + gvk.Kind}, verb)
}
