package hooktest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/hooks/engine"
	"github.com/operon-dev/operon/internal/hooks/kinds"
	"github.com/operon-dev/operon/internal/hooks/module"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Addon is what tests know of the modules of an addon-operator.
type Addon struct {
	Dir     string // has modules and global hooks; hooks start there
	Common  *module.Common
	Modules []module.Module
	Owners  map[string]module.Module // of hooks, by their names; global hooks have none
	Kinds   *kinds.Table             // that charts are rendered for
}

// addon is what a test has of it. Its methods may be called when there is none.
type addon struct {
	store  *module.Store
	module *module.Module // nil for global hooks
	kinds  *kinds.Table
}

// ofAddon is a word in a test that only hooks of addon-operator know, or "".
func (t *Test) ofAddon() string {
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
		if word := e.Expect.ofAddon(); word != "" {
			return word
		}
	}
	return t.Expect.ofAddon()
}

func (x *Expect) ofAddon() string {
	switch {
	case x == nil:
	case x.Values != nil, x.Config != nil, x.has("values", "configValues"):
		return "what is expected of values"
	case x.ValuesPatches != nil, x.ConfigPatches != nil, x.has("valuesPatches", "configValuesPatches"):
		return "what is expected of patches of values"
	case x.Rendered != nil, x.has("rendered"):
		return "rendered"
	case x.Enabled != nil, x.Reason != nil, x.has("enabled", "reason"):
		return "enabled"
	}
	return ""
}

// open gives a test the values that it begins with.
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

// table is a value that was read as an object; nil when nothing was.
func (w *expected) table() map[string]any {
	if w == nil {
		return nil
	}
	all, _ := w.value.(map[string]any)
	return all
}

// values are all that a run may change, or nil.
func (a *addon) values() map[string]any {
	if a == nil {
		return nil
	}
	all, _ := normal(map[string]any{"values": a.store.Values(), "configValues": a.store.Config()}).(map[string]any)
	return all
}

// valueChanges tells what is different between two states of values.
func valueChanges(before, after map[string]any) []string {
	var all []string
	for _, d := range differences(before, after, "", true) {
		from, to := d.texts()
		all = append(all, fmt.Sprintf("changes %s from %s to %s", d.path, from, to))
	}
	return all
}

// scripted reports that an expectation is about the script enabled of a module.
func (x *Expect) scripted() bool {
	return x != nil && (x.Enabled != nil || x.Reason != nil || x.ExitCode != nil || x.Runs != nil && *x.Runs > 0 || x.Error != "" || len(x.Output) > 0 ||
		x.has("enabled", "reason", "exitCode", "error", "output"))
}

// decide runs the script of a module.
func (s *session) decide(ctx context.Context) {
	script := filepath.Join(s.addon.module.Dir, "enabled")
	info, err := os.Stat(script)
	switch {
	case err != nil:
		s.note(errors.New("there is none: the switch of the module alone decides"))
		return
	case info.Mode()&0o111 == 0:
		s.note(errors.New("it is not executable, and not run: chmod +x"))
		return
	}
	values, config, err := s.addon.store.ScriptFiles()
	if err != nil {
		s.note(err)
		return
	}
	d, err := s.executor.Runner.RunEnabled(ctx, script, engine.Given{Values: values, Config: config})
	s.both(func(t *activity) {
		t.runs++
		t.exitCode = d.ExitCode
		t.output.Write(d.Stdout)
		t.output.Write(d.Stderr)
		if err == nil {
			t.decision = &d
		}
	})
	if err != nil {
		s.note(err)
	}
}

// decision compares what is expected of the script with what it said.
func (s *session) decision(x *Expect, t *activity) {
	d := t.decision
	switch {
	case x.Enabled == nil && x.Reason == nil:
		return
	case s.test.File.Module == "":
		s.differs(x.Line, "enabled: a hook decides nothing; tests of a module begin with module")
		return
	case d == nil:
		s.differs(x.Line, "enabled: the script decided nothing")
		return
	}
	if x.Enabled != nil && *x.Enabled != d.On {
		s.differs(x.Line, "enabled: the script says %t, want %t%s", d.On, *x.Enabled, because(d.Reason))
		s.amend(x, set("enabled", d.On))
	}
	if x.Reason != nil && *x.Reason != d.Reason {
		s.differs(x.Line, "reason: it is %q, want %q", d.Reason, *x.Reason)
		s.amend(x, set("reason", d.Reason))
	}
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

// operations are those of a patch of values, as they were written. Whether it can be
// read, the engine has judged.
func operations(patch []byte) []any {
	ops, err := module.ParsePatch(patch)
	if err != nil || len(ops) == 0 {
		return nil
	}
	all, _ := normal(ops).([]any)
	return all
}

// pass runs the hook for a step of the engine's work.
func (s *session) pass(ctx context.Context, step string) error {
	t, bound := s.state.Step(s.hook.Name, step)
	if !bound {
		return fmt.Errorf("%s has no %s, but %s", s.hook.Name, step, orNone(s.stepNames()))
	}
	_, _ = s.run(ctx, t) // whose error is noted
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// stepNames are the steps that the hook is bound to.
func (s *session) stepNames() []string {
	return slices.DeleteFunc(slices.Clone(steps), func(step string) bool {
		_, bound := s.hook.Config.Steps[step]
		return !bound
	})
}

// values compares what is expected of values, of their patches, and of the chart.
func (s *session) values(x *Expect, t *activity) {
	if s.addon == nil {
		return
	}
	s.decision(x, t)
	s.list(x, "valuesPatches", x.ValuesPatches, t.valuesPatches)
	s.list(x, "configValuesPatches", x.ConfigPatches, t.configPatches)
	if w := x.Values; w != nil {
		s.value(x, "values", w, normal(s.addon.store.Values()))
	}
	if w := x.Config; w != nil {
		s.value(x, "configValues", w, normal(s.addon.store.Config()))
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

// rendered are the objects of the chart.
func (a *addon) rendered() ([]*unstructured.Unstructured, error) {
	if a.module == nil {
		return nil, errors.New("a global hook has no chart")
	}
	return a.store.Rendered(*a.module, a.kinds)
}

// rendered finds an object among those of the chart, by its kind and name; or
// without a name the first that has all that is asked for.
func (s *session) rendered(line, i int, want map[string]any, objects []*unstructured.Unstructured) found {
	o := &unstructured.Unstructured{Object: want}
	var names []string
	var like []any
	for _, there := range objects {
		got, isKind := normal(there.Object), there.GroupVersionKind() == o.GroupVersionKind()
		same := isKind && there.GetName() == o.GetName() && (o.GetNamespace() == "" || o.GetNamespace() == there.GetNamespace())
		switch {
		case o.GetName() == "" && len(differences(want, got, "", false)) == 0:
			return found{fits: true}
		case o.GetName() != "" && same:
			return found{fits: s.same(line, fmt.Sprintf("rendered[%d]", i), want, got), got: got}
		case o.GetName() == "" && isKind:
			like = append(like, got)
		}
		names = append(names, identity(there))
	}
	s.differs(line, "rendered[%d]: the chart has no such %s%s", i, strings.TrimSpace(identity(o)), instead(names))
	return found{like: like}
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
