//go:build testall

package fakeapi

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/hooks/kinds"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	kyaml "sigs.k8s.io/yaml"
)

func object(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := kyaml.Unmarshal([]byte(text), &o.Object); err != nil {
		t.Fatal(err)
	}
	return o
}

// recorded returns a server with objects, and a list that receives its further events.
func recorded(t testing.TB, given ...string) (*Server, *[]string) {
	t.Helper()
	s, events := New(kinds.Builtin()), &[]string{}
	for _, text := range given {
		if err := s.Load(object(t, text)); err != nil {
			t.Fatal(err)
		}
	}
	s.Subscribe(func(e Event) {
		*events = append(*events, strings.TrimSpace(fmt.Sprintf("%s %s %s", e.Type, e.Kind.Kind, strings.TrimPrefix(e.Object.GetNamespace()+"/"+e.Object.GetName(), "/"))))
	})
	return s, events
}

func (s *Server) kind(t testing.TB, name string) kinds.Kind {
	t.Helper()
	k, err := s.Kind(context.Background(), "", name)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

const crd = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: databases.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Database, plural: databases, shortNames: [db]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    selectableFields: [{jsonPath: .spec.engine}]
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [name]
            properties:
              name: {type: string, minLength: 2, pattern: '^[a-z]+$'}
              engine: {type: string, enum: [mysql, postgres], default: mysql}
              size: {type: integer, minimum: 1, maximum: 9}
              step: {type: integer, multipleOf: 5}
              share: {type: number, multipleOf: 0.1}
              users: {type: array, items: {type: object, properties: {name: {type: string}, admin: {type: boolean, default: false}}}}
              extra: {type: object, x-kubernetes-preserve-unknown-fields: true}
          status: {type: object, properties: {ready: {type: boolean}}}
`

const database = `
apiVersion: example.com/v1
kind: Database
metadata: {name: db, namespace: default}
spec: {name: shop, users: [{name: a}], extra: {any: thing}, nope: 1}
status: {ready: true}
`

// TestCRD adds the kind of a CRD to the server, and applies its schema.
func TestCRD(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s, events := recorded(t, crd)
	k := s.kind(t, "db")
	created, err := s.Create(ctx, k, object(t, database))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"name": "shop", "engine": "mysql", "users": []any{map[string]any{"name": "a", "admin": false}}, "extra": map[string]any{"any": "thing"}}
	if diff := cmp.Diff(want, created.Object["spec"]); diff != "" {
		t.Error(diff)
	}
	if created.Object["status"] != nil || created.GetGeneration() != 1 {
		t.Errorf("a new object has status %v, generation %d", created.Object["status"], created.GetGeneration())
	}
	for patch, want := range map[string]string{
		`{"spec": {"name": "A"}}`:       `Database.example.com "db" is invalid: spec.name: Invalid value: "A": spec.name in body should be at least 2 chars long`,
		`{"spec": {"name": null}}`:      `Database.example.com "db" is invalid: spec.name: Required value`,
		`{"spec": {"engine": "mssql"}}`: `Database.example.com "db" is invalid: spec.engine: Unsupported value: "mssql": supported values: "mysql", "postgres"`,
		`{"spec": {"size": 10}}`:        `Database.example.com "db" is invalid: spec.size: Invalid value: 10: spec.size in body should be less than or equal to 9`,
		`{"spec": {"size": "1"}}`:       `Database.example.com "db" is invalid: spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"`,
	} {
		if _, err := s.Patch(ctx, k, "default", "db", types.MergePatchType, []byte(patch), ""); err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", patch, err, want)
		}
	}
	updated, err := s.Patch(ctx, k, "default", "db", types.MergePatchType, []byte(`{"status": {"ready": true}, "spec": {"size": 3}}`), "/status")
	if err != nil || fmt.Sprint(updated.Object["status"]) != "map[ready:true]" || valueAt(updated.Object, "spec.size") != nil || updated.GetGeneration() != 1 {
		t.Errorf("a patch of the status: %v, %v", updated, err)
	}
	if list, err := s.List(ctx, k, "", metav1.ListOptions{FieldSelector: "spec.engine=mysql"}); err != nil || len(list.Items) != 1 {
		t.Errorf("list by a field: %v, %v", list, err)
	}
	if err := s.Delete(ctx, s.kind(t, "crd"), "", "databases.example.com", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Kind(ctx, "", "db"); err == nil {
		t.Error("the server still has the kind after its CRD was deleted")
	}
	if diff := cmp.Diff([]string{"Added Database default/db", "Modified Database default/db", "Deleted Database default/db",
		"Deleted CustomResourceDefinition databases.example.com"}, *events); diff != "" {
		t.Error(diff)
	}
}

