//go:build testall

package kubeapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/operon-dev/operon/internal/hooks/cluster"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/operon-dev/operon/internal/hooks/output"
	"github.com/operon-dev/operon/internal/testkit/servertest"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// TestApplier runs the tests of operations one after the other on one API server, which takes seconds to start.
func TestApplier(t *testing.T) {
	t.Parallel()
	server, err := cluster.Open(cluster.ClientOptions{Kubeconfig: servertest.Start(t).Kubeconfig("")}, os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]func(*testing.T, *cluster.Cluster){
		"results": testResults, "conflict": testConflict, "delete waits": testDeleteWaits, "calls": testCalls, "endless filter": testEndlessFilter,
	} {
		t.Run(name, func(t *testing.T) { test(t, server) })
	}
}

// load removes all objects of the kind of an object in its namespace, and creates the object with its status.
func load(t *testing.T, c *cluster.Cluster, o *unstructured.Unstructured) {
	t.Helper()
	k, err := c.Kind(t.Context(), o.GetAPIVersion(), o.GetKind())
	if err != nil {
		t.Fatal(err)
	}
	all, err := c.List(t.Context(), k, o.GetNamespace(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, old := range all.Items {
		if _, err := c.Patch(t.Context(), k, old.GetNamespace(), old.GetName(), types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), ""); err != nil && !apierrors.IsNotFound(err) {
			t.Fatal(err)
		}
		if err := c.Delete(t.Context(), k, old.GetNamespace(), old.GetName(), metav1.DeletePropagationBackground); err != nil && !apierrors.IsNotFound(err) {
			t.Fatal(err)
		}
	}
	if _, err := c.Create(t.Context(), k, o.DeepCopy()); err != nil {
		t.Fatal(err)
	}
}

// testResults checks the result of each operation, and that a failed one does not stop the
// others.
func testResults(t *testing.T, server *cluster.Cluster) {
	t.Helper()
	const there = `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "there", "namespace": "default", "labels": {"a": "b"}}, "data": {"k": "v", "m": "1"}}`
	for name, tc := range map[string]struct {
		writes string
		want   string // the data of the objects named there and new, and the errors
	}{
		"create":             {`{"operation": "Create", "object": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "new", "namespace": "default"}, "data": {"k": "x"}}}`, "k=v,m=1 k=x"},
		"create from text":   {`{"operation": "Create", "object": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: new, namespace: default}\ndata: {k: x}"}`, "k=v,m=1 k=x"},
		"create what is":     {`{"operation": "Create", "object": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "there", "namespace": "default"}}}`, `k=v,m=1 Create v1 ConfigMap default/there: configmaps "there" already exists`},
		"create if not":      {`{"operation": "CreateIfNotExists", "object": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "there", "namespace": "default"}}}`, "k=v,m=1"},
		"replace":            {`{"operation": "CreateOrUpdate", "object": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "there", "namespace": "default"}, "data": {"k": "x"}}}`, "k=x"},
		"delete":             {`{"operation": "Delete", "kind": "configmap", "namespace": "default", "name": "there"}`, ""},
		"delete nothing":     {`{"operation": "DeleteInBackground", "kind": "cm", "namespace": "default", "name": "other"}`, "k=v,m=1"},
		"merge":              {`{"operation": "MergePatch", "kind": "ConfigMap", "namespace": "default", "name": "there", "mergePatch": {"data": {"m": null}}}`, "k=v"},
		"merge from text":    {`{"operation": "MergePatch", "kind": "ConfigMap", "namespace": "default", "name": "there", "mergePatch": "data: {m: '2'}"}`, "k=v,m=2"},
		"merge into nothing": {`{"operation": "MergePatch", "kind": "ConfigMap", "namespace": "default", "name": "other", "mergePatch": {"data": {"k": "x"}}}`, `k=v,m=1 MergePatch ConfigMap default/other: configmaps "other" not found`},
		"ignore it":          {`{"operation": "MergePatch", "kind": "ConfigMap", "namespace": "default", "name": "other", "ignoreMissingObject": true, "mergePatch": {"data": {"k": "x"}}}`, "k=v,m=1"},
		"json":               {`{"operation": "JSONPatch", "kind": "ConfigMap", "namespace": "default", "name": "there", "jsonPatch": [{"op": "replace", "path": "/data/k", "value": "x"}]}`, "k=x,m=1"},
		"json from text":     {`{"operation": "JSONPatch", "kind": "ConfigMap", "namespace": "default", "name": "there", "jsonPatch": "[{\"op\": \"remove\", \"path\": \"/data/m\"}]"}`, "k=v"},
		"json, removed late": {`{"operation": "JSONPatch", "kind": "ConfigMap", "namespace": "default", "name": "there", "jsonPatch": [{"op": "test", "path": "/data/k", "value": "v"}, {"op": "remove", "path": "/data/m"}]}`, "k=v"},
		// Keys are case-insensitive in JSON and case-sensitive in YAML.
		"key of JSON":   {`{"operation": "MergePatch", "kind": "ConfigMap", "nameSpace": "default", "name": "there", "mergePatch": {"data": {"k": "x"}}}`, "k=x,m=1"},
		"key of YAML":   {"operation: MergePatch\nkind: ConfigMap\nnameSpace: default\nname: there\nmergePatch: {data: {k: x}}", "k=v,m=1 MergePatch ConfigMap there: the server could not find the requested resource"},
		"jq":            {`{"operation": "JQPatch", "kind": "ConfigMap", "namespace": "default", "name": "there", "jqFilter": ".data.k = .data.m"}`, "k=1,m=1"},
		"jq that fails": {`{"operation": "JQPatch", "kind": "ConfigMap", "namespace": "default", "name": "there", "jqFilter": ".data |"}`, "k=v,m=1 JQPatch ConfigMap default/there: jqFilter: unexpected EOF"},
		"jq of two":     {`{"operation": "JQPatch", "kind": "ConfigMap", "namespace": "default", "name": "there", "jqFilter": "., ."}`, "k=v,m=1 JQPatch ConfigMap default/there: jqFilter returns 2 results; it must return one object"},
		"jq ignores":    {`{"operation": "JQPatch", "kind": "ConfigMap", "namespace": "default", "name": "other", "ignoreMissingObject": true, "jqFilter": "."}`, "k=v,m=1"},
		"unknown kind":  {`{"operation": "Delete", "kind": "Nothing", "name": "x"}`, `k=v,m=1 Delete Nothing x: unknown kind "Nothing"`},
		"one after another": {`{"operation": "MergePatch", "kind": "ConfigMap", "namespace": "default", "name": "other", "mergePatch": {"data": {"k": "x"}}}
{"operation": "MergePatch", "kind": "ConfigMap", "namespace": "default", "name": "there", "mergePatch": {"data": {"k": "x"}}}`,
			`k=x,m=1 MergePatch ConfigMap default/other: configmaps "other" not found`},
		"held": {`{"operation": "MergePatch", "kind": "ConfigMap", "namespace": "default", "name": "there", "mergePatch": {"metadata": {"finalizers": ["x/y"]}}}
{"operation": "Delete", "kind": "ConfigMap", "namespace": "default", "name": "there"}`,
			"k=v,m=1 Delete ConfigMap default/there: it still exists after 20 seconds; a finalizer or a dependent object blocks the deletion; DeleteInBackground does not wait"},
	} {
		t.Run(name, func(t *testing.T) {
			o := &unstructured.Unstructured{}
			if err := json.Unmarshal([]byte(there), &o.Object); err != nil {
				t.Fatal(err)
			}
			load(t, server, o)
			ops, findings := output.ParsePatches([]byte(tc.writes))
			if len(ops) == 0 {
				t.Fatal(findings)
			}
			err := kubeapi.Applier{Client: collected{server}, Wait: noTime}.Apply(t.Context(), ops)
			var got []string
			for _, name := range []string{"there", "new"} {
				kind, _ := server.Kind(t.Context(), "v1", "ConfigMap")
				o, err := server.Get(t.Context(), kind, "default", name)
				if apierrors.IsNotFound(err) {
					continue
				}
				var pairs []string
				data, _, _ := unstructured.NestedStringMap(o.Object, "data")
				for _, k := range []string{"k", "m"} {
					if v, is := data[k]; is {
						pairs = append(pairs, k+"="+v)
					}
				}
				got = append(got, strings.Join(pairs, ","))
			}
			if err != nil {
				got = append(got, err.Error())
			}
			if s := strings.Join(got, " "); s != tc.want {
				t.Errorf("got  %s\nwant %s", s, tc.want)
			}
		})
	}
}

// collected is a server with a garbage collector: an owner without dependents goes at once.
type collected struct{ *cluster.Cluster }

func (c collected) Delete(ctx context.Context, k kubeapi.Kind, namespace, name string, how metav1.DeletionPropagation) error {
	err := c.Cluster.Delete(ctx, k, namespace, name, how)
	if err != nil || how != metav1.DeletePropagationForeground {
		return err
	}
	_, err = c.Patch(ctx, k, namespace, name, types.JSONPatchType, []byte(`[{"op": "test", "path": "/metadata/finalizers/0", "value": "foregroundDeletion"}, {"op": "remove", "path": "/metadata/finalizers/0"}]`), "")
	if apierrors.IsInvalid(err) { // another finalizer is the first
		return nil
	}
	return err
}

func noTime(context.Context, time.Duration) error { return nil }

// busy is a server where another client changes the object first, a few times.
type busy struct {
	*cluster.Cluster
	conflicts int
}

func (b *busy) Update(ctx context.Context, k kubeapi.Kind, o *unstructured.Unstructured, subresource string) (*unstructured.Unstructured, error) {
	if b.conflicts--; b.conflicts >= 0 {
		return nil, apierrors.NewConflict(schema.GroupResource{Resource: "configmaps"}, o.GetName(), nil)
	}
	return b.Cluster.Update(ctx, k, o, subresource)
}

// testConflict tries four times when another client changes the object.
func testConflict(t *testing.T, api *cluster.Cluster) {
	t.Helper()
	for conflicts, fails := range map[int]bool{0: false, 3: false, 4: true} {
		server := &busy{api, conflicts}
		object := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "x", "namespace": "default"}}
		load(t, api, &unstructured.Unstructured{Object: object})
		var waited []time.Duration
		wait := func(_ context.Context, d time.Duration) error { waited = append(waited, d); return nil }
		for _, op := range []output.Operation{
			{Operation: "CreateOrUpdate", Object: object},
			{Operation: "JQPatch", Kind: "ConfigMap", Namespace: "default", Name: "x", JQFilter: ".data.k = 1 | .data.k |= tostring"},
		} {
			server.conflicts, waited = conflicts, nil
			err := kubeapi.Applier{Client: server, Wait: wait}.Apply(t.Context(), []output.Operation{op})
			if apierrors.IsConflict(err) != fails || len(waited) != min(conflicts, 3) {
				t.Errorf("%s with %d conflicts: %v, having waited %v", op.Operation, conflicts, err, waited)
			}
		}
	}
}

