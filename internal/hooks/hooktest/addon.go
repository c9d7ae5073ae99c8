package hooktest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/operon-dev/operon/internal/hooks/module"
	"github.com/operon-dev/operon/internal/hooks/testfile"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Addon describes the modules of an addon-operator.
type Addon struct {
	Dir     string // the folder with modules and global hooks; the working folder of hooks
	Common  *module.Common
	Modules []module.Module
	Owners  map[string]module.Module // by hook name; global hooks have no entry
	Kinds   *kubeapi.Kinds           // the kinds that the cluster serves, for rendering charts
}

// addon is the addon-operator state of one test. Methods accept a nil receiver where they
// say so.
type addon struct {
	store  *module.Store
	module *module.Module // nil for a global hook
	kinds  *kubeapi.Kinds
}

// addonOnlyKey returns a key of the test that is valid only for hooks of addon-operator,
// or "".
func (t *Test) addonOnlyKey() string {
	switch {
	case t.File.Module != "":
		return "module"
	case t.Values != nil:
		return "values"
	case t.Config != nil:
		return "configValues"
	}
	for _, e := range t.Events {
		if slices.Contains(steps, e.Type) {
			return e.Type
		}
		if word := e.Expect.addonOnlyKey(); word != "" {
			return word
		}
	}
	return t.Expect.addonOnlyKey()
}

func (x *Expect) addonOnlyKey() string {
	switch {
	case x == nil:
	case x.Values != nil, x.Config != nil, x.has("values", "configValues"):
		return "values"
	case x.ValuesPatches != nil, x.ConfigPatches != nil, x.has("valuesPatches", "configValuesPatches"):
		return "valuesPatches"
	case x.Rendered != nil, x.has("rendered"):
		return "rendered"
	case x.Enabled != nil, x.Reason != nil, x.has("enabled", "reason"):
		return "enabled"
	}
	return ""
}

// open returns the addon state of a test, with the initial values of the test.
func (a *Addon) open(t *Test) (*addon, error) {
	opened := &addon{kinds: a.Kinds}
	if owner, has := a.Owners[t.File.Hook]; has {
		opened.module = &owner
	}
	if name := t.File.Module; name != "" {
		i := slices.IndexFunc(a.Modules, func(m module.Module) bool { return m.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no module %s", name)
		}
		opened.module = &a.Modules[i]
	}
	var own *module.Values
	if opened.module != nil {
		v, err := opened.module.Values(a.Common)
		if err != nil {
			return nil, err
		}
		own = &v
	}
	var err error
	opened.store, err = module.NewStore(a.Common.Global, own, t.Config.table(), t.Values.table())
	return opened, err
}

// table returns the value as an object, or nil if it is no object. The receiver may be
// nil.
func (w *expected) table() map[string]any {
	if w == nil {
		return nil
	}
	all, _ := w.value.(map[string]any)
	return all
}

// values returns all values that a run may change. The receiver may be nil; the result is
// then nil.
func (a *addon) values() map[string]any {
	if a == nil {
		return nil
	}
	all, _ := testfile.Normal(map[string]any{"values": a.store.Values(), "configValues": a.store.Config()}).(map[string]any)
	return all
}

// valueChanges describes the differences between two states of values.
func valueChanges(before, after map[string]any) []string {
	var all []string
	for _, d := range testfile.Differences(before, after, "", true) {
		from, to := d.Texts()
		all = append(all, fmt.Sprintf("changes %s from %s to %s", d.Path, from, to))
	}
	return all
}

// operations returns the operations of a values patch. The engine has already validated
// the patch.
func operations(patch []byte) []any {
	ops, err := module.ParsePatch(patch)
	if err != nil || len(ops) == 0 {
		return nil
	}
	all, _ := testfile.Normal(ops).([]any)
	return all
}

// runStep runs the hook for a step of addon-operator, such as beforeHelm.
func (s *session) runStep(ctx context.Context, step string) error {
	t, bound := s.state.Step(s.hook.Name, step)
	if !bound {
		return fmt.Errorf("%s has no binding %s; it has %s", s.hook.Name, step, orNone(s.stepNames()))
	}
	_, _ = s.run(ctx, t) // run records the error
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// stepNames returns the steps that the hook has a binding for.
func (s *session) stepNames() []string {
	return slices.DeleteFunc(slices.Clone(steps), func(step string) bool {
		_, bound := s.hook.Config.Steps[step]
		return !bound
	})
}

// values compares the values, the values patches and the rendered chart with the
// expectation.
func (s *session) values(x *Expect, t *activity) {
	if s.addon == nil {
		return
	}
	s.compareDecision(x, t)
	s.list(x, "valuesPatches", x.ValuesPatches, t.valuesPatches)
	s.list(x, "configValuesPatches", x.ConfigPatches, t.configPatches)
	if w := x.Values; w != nil {
		s.value(x, "values", w, testfile.Normal(s.addon.store.Values()))
	}
	if w := x.Config; w != nil {
		s.value(x, "configValues", w, testfile.Normal(s.addon.store.Config()))
	}
	if x.Rendered == nil {
		return
	}
	objects, err := s.addon.rendered()
	if err != nil {
		s.differs(x.Rendered.line(-1), "rendered: %v", err)
		return
	}
	all := make([]found, len(x.Rendered.list()))
	for i, want := range x.Rendered.list() {
		all[i] = s.rendered(x.Rendered.line(i), i, want.(map[string]any), objects)
	}
	s.correct(x, "rendered", x.Rendered, all)
}

// rendered returns the objects of the module's chart.
func (a *addon) rendered() ([]*unstructured.Unstructured, error) {
	if a.module == nil {
		return nil, errors.New("a global hook has no chart")
	}
	return a.store.Rendered(*a.module, a.kinds)
}

// rendered finds an expected object in the chart, by kind and name. An expectation
// without a name matches the first object that contains all expected fields.
func (s *session) rendered(line, i int, want map[string]any, objects []*unstructured.Unstructured) found {
	o := &unstructured.Unstructured{Object: want}
	var names []string
	var like []any
	for _, actual := range objects {
		got, isKind := testfile.Normal(actual.Object), actual.GroupVersionKind() == o.GroupVersionKind()
		same := isKind && actual.GetName() == o.GetName() && (o.GetNamespace() == "" || o.GetNamespace() == actual.GetNamespace())
		switch {
		case o.GetName() == "" && len(testfile.Differences(want, got, "", false)) == 0:
			return found{fits: true}
		case o.GetName() != "" && same:
			return found{fits: s.same(line, fmt.Sprintf("rendered[%d]", i), want, got), got: got}
		case o.GetName() == "" && isKind:
			like = append(like, got)
		}
		names = append(names, testfile.Identity(actual))
	}
	s.differs(line, "rendered[%d]: the chart does not render %s%s", i, strings.TrimSpace(testfile.Identity(o)), instead(names))
	return found{like: like}
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
