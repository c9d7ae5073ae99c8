package kubectl

import (
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

// applied is the annotation with what was applied last.
const applied = corev1.LastAppliedConfigAnnotation

// apply makes the objects of files what they say: what was applied before and is not
// in the file any more goes, what others added stays.
func (r *run) apply([]string) error { return r.eachOfFiles("apply", noFiles, r.applyOne) }

func (r *run) applyOne(t target) error {
	dry, err := r.dry()
	if err != nil {
		return err
	}
	if t.name == "" {
		return fmt.Errorf("error when retrieving current configuration of: from %q: resource name may not be empty; kubectl apply takes no generateName", t.source)
	}
	wanted, err := annotated(t.object)
	if err != nil {
		return err
	}
	now, err := r.api.Get(r, t.kind, t.namespace, t.name)
	switch {
	case apierrors.IsNotFound(err):
		o := t.object
		o.SetAnnotations(withApplied(o, wanted))
		if !dry {
			if o, err = r.api.Create(r, t.kind, o); err != nil {
				return t.wrap("creating", err)
			}
		}
		return r.say(t, o, "created", dry)
	case err != nil:
		return t.wrap("retrieving current configuration of", err)
	}
	before := now.GetAnnotations()[applied]
	if before == "" {
		r.warnf("Warning: resource %s is missing the %s annotation which is required by kubectl apply. kubectl apply should only be used on resources created declaratively by either kubectl create --save-config or kubectl apply. The missing annotation will be patched automatically.\n",
			t.kind.Resource+"/"+t.name, applied)
	}
	o, err := r.bring(t, now, before, wanted, dry)
	if err != nil {
		return t.wrap("patching", err)
	}
	done := "configured"
	if o.GetResourceVersion() == now.GetResourceVersion() {
		done = "unchanged"
	}
	return r.say(t, o, done, dry)
}

// bring patches an object to what is wanted, by what was applied before. Lists are
// replaced as a whole, but those of builtin kinds merge by their keys on the server.
func (r *run) bring(t target, now *unstructured.Unstructured, before, wanted string, dry bool) (*unstructured.Unstructured, error) {
	t.object.SetAnnotations(withApplied(t.object, wanted))
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
	kind, patch, err := threeWay(t.kind, was, want, is)
	if err != nil {
		return nil, err
	}
	if string(patch) == "{}" || dry {
		return now, nil
	}
	return r.api.Patch(r, t.kind, t.namespace, t.name, kind, patch, "")
}

// annotated is an object as the annotation says it.
func annotated(o *unstructured.Unstructured) (string, error) {
	plain := o.DeepCopy()
	annotations := plain.GetAnnotations()
	delete(annotations, applied)
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

func withApplied(o *unstructured.Unstructured, text string) map[string]string {
	annotations := o.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[applied] = text
	return annotations
}

// threeWay is the patch of apply: of what was applied, what is wanted, and what is.
func threeWay(k kinds.Kind, was, want, is []byte) (types.PatchType, []byte, error) {
	form := fakeapi.Form(k)
	if form == nil {
		patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(was, want, is)
		return types.MergePatchType, patch, err
	}
	meta, err := strategicpatch.NewPatchMetaFromStruct(form)
	if err != nil {
		return "", nil, err
	}
	patch, err := strategicpatch.CreateThreeWayMergePatch(was, want, is, meta, true)
	return types.StrategicMergePatchType, patch, err
}
