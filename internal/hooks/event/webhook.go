package event

import (
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/binding"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/engine"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// admission returns the context of a request to validate or mutate an object.
func (e Event) admission(conf *config.Config, webhooks []config.Admission, in input) (binding.Context, error) {
	var object *unstructured.Unstructured
	if len(in.objects) > 0 || in.old == nil {
		var err error
		if object, err = e.oneObject(in.objects); err != nil {
			return nil, err
		}
	}
	w, err := choose(e.Binding, e.Type+" webhook", webhooks, func(w config.Admission) string { return w.Name })
	if err != nil {
		return nil, err
	}
	r, err := binding.NewRequest(e.Operation, object, in.old)
	if err != nil {
		return nil, fault.Usage("use --object file.yaml for the new object, and --old-object file.yaml for the old one", "%v", err)
	}
	return in.cluster.Admission(conf, w, e.Type == "mutating", r)
}

// conversion returns the context of a request to convert objects.
func (e Event) conversion(hook engine.Hook, all func() ([]engine.Hook, error), in input) (binding.Context, error) {
	conf := hook.Config
	v, err := choose(e.Binding, "conversion", conf.Conversion, func(v config.Conversion) string { return v.Name })
	if err != nil {
		return nil, err
	}
	if len(in.objects) == 0 {
		return nil, fault.Usage("use --object file.yaml", "--event conversion needs at least one object")
	}
	for _, object := range in.objects {
		if _, group, _ := strings.Cut(v.CRDName, "."); object.GroupVersionKind().Group != group {
			other := object.GetKind() + " of " + object.GetAPIVersion()
			return nil, &binding.NotRunError{Reason: v.Name + " converts " + v.CRDName + ", not " + other}
		}
	}
	var rules []string
	var matching []int
	for i, r := range v.Conversions {
		rules = append(rules, r.FromVersion+" to "+r.ToVersion)
		hasVersion := func(object *unstructured.Unstructured) bool {
			return binding.SameVersion(r.FromVersion, object.GetAPIVersion())
		}
		if slices.ContainsFunc(in.objects, hasVersion) && isVersion(e.From, r.FromVersion) && isVersion(e.To, r.ToVersion) {
			matching = append(matching, i)
		}
	}
	if len(matching) == 0 && e.To != "" {
		path, err := e.conversionPath(all, v, in)
		if err != nil {
			return nil, err
		}
		participates := slices.ContainsFunc(path, func(s engine.ConversionStep) bool { return s.Hook == hook.Name })
		if participates && isVersion(e.From, path[0].From) {
			return e.firstStep(hook, path, v, in)
		}
	}
	hint := v.Name + " converts " + strings.Join(rules, ", ") + ": choose with --from and --to"
	switch len(matching) {
	case 0:
		return nil, fault.Usage(hint, "%s has no such conversion of %s", v.Name, in.objects[0].GetAPIVersion())
	case 1:
		r := v.Conversions[matching[0]]
		return in.cluster.Conversion(conf, v, r.FromVersion, r.ToVersion, r.ToVersion, in.objects)
	}
	return nil, fault.Usage(hint, "%s: %d conversions match", v.Name, len(matching))
}

// conversionPath returns the conversions of all hooks that lead from the version of the objects
// to the requested version.
func (e Event) conversionPath(all func() ([]engine.Hook, error), v config.Conversion, in input) ([]engine.ConversionStep, error) {
	hooks, err := all()
	if err != nil {
		return nil, err
	}
	return engine.New(hooks).ConversionPath(v.CRDName, in.objects[0].GetAPIVersion(), e.target(in)), nil
}

// target returns the requested version with its group.
func (e Event) target(in input) string {
	if strings.Contains(e.To, "/") {
		return e.To
	}
	return in.objects[0].GroupVersionKind().Group + "/" + e.To
}

// firstStep returns the context of the first conversion of a path. If another hook does it, the
// error is a *binding.NotRunError.
func (e Event) firstStep(hook engine.Hook, path []engine.ConversionStep, v config.Conversion, in input) (binding.Context, error) {
	first := path[0]
	if first.Hook != hook.Name {
		step := in.objects[0].GetAPIVersion() + " to " + first.To
		return nil, &binding.NotRunError{Reason: first.Hook + " converts " + step + " first; use the objects that it returns"}
	}
	return in.cluster.Conversion(hook.Config, v, first.From, first.To, e.target(in), in.objects)
}

// isVersion reports whether a flag is unset or equals a version.
func isVersion(flag, version string) bool { return flag == "" || binding.SameVersion(flag, version) }
