package cli

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/binding"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/engine"
	"github.com/operon-dev/operon/internal/hooks/fakeapi"
	"github.com/operon-dev/operon/internal/hooks/kinds"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// idle is a flag that is given and says nothing about the event, or "".
func (o *hooksContext) idle() string {
	reviews := []string{"validating", "mutating"}
	for _, f := range []struct {
		flag  string
		given bool
		about []string
	}{
		{"binding", o.binding != "", slices.Concat(reviews, []string{"sync", "Added", "Modified", "Deleted", "schedule", "conversion"})},
		{"object", len(o.objects) > 0, slices.Concat(reviews, []string{"Added", "Modified", "Deleted", "conversion"})},
		{"old-object", o.old != "", slices.Concat(reviews, []string{"Modified"})},
		{"operation", o.operation != "", reviews},
		{"from", o.from != "", []string{"conversion"}},
		{"to", o.to != "", []string{"conversion"}},
	} {
		if f.given && !slices.Contains(f.about, o.event) {
			return f.flag
		}
	}
	return ""
}

// happening is what files say of an event.
type happening struct {
	objects []*unstructured.Unstructured
	old     *unstructured.Unstructured
	cluster binding.Cluster // without the objects
}

// read reads the files that flags name.
func (o *hooksContext) read(a *command.App) (h happening, err error) {
	crds, err := crds(a, aroundHooks(inDir(a, o.dir)), o.crds)
	if err != nil {
		return h, err
	}
	if d, isAddon := addonAt(a.Dir); isAddon {
		installed, err := d.crds()
		if err != nil {
			return h, err
		}
		crds = append(crds, installed...)
	}
	from := origins{}
	if h.cluster, err = from.read(a, o.given...); err != nil {
		return h, err
	}
	h.cluster = append(h.cluster, crds...)
	if h.objects, err = from.read(a, o.objects...); err != nil {
		return h, err
	}
	if o.old != "" {
		old, err := from.read(a, o.old)
		switch {
		case err != nil:
			return h, err
		case len(old) != 1:
			return h, fault.Usage("--old-object file.yaml, with one object in it", "--old-object is about one object, got %d", len(old))
		}
		h.old = old[0]
	}
	if o.event == "conversion" { // of objects that may be older than their schema
		return h, nil
	}
	return h, from.storable(h.cluster.Kinds())
}

// origins are objects, by the file that they were read from.
type origins map[string][]*unstructured.Unstructured

func (f origins) read(a *command.App, names ...string) (all []*unstructured.Unstructured, err error) {
	for _, name := range names {
		if f[name], err = readObjects(a, name); err != nil {
			return nil, err
		}
		all = append(all, f[name]...)
	}
	return all, nil
}

// storable finds an object that no API server stores as it is.
func (f origins) storable(table *kinds.Table) error {
	for _, file := range slices.Sorted(maps.Keys(f)) {
		for _, o := range f[file] {
			err := fakeapi.New(table).Seed(o)
			if apierrors.IsNotFound(err) { // its namespace, which need not be given
				continue
			}
			if unknown := (*kinds.UnknownError)(nil); err != nil && !errors.As(err, &unknown) && !apierrors.IsAlreadyExists(err) {
				return fault.Usage("write it as kubectl would take it", "%s: %s %s: %v", file, o.GetKind(), o.GetName(), err)
			}
		}
	}
	return nil
}

// context makes the context of the event.
func (o *hooksContext) context(a *command.App, of engine.Hook, all func() ([]engine.Hook, error)) (binding.Context, error) {
	conf := of.Config
	h, err := o.read(a)
	if err != nil {
		return nil, err
	}
	switch o.event {
	case "startup":
		if conf.OnStartup == nil {
			return nil, &binding.NotRunError{Reason: "it has no onStartup"}
		}
		return binding.Startup(), nil
	case "schedule":
		s, err := pick(o.binding, "schedule", conf.Schedule, config.Schedule.BindingName)
		if err != nil {
			return nil, err
		}
		return h.cluster.Schedule(conf, s)
	case "sync":
		return o.synchronization(conf, h)
	case "conversion":
		return o.conversion(of, all, h)
	case "validating":
		return o.admission(conf, conf.Validating, h)
	case "mutating":
		return o.admission(conf, conf.Mutating, h)
	case "Added", "Modified", "Deleted":
		return o.change(conf, h)
	}
	steps := slices.Concat(config.Global.Steps(), config.Module.Steps())
	is := func(step string) bool { return config.Event(step) == o.event }
	return h.cluster.Step(conf, steps[slices.IndexFunc(steps, is)]) // no other events are left
}

// one is the object of an event that is about one.
func (o *hooksContext) one(objects []*unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if len(objects) != 1 {
		return nil, fault.Usage("--object file.yaml, with one object in it; --given is for others that are there", "--event %s is about one object, got %d", o.event, len(objects))
	}
	return objects[0], nil
}

