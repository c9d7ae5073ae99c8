//go:build testall

package testcluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/hooks/cluster"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/engine"
	"github.com/operon-dev/operon/internal/hooks/hooktest"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/operon-dev/operon/internal/testkit/servertest"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

// TestBackend runs tests sequentially on one API server, and checks that none leaves
// objects behind.
func TestBackend(t *testing.T) {
	t.Parallel()
	s := newBackend(t)
	if has(t, s.admin, "v1", "Namespace", "", "going") != nil {
		t.Error("a namespace that was deleted before Open still exists")
	}
	before := s.content(t)
	for _, tc := range []struct {
		name string
		test func(*testing.T, *test)
	}{
		{"base", testBase}, {"permissions", testPermissions}, {"bindings", testBindings}, {"owners", testOwners}, {"awaited", testAwaited}, {"namespaces", testNamespaces}, {"held namespace", testHeld}, {"visible", testVisible}, {"aggregated roles", testAggregated},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := openTest(t, s)
			tc.test(t, c)
			c.Close()
			if diff := cmp.Diff(before, s.content(t)); diff != "" {
				t.Errorf("objects after the test (-before +after):\n%s", diff)
			}
		})
	}
	broken := listObjects(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: Bad, namespace: a}}")
	if _, err := s.Open(t.Context(), &hooktest.Test{Given: broken}); err == nil || !strings.Contains(err.Error(), "given: ConfigMap a/Bad: ") {
		t.Errorf("invalid given objects: %v", err)
	}
	if diff := cmp.Diff(before, s.content(t)); diff != "" {
		t.Errorf("objects after a failed Open (-before +after):\n%s", diff)
	}
	// A pending deletion can finish.
	k, err := s.admin.Kind(t.Context(), "v1", "ConfigMap")
	if err == nil {
		_, err = s.admin.Patch(t.Context(), k, "default", "held", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), "")
	}
	if err != nil {
		t.Fatal(err)
	}
	c := openTest(t, s)
	c.Close()
	if s.broken != nil || has(t, s.admin, "v1", "ConfigMap", "default", "held") != nil {
		t.Errorf("an object with a finished deletion still exists: %v", s.broken)
	}
	t.Run("killed run", func(t *testing.T) { testKilled(t, s.admin, s.manager.kubeconfig) })
}

