package charttest

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/operon-dev/operon/internal/chart"
	"github.com/operon-dev/operon/internal/helm/release"
	"github.com/operon-dev/operon/internal/helm/watches"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/operon-dev/operon/internal/hooks/rbac"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// session is a running test.
type session struct {
	Operator
	cluster     cluster
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
		m := &release.Manager{Chart: c.Chart, Folder: c.Watch.Chart, Overrides: overrides, API: s.cluster.Hook(""), Cluster: s.capabilities}
		if watched := c.Watch.WatchDependentResources; watched == nil || *watched {
			m.Watch = s.watch
		}
		s.managers = append(s.managers, m)
	}
	return nil
}

// watch returns an error if the operator cannot watch the objects of a kind.
func (s *session) watch(ctx context.Context, k kubeapi.Kind) error {
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
	return chart.Cluster{Version: "v" + kubeapi.Release + ".0", APIVersions: table.APIVersions()}, nil
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
	k, err := s.cluster.Hook("").Kind(ctx, strings.TrimPrefix(w.Group+"/"+w.Version, "/"), w.Kind)
	if err != nil {
		return nil, err
	}
	var selected metav1.ListOptions
	if w.Selector != nil {
		selected.LabelSelector = metav1.FormatLabelSelector(w.Selector)
	}
	list, err := s.cluster.Hook("").List(ctx, k, s.Namespace, selected)
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
