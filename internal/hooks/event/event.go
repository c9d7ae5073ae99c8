// Package event creates the binding context that the engine passes to a hook for an event. The
// objects of the event and of the cluster come from files.
package event

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/binding"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/engine"
	"github.com/operon-dev/operon/internal/hooks/hookproject"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/operon-dev/operon/internal/hooks/objects"
	"github.com/operon-dev/operon/internal/hooks/output"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kjson "sigs.k8s.io/json"
)

// Types returns the types of events: the values of --event.
func Types() []string {
	types := []string{"startup", "sync", "Added", "Modified", "Deleted", "schedule", "validating", "mutating", "conversion"}
	for _, step := range moduleSteps() {
		types = append(types, config.CommandLineName(step))
	}
	return types
}

// moduleSteps returns the names of the steps of addon-operator that hooks can bind to.
func moduleSteps() []string { return slices.Concat(config.Global.Steps(), config.Module.Steps()) }

// Event describes an event. The paths of files are relative to the working folder.
type Event struct {
	Type      string   // one of Types
	Binding   string   // the name of a binding; "" means the only one that matches
	Objects   []string // files with the object of the event; a conversion may have several objects
	Old       string   // a file with the old object, or ""
	Given     []string // files with the objects in the cluster
	CRDs      []string // files with CRDs, in addition to the project's
	Operation string   // the operation of an admission request; "" derives it from the objects
	From, To  string   // the versions of a conversion, or ""

	WorkDir  string
	HooksDir string // the absolute path
}

// Validate returns an error for an unknown type, and for a field that does not apply to the type.
func (e Event) Validate() error {
	if !slices.Contains(Types(), e.Type) {
		if e.Type == "" {
			return fault.Usage("events: "+strings.Join(Types(), ", "), "--event is missing")
		}
		hint := "events: " + strings.Join(Types(), ", ")
		if near := fault.Nearest(typeAlias(e.Type), Types()); near != "" {
			hint = "did you mean " + near + "?"
		}
		return fault.Usage(hint, "unknown --event %q", e.Type)
	}
	if flag := e.unusedFlag(); flag != "" {
		return fault.Usage("remove the flag", "--%s does not apply to --event %s", flag, e.Type)
	}
	return nil
}

// typeAlias returns the type for a name that configurations or binding contexts use.
func typeAlias(name string) string {
	for alias, flag := range map[string]string{
		"synchronization": "sync", "onstartup": "startup", "kubernetesvalidating": "validating", "kubernetesmutating": "mutating",
	} {
		if strings.EqualFold(name, alias) {
			return flag
		}
	}
	return name
}

// unusedFlag returns the flag of the first field that is set but does not apply to the type, or
// "".
func (e Event) unusedFlag() string {
	reviews := []string{"validating", "mutating"}
	for _, f := range []struct {
		flag  string
		set   bool
		types []string
	}{
		{"binding", e.Binding != "", slices.Concat(reviews, []string{"sync", "Added", "Modified", "Deleted", "schedule", "conversion"})},
		{"object", len(e.Objects) > 0, slices.Concat(reviews, []string{"Added", "Modified", "Deleted", "conversion"})},
		{"old-object", e.Old != "", slices.Concat(reviews, []string{"Modified"})},
		{"operation", e.Operation != "", reviews},
		{"from", e.From != "", []string{"conversion"}},
		{"to", e.To != "", []string{"conversion"}},
	} {
		if f.set && !slices.Contains(f.types, e.Type) {
			return f.flag
		}
	}
	return ""
}

// input is the content of the files of an event.
type input struct {
	objects []*unstructured.Unstructured
	old     *unstructured.Unstructured
	cluster binding.Cluster // without the objects of the event
}