// testKilled checks that a run of tests removes what a killed run left on a control plane,
// and nothing else.
func testKilled(t *testing.T, admin *cluster.Cluster, kubeconfig string) {
	folder := t.TempDir()
	begin := func() (*Backend, *journal) {
		j, err := openJournal(t.Context(), folder, func() { t.Error("the control plane is busy") })
		if err != nil {
			t.Fatal(err)
		}
		s, err := (&Backend{admin: admin, namespace: "ops", kubectl: programs(t), accounts: newAccounts([]Account{{}}), journal: j}).open(t.Context(), kubeconfig, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		return s, j
	}
	killed, first := begin()
	before := killed.original
	for _, o := range []string{"{apiVersion: v1, kind: Namespace, metadata: {name: left}}", "{apiVersion: v1, kind: ConfigMap, metadata: {name: left, namespace: left}}", "{apiVersion: v1, kind: ConfigMap, metadata: {name: left, namespace: default}}"} {
		put(t, admin, o)
	}
	first.close() // as the system does when it ends the process
	next, second := begin()
	if diff := cmp.Diff(slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(next.original))); diff != "" {
		t.Errorf("objects before the next run (-first +next):\n%s", diff)
	}
	waits := make(chan bool, 1)
	third := make(chan error, 1)
	go func() {
		j, err := openJournal(t.Context(), folder, func() { waits <- true })
		if err == nil {
			j.close()
		}
		third <- err
	}()
	<-waits
	second.close()
	if err := <-third; err != nil {
		t.Error(err)
	}
	// An object that was created after the run was killed is the user's.
	_, fourth := begin()
	fourth.close()
	if err := os.Chtimes(fourth.path, time.Time{}, time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	later := put(t, admin, "{apiVersion: v1, kind: ConfigMap, metadata: {name: later, namespace: default}}")
	last, fifth := begin()
	if last.original[identity(later)] == nil {
		t.Error("an object that was created after the killed run is gone")
	}
	remove(t, admin, later, metav1.DeletePropagationBackground)
	if err := last.restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	fifth.close()
	if _, err := os.Stat(fifth.path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the journal after a complete run: %v", err)
	}
}

// programs returns the folder with the programs of a control plane.
func programs(t *testing.T) string {
	t.Helper()
	dir, err := servertest.Assets()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// newBackend returns a backend on a separate API server, with a CRD and roles.
func newBackend(t *testing.T) *Backend {
	t.Helper()
	kubeconfig := servertest.Start(t).Kubeconfig("")
	admin, err := cluster.Open(cluster.ClientOptions{Kubeconfig: kubeconfig}, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	roles := listObjects(t, `
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: anywhere}, rules: [{apiGroups: [""], resources: [configmaps, namespaces], verbs: [get, list, watch]}, {apiGroups: [rbac.authorization.k8s.io], resources: [rolebindings], verbs: [create]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: here}, rules: [{apiGroups: [""], resources: [secrets], verbs: [get]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: there, namespace: team}, rules: [{apiGroups: [""], resources: [secrets], resourceNames: [one], verbs: [get]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: elsewhere, namespace: elsewhere}, rules: [{apiGroups: [""], resources: [secrets], verbs: [get]}]}
`)
	for _, o := range []*unstructured.Unstructured{
		put(t, admin, "{apiVersion: v1, kind: Namespace, metadata: {name: going}}"),
		put(t, admin, "{apiVersion: v1, kind: Namespace, metadata: {name: ops}}"), // which a reset must recreate
		put(t, admin, "{apiVersion: v1, kind: ConfigMap, metadata: {name: inside, namespace: going}}"),
		put(t, admin, "{apiVersion: v1, kind: ConfigMap, metadata: {name: mine, namespace: default}}"), // of the user
		put(t, admin, "{apiVersion: v1, kind: ConfigMap, metadata: {name: held, namespace: default, finalizers: [example.org/held]}}"),
	} {
		if o.GetName() != "inside" && o.GetName() != "mine" {
			remove(t, admin, o, metav1.DeletePropagationBackground)
		}
	}
	own := listObjects(t, `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: anywhere}, rules: [{apiGroups: [""], resources: [nodes], verbs: [list]}]}`)
	s, err := (&Backend{admin: admin, namespace: "ops", kubectl: programs(t), accounts: newAccounts([]Account{{Roles: roles}, {Hook: "own.sh", Roles: own}})}).
		open(t.Context(), kubeconfig, []*unstructured.Unstructured{crd(t, "boats")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// openTest opens a test with objects of several kinds.
func openTest(t *testing.T, s *Backend) *test {
	t.Helper()
	given := listObjects(t, `
{apiVersion: v1, kind: ConfigMap, metadata: {name: one, namespace: team, labels: {app: x}}}
---
{apiVersion: v1, kind: Secret, metadata: {name: one, namespace: team}}
---
{apiVersion: v1, kind: Secret, metadata: {name: two, namespace: team}}
---
{apiVersion: v1, kind: Secret, metadata: {name: mine, namespace: ops}}
---
{apiVersion: example.org/v1, kind: Ship, metadata: {name: olympic, namespace: port}, status: {ready: true}}
---
{apiVersion: example.org/v1, kind: Boat, metadata: {name: dinghy, namespace: port, finalizers: [example.org/held]}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: labelled, labels: {team: a}}}
`)
	c, err := s.Open(t.Context(), &hooktest.Test{Given: append(given, crd(t, "ships"))})
	if err != nil {
		t.Fatal(err)
	}
	return c.(*test)
}

func crd(t *testing.T, plural string) *unstructured.Unstructured {
	t.Helper()
	singular := strings.TrimSuffix(plural, "s")
	return listObjects(t, fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %s.example.org}
spec:
  group: example.org
  scope: Namespaced
  names: {plural: %[1]s, singular: %s, kind: %s}
  versions: [{name: v1, served: true, storage: true, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`, plural, singular, strings.ToUpper(singular[:1])+singular[1:]))[0]
}

func listObjects(t *testing.T, text string) []*unstructured.Unstructured {
	t.Helper()
	var all []*unstructured.Unstructured
	for document := range strings.SplitSeq(text, "\n---\n") {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &o.Object); err != nil {
			t.Fatal(err)
		}
		all = append(all, o)
	}
	return all
}

// content returns all objects of the API server, without fields that change with each write.
func (s *Backend) content(t *testing.T) map[string]any {
	t.Helper()
	s.admin.ResetDiscovery()
	l, err := s.mirror.list(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	content := map[string]any{}
	for _, o := range l.objects {
		content[identity(o)] = withoutServerFields(o)
	}
	return content
}

// has returns an object, or nil if it does not exist.
func has(t *testing.T, api kubeapi.Client, apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	t.Helper()
	k, err := api.Kind(t.Context(), apiVersion, kind)
	if err != nil {
		t.Fatal(err)
	}
	o, err := api.Get(t.Context(), k, namespace, name)
	if err != nil && !apierrors.IsNotFound(err) {
		t.Errorf("%s %s/%s: %v", kind, namespace, name, err)
	}
	if err != nil {
		return nil
	}
	return o
}

func put(t *testing.T, api kubeapi.Client, text string) *unstructured.Unstructured {
	t.Helper()
	o := listObjects(t, text)[0]
	k, err := api.Kind(t.Context(), o.GetAPIVersion(), o.GetKind())
	if err == nil {
		o, err = api.Create(t.Context(), k, o)
	}
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func remove(t *testing.T, api kubeapi.Client, o *unstructured.Unstructured, how metav1.DeletionPropagation) {
	t.Helper()
	k, err := api.Kind(t.Context(), o.GetAPIVersion(), o.GetKind())
	if err == nil {
		err = api.Delete(t.Context(), k, o.GetNamespace(), o.GetName(), how)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// testPermissions checks that the hook has the permissions of its roles and no others.
func testPermissions(t *testing.T, c *test) {
	if has(t, c.Hook(""), "v1", "ConfigMap", "team", "one") == nil || has(t, c.Hook(""), "v1", "Secret", "ops", "mine") == nil || has(t, c.Hook(""), "v1", "Secret", "team", "one") == nil {
		t.Error("a given object does not exist")
	}
	has(t, c.Hook(""), "v1", "Secret", hooktest.HookNamespace, "none") // it may ask: the Roles of the operator's namespace apply there, too
	secrets, err := c.Hook("").Kind(t.Context(), "v1", "Secret")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"two", "none"} {
		if _, err := c.Hook("").Get(t.Context(), secrets, "team", name); !apierrors.IsForbidden(err) {
			t.Errorf("Secret %s: %v", name, err)
		}
	}
	if _, err := c.Bind(t.Context(), engine.Ref{}, binding(t, "{kind: Secret}")); !apierrors.IsForbidden(err) {
		t.Errorf("a binding to Secrets: %v", err)
	}
	ship := has(t, c.User(), "example.org/v1", "Ship", "port", "olympic")
	if ready, _, _ := unstructured.NestedBool(ship.Object, "status", "ready"); !ready {
		t.Errorf("status of the given object: %v", ship.Object)
	}
	env := c.Env("", []string{"PATH=/bin", "HOME=/"})
	if !slices.Contains(env, "PATH="+programs(t)+string(filepath.ListSeparator)+"/bin") || !slices.ContainsFunc(env, func(v string) bool { return strings.HasPrefix(v, "KUBECONFIG=") }) {
		t.Errorf("the environment is %q", env)
	}
}

func binding(t *testing.T, text string) config.Kubernetes {
	t.Helper()
	conf, findings := config.Shell.Parse([]byte("configVersion: v1\nkubernetes:\n- " + text))
	if conf == nil {
		t.Fatal(findings)
	}
	return conf.Kubernetes[0]
}

// testBindings checks that Observed returns all earlier events, of the hook and of the user.
func testBindings(t *testing.T, c *test) {
	ref := engine.Ref{Hook: "hook.sh", Index: 3}
	first, err := c.Bind(t.Context(), ref, binding(t, "{kind: ConfigMap, labelSelector: {matchLabels: {app: x}}}"))
	if err != nil || len(first) != 1 || first[0].GetName() != "one" {
		t.Fatalf("%v, %v", first, err)
	}
	wantObserved(t, c)
	for i := range 20 {
		put(t, c.User(), fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: c%02d, namespace: team, labels: {app: x}}}", i))
	}
	put(t, c.User(), "{apiVersion: v1, kind: ConfigMap, metadata: {name: other, namespace: team}}")
	var want []string
	for i := range 20 {
		want = append(want, fmt.Sprintf("Added c%02d", i))
	}
	wantObserved(t, c, want...)
	remove(t, c.User(), first[0], metav1.DeletePropagationBackground)
	wantObserved(t, c, "Deleted one")
	wantObserved(t, c)
}

// testVisible checks that bindings see only objects of the test, and what the test does to
// others.
func testVisible(t *testing.T, c *test) {
	names := func(kind string) []string {
		objects, err := c.Bind(t.Context(), engine.Ref{Hook: "hook.sh", Index: 3}, binding(t, "{kind: "+kind+"}"))
		if err != nil {
			t.Fatal(err)
		}
		names := []string{}
		for _, o := range objects {
			names = append(names, o.GetName())
		}
		slices.Sort(names)
		return names
	}
	if diff := cmp.Diff([]string{"one"}, names("ConfigMap")); diff != "" {
		t.Errorf("ConfigMaps (-want +got):\n%s", diff)
	}
	if has(t, c.User(), "v1", "Namespace", "", "elsewhere") == nil {
		t.Error("the namespace of a Role does not exist")
	}
	if diff := cmp.Diff([]string{"default", "kube-node-lease", "kube-public", "kube-system", "labelled", "ops", "port", "team"}, names("Namespace")); diff != "" {
		t.Errorf("namespaces (-want +got):\n%s", diff)
	}
	k, err := c.User().Kind(t.Context(), "v1", "ConfigMap")
	if err == nil {
		_, err = c.User().Patch(t.Context(), k, "default", "mine", types.MergePatchType, []byte(`{"data":{"a":"b"}}`), "")
	}
	if err != nil {
		t.Fatal(err)
	}
	wantObserved(t, c, "Modified mine")
}

// testAggregated checks that the API server knows the rules of aggregated ClusterRoles: it
// refuses to grant them, and they include the rules of a new ClusterRole.
func testAggregated(t *testing.T, c *test) {
	bindings, err := c.Hook("").Kind(t.Context(), "rbac.authorization.k8s.io/v1", "RoleBinding")
	if err != nil {
		t.Fatal(err)
	}
	grant := object("rbac.authorization.k8s.io/v1", "RoleBinding", "team", "editors")
	grant.Object["roleRef"] = map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "edit"}
	if _, err := c.Hook("").Create(t.Context(), bindings, grant); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `Resources:["deployments"]`) {
		t.Errorf("a RoleBinding to edit: %v", err)
	}
	put(t, c.User(), `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: boats-view, labels: {rbac.authorization.k8s.io/aggregate-to-view: "true"}}, rules: [{apiGroups: [example.org], resources: [boats], verbs: [get]}]}`)
	if _, err := c.Observed(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"view", "edit", "admin"} { // each includes the one before
		if role := has(t, c.User(), "rbac.authorization.k8s.io/v1", "ClusterRole", "", name); !strings.Contains(fmt.Sprint(role.Object["rules"]), "boats") {
			t.Errorf("ClusterRole %s lacks the rule of the new ClusterRole", name)
		}
	}
}

func wantObserved(t *testing.T, c *test, want ...string) {
	t.Helper()
	observed, err := c.Observed(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range observed {
		if o.Binding != (engine.Ref{Hook: "hook.sh", Index: 3}) {
			t.Errorf("got an event of binding %v", o.Binding)
		}
		got = append(got, o.Event+" "+o.Objects[0].GetName())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("observed (-want +got):\n%s", diff)
	}
}

// testOwners deletes owners with each propagation policy.
func testOwners(t *testing.T, c *test) {
	api := c.User()
	owned := func(name string, owner *unstructured.Unstructured, blocks bool) *unstructured.Unstructured {
		t.Helper()
		return put(t, api, fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, namespace: team, ownerReferences: [{apiVersion: v1, kind: %s, name: %s, uid: %s, blockOwnerDeletion: %t}]}}",
			name, owner.GetKind(), owner.GetName(), owner.GetUID(), blocks))
	}
	for _, how := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan} {
		prefix := strings.ToLower(string(how))
		owner := put(t, api, fmt.Sprintf("{apiVersion: v1, kind: Secret, metadata: {name: %s, namespace: team}}", prefix))
		child := owned(prefix+"-child", owner, true)
		owned(prefix+"-grandchild", child, true)
		owned(prefix+"-loose", owner, false)
		remove(t, api, owner, how)
		if _, err := c.Observed(t.Context()); err != nil {
			t.Fatal(err)
		}
		if has(t, api, "v1", "Secret", "team", prefix) != nil {
			t.Errorf("%s: the owner still exists", how)
		}
		for _, name := range []string{"child", "grandchild", "loose"} {
			o := has(t, api, "v1", "ConfigMap", "team", prefix+"-"+name)
			if remains := how == metav1.DeletePropagationOrphan; (o != nil) != remains {
				t.Errorf("%s: the %s exists: %t", how, name, o != nil)
			}
			if o != nil && name != "grandchild" && len(o.GetOwnerReferences()) > 0 {
				t.Errorf("%s: the %s has owners: %v", how, name, o.GetOwnerReferences())
			}
		}
	}
	// A finalizer of a blocking dependent delays the owner; other dependents do not.
	owner := put(t, api, "{apiVersion: v1, kind: Secret, metadata: {name: held, namespace: team}}")
	hold := func(o *unstructured.Unstructured, finalizers string) {
		t.Helper()
		k, err := api.Kind(t.Context(), "v1", "ConfigMap")
		if err == nil {
			_, err = api.Patch(t.Context(), k, "team", o.GetName(), types.MergePatchType, []byte(`{"metadata":{"finalizers":`+finalizers+`}}`), "")
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	blocks, loose := owned("blocks", owner, true), owned("loose", owner, false)
	hold(blocks, `["example.org/held"]`)
	hold(loose, `["example.org/held"]`)
	remove(t, api, owner, metav1.DeletePropagationForeground)
	if _, err := c.Observed(t.Context()); err != nil || has(t, api, "v1", "Secret", "team", "held") == nil {
		t.Errorf("a blocked owner was deleted, %v", err)
	}
	hold(blocks, "null")
	if _, err := c.Observed(t.Context()); err != nil || has(t, api, "v1", "Secret", "team", "held") != nil || has(t, api, "v1", "ConfigMap", "team", "loose") == nil {
		t.Errorf("an unblocked owner still exists, %v", err)
	}
}

// testAwaited waits for a controller as a hook does: while it runs, nothing else asks for the state of the API server.
func testAwaited(t *testing.T, c *test) {
	owner := put(t, c.User(), "{apiVersion: v1, kind: Secret, metadata: {name: owner, namespace: team}}")
	put(t, c.User(), fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: child, namespace: team, ownerReferences: [{apiVersion: v1, kind: Secret, name: owner, uid: %s}]}}", owner.GetUID()))
	remove(t, c.User(), owner, metav1.DeletePropagationBackground)
	err := until(t.Context(), "the dependent still exists", func() (bool, error) {
		return has(t, c.User(), "v1", "ConfigMap", "team", "child") == nil, nil
	})
	if err != nil {
		t.Error(err)
	}
}

// testNamespaces checks that a deleted namespace is removed with its objects, unless one of
// them has a finalizer.
func testNamespaces(t *testing.T, c *test) {
	for _, name := range []string{"labelled", "port"} {
		put(t, c.User(), "{apiVersion: v1, kind: ConfigMap, metadata: {name: inside, namespace: "+name+"}}")
		remove(t, c.User(), object("v1", "Namespace", "", name), metav1.DeletePropagationBackground)
	}
	if _, err := c.Observed(t.Context()); err != nil {
		t.Fatal(err)
	}
	if has(t, c.User(), "v1", "Namespace", "", "labelled") != nil {
		t.Error("the namespace still exists")
	}
	if has(t, c.User(), "v1", "Namespace", "", "port") == nil || has(t, c.User(), "example.org/v1", "Boat", "port", "dinghy") == nil || has(t, c.User(), "v1", "ConfigMap", "port", "inside") != nil {
		t.Error("a namespace with a held object: only the namespace and that object must remain")
	}
}

// testHeld deletes a namespace that is held: its objects go before it.
func testHeld(t *testing.T, c *test) {
	release, err := c.HoldNamespace(t.Context(), "labelled")
	if err != nil {
		t.Fatal(err)
	}
	put(t, c.User(), "{apiVersion: v1, kind: ConfigMap, metadata: {name: inside, namespace: labelled}}")
	remove(t, c.User(), object("v1", "Namespace", "", "labelled"), metav1.DeletePropagationBackground)
	for _, held := range []bool{true, false} {
		if _, err := c.Observed(t.Context()); err != nil {
			t.Fatal(err)
		}
		if exists := has(t, c.User(), "v1", "Namespace", "", "labelled") != nil; exists != held || has(t, c.User(), "v1", "ConfigMap", "labelled", "inside") != nil {
			t.Errorf("the namespace exists: %t, want %t and no objects", exists, held)
		}
		if !held {
			break
		}
		if err := release(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// testBase changes and deletes objects that existed before the tests. Close restores them.
func testBase(t *testing.T, c *test) {
	remove(t, c.User(), c.accounts[0].serviceAccount(), metav1.DeletePropagationBackground)
	remove(t, c.User(), object("rbac.authorization.k8s.io/v1", "ClusterRole", "", "anywhere"), metav1.DeletePropagationBackground)
	k, err := c.User().Kind(t.Context(), "v1", "Namespace")
	if err == nil {
		_, err = c.User().Patch(t.Context(), k, "", "default", types.MergePatchType, []byte(`{"metadata":{"labels":{"changed":"yes"}}}`), "")
	}
	if err != nil {
		t.Fatal(err)
	}
	all, err := c.Objects(t.Context())
	if err != nil || !slices.ContainsFunc(all, func(o *unstructured.Unstructured) bool { return o.GetLabels()["changed"] == "yes" }) {
		t.Errorf("the changed object is not among %d objects, %v", len(all), err)
	}
}

// TestStopped expects that no test runs after the API server has stopped. Before, testMirror uses that server.
func TestStopped(t *testing.T) {
	t.Parallel()
	var s *Backend
	t.Run("mirror", func(t *testing.T) { // the server stops at the end
		s = newBackend(t)
		testMirror(t, s.manager.kubeconfig)
	})
	if _, err := s.Open(t.Context(), &hooktest.Test{}); !errors.Is(err, hooktest.ErrStopped) {
		t.Errorf("got %v", err)
	}
}

// TestUntil checks that the error after a timeout names the failure.
func TestUntil(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	canceled := errors.New("the user ended it")
	polls := 0
	err := until(ctx, "the condition is not met", func() (bool, error) {
		if polls++; polls == 3 {
			cancel(canceled)
		}
		return false, nil
	})
	if !errors.Is(err, canceled) || polls != 3 {
		t.Errorf("after %d polls: %v", polls, err)
	}
}
