package charttest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/operon-dev/operon/internal/helm/watches"
	"github.com/operon-dev/operon/internal/hooks/hooktest"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/operon-dev/operon/internal/hooks/testfile"
	helmchart "helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Operator is the operator of a project.
type Operator struct {
	Charts    []Chart
	Namespace string         // the only namespace that it watches; "" for all
	Texts     bool           // overrideValues are texts, as for the image helm-operator
	Kinds     *kubeapi.Kinds // of Kubernetes and of the CRDs of the project
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

// Run runs a test on a backend. A failed test is an outcome; an error means that the context has ended, or is
// [hooktest.ErrStopped].
func (op Operator) Run(ctx context.Context, t *Test, b Backend) (Outcome, error) {
	out := Outcome{Test: t}
	given := op.prepare(t)
	opened, err := b.Open(ctx, &hooktest.Test{Given: given})
	if errors.Is(err, hooktest.ErrStopped) {
		return out, hooktest.ErrStopped
	}
	if err != nil {
		out.fail(t.Line, "given: %v", err)
		return out, ctx.Err()
	}
	defer opened.Close()
	s := &session{Operator: op, cluster: cluster{opened, b}, seen: map[string]bool{}, outcome: &out}
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
		if crd, err := kubeapi.ReadCRD(o); kubeapi.IsCRD(o.GroupVersionKind()) && err == nil {
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
	var names []string
	for _, o := range t.objects() {
		names = append(names, o.GetNamespace())
	}
	for _, name := range append(names, op.Namespace) {
		if !slices.Contains(known, name) {
			known = append(known, name)
			namespaces = append(namespaces, &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name},
			}})
		}
	}
	return append(namespaces, given...)
}

// objects returns the given objects and the objects of events.
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
