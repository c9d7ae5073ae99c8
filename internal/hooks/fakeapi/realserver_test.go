//go:build testall

package fakeapi

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/hooks/cluster"
	"github.com/operon-dev/operon/internal/hooks/kinds"
	"github.com/operon-dev/operon/internal/hooks/patch"
	"github.com/operon-dev/operon/internal/testkit/peertest"
	"github.com/operon-dev/operon/internal/testkit/servertest"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	kyaml "sigs.k8s.io/yaml"
)

// step is a request to an API server.
type step struct {
	do          string // create, get, list, update, update/status, delete, or a type of patch, with its subresource
	kind        string
	where, name string // the namespace and name, unless the object has them
	text        string // the object, the patch, or the selectors
}

// steps are sent in this order to a real API server and to the one in memory.
var steps = []step{
	{"create", "ns", "", "", "{metadata: {name: shop, labels: {a: b}}}"},
	{"create", "ns", "", "", "{metadata: {name: shop}}"},
	{"create", "ns", "", "", "{metadata: {name: Shop}}"},
	{"create", "ns", "", "", "{metadata: {}}"},
	{"create", "cm", "", "", "{metadata: {name: c, namespace: shop, labels: {app: x}}, data: {k: v}, nope: 1}"},
	{"create", "cm", "", "", "{metadata: {name: c, namespace: shop}}"},
	{"create", "cm", "", "", "{metadata: {name: c, namespace: nowhere}}"},
	{"create", "cm", "", "", "{metadata: {name: c}}"},
	{"create", "cm", "", "", "{metadata: {name: d, namespace: shop, resourceVersion: '5'}}"},
	{"create", "cm", "", "", "{metadata: {name: d, namespace: shop}, data: {k: 1}}"},
	{"create", "cm", "", "", "{metadata: {name: d, namespace: shop, labels: {k: 1}}}"},
	{"create", "cm", "", "", "{metadata: {name: d, namespace: shop, labels: {'bad key!': x}}}"},
	{"create", "cm", "", "", "{metadata: {name: d, namespace: shop, labels: {ok: 'bad value!'}}}"},
	{"create", "cm", "", "", "{metadata: {name: d_d, namespace: shop, annotations: {'bad key!': x}}}"},
	{"create", "ns", "", "", "{metadata: {name: x, namespace: shop}}"},
	{"create", "secret", "", "", "{metadata: {name: s, namespace: shop}, stringData: {k: v}}"},
	{"create", "sa", "", "", "{metadata: {name: robot, namespace: shop}}"},
	{"create", "role", "", "", "{metadata: {name: 'a:b', namespace: shop}, rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]}"},
	{"get", "cm", "shop", "nope", ""},
	{"get", "cm", "", "c", ""},
	{"get", "ns", "shop", "shop", ""},
	{"update", "cm", "", "", "{metadata: {name: c, namespace: shop}, data: {k: w}}"},
	{"update", "cm", "", "", "{metadata: {name: c, namespace: shop, resourceVersion: '1'}, data: {k: x}}"},
	{"update", "cm", "", "", "{metadata: {name: c, namespace: shop, uid: u}, data: {k: x}}"},
	{"update", "cm", "", "", "{metadata: {name: nope, namespace: shop}}"},
	{"update", "secret", "", "", "{metadata: {name: s, namespace: shop}, type: other, data: {k: dg==}}"},
	{"update", "secret", "", "", "{metadata: {name: s, namespace: shop}, data: {k: 'not base64'}}"},
	{"merge", "cm", "shop", "c", "{data: {l: m, k: null}}"},
	{"merge", "cm", "shop", "nope", "{}"},
	{"merge", "cm", "shop", "c", "[]"},
	{"merge", "cm", "shop", "c", "{metadata: {name: other}}"},
	{"merge", "cm", "shop", "c", "{metadata: {resourceVersion: '1'}, data: {z: z}}"},
	{"merge", "cm", "shop", "c", "{data: {k: 1}}"},
	{"json", "cm", "shop", "c", "[{op: add, path: /data/m, value: n}]"},
	{"json", "cm", "shop", "c", "[{op: remove, path: /data/none}]"},
	{"json", "cm", "shop", "c", "[{op: test, path: /data/m, value: z}]"},
	{"json", "cm", "shop", "c", "[{op: put, path: /data/m, value: z}]"},
	{"json", "cm", "shop", "c", "{}"},
	{"json", "cm", "shop", "c", "[{op: add, path: /spec/x/y, value: n}]"},
	{"strategic", "cm", "shop", "c", "{data: {s: t}}"},
	{"merge/status", "cm", "shop", "c", "{}"},
	{"list", "cm", "shop", "", "app=x|"},
	{"list", "cm", "shop", "", "|metadata.name=c"},
	{"list", "cm", "shop", "", "|spec.nope=c"},
	{"list", "cm", "shop", "", "a in (|"},
	{"create", "deploy", "", "", "{metadata: {name: web, namespace: shop}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: x, image: y}]}}}}"},
	{"merge", "deploy", "shop", "web", "{spec: {selector: {matchLabels: {c: d}}, template: {metadata: {labels: {c: d}}}}}"},
	{"merge/status", "deploy", "shop", "web", "{status: {replicas: 1, observedGeneration: 1}, spec: {replicas: 5}}"},
	{"merge", "deploy", "shop", "web", "{status: {replicas: 9}}"},
	{"strategic", "deploy", "shop", "web", "{spec: {template: {spec: {containers: [{name: z, image: w}]}}}}"},
	{"create", "crd", "", "", strings.Replace(crd, "size: {type: integer, ", "size: {", 1)},
	{"create", "crd", "", "", crd},
	{"json", "crd", "", "databases.example.com", "[{op: remove, path: /spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/size/type}]"},
	{"json", "crd", "", "databases.example.com", "[{op: add, path: /spec/versions/0/schema/openAPIV3Schema/properties/spec/items, value: {type: string}}]"},
	{"merge", "crd", "", "databases.example.com", "{spec: {scope: Cluster, names: {kind: Shop}}}"},
	{"update", "crd", "", "", crd},
	{"create", "db", "", "", "{metadata: {name: one, namespace: shop}, spec: {name: shop, nope: 1, users: [{name: a}], extra: {x: 1}}, status: {ready: true}}"},
	{"create", "db", "", "", "{metadata: {name: two, namespace: shop}, spec: {}}"},
	{"create", "db", "", "", "{metadata: {name: two, namespace: shop}, spec: {name: A}}"},
	{"create", "db", "", "", "{metadata: {name: two, namespace: shop}, spec: {name: ABC}}"},
	{"create", "db", "", "", "{metadata: {name: two, namespace: shop}, spec: {name: abc, engine: mssql}}"},
	{"create", "db", "", "", "{metadata: {name: two, namespace: shop}, spec: {name: abc, size: 12}}"},
	{"create", "db", "", "", "{metadata: {name: two, namespace: shop}, spec: {name: abc, size: x}}"},
	{"create", "db", "", "", "{metadata: {name: two, namespace: shop}, spec: {name: abc, step: 12}}"},
	{"create", "db", "", "", "{metadata: {name: two, namespace: shop}, spec: {name: abc, share: 0.25}}"},
	{"create", "db", "", "", "{metadata: {name: six, namespace: shop}, spec: {name: abc, step: 10, share: 0.3}}"},
	{"create", "db", "", "", "{metadata: {name: two, namespace: shop}, spec: {name: abc, users: {}}}"},
	{"create", "db", "", "", "{metadata: {name: two, namespace: shop}, spec: {name: 5}}"},
	{"create", "db", "", "", "{metadata: {name: two, namespace: shop, labels: {x: 1}}, spec: {name: ab}}"},
	{"create", "db", "", "", "{metadata: {name: A, namespace: shop}, spec: {name: ab}}"},
	{"update", "db", "", "", "{metadata: {name: one, namespace: shop}, spec: {name: ab}}"},
	{"merge", "db", "shop", "one", "{spec: {size: 3, engine: null}, status: {ready: false}}"},
	{"merge/status", "db", "shop", "one", "{spec: {size: 4}, status: {ready: true}, metadata: {labels: {x: y}}}"},
	{"merge/scale", "db", "shop", "one", "{spec: {replicas: 4}}"},
	{"strategic", "db", "shop", "one", "{spec: {size: 4}}"},
	{"list", "db", "", "", "|spec.engine=mysql"},
	{"list", "db", "", "", "|spec.name=shop"},
	{"merge", "cm", "shop", "c", "{metadata: {finalizers: [example.com/hold]}}"},
	{"delete", "cm", "shop", "c", ""},
	{"get", "cm", "shop", "c", ""},
	{"merge", "cm", "shop", "c", "{metadata: {finalizers: [example.com/hold, example.com/more]}}"},
	{"merge", "cm", "shop", "c", "{metadata: {finalizers: null}}"},
	{"get", "cm", "shop", "c", ""},
	{"delete", "cm", "shop", "c", ""},
	{"delete", "db", "shop", "one", ""},
}

