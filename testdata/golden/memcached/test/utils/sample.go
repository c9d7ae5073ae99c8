package utils

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ReadSample returns the first object in a YAML file. The path is relative to the root
// of the project.
func ReadSample(name string) (*unstructured.Unstructured, error) {
	root, err := moduleRoot()
	if err != nil {
		return nil, err
	}
	content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		return nil, err
	}
	documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), len(content))
	var first runtime.RawExtension
	for len(first.Raw) == 0 { // only comments before a "---"
		if err := documents.Decode(&first); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	obj := &unstructured.Unstructured{}
	if err := obj.UnmarshalJSON(first.Raw); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return obj, nil
}

// ReadSampleAs reads the first object in a YAML file into obj, a pointer to a Go type.
// It returns an error for fields that the type does not have.
func ReadSampleAs(name string, obj any) error {
	sample, err := ReadSample(name)
	if err != nil {
		return err
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(sample.Object, obj, true); err != nil {
		return fmt.Errorf("%s does not match the type %T: %w", name, obj, err)
	}
	return nil
}

// Remove deletes an object and waits until it is gone. The controllers under test must
// remove their own finalizers. Remove also removes those of Kubernetes, because its
// controllers do not run in tests.
func Remove(ctx context.Context, c client.Client, obj client.Object) error {
	// Without a policy, some kinds such as Job wait for the garbage collector.
	err := c.Delete(ctx, obj, client.PropagationPolicy(metav1.DeletePropagationBackground))
	if err != nil {
		return client.IgnoreNotFound(err)
	}
	err = wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		err := c.Get(ctx, client.ObjectKeyFromObject(obj), obj)
		if err == nil {
			err = release(ctx, c, obj)
		}
		if apierrors.IsConflict(err) {
			return false, nil // another client changed the object
		}
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	})
	if wait.Interrupted(err) {
		return fmt.Errorf("%s still exists after its deletion, with the finalizers %q", obj.GetName(), obj.GetFinalizers())
	}
	return err
}

// release removes the finalizers of Kubernetes from a deleted object.
func release(ctx context.Context, c client.Client, obj client.Object) error {
	gvk, err := c.GroupVersionKindFor(obj)
	if err != nil {
		return err
	}
	if gvk == corev1.SchemeGroupVersion.WithKind("Namespace") {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: obj.GetName()}}
		return c.SubResource("finalize").Update(ctx, namespace)
	}
	others := slices.DeleteFunc(slices.Clone(obj.GetFinalizers()), func(name string) bool {
		return strings.HasPrefix(name, "kubernetes.io/")
	})
	if len(others) == len(obj.GetFinalizers()) {
		return nil
	}
	obj.SetFinalizers(others)
	return c.Update(ctx, obj)
}
