package charttest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/chart"
	"github.com/operon-dev/operon/internal/helm/release"
	"github.com/operon-dev/operon/internal/helm/watches"
	"github.com/operon-dev/operon/internal/hooks/kinds"
	"github.com/operon-dev/operon/internal/hooks/rbac"
	"github.com/operon-dev/operon/internal/hooks/testfile"
	helmchart "helm.sh/helm/v3/pkg/chart"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Operator is the operator of a project.
type Operator struct {
	Charts    []Chart
	Namespace string       // the only namespace that it watches; "" for all
	Texts     bool         // overrideValues are texts, as for the image helm-operator
	Kinds     *kinds.Table // of Kubernetes and of the CRDs of the project
}

// Chart is the chart for the custom resources of a kind.
type Chart struct {
	Watch watches.Watch
	Chart *helmchart.Chart
}

// Outcome is the result of a test.
type Outcome struct {
	Test     *Test
	Failures []testfile.Failure
}

// Passed reports whether the test passed.
func (o Outcome) Passed() bool { return len(o.Failures) == 0 }

// Result returns the outcome in the form of text reports.
func (o Outcome) Result() testfile.Result {
	return testfile.Result{File: o.Test.File.Path, Line: o.Test.Line, Subject: o.Test.File.Kind, Name: o.Test.Name, Failures: o.Failures}
}

func (o *Outcome) fail(line int, format string, args ...any) {
	o.Failures = append(o.Failures, testfile.Failure{Line: line, Message: fmt.Sprintf(format, args...)})
}

// Run runs a test on a cluster that open opens with the given objects. A failed test is an outcome; an
// error means that the context has ended.
func (op Operator) Run(ctx context.Context, t *Test, open Open) (Outcome, error) {
	out := Outcome{Test: t}
	given := op.prepare(t)
	cluster, err := open(ctx, given)
	if err != nil {
		out.fail(t.Line, "given: %v", err)
		return out, ctx.Err()
	}
	defer cluster.Close()
	s := &session{Operator: op, cluster: cluster, seen: map[string]bool{}, outcome: &out}
	if err := s.start(t); err != nil {
		out.fail(t.Line, "%v", err)
		return out, nil
	}
	s.run(ctx, t)
	return out, ctx.Err()
}

// prepare puts the objects of a test that have no namespace into the default one. It returns the given
// objects that are no custom resources of the operator, and the namespaces that the test needs.
func (op Operator) prepare(t *Test) []*unstructured.Unstructured {
	table := op.Kinds
	for _, o := range t.Given {
		if crd, err := kinds.FromObject(o); kinds.IsCRD(o.GroupVersionKind()) && err == nil {
			table = table.With(crd)
		}
	}
	var given, namespaces []*unstructured.Unstructured
	known := []string{"", "default", "kube-node-lease", "kube-public", "kube-system"}
	for i, o := range t.objects() {
		k, err := table.FindObject(o.GroupVersionKind())
		op.setNamespace(o, k.Namespaced && err == nil)
		if i < len(t.Given) && op.chartOf(o) < 0 {
			given = append(given, o)
		}
		if o.GetAPIVersion() == "v1" && o.GetKind() == "Namespace" {
			known = append(known, o.GetName())
		}
	}
	for _, o := range t.objects() {
		if name := o.GetNamespace(); !slices.Contains(known, name) {
			known = append(known, name)
			namespaces = append(namespaces, &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}}})
		}
	}
	return append(namespaces, given...)
}

// objects returns the given objects and those of events.
func (t *Test) objects() []*unstructured.Unstructured {
	all := slices.Clone(t.Given)
	for _, e := range t.Events {
		all = append(all, e.Object)
	}
	return all
}

// setNamespace puts an object that has no namespace into the default one.
func (op Operator) setNamespace(o *unstructured.Unstructured, namespaced bool) {
	switch {
	case !namespaced || o.GetNamespace() != "":
	case op.Namespace != "":
		o.SetNamespace(op.Namespace)
	default:
		o.SetNamespace("default")
	}
}

