//go:build testall

package e2e

import (
	"cmp"
	"errors"
	"io"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
)

// apply applies objects with server-side apply and strict field validation.
func (c *controlPlane) apply(t *testing.T, objects ...*unstructured.Unstructured) {
	t.Helper()
	for _, o := range objects {
		patch, err := o.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		options := metav1.PatchOptions{FieldManager: "e2e", Force: new(true), FieldValidation: metav1.FieldValidationStrict}
		if _, err := c.resource(t, o).Patch(t.Context(), o.GetName(), types.ApplyPatchType, patch, options); err != nil {
			t.Fatalf("apply %s %s: %v", o.GetKind(), o.GetName(), err)
		}
	}
}

// create, get, update, patch, patchStatus and delete work on any kind. They find the resource
// by discovery and return the errors of the API server.
func (c *controlPlane) create(t *testing.T, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	t.Helper()
	return c.resource(t, o).Create(t.Context(), o, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
}

// get reads the object with the kind, namespace and name of o.
func (c *controlPlane) get(t *testing.T, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	t.Helper()
	return c.resource(t, o).Get(t.Context(), o.GetName(), metav1.GetOptions{})
}

func (c *controlPlane) update(t *testing.T, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	t.Helper()
	return c.resource(t, o).Update(t.Context(), o, metav1.UpdateOptions{FieldValidation: metav1.FieldValidationStrict})
}

// patch merges a JSON document into o.
func (c *controlPlane) patch(t *testing.T, o *unstructured.Unstructured, json string) (*unstructured.Unstructured, error) {
	t.Helper()
	return c.merge(t, o, json)
}

// patchStatus merges a JSON document, {"status":{...}}, into the status of o.
func (c *controlPlane) patchStatus(t *testing.T, o *unstructured.Unstructured, json string) (*unstructured.Unstructured, error) {
	t.Helper()
	return c.merge(t, o, json, "status")
}

func (c *controlPlane) merge(t *testing.T, o *unstructured.Unstructured, json string, subresources ...string) (*unstructured.Unstructured, error) {
	t.Helper()
	options := metav1.PatchOptions{FieldValidation: metav1.FieldValidationStrict}
	return c.resource(t, o).Patch(t.Context(), o.GetName(), types.MergePatchType, []byte(json), options, subresources...)
}

// delete deletes o as kubectl does: the objects that it owns are deleted afterwards.
func (c *controlPlane) delete(t *testing.T, o *unstructured.Unstructured) error {
	t.Helper()
	return c.resource(t, o).Delete(t.Context(), o.GetName(), background)
}

var background = metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)}

// resource returns a client for the kind of o. It waits for discovery, which does not list
// the kinds of a new CRD at once.
func (c *controlPlane) resource(t *testing.T, o *unstructured.Unstructured) (found dynamic.ResourceInterface) {
	t.Helper()
	eventually(t, "discover "+o.GroupVersionKind().String(), func() (err error) {
		if found, err = c.find(o); err != nil {
			c.mapper.Reset()
		}
		return err
	})
	return found
}

func (c *controlPlane) find(o *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	gvk := o.GroupVersionKind()
	mapping, err := c.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return nil, err
	}
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		return c.dynamic.Resource(mapping.Resource), nil
	}
	return c.dynamic.Resource(mapping.Resource).Namespace(cmp.Or(o.GetNamespace(), metav1.NamespaceDefault)), nil
}

// object returns an object without content, to read, patch or delete the real one.
func object(apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

// at returns the value at a path of o, or nil.
func at(o *unstructured.Unstructured, path ...string) any {
	v, _, _ := unstructured.NestedFieldNoCopy(o.Object, path...)
	return v
}

// objects parses YAML documents.
func objects(t *testing.T, text string) []*unstructured.Unstructured {
	t.Helper()
	var all []*unstructured.Unstructured
	documents := yaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096)
	for {
		o := &unstructured.Unstructured{}
		err := documents.Decode(&o.Object)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(o.Object) > 0 {
			all = append(all, o)
		}
	}
}

// mustCreate creates o on the shared control plane.
func mustCreate(t *testing.T, o *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	created, err := cluster.create(t, o)
	if err != nil {
		t.Fatalf("create %s %s: %v", o.GetKind(), o.GetName(), err)
	}
	return created
}

// patched merges a JSON document into o on the shared control plane.
func patched(t *testing.T, o *unstructured.Unstructured, json string) *unstructured.Unstructured {
	t.Helper()
	changed, err := cluster.patch(t, o, json)
	if err != nil {
		t.Fatalf("patch %s %s: %v", o.GetKind(), o.GetName(), err)
	}
	return changed
}

func setAt(t *testing.T, o *unstructured.Unstructured, value any, path ...string) {
	t.Helper()
	if err := unstructured.SetNestedField(o.Object, value, path...); err != nil {
		t.Fatal(err)
	}
}

// invalidFields returns the fields in an error of the API server, in order.
func invalidFields(err error) (fields []string) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	for _, cause := range status.Status().Details.Causes {
		fields = append(fields, cause.Field)
	}
	return fields
}
