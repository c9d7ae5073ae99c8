package hooktest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/crdschema"
	"github.com/operon-dev/operon/internal/hooks/engine"
	"github.com/operon-dev/operon/internal/hooks/testfile"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Converts reports whether the test has a convert event.
func (t *Test) Converts() bool {
	return slices.ContainsFunc(t.Events, func(e Event) bool { return e.Type == "convert" })
}

// conversion is a request to convert objects to another API version.
type conversion struct {
	crd     string
	schema  *unstructured.Unstructured // the CRD, or nil if the cluster has none
	to      string
	objects []*unstructured.Unstructured // with the defaults of their API version
}

// newConversion returns the request that an API server sends for a convert event.
func (s *session) newConversion(ctx context.Context, crd string, e Event) (*conversion, error) {
	c := &conversion{crd: crd, to: e.To}
	api := s.cluster.User()
	kind, err := api.Kind(ctx, "apiextensions.k8s.io/v1", "CustomResourceDefinition")
	if err != nil {
		return nil, err
	}
	if c.schema, err = api.Get(ctx, kind, "", crd); err != nil {
		if !apierrors.IsNotFound(err) {
			return nil, err
		}
		c.schema = nil
	}
	if _, _, err := c.validator(c.to); err != nil {
		return nil, err
	}
	for i, o := range e.Objects {
		v, found, err := c.validator(o.GetAPIVersion())
		if err != nil {
			return nil, fmt.Errorf("objects[%d]: %w", i, err)
		}
		whole := o.DeepCopy()
		if found {
			dropped, err := v.Prune(whole.Object)
			if err != nil {
				return nil, fmt.Errorf("objects[%d]: %w", i, err)
			}
			if len(dropped) > 0 {
				return nil, fmt.Errorf("objects[%d]: %s has no field %s", i, o.GetAPIVersion(), strings.Join(dropped, ", "))
			}
			v.Default(whole.Object)
		}
		c.objects = append(c.objects, whole)
	}
	return c, nil
}

// validator returns the validator of an API version. found is false when the cluster has
// no CRD.
func (c *conversion) validator(apiVersion string) (v *crdschema.Validator, found bool, err error) {
	if c.schema == nil {
		return nil, false, nil
	}
	name := apiVersion[strings.IndexByte(apiVersion, '/')+1:]
	schema := crdschema.Of(c.schema, name)
	if schema == nil {
		return nil, false, fmt.Errorf("%s has no version %s", c.crd, name)
	}
	v, err = crdschema.NewValidator(schema)
	return v, err == nil, err
}

// run calls the conversion hooks and returns the converted objects.
func (c *conversion) run(s *session, to string, objects []*unstructured.Unstructured,
	run func(engine.Task) (engine.Execution, error)) ([]*unstructured.Unstructured, error) {
	request := map[string]any{"uid": "00000000-0000-0000-0000-000000000000", "desiredAPIVersion": to}
	return s.state.Convert(c.crd, request, objects, func(t engine.Task) ([]*unstructured.Unstructured, bool, error) {
		done, err := run(t)
		if err != nil || done.Conversion == nil {
			return nil, false, err
		}
		var converted []*unstructured.Unstructured
		for _, o := range done.Conversion.ConvertedObjects {
			converted = append(converted, &unstructured.Unstructured{Object: o})
		}
		return converted, true, nil
	})
}

// accept processes converted objects as an API server does. It restores the metadata
// except labels and annotations, drops unknown fields and sets defaults. problems
// describes what an API server rejects or drops.
func (c *conversion) accept(converted []*unstructured.Unstructured) (accepted []*unstructured.Unstructured, problems []string) {
	for i, o := range converted {
		problem := func(format string, args ...any) {
			problems = append(problems, fmt.Sprintf("converted[%d]: ", i)+fmt.Sprintf(format, args...))
		}
		was := c.objects[i]
		for path, change := range map[string][2]any{
			"kind": {was.GetKind(), o.GetKind()}, "metadata.name": {was.GetName(), o.GetName()},
			"metadata.namespace": {was.GetNamespace(), o.GetNamespace()}, "metadata.uid": {was.GetUID(), o.GetUID()},
		} {
			if change[0] != change[1] {
				problem("%s is %s, was %s, which an API server rejects", path, testfile.Shown(change[1]), testfile.Shown(change[0]))
			}
		}
		next := &unstructured.Unstructured{Object: testfile.Integers(testfile.Normal(o.Object)).(map[string]any)}
		restore(next, was)
		v, found, err := c.validator(o.GetAPIVersion())
		if found {
			var dropped []string
			dropped, err = v.Prune(next.Object)
			for _, path := range dropped {
				problem("%s has no field %s, so the API server drops it", o.GetAPIVersion(), path)
			}
			v.Default(next.Object)
			for _, e := range v.Validate(context.Background(), nil, next.Object) {
				problem("it is invalid in %s: %v", o.GetAPIVersion(), e)
			}
		}
		if err != nil {
			problem("%v", err)
		}
		accepted = append(accepted, next)
	}
	slices.Sort(problems)
	return accepted, problems
}