// chartOf returns the index of the chart for a custom resource, or -1.
func (op Operator) chartOf(o *unstructured.Unstructured) int {
	gvk := o.GroupVersionKind()
	return slices.IndexFunc(op.Charts, func(c Chart) bool {
		return c.Watch.Group == gvk.Group && c.Watch.Version == gvk.Version && c.Watch.Kind == gvk.Kind
	})
}

// session is a running test.
type session struct {
	Operator
	cluster     Cluster
	managers    []*release.Manager // by chart
	seen        map[string]bool    // the states of custom resources that have been reconciled
	step, whole []string           // errors since the last event, and of the whole test
	outcome     *Outcome
}

// start starts the operator.
func (s *session) start(t *Test) error {
	for _, c := range s.Charts {
		overrides, err := c.Watch.Expand(func(name string) string { return t.Env[name] }, s.Texts)
		if err != nil {
			return err
		}
		m := &release.Manager{Chart: c.Chart, Folder: c.Watch.Chart, Overrides: overrides, API: s.cluster.Operator, Cluster: s.capabilities}
		if watched := c.Watch.WatchDependentResources; watched == nil || *watched {
			m.Watch = s.watch
		}
		s.managers = append(s.managers, m)
	}
	return nil
}

// watch returns an error if the operator cannot watch the objects of a kind.
func (s *session) watch(ctx context.Context, k kinds.Kind) error {
	namespace := ""
	if k.Namespaced {
		namespace = s.Namespace
	}
	for _, verb := range []string{"list", "watch"} {
		if allowed, err := s.cluster.Allows(ctx, verb, k, namespace); err != nil || !allowed {
			return cmp.Or(err, fmt.Errorf("no rule allows the operator to %s, which it does to repair objects", rbac.Request{Verb: verb, Group: k.Group, Resource: k.Resource, Namespace: namespace}))
		}
	}
	return nil
}

// capabilities returns what the cluster serves.
func (s *session) capabilities(ctx context.Context) (chart.Cluster, error) {
	table, err := s.cluster.Kinds(ctx)
	if err != nil {
		return chart.Cluster{}, err
	}
	return chart.Cluster{Version: "v" + kinds.Release + ".0", APIVersions: table.APIVersions()}, nil
}

// run runs the events of a test. The operator works after each one.
func (s *session) run(ctx context.Context, t *Test) {
	for _, o := range t.Given {
		if s.chartOf(o) >= 0 {
			s.note(name(o), s.change(ctx, Event{Type: "apply", Object: o}))
		}
	}
	s.settle(ctx)
	s.endStep(t.Line, nil, t.Expect)
	for _, e := range t.Events {
		s.note(name(e.Object), s.change(ctx, e))
		s.settle(ctx)
		s.endStep(e.Line, e.Expect, t.Expect)
		s.compare(ctx, e.Expect)
	}
	if t.Expect.expectsError() {
		s.findError(t.Expect, s.whole)
	}
	s.compare(ctx, t.Expect)
}

func name(o *unstructured.Unstructured) string { return o.GetKind() + " " + o.GetName() }

// note records an error about something.
func (s *session) note(what string, err error) {
	if err != nil {
		text := what + ": " + err.Error()
		s.step, s.whole = append(s.step, text), append(s.whole, text)
	}
}

// endStep compares the errors of a step with the expectations of the event and of the whole test.
func (s *session) endStep(line int, event, whole *Expect) {
	switch {
	case event.expectsError():
		s.findError(event, s.step)
	case !whole.expectsError():
		for _, text := range s.step {
			s.outcome.fail(line, "%s", text)
		}
	}
	s.step = nil
}

func (x *Expect) expectsError() bool { return x != nil && x.Error != "" }

// findError compares an expected error with those that happened.
func (s *session) findError(x *Expect, errors []string) {
	if slices.ContainsFunc(errors, func(text string) bool { return strings.Contains(text, x.Error) }) {
		return
	}
	got := "no release failed"
	if len(errors) > 0 {
		got = "got: " + strings.Join(errors, " | ")
	}
	s.outcome.fail(x.Line, "error: want %q, %s", x.Error, got)
}