func (o *hooksContext) admission(conf *config.Config, webhooks []config.Admission, h happening) (binding.Context, error) {
	var object *unstructured.Unstructured
	if len(h.objects) > 0 || h.old == nil {
		var err error
		if object, err = o.one(h.objects); err != nil {
			return nil, err
		}
	}
	w, err := pick(o.binding, o.event+" webhook", webhooks, func(w config.Admission) string { return w.Name })
	if err != nil {
		return nil, err
	}
	r, err := binding.NewRequest(o.operation, object, h.old)
	if err != nil {
		return nil, fault.Usage("--object file.yaml is what it is to be, --old-object file.yaml what it was", "%v", err)
	}
	return h.cluster.Admission(conf, w, o.event == "mutating", r)
}

func (o *hooksContext) conversion(of engine.Hook, all func() ([]engine.Hook, error), h happening) (binding.Context, error) {
	conf := of.Config
	v, err := pick(o.binding, "conversion", conf.Conversion, func(v config.Conversion) string { return v.Name })
	if err != nil {
		return nil, err
	}
	if len(h.objects) == 0 {
		return nil, fault.Usage("--object file.yaml", "--event conversion is about objects, got none")
	}
	for _, object := range h.objects {
		if _, group, _ := strings.Cut(v.CRDName, "."); object.GroupVersionKind().Group != group {
			return nil, &binding.NotRunError{Reason: v.Name + " converts " + v.CRDName + ", and no " + object.GetKind() + " of " + object.GetAPIVersion()}
		}
	}
	var rules []string
	var meant []int
	for i, r := range v.Conversions {
		rules = append(rules, r.FromVersion+" to "+r.ToVersion)
		isOf := func(object *unstructured.Unstructured) bool {
			return binding.SameVersion(r.FromVersion, object.GetAPIVersion())
		}
		if slices.ContainsFunc(h.objects, isOf) && asks(o.from, r.FromVersion) && asks(o.to, r.ToVersion) {
			meant = append(meant, i)
		}
	}
	if len(meant) == 0 && o.to != "" {
		if made, err := o.onTheWay(of, all, v, h); made != nil || err != nil {
			return made, err
		}
	}
	hint := "it converts " + strings.Join(rules, ", ") + ": choose with --from and --to"
	switch len(meant) {
	case 0:
		return nil, fault.Usage(hint, "%s has no such conversion of %s", v.Name, h.objects[0].GetAPIVersion())
	case 1:
		r := v.Conversions[meant[0]]
		return h.cluster.Conversion(conf, v, r.FromVersion, r.ToVersion, r.ToVersion, h.objects)
	}
	return nil, fault.Usage(hint, "%s: which conversion is meant?", v.Name)
}

// onTheWay is the context of the first of several conversions to the version that is
// asked for, or nil when the hook has no part in that. The way may be over any of them.
func (o *hooksContext) onTheWay(of engine.Hook, all func() ([]engine.Hook, error), v config.Conversion, h happening) (binding.Context, error) {
	from := h.objects[0].GetAPIVersion()
	to := o.to
	if !strings.Contains(to, "/") {
		to = h.objects[0].GroupVersionKind().Group + "/" + to
	}
	hooks, err := all()
	if err != nil {
		return nil, err
	}
	way := engine.New(hooks).Way(v.CRDName, from, to)
	takesPart := slices.ContainsFunc(way, func(s engine.Step) bool { return s.Hook == of.Name })
	if !takesPart || !asks(o.from, way[0].From) {
		return nil, nil
	}
	first := way[0]
	if first.Hook == of.Name {
		return h.cluster.Conversion(of.Config, v, first.From, first.To, to, h.objects)
	}
	return nil, &binding.NotRunError{Reason: first.Hook + " converts " + from + " to " + first.To + " first; give what that makes of the objects"}
}

// asks reports whether a flag, unless it is left out, names a version.
func asks(flag, version string) bool { return flag == "" || binding.SameVersion(flag, version) }

// pick returns the binding of that name, or the only one.
func pick[B any](name, what string, all []B, nameOf func(B) string) (B, error) {
	var none B
	var names []string
	for _, b := range all {
		if name == nameOf(b) {
			return b, nil
		}
		names = append(names, nameOf(b))
	}
	switch {
	case len(all) == 0:
		return none, &binding.NotRunError{Reason: "it has no " + what}
	case name != "":
		return none, fault.Usage("it has "+strings.Join(names, ", "), "no %s is named %q", what, name)
	case len(all) > 1:
		return none, fault.Usage("name one with --binding: "+strings.Join(names, ", "), "which of its %d %ss is meant?", len(all), what)
	}
	return all[0], nil
}
