//go:build testall

package rbac

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/operon-dev/operon/internal/roles"
	"github.com/operon-dev/operon/internal/testkit/peertest"
	"github.com/operon-dev/operon/internal/testkit/servertest"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// plane is an API server where accounts get roles.
type plane struct {
	servertest.Server
	admin dynamic.Interface

	accounts *int // that were made
}

func newPlane(t *testing.T) *plane {
	t.Helper()
	p := &plane{Server: servertest.Start(t), accounts: new(int)}
	admin, err := dynamic.NewForConfig(p.config(""))
	if err != nil {
		t.Fatal(err)
	}
	p.admin = admin
	p.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", tabs)
	p.Await("/apis/example.com/v1/tabs")
	for _, ns := range []string{"ops", "web", "team-a"} {
		p.post("/api/v1/namespaces", "{apiVersion: v1, kind: Namespace, metadata: {name: "+ns+"}}")
	}
	return p
}

func (p *plane) post(path, body string) {
	p.Helper()
	if code, content, err := p.Request(http.MethodPost, path, body); err != nil || code != http.StatusCreated {
		p.Fatalf("POST %s: %v %d %s", path, err, code, content)
	}
}

// config returns the client configuration of the administrator, or of an account in the
// namespace ops.
func (p *plane) config(account string) *rest.Config {
	c := &rest.Config{Host: p.URL, BearerToken: servertest.Token, TLSClientConfig: rest.TLSClientConfig{Insecure: true}, QPS: -1}
	if account != "" {
		c.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:ops:" + account,
			Groups: []string{"system:serviceaccounts", "system:serviceaccounts:ops", "system:authenticated"}}
	}
	return c
}

// account grants the roles of a result to a new account. drop is the number of a single
// permission to omit, or -1. what describes that permission, and is "" if there are fewer
// permissions.
func (p *plane) account(r Result, drop int) (name, what string) {
	p.Helper()
	*p.accounts++
	name = fmt.Sprintf("a%d", *p.accounts)
	i := 0
	allowed := map[string][]rbacv1.PolicyRule{} // by namespace
	for _, o := range r.Roles.Objects(roles.Names{Role: name, Account: name, Namespace: "ops"}) {
		switch role := o.(type) {
		case *rbacv1.ClusterRole:
			role.Rules, i, what = without(role.Rules, i, drop, what)
			allowed[""] = append(allowed[""], role.Rules...)
		case *rbacv1.Role:
			role.Rules, i, what = without(role.Rules, i, drop, what)
			allowed[role.Namespace] = append(allowed[role.Namespace], role.Rules...)
		}
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
		if err != nil {
			p.Fatal(err)
		}
		u := &unstructured.Unstructured{Object: content}
		resource := map[string]string{"ClusterRole": "clusterroles", "Role": "roles", "ClusterRoleBinding": "clusterrolebindings", "RoleBinding": "rolebindings"}[u.GetKind()]
		gvr := schema.GroupVersionResource{Group: rbacv1.GroupName, Version: "v1", Resource: resource}
		if _, err := p.admin.Resource(gvr).Namespace(u.GetNamespace()).Create(p.Context(), u, metav1.CreateOptions{}); err != nil {
			p.Fatal(err)
		}
	}
	for namespace, rules := range allowed {
		for _, rule := range rules {
			p.await(name, namespace, rule)
		}
	}
	return name, what
}

// await waits until the authorizer grants a single permission to an account. Authorizers
// see new roles after a delay.
func (p *plane) await(account, namespace string, rule rbacv1.PolicyRule) {
	p.Helper()
	resource, sub, _ := strings.Cut(rule.Resources[0], "/")
	attributes := map[string]any{"namespace": namespace, "verb": rule.Verbs[0], "group": rule.APIGroups[0], "resource": resource, "subresource": sub,
		"name": strings.Join(rule.ResourceNames, "")}
	review, err := json.Marshal(map[string]any{"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
		"spec": map[string]any{"user": "system:serviceaccount:ops:" + account, "resourceAttributes": attributes}})
	if err != nil {
		p.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		_, content, err := p.Request(http.MethodPost, "/apis/authorization.k8s.io/v1/subjectaccessreviews", string(review))
		if err == nil && strings.Contains(string(content), `"allowed":true`) {
			return
		}
		if time.Now().After(deadline) {
			p.Fatalf("%v: %v %s", rule, err, content)
		}
	}
}