// compare compares the cluster with an expectation, which may be nil.
func (s *session) compare(ctx context.Context, x *Expect) {
	if x == nil {
		return
	}
	for i, want := range x.Objects {
		existing, exists, err := s.find(ctx, want.Object)
		switch {
		case err != nil:
			s.outcome.fail(want.Line, "objects[%d]: %v", i, err)
		case !exists:
			s.outcome.fail(want.Line, "objects[%d]: %s does not exist%s", i, testfile.Identity(want.Object), s.others(ctx, want.Object))
		default:
			var texts []string
			for _, d := range testfile.Differences(testfile.Normal(want.Object.Object), testfile.Normal(existing.Object), "", false) {
				texts = append(texts, d.String())
			}
			if len(texts) > 0 {
				s.outcome.fail(want.Line, "objects[%d]: %s", i, strings.Join(texts, "\n"))
			}
		}
	}
	for i, want := range x.Absent {
		existing, exists, err := s.find(ctx, want.Object)
		switch {
		case err != nil:
			s.outcome.fail(want.Line, "absent[%d]: %v", i, err)
		case exists:
			s.outcome.fail(want.Line, "absent[%d]: %s exists", i, testfile.Identity(existing))
		}
	}
}

// find finds the object that an expectation is about. An object that is being deleted does not exist: on
// an API server without controllers, nothing removes finalizers such as that of volumes.
func (s *session) find(ctx context.Context, want *unstructured.Unstructured) (existing *unstructured.Unstructured, exists bool, err error) {
	k, err := s.cluster.User.Kind(ctx, want.GetAPIVersion(), want.GetKind())
	if err != nil {
		return nil, false, err
	}
	if want.GetName() != "" {
		s.setNamespace(want, k.Namespaced)
	}
	existing, exists, err = testfile.Find(ctx, s.cluster.User, want)
	return existing, exists && existing.GetDeletionTimestamp() == nil, err
}

// others names the objects of the kind of one that does not exist.
func (s *session) others(ctx context.Context, want *unstructured.Unstructured) string {
	list, err := testfile.Listed(ctx, s.cluster.User, want)
	if err != nil || len(list) == 0 {
		return ""
	}
	var names []string
	for _, o := range list {
		names = append(names, o.GetName())
	}
	return "; got: " + strings.Join(names, ", ")
}

// maxRounds limits how often custom resources that a chart creates can lead to others.
const maxRounds = 20

// settle lets the operator reconcile custom resources until none has changed.
func (s *session) settle(ctx context.Context) {
	for range maxRounds {
		worked := false
		for i, c := range s.Charts {
			changed, err := s.changed(ctx, c.Watch)
			if err != nil {
				s.note(c.Watch.Kind, err)
				return
			}
			for _, o := range changed {
				worked = true
				s.note(name(o), s.managers[i].Reconcile(ctx, o))
			}
		}
		if !worked {
			return
		}
	}
	s.outcome.fail(s.outcome.Test.Line, "the charts keep creating custom resources")
}

// changed returns the custom resources of a watch that have changed since they were reconciled.
func (s *session) changed(ctx context.Context, w watches.Watch) ([]*unstructured.Unstructured, error) {
	k, err := s.cluster.Operator.Kind(ctx, strings.TrimPrefix(w.Group+"/"+w.Version, "/"), w.Kind)
	if err != nil {
		return nil, err
	}
	var selected metav1.ListOptions
	if w.Selector != nil {
		selected.LabelSelector = metav1.FormatLabelSelector(w.Selector)
	}
	list, err := s.cluster.Operator.List(ctx, k, s.Namespace, selected)
	if err != nil {
		return nil, err
	}
	var changed []*unstructured.Unstructured
	for _, o := range list.Items {
		state := fmt.Sprint(o.GetUID(), o.GetGeneration(), o.GetDeletionTimestamp() != nil)
		if !s.seen[state] {
			s.seen[state] = true
			changed = append(changed, &o)
		}
	}
	return changed, nil
}