// TestAnswersLikeServer sends the same requests to a real API server and to this one.
// The answers are equal, except for fields that only a real server fills in.
func TestAnswersLikeServer(t *testing.T) {
	t.Parallel()
	compareWithServer(t, steps)
}

// compareWithServer fails for each step that a real API server answers differently.
func compareWithServer(t *testing.T, steps []step) {
	t.Helper()
	var key strings.Builder
	fmt.Fprintf(&key, "%q", steps)
	want := peertest.Cached(t, append(peertest.Sources(t), servertest.Key(t), key.String()), func() ([]string, bool) {
		return answersOfServer(t, steps), true
	})
	here := New(kinds.Builtin())
	for i, s := range steps {
		if diff := cmp.Diff(want[i], masked(s.send(t, here))); diff != "" {
			t.Errorf("%s %s %s%s %s (-server +memory):\n%s", s.do, s.kind, s.where, s.name, s.text, diff)
		}
	}
}

// answersOfServer starts a real API server for the steps.
func answersOfServer(t *testing.T, steps []step) []string {
	t.Helper()
	server := servertest.Start(t)
	api, err := cluster.Open(cluster.ClientOptions{Kubeconfig: server.Kubeconfig("")}, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	var answers []string
	for _, s := range steps {
		answers = append(answers, masked(s.send(t, api)))
		if s.kind == "crd" && s.do == "create" && strings.HasPrefix(answers[len(answers)-1], "a CRD") {
			awaitKind(t, server, s.text)
		}
	}
	return answers
}

// awaitKind waits until the server serves the kind of a CRD.
func awaitKind(t *testing.T, server servertest.Server, crd string) {
	t.Helper()
	served, err := kinds.FromObject(object(t, crd))
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range served {
		server.Await("/apis/" + k.APIVersion() + "/" + k.Resource)
	}
}

var (
	ids   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	whole = regexp.MustCompile(`Invalid value: "\{.*\}": `)
)

// masked replaces uids and whole objects in an answer.
func masked(answer string) string {
	return whole.ReplaceAllString(ids.ReplaceAllString(answer, "UID"), "Invalid value: OBJECT: ")
}

// send sends the request of a step and returns the answer.
func (s step) send(t *testing.T, api patch.API) string {
	t.Helper()
	ctx := context.Background()
	k, err := api.Kind(ctx, "", s.kind)
	if err != nil {
		t.Fatal(err)
	}
	do, subresource, _ := strings.Cut(s.do, "/")
	given := &unstructured.Unstructured{Object: map[string]any{}}
	if do == "create" || do == "update" {
		if err := kyaml.Unmarshal([]byte(s.text), &given.Object); err != nil {
			t.Fatal(err)
		}
		given.SetGroupVersionKind(k.GVK())
	}
	var o *unstructured.Unstructured
	switch do {
	case "create":
		o, err = api.Create(ctx, k, given)
	case "update":
		o, err = api.Update(ctx, k, given, subresource)
	case "get":
		o, err = api.Get(ctx, k, s.where, s.name)
	case "delete":
		err = api.Delete(ctx, k, s.where, s.name, metav1.DeletePropagationBackground)
	case "list":
		labels, fields, _ := strings.Cut(s.text, "|")
		list, failed := api.List(ctx, k, s.where, metav1.ListOptions{LabelSelector: labels, FieldSelector: fields})
		if failed != nil {
			return failed.Error()
		}
		var text strings.Builder
		for _, item := range list.Items {
			text.WriteString(plain(t, &item))
		}
		return text.String()
	default:
		body, failed := kyaml.YAMLToJSON([]byte(s.text))
		if failed != nil {
			t.Fatal(failed)
		}
		how := map[string]types.PatchType{"merge": types.MergePatchType, "json": types.JSONPatchType, "strategic": types.StrategicMergePatchType}[do]
		o, err = api.Patch(ctx, k, s.where, s.name, how, body, subresource)
	}
	switch {
	case err != nil:
		return errorText(err)
	case o == nil:
		return "done"
	}
	return plain(t, o)
}

// errorText returns the message of an error. A server reports several causes in
// random order, so they are sorted.
func errorText(err error) string {
	var status *apierrors.StatusError
	if !errors.As(err, &status) || status.ErrStatus.Details == nil || len(status.ErrStatus.Details.Causes) < 2 {
		return err.Error()
	}
	var causes []string
	for _, c := range status.ErrStatus.Details.Causes {
		causes = append(causes, fmt.Sprintf("%s %s: %s", c.Type, c.Field, c.Message))
	}
	slices.Sort(causes)
	return strings.Join(causes, "\n")
}

// plain returns an object as text, without the fields whose values depend on the server.
// It summarizes the kinds for which only a real server has defaults.
func plain(t *testing.T, o *unstructured.Unstructured) string {
	t.Helper()
	o = o.DeepCopy()
	for _, name := range []string{"uid", "resourceVersion", "creationTimestamp", "managedFields", "deletionTimestamp"} {
		unstructured.RemoveNestedField(o.Object, "metadata", name)
	}
	switch o.GetKind() {
	case "CustomResourceDefinition":
		return "a CRD"
	case "Deployment":
		containers, _, _ := unstructured.NestedSlice(o.Object, "spec", "template", "spec", "containers")
		replicas, _, _ := unstructured.NestedInt64(o.Object, "status", "replicas")
		return fmt.Sprintf("a Deployment of generation %d with %d containers and %d replicas", o.GetGeneration(), len(containers), replicas)
	}
	text, err := kyaml.Marshal(o.Object)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
