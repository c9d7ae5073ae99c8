package patch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/itchyny/gojq"
	"github.com/operon-dev/operon/internal/hooks/output"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// Applier applies operations to an API.
type Applier struct {
	API API
	// Wait waits, for a deletion or after a conflict; nil takes the time it takes.
	Wait func(context.Context, time.Duration) error
}

// FailedError is an operation that failed, and why.
type FailedError struct {
	Operation output.Operation
	Err       error
}

func (e *FailedError) Error() string { return Describe(e.Operation) + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *FailedError) Unwrap() error { return e.Err }

// Describe names an operation and its object: Delete v1 Secret a/copy.
func Describe(op output.Operation) string {
	apiVersion, kind, namespace, name := op.APIVersion, op.Kind, op.Namespace, op.Name
	if op.Creates() {
		if o, err := op.Manifest(); err == nil {
			apiVersion, kind, namespace, name = o.GetAPIVersion(), o.GetKind(), o.GetNamespace(), o.GetName()
		}
	}
	if namespace != "" {
		name = namespace + "/" + name
	}
	return strings.Join(strings.Fields(fmt.Sprintf("%s %s %s %s", op.Operation, apiVersion, kind, name)), " ")
}

// Apply applies operations in their order, and goes on when one fails. The error
// joins a *FailedError for each that did; the engine then takes the hook for
// failed, and runs it again.
func (a Applier) Apply(ctx context.Context, ops []output.Operation) error {
	var failed []error
	for _, op := range ops {
		if err := a.apply(ctx, op); err != nil {
			failed = append(failed, &FailedError{op, err})
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(failed...)
}

func (a Applier) apply(ctx context.Context, op output.Operation) error {
	switch op.Operation {
	case "Create", "CreateIfNotExists", "CreateOrUpdate":
		return a.create(ctx, op)
	case "Delete":
		return a.delete(ctx, op, metav1.DeletePropagationForeground)
	case "DeleteInBackground":
		return a.delete(ctx, op, metav1.DeletePropagationBackground)
	case "DeleteNonCascading":
		return a.delete(ctx, op, metav1.DeletePropagationOrphan)
	case "JQPatch":
		return a.filter(ctx, op)
	case "MergePatch":
		return a.patch(ctx, op, types.MergePatchType)
	case "JSONPatch":
		return a.patch(ctx, op, types.JSONPatchType)
	}
	return fmt.Errorf("unknown operation %q", op.Operation) // output refuses it
}

// create creates an object. When it is there already, CreateOrUpdate puts it in
// the place of what is there: that is no merge.
func (a Applier) create(ctx context.Context, op output.Operation) error {
	o, err := op.Manifest()
	if err != nil {
		return fmt.Errorf("object: %w", err)
	}
	kind, err := a.API.Kind(ctx, o.GetAPIVersion(), o.GetKind())
	if err != nil {
		return err
	}
	_, err = a.API.Create(ctx, kind, o.DeepCopy())
	switch {
	case !apierrors.IsAlreadyExists(err) || op.Operation == "Create":
		return err
	case op.Operation == "CreateIfNotExists":
		return nil
	}
	return a.onConflict(ctx, func() error {
		there, err := a.API.Get(ctx, kind, o.GetNamespace(), o.GetName())
		if err != nil {
			return err
		}
		next := o.DeepCopy()
		next.SetResourceVersion(there.GetResourceVersion())
		_, err = a.API.Update(ctx, kind, next, "")
		return err
	})
}

// delete deletes an object, if it is there. In the foreground it looks every second
// whether the object is gone, for 20 seconds.
func (a Applier) delete(ctx context.Context, op output.Operation, how metav1.DeletionPropagation) error {
	kind, err := a.API.Kind(ctx, op.APIVersion, op.Kind)
	if err != nil {
		return err
	}
	err = a.API.Delete(ctx, kind, op.Namespace, op.Name, how)
	if err != nil || how != metav1.DeletePropagationForeground {
		return unless(apierrors.IsNotFound, err)
	}
	for range 20 {
		if err := a.wait(ctx, time.Second); err != nil {
			return err
		}
		if _, err := a.API.Get(ctx, kind, op.Namespace, op.Name); err != nil {
			return unless(apierrors.IsNotFound, err)
		}
	}
	return errors.New("it is still there after 20 seconds: something holds it, such as a finalizer or an object that it owns; DeleteInBackground does not wait")
}

// patch sends a patch.
func (a Applier) patch(ctx context.Context, op output.Operation, t types.PatchType) error {
	body, err := op.Body()
	if err != nil {
		return fmt.Errorf("patch: %w", err)
	}
	kind, err := a.API.Kind(ctx, op.APIVersion, op.Kind)
	if err != nil {
		return err
	}
	_, err = a.API.Patch(ctx, kind, op.Namespace, op.Name, t, body, subresource(op))
	if op.IgnoreMissingObject {
		return unless(apierrors.IsNotFound, err)
	}
	return err
}

// filter puts what the filter makes of an object in its place, unless that is the
// same. The object is read whole also for a subresource.
func (a Applier) filter(ctx context.Context, op output.Operation) error {
	kind, err := a.API.Kind(ctx, op.APIVersion, op.Kind)
	if err != nil {
		return err
	}
	return a.onConflict(ctx, func() error {
		there, err := a.API.Get(ctx, kind, op.Namespace, op.Name)
		switch {
		case op.IgnoreMissingObject && apierrors.IsNotFound(err):
			return nil
		case err != nil:
			return err
		}
		next, err := filtered(ctx, op.JQFilter, there)
		if err != nil || equality.Semantic.DeepEqual(there, next) {
			return err
		}
		_, err = a.API.Update(ctx, kind, next, subresource(op))
		return err
	})
}

// filtered runs a jq filter, which is compiled here for the first time, and may never
// end.
func filtered(ctx context.Context, filter string, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	query, err := gojq.Parse(filter)
	if err != nil {
		return nil, fmt.Errorf("jqFilter: %w", err)
	}
	results := []any{}
	for iter := query.RunWithContext(ctx, runtime.DeepCopyJSON(o.Object)); ; {
		v, more := iter.Next()
		if !more {
			break
		}
		if err, isError := v.(error); isError {
			if halt := (*gojq.HaltError)(nil); errors.As(err, &halt) && halt.Value() == nil {
				break
			}
			return nil, fmt.Errorf("jqFilter: %w", err)
		}
		results = append(results, v)
	}
	if len(results) != 1 {
		return nil, fmt.Errorf("jqFilter gives %d results, and must give the object", len(results))
	}
	body, err := json.Marshal(results[0])
	if err != nil {
		return nil, err
	}
	next := &unstructured.Unstructured{}
	if _, _, err := unstructured.UnstructuredJSONScheme.Decode(body, nil, next); err != nil {
		return nil, fmt.Errorf("what jqFilter gives is no object: %w", err)
	}
	return next, nil
}

// subresource is without the slash that hooks may write before it. The operations
// that create or delete know none.
func subresource(op output.Operation) string { return strings.Trim(op.Subresource, "/") }

// onConflict does what a client does: it tries four times.
func (a Applier) onConflict(ctx context.Context, try func() error) error {
	pause := 10 * time.Millisecond
	for range 3 {
		if err := try(); !apierrors.IsConflict(err) {
			return err
		}
		if err := a.wait(ctx, pause); err != nil {
			return err
		}
		pause *= 5
	}
	return try()
}

func (a Applier) wait(ctx context.Context, d time.Duration) error {
	if a.Wait != nil {
		return a.Wait(ctx, d)
	}
	return Sleep(ctx, d)
}

// Sleep waits for a time; the error is why it was cut short.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func unless(harmless func(error) bool, err error) error {
	if harmless(err) {
		return nil
	}
	return err
}
