package kubectl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// wait checks a condition. It does not wait, because nothing else changes objects
// in the meantime.
func (r *runner) wait(ctx context.Context, args []string) error {
	if r.condition == "" {
		return errors.New("must specify --for")
	}
	targets, err := r.targets(ctx, args, true)
	if err != nil {
		return err
	}
	if len(targets) == 0 {
		return errors.New("no matching resources found")
	}
	return forEach(targets, func(t target) error {
		o, err := r.api.Get(ctx, t.kind, t.namespace, t.name)
		if err != nil && (r.condition != "delete" || !apierrors.IsNotFound(err)) {
			return err
		}
		if o == nil {
			return nil // kubectl prints nothing about a deleted object
		}
		met, err := isMet(o, r.condition)
		if err != nil {
			return err
		}
		if !met {
			return fmt.Errorf("timed out waiting for the condition on %s/%s", t.kind, t.name)
		}
		return r.report(t, o, "condition met", false)
	})
}

// isMet reports whether an object meets the condition of --for. A deleted object is nil.
func isMet(o *unstructured.Unstructured, condition string) (bool, error) {
	form, argument, _ := strings.Cut(condition, "=")
	switch form {
	case "delete":
		return o == nil, nil
	case "create":
		return o != nil, nil
	case "condition":
		name, value, valued := strings.Cut(argument, "=")
		if !valued {
			value = "true"
		}
		conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
		return slices.ContainsFunc(conditions, func(v any) bool {
			c, _ := v.(map[string]any)
			return strings.EqualFold(fmt.Sprint(c["type"]), name) && strings.EqualFold(fmt.Sprint(c["status"]), value)
		}), nil
	case "jsonpath":
		path, value, valued := strings.Cut(argument, "=")
		p, err := parsePath(strings.Trim(path, "'"))
		if err != nil {
			return false, err
		}
		found, err := evaluate(p, o.Object)
		return err == nil && found != "" && (!valued || found == value), err
	}
	return false, fmt.Errorf("unrecognized condition: %q", condition)
}