// testDeleteWaits waits up to 20 seconds for a deletion in the foreground, and not at all
// in the background.
func testDeleteWaits(t *testing.T, server *cluster.Cluster) {
	t.Helper()
	for _, tc := range []struct {
		operation    string
		deletedAfter int // number of checks; 0 means never
		waits        int
		fails        bool
	}{{"Delete", 1, 1, false}, {"Delete", 20, 20, false}, {"Delete", 0, 20, true}, {"DeleteInBackground", 0, 0, false}, {"DeleteNonCascading", 0, 0, false}} {
		held := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
			"metadata": map[string]any{"name": "x", "namespace": "default", "finalizers": []any{"example.org/held"}}}}
		load(t, server, held)
		waits := 0
		wait := func(ctx context.Context, d time.Duration) error {
			if waits++; d != time.Second {
				t.Errorf("%s waits %v", tc.operation, d)
			}
			if waits != tc.deletedAfter {
				return nil
			}
			kind, err := server.Kind(ctx, "v1", "ConfigMap")
			if err == nil {
				_, err = server.Patch(ctx, kind, "default", "x", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), "")
			}
			return err
		}
		op := output.Operation{Operation: tc.operation, Kind: "ConfigMap", Namespace: "default", Name: "x"}
		if err := (kubeapi.Applier{Client: server, Wait: wait}).Apply(t.Context(), []output.Operation{op}); (err != nil) != tc.fails || waits != tc.waits {
			t.Errorf("%s of an object that exists for %d checks: %d checks, %v", tc.operation, tc.deletedAfter, waits, err)
		}
	}
}