// without splits rules into single permissions and omits one of them.
func without(rules []rbacv1.PolicyRule, i, drop int, what string) ([]rbacv1.PolicyRule, int, string) {
	var kept []rbacv1.PolicyRule
	for _, r := range rules {
		for _, verb := range r.Verbs {
			for _, group := range r.APIGroups {
				for _, resource := range r.Resources {
					for _, name := range append(slices.Clone(r.ResourceNames), "")[:max(1, len(r.ResourceNames))] {
						one := rbacv1.PolicyRule{Verbs: []string{verb}, APIGroups: []string{group}, Resources: []string{resource}}
						if name != "" {
							one.ResourceNames = []string{name}
						}
						if i == drop {
							what = fmt.Sprint(one)
						} else {
							kept = append(kept, one)
						}
						i++
					}
				}
			}
		}
	}
	return kept, i, what
}

// trial is the result of all requests with some of the derived rules.
type trial struct {
	Without   string // the permission that was left out, "" with all of them
	Forbidden []string
}

// prove sends all requests with the derived rules, and then without one of them each
// time. Then the server must forbid a request. The answers depend only on the server, the rules and these tests, so they are cached.
func prove(t *testing.T, server func() *plane, r Result, try func(p *plane, account string) (forbidden []string)) {
	t.Helper()
	rules, err := json.Marshal(r.Roles.Objects(roles.Names{Role: "r", Account: "a", Namespace: "ops"}))
	if err != nil {
		t.Fatal(err)
	}
	from := append(peertest.Sources(t), servertest.Key(t), t.Name(), string(rules))
	trials := peertest.Cached(t, from, func() ([]trial, bool) {
		own := *server()
		own.T = t
		return own.trials(r, try), true
	})
	if forbidden := trials[0].Forbidden; len(forbidden) > 0 {
		t.Errorf("with the derived rules:\n%s", strings.Join(forbidden, "\n"))
	}
	if len(trials) == 1 {
		t.Error("no rules were derived")
	}
	for _, tr := range trials[1:] {
		if len(tr.Forbidden) == 0 {
			t.Errorf("without %s: nothing is forbidden", tr.Without)
		}
	}
}

// trials sends all requests with the derived rules, and then without one of them each time.
func (p *plane) trials(r Result, try func(p *plane, account string) (forbidden []string)) (all []trial) {
	p.Helper()
	for drop := -1; ; drop++ {
		account, what := p.account(r, drop)
		if drop >= 0 && what == "" {
			return all
		}
		all = append(all, trial{what, try(p, account)})
	}
}

// sent is a request of the engine.
type sent struct {
	verb, resource, namespace, name string
	selector, labels                string
}

