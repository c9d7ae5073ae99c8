package rbac

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gobuffalo/flect"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/operon-dev/operon/internal/roles"
)

// allowOperator allows what the operator itself needs.
func (d *deriver) allowOperator() {
	source := func(why string) roles.Reason { return roles.Reason{File: d.Source, Why: why} }
	own := d.own()
	if r := d.Resource; r.Kind != "" {
		why := source("the operator reconciles " + r.Kind)
		resource := cmp.Or(r.Plural, flect.Pluralize(strings.ToLower(r.Kind)))
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
		reason := roles.Reason{File: file, Why: "CustomResourceDefinition"}
		d.allow(roles.Everywhere, "apiextensions.k8s.io", "customresourcedefinitions", "", reason, "get", "create")
		d.reportClusterScope(file, "a CustomResourceDefinition")
	}
}

// allowObject allows what Helm and the operator do with an object.
func (d *deriver) allowObject(f found) {
	o := f.object
	k, known := d.kindOf(o.GroupVersionKind())
	if !known {
		d.find(ruleUnknownKind.At(f.file, 0, 0, "neither Kubernetes nor a known CRD defines %s %s: the rule for %s is a guess; name the file of its CRD with --crd", o.GetAPIVersion(), o.GetKind(), k.Resource))
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
	if annotations[hookAnnotation] != "" {
		d.allowHook(in, k, annotations[logsAnnotation] != "", reason)
	} else {
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
func (d *deriver) watched(k kubeapi.Kind) roles.Scope {
	if !k.Namespaced {
		return roles.Everywhere
	}
	return d.own()
}

// allowHook allows what Helm does with a hook.
func (d *deriver) allowHook(in roles.Scope, k kubeapi.Kind, logs bool, reason roles.Reason) {
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

// reportClusterScope reports that an operator of one namespace needs permissions outside of it.
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