// TestCRDSchema checks that the server rejects schemas that are not structural, in requests
// and in loaded objects.
func TestCRDSchema(t *testing.T) {
	t.Parallel()
	invalid := object(t, strings.Replace(crd, "name: {type: string, minLength: 2", "name: {minLength: 2", 1))
	const want = `spec.validation.openAPIV3Schema.properties[spec].properties[name].type: Required value: must not be empty for specified object fields`
	check := func(request string, err error) {
		t.Helper()
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", request, err)
		}
	}
	ctx := context.Background()
	check("load", New(kinds.Builtin()).Load(invalid.DeepCopy()))
	s, _ := recorded(t)
	k := s.kind(t, "crd")
	_, err := s.Create(ctx, k, invalid)
	check("create", err)
	created, err := s.Create(ctx, k, object(t, crd))
	if err != nil {
		t.Fatal(err)
	}
	invalid.SetResourceVersion(created.GetResourceVersion())
	_, err = s.Update(ctx, k, invalid, "")
	check("update", err)
	_, err = s.Patch(ctx, k, "", created.GetName(), types.JSONPatchType,
		[]byte(`[{"op": "remove", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/name/type"}]`), "")
	check("patch", err)
}

const parent = "{apiVersion: v1, kind: ConfigMap, metadata: {name: parent, namespace: default, uid: p}}"

func childOf(name, more string) string {
	return fmt.Sprintf("{apiVersion: v1, kind: Secret, metadata: {name: %s, namespace: default, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: parent, uid: p, blockOwnerDeletion: true}]%s}}", name, more)
}

// TestDelete checks what a deletion removes, and in which order.
func TestDelete(t *testing.T) {
	t.Parallel()
	held := `, finalizers: [example.com/hold]`
	for name, tc := range map[string]struct {
		given []string
		how   metav1.DeletionPropagation
		want  []string
	}{
		"alone":      {[]string{parent}, "", []string{"Deleted ConfigMap default/parent"}},
		"background": {[]string{parent, childOf("a", ""), childOf("b", "")}, "Background", []string{"Deleted ConfigMap default/parent", "Deleted Secret default/a", "Deleted Secret default/b"}},
		"foreground": {[]string{parent, childOf("a", "")}, "Foreground", []string{"Modified ConfigMap default/parent", "Deleted Secret default/a", "Deleted ConfigMap default/parent"}},
		"orphan":     {[]string{parent, childOf("a", "")}, "Orphan", []string{"Modified Secret default/a", "Deleted ConfigMap default/parent"}},
		"held":       {[]string{parent, childOf("a", held)}, "Foreground", []string{"Modified ConfigMap default/parent", "Modified Secret default/a"}},
	} {
		s, events := recorded(t, tc.given...)
		if err := s.Delete(context.Background(), s.kind(t, "cm"), "default", "parent", tc.how); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want, *events); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestFinalizers checks that an object is removed with its last finalizer.
func TestFinalizers(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s, events := recorded(t, "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}",
		"{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: shop, finalizers: [example.com/hold]}}",
		"{apiVersion: v1, kind: Secret, metadata: {name: b, namespace: shop}}")
	if err := s.Delete(ctx, s.kind(t, "ns"), "", "shop", ""); err != nil {
		t.Fatal(err)
	}
	secret := s.kind(t, "secrets")
	if _, err := s.Create(ctx, secret, object(t, "{apiVersion: v1, kind: Secret, metadata: {name: c, namespace: shop}}")); err == nil ||
		err.Error() != `secrets "c" is forbidden: unable to create new content in namespace shop because it is being terminated` {
		t.Errorf("create in a terminating namespace: %v", err)
	}
	if _, err := s.Patch(ctx, secret, "shop", "a", types.MergePatchType, []byte(`{"metadata": {"finalizers": null}}`), ""); err != nil {
		t.Fatal(err)
	}
	want := []string{"Modified Namespace shop", "Modified Secret shop/a", "Deleted Secret shop/b",
		"Modified Secret shop/a", "Deleted Secret shop/a", "Deleted Namespace shop"}
	if diff := cmp.Diff(want, *events); diff != "" {
		t.Error(diff)
	}
}

// TestSubscriber checks that a subscriber gets the events that it causes after the event
// that it is handling.
func TestSubscriber(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := New(kinds.Builtin())
	cm := s.kind(t, "cm")
	var seen []string
	s.Subscribe(func(e Event) {
		if e.Object.GetName() == "a" && e.Type == "Added" {
			if _, err := s.Create(ctx, cm, object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: default}}")); err != nil {
				t.Error(err)
			}
		}
		seen = append(seen, e.Object.GetName())
	})
	if _, err := s.Create(ctx, cm, object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}}")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a", "b"}, seen); diff != "" {
		t.Error(diff)
	}
}
