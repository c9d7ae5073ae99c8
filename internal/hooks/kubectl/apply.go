package kubectl

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/operon-dev/operon/internal/hooks/fakeapi"
	"github.com/operon-dev/operon/internal/hooks/kinds"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// lastAppliedAnnotation holds the object of the last kubectl apply as JSON.
const lastAppliedAnnotation = corev1.LastAppliedConfigAnnotation

// apply creates or patches the objects of files. It removes fields that the last apply
// set and the file no longer has, and keeps fields that others added.
func (r *runner) apply(ctx context.Context, _ []string) error {
	return r.eachOfFiles("apply", noFiles, func(t target) error { return r.applyOne(ctx, t) })
}

func (r *runner) applyOne(ctx context.Context, t target) error {
	dry, err := r.isDryRun()
	if err != nil {
		return err
	}
	if t.name == "" {
		return fmt.Errorf("error when retrieving current configuration of: from %q: resource name may not be empty; kubectl apply does not support generateName", t.source)
	}
	wanted, err := lastApplied(t.object)
	if err != nil {
		return err
	}
	now, err := r.api.Get(ctx, t.kind, t.namespace, t.name)
	switch {
	case apierrors.IsNotFound(err):
		o := t.object
		o.SetAnnotations(withLastApplied(o, wanted))
		if !dry {
			if o, err = r.api.Create(ctx, t.kind, o); err != nil {
				return t.wrap("creating", err)
			}
		}
		return r.report(t, o, "created", dry)
	case err != nil:
		return t.wrap("retrieving current configuration of", err)
	}
	before := now.GetAnnotations()[lastAppliedAnnotation]
	if before == "" {
		r.warnf("Warning: resource %s is missing the %s annotation which is required by kubectl apply. kubectl apply should only be used on resources created declaratively by either kubectl create --save-config or kubectl apply. The missing annotation will be patched automatically.\n",
			t.kind.Resource+"/"+t.name, lastAppliedAnnotation)
	}
	o, err := r.patchApplied(ctx, t, now, before, wanted, dry)
	if err != nil {
		return t.wrap("patching", err)
	}
	done := "configured"
	if o.GetResourceVersion() == now.GetResourceVersion() {
		done = "unchanged"
	}
	return r.report(t, o, done, dry)
}

// patchApplied patches an object with the changes between the last apply and this one.
// Lists are replaced as a whole, except lists of built-in kinds that merge by key.
func (r *runner) patchApplied(ctx context.Context, t target, now *unstructured.Unstructured, before, wanted string, dry bool) (*unstructured.Unstructured, error) {
	t.object.SetAnnotations(withLastApplied(t.object, wanted))
	want, err := json.Marshal(t.object.Object)
	if err != nil {
		return nil, err
	}
	is, err := json.Marshal(now.Object)
	if err != nil {
		return nil, err
	}
	var was []byte
	if before != "" {
		was = []byte(before)
	}
	kind, patch, err := ThreeWayPatch(t.kind, was, want, is)
	if err != nil {
		return nil, err
	}
	if string(patch) == "{}" || dry {
		return now, nil
	}
	return r.api.Patch(ctx, t.kind, t.namespace, t.name, kind, patch, "")
}

// lastApplied returns the value of the annotation for an object.
func lastApplied(o *unstructured.Unstructured) (string, error) {
	plain := o.DeepCopy()
	annotations := plain.GetAnnotations()
	delete(annotations, lastAppliedAnnotation)
	if annotations == nil {
		annotations = map[string]string{}
	}
	plain.SetAnnotations(annotations)
	if len(annotations) == 0 {
		_ = unstructured.SetNestedMap(plain.Object, map[string]any{}, "metadata", "annotations")
	}
	text, err := json.Marshal(plain.Object)
	return string(text) + "\n", err
}

func withLastApplied(o *unstructured.Unstructured, text string) map[string]string {
	annotations := o.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[lastAppliedAnnotation] = text
	return annotations
}

// ThreeWayPatch returns the patch that kubectl apply and Helm send: was is the object of the last apply,
// want the object of this one, and is the object on the server.
func ThreeWayPatch(k kinds.Kind, was, want, is []byte) (types.PatchType, []byte, error) {
	typed := fakeapi.NewTyped(k)
	if typed == nil {
		patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(was, want, is)
		return types.MergePatchType, patch, err
	}
	meta, err := strategicpatch.NewPatchMetaFromStruct(typed)
	if err != nil {
		return "", nil, err
	}
	patch, err := strategicpatch.CreateThreeWayMergePatch(was, want, is, meta, true)
	return types.StrategicMergePatchType, patch, err
}