var resources = map[string]schema.GroupVersionResource{
	"secrets":     {Version: "v1", Resource: "secrets"},
	"configmaps":  {Version: "v1", Resource: "configmaps"},
	"namespaces":  {Version: "v1", Resource: "namespaces"},
	"nodes":       {Version: "v1", Resource: "nodes"},
	"deployments": {Group: "apps", Version: "v1", Resource: "deployments"},
	"tabs":        {Group: "example.com", Version: "v1", Resource: "tabs"},
	"crds":        {Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"},
	"validating":  {Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingwebhookconfigurations"},
	"mutating":    {Group: "admissionregistration.k8s.io", Version: "v1", Resource: "mutatingwebhookconfigurations"},
}

// send sends a request that changes nothing, and reports whether it is forbidden.
func (q sent) send(ctx context.Context, client dynamic.Interface) bool {
	resource, sub, _ := strings.Cut(q.resource, "/")
	var subresources []string
	if sub != "" {
		subresources = []string{sub}
	}
	gvr := resources[resource]
	c := client.Resource(gvr).Namespace(q.namespace)
	dry := []string{metav1.DryRunAll}
	object := &unstructured.Unstructured{}
	object.SetAPIVersion(gvr.GroupVersion().String())
	object.SetKind("Any")
	object.SetName(q.name)
	options := metav1.ListOptions{FieldSelector: q.selector, LabelSelector: q.labels, Limit: 1}
	var err error
	switch q.verb {
	case "list":
		_, err = c.List(ctx, options)
	case "watch":
		options.Limit, options.TimeoutSeconds = 0, new(int64)
		w, failed := c.Watch(ctx, options)
		if err = failed; err == nil {
			w.Stop()
		}
	case "get":
		_, err = c.Get(ctx, q.name, metav1.GetOptions{}, subresources...)
	case "create":
		_, err = c.Create(ctx, object, metav1.CreateOptions{DryRun: dry})
	case "update":
		_, err = c.Update(ctx, object, metav1.UpdateOptions{DryRun: dry}, subresources...)
	case "patch":
		_, err = c.Patch(ctx, q.name, types.MergePatchType, []byte("{}"), metav1.PatchOptions{DryRun: dry}, subresources...)
	case "delete":
		err = c.Delete(ctx, q.name, metav1.DeleteOptions{DryRun: dry})
	}
	return apierrors.IsForbidden(err)
}

// TestEngine sends the requests of the engine for some operators with the derived roles.
// All of them are allowed, and each rule is needed.
func TestEngine(t *testing.T) {
	t.Parallel()
	server := sync.OnceValue(func() *plane { return newPlane(t) })
	for name, tc := range map[string]struct {
		config, markers string
		requests        []sent
	}{
		"secret-copier": {
			"kubernetes:\n- {name: src_secret, kind: Secret, apiVersion: v1, nameSelector: {matchNames: [mysecret]}, namespace: {nameSelector: {matchNames: [default]}}, group: main}\n" +
				"- {name: namespaces, kind: Namespace, group: main}\n- {name: dst_secrets, kind: Secret, labelSelector: {matchLabels: {managed-secret: 'yes'}}, group: main}\n",
			"# +kubebuilder:rbac:groups=\"\",resources=secrets,verbs=create\n# +kubebuilder:rbac:groups=\"\",resources=secrets,resourceNames=mysecret,verbs=delete;get;update\n",
			[]sent{
				{"list", "secrets", "default", "", "metadata.name=mysecret", ""}, {"watch", "secrets", "default", "", "metadata.name=mysecret", ""},
				{"list", "namespaces", "", "", "", ""}, {"watch", "namespaces", "", "", "", ""},
				{"list", "secrets", "", "", "", "managed-secret=yes"}, {"watch", "secrets", "", "", "", "managed-secret=yes"},
				{"create", "secrets", "team-a", "mysecret", "", ""}, {"get", "secrets", "team-a", "mysecret", "", ""}, {"update", "secrets", "team-a", "mysecret", "", ""},
				{"delete", "secrets", "team-a", "mysecret", "", ""},
			}},
		"names in namespaces": {
			"kubernetes:\n- {name: a, kind: Secret, nameSelector: {matchNames: [x, z]}, namespace: {nameSelector: {matchNames: [web, team-a]}}}\n", "",
			[]sent{
				{"list", "secrets", "web", "", "metadata.name=x", ""}, {"watch", "secrets", "web", "", "metadata.name=x", ""},
				{"list", "secrets", "web", "", "metadata.name=z", ""}, {"watch", "secrets", "web", "", "metadata.name=z", ""},
				{"list", "secrets", "team-a", "", "metadata.name=x", ""}, {"watch", "secrets", "team-a", "", "metadata.name=x", ""},
				{"list", "secrets", "team-a", "", "metadata.name=z", ""}, {"watch", "secrets", "team-a", "", "metadata.name=z", ""},
			}},
		"configmap-reloader": {
			"kubernetes:\n- {name: a, kind: cm, namespace: {labelSelector: {matchLabels: {reload: 'yes'}}}}\n",
			"# +kubebuilder:rbac:groups=apps,resources=deployments,verbs=patch\n",
			[]sent{
				{"list", "namespaces", "", "", "", "reload=yes"}, {"watch", "namespaces", "", "", "", "reload=yes"},
				{"list", "configmaps", "web", "", "", ""}, {"watch", "configmaps", "web", "", "", ""}, {"patch", "deployments", "web", "x", "", ""},
			}},
		"mysql-database": {
			"kubernetes:\n- {name: a, kind: Tab, apiVersion: example.com/v1}\n",
			"# +kubebuilder:rbac:groups=example.com,resources=tabs/status,verbs=patch\n# +kubebuilder:rbac:groups=example.com,resources=tabs,verbs=get;update,namespace=web\n" +
				"# +kubebuilder:rbac:groups=\"\",resources=configmaps,resourceNames=x,verbs=delete,namespace=web\n",
			[]sent{
				{"list", "tabs", "", "", "", ""}, {"watch", "tabs", "", "", "", ""}, {"patch", "tabs/status", "web", "x", "", ""},
				{"get", "tabs", "web", "x", "", ""}, {"update", "tabs", "web", "x", "", ""}, {"delete", "configmaps", "web", "x", "", ""},
			}},
		"node-ping": {"schedule: [{name: tick, crontab: '* * * * *', includeSnapshotsFrom: [nodes]}]\nkubernetes:\n- {name: nodes, kind: Node, executeHookOnEvent: []}\n", "",
			[]sent{{"list", "nodes", "", "", "", ""}, {"watch", "nodes", "", "", "", ""}}},
		"webhooks": {
			"kubernetesValidating: [{name: v.example.com, rules: [{apiGroups: [''], apiVersions: [v1], resources: [pods], operations: [CREATE]}]}]\n" +
				"kubernetesMutating: [{name: m.example.com, rules: [{apiGroups: [''], apiVersions: [v1], resources: [pods], operations: [CREATE]}]}]\n" +
				"kubernetesCustomResourceConversion: [{name: c, crdName: tabs.example.com, conversions: [{fromVersion: v1, toVersion: v2}]}]\n", "",
			[]sent{
				{"list", "validating", "", "", "metadata.name=shell-operator-hooks-hooks", ""}, {"create", "validating", "", "shell-operator-hooks-hooks", "", ""},
				{"update", "validating", "", "shell-operator-hooks-hooks", "", ""},
				{"list", "mutating", "", "", "metadata.name=shell-operator-hooks-hooks", ""}, {"create", "mutating", "", "shell-operator-hooks-hooks", "", ""},
				{"update", "mutating", "", "shell-operator-hooks-hooks", "", ""},
				{"get", "crds", "", "tabs.example.com", "", ""}, {"update", "crds", "", "tabs.example.com", "", ""},
			}},
	} {
		t.Run(name, func(t *testing.T) {
			h := configured(t, tc.config)
			h.Source.Text = append(h.Source.Text, tc.markers...)
			r := derive(t, Input{Kinds: table(t), Hooks: []Hook{h}})
			if len(r.Findings) > 0 {
				t.Fatal(messages(r))
			}
			prove(t, server, r, func(p *plane, account string) (forbidden []string) {
				client, err := dynamic.NewForConfig(p.config(account))
				if err != nil {
					t.Fatal(err)
				}
				for _, q := range tc.requests {
					if q.send(t.Context(), client) {
						forbidden = append(forbidden, fmt.Sprint(q))
					}
				}
				return forbidden
			})
		})
	}
}