// calls is a server that records subresources and propagation.
type calls struct {
	*cluster.Cluster
	requests []string
}

func (c *calls) Update(ctx context.Context, k kubeapi.Kind, o *unstructured.Unstructured, subresource string) (*unstructured.Unstructured, error) {
	c.requests = append(c.requests, strings.TrimSpace("update "+subresource))
	return c.Cluster.Update(ctx, k, o, subresource)
}

func (c *calls) Patch(ctx context.Context, k kubeapi.Kind, namespace, name string, t types.PatchType, body []byte, subresource string) (*unstructured.Unstructured, error) {
	c.requests = append(c.requests, strings.TrimSpace("patch "+subresource))
	return c.Cluster.Patch(ctx, k, namespace, name, t, body, subresource)
}

func (c *calls) Delete(ctx context.Context, k kubeapi.Kind, namespace, name string, how metav1.DeletionPropagation) error {
	c.requests = append(c.requests, "delete "+string(how))
	return collected{c.Cluster}.Delete(ctx, k, namespace, name, how)
}

// testCalls checks the subresource of operations, with and without a leading slash, and
// the propagation of deletions. Operations that create or delete have no subresource.
func testCalls(t *testing.T, api *cluster.Cluster) {
	t.Helper()
	const pod = `"kind": "Pod", "namespace": "default", "name": "there"`
	for _, tc := range []struct{ writes, want string }{
		{`{"operation": "MergePatch", ` + pod + `, "subresource": "/status", "mergePatch": {"status": {"phase": "Failed"}}}`, "patch status"},
		{`{"operation": "JSONPatch", ` + pod + `, "subresource": "status", "jsonPatch": [{"op": "add", "path": "/status/phase", "value": "Failed"}]}`, "patch status"},
		{`{"operation": "JQPatch", ` + pod + `, "subresource": "/status", "jqFilter": ".status.phase = \"Failed\""}`, "update status"},
		{`{"operation": "JQPatch", ` + pod + `, "jqFilter": "."}`, ""},
		{`{"operation": "CreateOrUpdate", "subresource": "/status", "object": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "there", "namespace": "default"}, "spec": {"containers": [{"name": "a", "image": "a"}]}}}`, "update"},
		{`{"operation": "Delete", ` + pod + `, "subresource": "/status"}`, "delete Foreground"},
		{`{"operation": "DeleteInBackground", ` + pod + `}`, "delete Background"},
		{`{"operation": "DeleteNonCascading", ` + pod + `}`, "delete Orphan"},
	} {
		server := &calls{Cluster: api}
		there := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "there", "namespace": "default"},
			"spec": map[string]any{"containers": []any{map[string]any{"name": "a", "image": "a"}}}, "status": map[string]any{"phase": "Pending"}}}
		load(t, api, there)
		ops, findings := output.ParsePatches([]byte(tc.writes))
		if len(ops) != 1 {
			t.Fatal(findings)
		}
		if err := (kubeapi.Applier{Client: server, Wait: noTime}).Apply(t.Context(), ops); err != nil {
			t.Errorf("%s: %v", tc.writes, err)
		}
		if got := strings.Join(server.requests, ", "); got != tc.want {
			t.Errorf("%s\ngot  %q\nwant %q", tc.writes, got, tc.want)
		}
	}
}

// testEndlessFilter ends an endless filter with its context.
func testEndlessFilter(t *testing.T, server *cluster.Cluster) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	op := output.Operation{Operation: "JQPatch", Kind: "Namespace", Name: "default", JQFilter: "def f: f; f"}
	err := kubeapi.Applier{Client: server, Wait: noTime}.Apply(ctx, []output.Operation{op})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}
