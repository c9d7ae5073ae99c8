package kubeapi

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

// Applier applies operations to an API server.
type Applier struct {
	Client Client
	// Wait waits for a deletion or after a conflict. nil means Sleep.
	Wait func(context.Context, time.Duration) error
}

// operationError is the error of an operation.
type operationError struct {
	Operation output.Operation
	Err       error
}

func (e *operationError) Error() string {
	return describe(e.Operation) + ": " + explain(e.Operation, e.Err)
}

// Unwrap returns the cause.
func (e *operationError) Unwrap() error { return e.Err }

// describe returns an operation with its object, such as Delete v1 Secret a/copy.
func describe(op output.Operation) string {
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

// Apply applies operations in order, also after one fails. The error joins a *operationError
// for each failed operation. The engine then treats the run as failed and repeats it.
func (a Applier) Apply(ctx context.Context, ops []output.Operation) error {
	var failed []error
	for _, op := range ops {
		if err := a.apply(ctx, op); err != nil {
			failed = append(failed, &operationError{op, err})
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
	return fmt.Errorf("unknown operation %q", op.Operation) // package output rejects it
}

// create creates an object. If it exists, CreateOrUpdate replaces it without merging.
func (a Applier) create(ctx context.Context, op output.Operation) error {
	o, err := op.Manifest()
	if err != nil {
		return fmt.Errorf("object: %w", err)
	}
	kind, err := a.Client.Kind(ctx, o.GetAPIVersion(), o.GetKind())
	if err != nil {
		return err
	}
	_, err = a.Client.Create(ctx, kind, o.DeepCopy())
	switch {
	case !apierrors.IsAlreadyExists(err) || op.Operation == "Create":
		return err
	case op.Operation == "CreateIfNotExists":
		return nil
	}
	return a.onConflict(ctx, func() error {
		existing, err := a.Client.Get(ctx, kind, o.GetNamespace(), o.GetName())
		if err != nil {
			return err
		}
		next := o.DeepCopy()
		next.SetResourceVersion(existing.GetResourceVersion())
		_, err = a.Client.Update(ctx, kind, next, "")
		return err
	})
}

// delete deletes an object if it exists. In the foreground it waits up to 20 seconds for
// the deletion, and checks every second.
func (a Applier) delete(ctx context.Context, op output.Operation, how metav1.DeletionPropagation) error {
	kind, err := a.Client.Kind(ctx, op.APIVersion, op.Kind)
	if err != nil {
		return err
	}
	err = a.Client.Delete(ctx, kind, op.Namespace, op.Name, how)
	if err != nil || how != metav1.DeletePropagationForeground {
		return unless(apierrors.IsNotFound, err)
	}
	for range 20 {
		if err := a.wait(ctx, time.Second); err != nil {
			return err
		}
		if _, err := a.Client.Get(ctx, kind, op.Namespace, op.Name); err != nil {
			return unless(apierrors.IsNotFound, err)
		}
	}
	return errors.New("it still exists after 20 seconds; a finalizer or a dependent object blocks the deletion; DeleteInBackground does not wait")
}

// patch sends a patch.
func (a Applier) patch(ctx context.Context, op output.Operation, t types.PatchType) error {
	body, err := op.Body()
	if err != nil {
		return fmt.Errorf("patch: %w", err)
	}
	kind, err := a.Client.Kind(ctx, op.APIVersion, op.Kind)
	if err != nil {
		return err
	}
	_, err = a.Client.Patch(ctx, kind, op.Namespace, op.Name, t, body, subresource(op))
	if op.IgnoreMissingObject {
		return unless(apierrors.IsNotFound, err)
	}
	return err
}

// filter replaces an object with the result of its jq filter, unless they are equal. The
// filter gets the whole object even for a subresource.
func (a Applier) filter(ctx context.Context, op output.Operation) error {
	kind, err := a.Client.Kind(ctx, op.APIVersion, op.Kind)
	if err != nil {
		return err
	}
	return a.onConflict(ctx, func() error {
		existing, err := a.Client.Get(ctx, kind, op.Namespace, op.Name)
		switch {
		case op.IgnoreMissingObject && apierrors.IsNotFound(err):
			return nil
		case err != nil:
			return err
		}
		next, err := filtered(ctx, op.JQFilter, existing)
		if err != nil || equality.Semantic.DeepEqual(existing, next) {
			return err
		}
		_, err = a.Client.Update(ctx, kind, next, subresource(op))
		return err
	})
}

// filtered runs a jq filter on an object. A filter that does not terminate ends with the
// context.
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
		return nil, fmt.Errorf("jqFilter returns %d results; it must return one object", len(results))
	}
	body, err := json.Marshal(results[0])
	if err != nil {
		return nil, err
	}
	next := &unstructured.Unstructured{}
	if _, _, err := unstructured.UnstructuredJSONScheme.Decode(body, nil, next); err != nil {
		return nil, fmt.Errorf("the result of jqFilter is not an object: %w", err)
	}
	return next, nil
}

// subresource returns the subresource without a leading slash.
func subresource(op output.Operation) string { return strings.Trim(op.Subresource, "/") }

// onConflict retries three times after a conflict, as clients do.
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

// Sleep waits for a time. The error is the cause of the end of the context.
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