// restore resets the metadata of a converted object. Hooks may change only labels and
// annotations.
func restore(o, was *unstructured.Unstructured) {
	labels, annotations := o.GetLabels(), o.GetAnnotations()
	if metadata, isObject := was.Object["metadata"].(map[string]any); isObject {
		o.Object["metadata"] = runtime.DeepCopyJSON(metadata)
	}
	o.SetLabels(labels)
	o.SetAnnotations(annotations)
}

// convert requests a conversion as an API server does.
func (s *session) convert(ctx context.Context, e Event) error {
	bindings := s.hook.Config.Conversion
	place, err := s.bindingIndex(e, len(bindings), func(i int) string { return bindings[i].Name })
	if err != nil {
		return err
	}
	c, err := s.newConversion(ctx, bindings[place].CRDName, e)
	if err != nil {
		return fmt.Errorf("an API server would not call the webhook: %w", err)
	}
	converted, err := c.run(s, c.to, c.objects, func(t engine.Task) (engine.Execution, error) { return s.runConversionHook(ctx, t) })
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		s.note(fmt.Errorf("the conversion failed: %w", err))
	case len(converted) != len(e.Objects):
		s.note(fmt.Errorf("the hook returned %d objects for %d, which an API server rejects", len(converted), len(e.Objects)))
	default:
		s.checkConversion(ctx, c, converted)
	}
	s.record(func(t *activity) {
		t.converted = []any{}
		for _, o := range converted {
			t.converted = append(t.converted, o.Object)
		}
	})
	return nil
}

// runConversionHook runs a hook for its part of a conversion. For a hook other than the
// tested one, only a failure is recorded.
func (s *session) runConversionHook(ctx context.Context, t engine.Task) (engine.Execution, error) {
	if t.Hook.Name == s.hook.Name {
		return s.run(ctx, t)
	}
	done, err := s.execute(ctx, t)
	if err != nil && ctx.Err() == nil {
		s.note(fmt.Errorf("%s, with %s: %w", t.Hook.Name, summary(t.Contexts), err))
	}
	return done, err
}

// checkConversion records what an API server rejects or drops, and what a round trip
// loses.
func (s *session) checkConversion(ctx context.Context, c *conversion, converted []*unstructured.Unstructured) {
	accepted, problems := c.accept(converted)
	if len(problems) == 0 && s.test.RoundTrip {
		problems = c.roundTrip(ctx, s, accepted)
	}
	for _, problem := range problems {
		s.note(errors.New(problem))
	}
}

// roundTrip converts objects back to their original versions if hooks support that
// direction. It describes each field that differs from the original.
func (c *conversion) roundTrip(ctx context.Context, s *session, accepted []*unstructured.Unstructured) []string {
	var problems []string
	for i, was := range c.objects {
		version := was.GetAPIVersion()
		if !s.state.Converts(c.crd, c.to, version) {
			continue
		}
		back, err := c.run(s, version, accepted[i:i+1], func(t engine.Task) (engine.Execution, error) { return s.execute(ctx, t) })
		switch {
		case err != nil:
			problems = append(problems, fmt.Sprintf("converted[%d], converted back to %s: %v", i, version, err))
			continue
		case len(back) != 1:
			problems = append(problems, fmt.Sprintf("converted[%d], converted back to %s: the hook returned %d objects for 1", i, version, len(back)))
			continue
		}
		only := &conversion{crd: c.crd, schema: c.schema, objects: c.objects[i : i+1]}
		whole, wrong := only.accept(back)
		for _, problem := range wrong {
			problem = strings.TrimPrefix(problem, "converted[0]: ")
			problems = append(problems, fmt.Sprintf("converted[%d], converted back to %s: %s", i, version, problem))
		}
		for _, d := range testfile.Differences(testfile.Normal(was.Object), testfile.Normal(whole[0].Object), "", true) {
			if len(wrong) == 0 {
				problems = append(problems, fmt.Sprintf("objects[%d], converted to %s and back: %s; if this is intended, set roundTrip: false", i, c.to, roundTripText(d)))
			}
		}
	}
	return problems
}

// roundTripText describes how a value differs after a round trip.
func roundTripText(d testfile.Difference) string {
	was, is := d.Texts()
	switch {
	case d.Got == testfile.Missing{}:
		return fmt.Sprintf("%s is lost, was %s", d.Path, was)
	case d.Want == testfile.Missing{}:
		return fmt.Sprintf("%s is %s, was absent", d.Path, is)
	}
	return fmt.Sprintf("%s is %s, was %s", d.Path, is, was)
}