// read reads the files of the event and the CRDs of the project.
func (e Event) read() (input, error) {
	var in input
	crds, err := hookproject.CRDs(hookproject.Root(e.HooksDir), e.WorkDir, e.CRDs)
	if err != nil {
		return in, err
	}
	if addon, found := hookproject.FindAddon(e.WorkDir); found {
		installed, err := addon.CRDs()
		if err != nil {
			return in, err
		}
		crds = append(crds, installed...)
	}
	files := objectFiles{}
	if in.cluster, err = files.read(e.WorkDir, e.Given...); err != nil {
		return in, err
	}
	in.cluster = append(in.cluster, crds...)
	if in.objects, err = files.read(e.WorkDir, e.Objects...); err != nil {
		return in, err
	}
	if e.Old != "" {
		old, err := files.read(e.WorkDir, e.Old)
		switch {
		case err != nil:
			return in, err
		case len(old) != 1:
			return in, fault.Usage("use --old-object file.yaml with one object in the file", "--old-object needs one object, got %d", len(old))
		}
		in.old = old[0]
	}
	table := in.cluster.Kinds()
	files.addNamespaces(table)
	if e.Type == "conversion" { // the objects may be older than their schema
		return in, nil
	}
	return in, files.validate()
}

// objectFiles maps files to their objects.
type objectFiles map[string][]*unstructured.Unstructured

func (f objectFiles) read(workDir string, names ...string) (all []*unstructured.Unstructured, err error) {
	for _, name := range names {
		if f[name], err = objects.Read(hookproject.Abs(workDir, name), name); err != nil {
			return nil, err
		}
		all = append(all, f[name]...)
	}
	return all, nil
}

// addNamespaces adds the namespace default to namespaced objects that have none, as kubectl does.
func (f objectFiles) addNamespaces(table *kubeapi.Kinds) {
	for _, objects := range f {
		for _, o := range objects {
			if k, err := table.FindObject(o.GroupVersionKind()); err == nil && k.Namespaced && o.GetNamespace() == "" {
				o.SetNamespace("default")
			}
		}
	}
}

// validate returns an error for the first object that an API server rejects.
func (f objectFiles) validate() error {
	for _, file := range slices.Sorted(maps.Keys(f)) {
		for _, o := range f[file] {
			if err := check(o); err != nil {
				return fault.Usage("fix the object: the API server would reject it", "%s: %s %s: %v", file, o.GetKind(), o.GetName(), err)
			}
		}
	}
	return nil
}

// check returns an error for an object without a name, or of a built-in kind with a value of the wrong type.
func check(o *unstructured.Unstructured) error {
	if o.GetName() == "" {
		return errors.New("metadata.name is missing")
	}
	typed := kubeapi.NewTyped(o.GroupVersionKind())
	if typed == nil {
		return nil
	}
	content, err := json.Marshal(o.Object)
	if err != nil {
		return err
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(content, typed); err != nil {
		return errors.New(output.DecodeMessage(err.Error()))
	}
	return nil
}

// Context returns the binding context that the engine passes to the hook for the event. all
// returns the hooks that may participate in a conversion. A *binding.NotRunError means that the
// engine does not run the hook.
func (e Event) Context(hook engine.Hook, all func() ([]engine.Hook, error)) (binding.Context, error) {
	conf := hook.Config
	in, err := e.read()
	if err != nil {
		return nil, err
	}
	switch e.Type {
	case "startup":
		if conf.OnStartup == nil {
			return nil, &binding.NotRunError{Reason: "it has no onStartup"}
		}
		return binding.Startup(), nil
	case "schedule":
		s, err := choose(e.Binding, "schedule", conf.Schedule, config.Schedule.BindingName)
		if err != nil {
			return nil, err
		}
		return in.cluster.Schedule(conf, s)
	case "sync":
		return e.synchronization(conf, in)
	case "conversion":
		return e.conversion(hook, all, in)
	case "validating":
		return e.admission(conf, conf.Validating, in)
	case "mutating":
		return e.admission(conf, conf.Mutating, in)
	case "Added", "Modified", "Deleted":
		return e.change(conf, in)
	}
	steps := moduleSteps()
	isType := func(step string) bool { return config.CommandLineName(step) == e.Type }
	return in.cluster.Step(conf, steps[slices.IndexFunc(steps, isType)]) // Validate rejects other types
}

// choose returns the binding with a name, or the only binding if the name is empty.
func choose[B any](name, what string, all []B, nameOf func(B) string) (B, error) {
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
		return none, fault.Usage("the hook has "+strings.Join(names, ", "), "no %s is named %q", what, name)
	case len(all) > 1:
		return none, fault.Usage("choose one with --binding: "+strings.Join(names, ", "), "the hook has %d %ss", len(all), what)
	}
	return all[0], nil
}
