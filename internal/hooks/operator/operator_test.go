//go:build testall

package operator

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/operon-dev/operon/internal/hooks"
	"github.com/operon-dev/operon/internal/hooks/cluster"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/engine"
	"github.com/operon-dev/operon/internal/hooks/hookproject"
	"github.com/operon-dev/operon/internal/hooks/kinds"
	"github.com/operon-dev/operon/internal/hooks/rbac"
	"github.com/operon-dev/operon/internal/process"
	"github.com/operon-dev/operon/internal/testkit/servertest"
	"golang.org/x/time/rate"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8s "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

// open connects to a server as its administrator.
func open(t *testing.T, s servertest.Server) *cluster.Cluster {
	t.Helper()
	c, err := cluster.Open(cluster.ClientOptions{Kubeconfig: s.Kubeconfig(""), Namespace: "default"}, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// within calls f until it returns nil, for a limited time.
func within(t *testing.T, what string, f func() error) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		err := f()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %v", what, err)
		}
	}
}

// newHook returns a hook with a configuration and a bash script.
func newHook(t *testing.T, name, conf, does string) engine.Hook {
	t.Helper()
	c, findings := config.Shell.Parse([]byte("configVersion: v1\n" + conf))
	if c == nil {
		t.Fatal(findings)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := process.WriteProgram(path, []byte("#!/bin/bash\n"+does+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return engine.Hook{Hook: hooks.Hook{Name: name, Path: path}, Config: c}
}

// reports collects the runs and warnings of an Operator.
type reports struct {
	mu       sync.Mutex
	runs     []Run
	warnings []string
}

// operator returns an Operator that reports to r. It has no cluster.
func (r *reports) operator() *Operator {
	return &Operator{
		Runner: engine.Runner{Env: os.Environ()}, Host: "127.0.0.1", Now: time.Now,
		Report: func(run Run) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.runs = append(r.runs, run)
		},
		Warn: func(hook string, err error) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.warnings = append(r.warnings, hook+": "+err.Error())
		},
	}
}

// lines returns a line for each run and warning.
func (r *reports) lines() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []string
	for _, run := range r.runs {
		line := run.Hook + " " + run.summary()
		if run.Err != nil {
			line += fmt.Sprintf(": error, again in %s", run.RetryIn)
		}
		all = append(all, line)
	}
	return slices.Concat(all, r.warnings)
}

// wait waits until at least the given number of lines start with a text.
func (r *reports) wait(t *testing.T, times int, begin string) {
	t.Helper()
	within(t, begin, func() error {
		n := 0
		for _, line := range r.lines() {
			if strings.HasPrefix(line, begin) {
				n++
			}
		}
		if n < times {
			return fmt.Errorf("got %d such lines, want %d, in %q", n, times, r.lines())
		}
		return nil
	})
}

// TestLimiter checks that hooks have the engine's rate limits, and none without settings.
func TestLimiter(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string]*rate.Limiter{
		"": rate.NewLimiter(rate.Inf, 1),
		"settings: {executionMinInterval: 4s, executionBurst: 3}": rate.NewLimiter(0.25, 3),
		"settings: {executionMinInterval: 0s, executionBurst: 2}": rate.NewLimiter(rate.Inf, 2),
		"settings: {executionMinInterval: 2s, executionBurst: 0}": rate.NewLimiter(0.5, 1),
	} {
		got := limiter(newHook(t, "a.sh", "onStartup: 1\n"+settings, "").Config)
		if got.Limit() != want.Limit() || got.Burst() != want.Burst() {
			t.Errorf("%s: every %v, burst %d", settings, got.Limit(), got.Burst())
		}
	}
}

// TestAdmit checks that requests obey the rate limit, and that requests for unknown
// webhooks or after the end are rejected.
func TestAdmit(t *testing.T) {
	t.Parallel()
	ctx, end := context.WithCancel(t.Context())
	defer end()
	o := new(reports).operator()
	o.begin(ctx, []engine.Hook{newHook(t, "a b.sh", `settings: {executionMinInterval: 1h, executionBurst: 2}
kubernetesValidating: [{name: v.example.org, rules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}]}]`,
		`echo '{"allowed":true}' >"$VALIDATING_RESPONSE_PATH"`)})
	const path = validating + "a b.sh/v.example.org"
	ask := func(ctx context.Context, path string) string {
		response, err := o.admit(ctx, path, json.RawMessage(`{"uid":"u"}`))
		if err != nil {
			return err.Error()
		}
		return fmt.Sprint(response["allowed"])
	}
	impatient, cancel := context.WithTimeout(t.Context(), 30*time.Minute) // less than an hour
	defer cancel()
	for _, tc := range []struct{ path, want string }{
		{path, "true"},
		{mutating + "a b.sh/v.example.org", "handle AdmissionReview: no hook found for /mutating/a b.sh/v.example.org"},
		{validating + "b.sh/v.example.org", "handle AdmissionReview: no hook found for /validating/b.sh/v.example.org"},
		{validating + "a b.sh/", "handle AdmissionReview: no hook found for /validating/a b.sh/"},
		{"/", "handle AdmissionReview: no hook found for /"},
		{"", "handle AdmissionReview: no hook found for "},
		{path, "true"},
		{path, "handle AdmissionReview: hook task prop error"},
	} {
		if got := ask(impatient, tc.path); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.path, got, tc.want)
		}
	}
	end()
	if got := ask(t.Context(), path); !strings.Contains(got, "no hook found") {
		t.Errorf("after the operator stopped: %s", got)
	}
}

// testEnd checks that Run returns only after all hooks end, including webhook requests.
func testEnd(t *testing.T, server servertest.Server) {
	r := &reports{}
	o := r.operator()
	o.Cluster = open(t, server)
	o.Patcher = o.Cluster
	ctx, end := context.WithCancel(t.Context())
	defer end()
	ended := make(chan error, 1)
	go func() { ended <- o.Run(ctx, []engine.Hook{newHook(t, "a.sh", "onStartup: 1", ":")}) }()
	r.wait(t, 1, "a.sh onStartup")
	o.mu.Lock()
	h := o.hooks["a.sh"]
	h.running.Add(1) // such as a request of the API server
	o.mu.Unlock()
	var answered atomic.Bool
	go func() {
		<-h.ctx.Done()
		time.Sleep(100 * time.Millisecond)
		answered.Store(true)
		h.running.Done()
	}()
	end()
	if err := <-ended; err != nil || !answered.Load() {
		t.Errorf("Run returned %v; hook still running: %t", err, !answered.Load())
	}
}

// TestOperator runs the tests that need an API server on one server.
func TestOperator(t *testing.T) {
	t.Parallel()
	server := servertest.Start(t)
	t.Run("killed run", func(t *testing.T) { testKilled(t, server) }) // first, because every later run removes stale webhooks
	t.Run("end", func(t *testing.T) { t.Parallel(); testEnd(t, server) })
	t.Run("kind without a CRD yet", func(t *testing.T) { t.Parallel(); testLateKind(t, server) })
	t.Run("settings", func(t *testing.T) { t.Parallel(); testSettings(t, server) })
	t.Run("webhooks", func(t *testing.T) { t.Parallel(); testReplacedWebhooks(t, server) })
	t.Run("permissions of the hooks", func(t *testing.T) { t.Parallel(); testOwnPermissions(t, server) })
}

// running runs hooks until the test ends.
func running(t *testing.T, server servertest.Server, found ...engine.Hook) (*Operator, *reports) {
	t.Helper()
	r := &reports{}
	o := r.operator()
	o.Cluster = open(t, server)
	o.Patcher = o.Cluster
	ctx, end := context.WithCancel(t.Context())
	var ran sync.WaitGroup
	ran.Go(func() {
		if err := o.Run(ctx, found); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { end(); ran.Wait() })
	return o, r
}

// testKilled checks that a run removes the webhooks of a killed run, although its own
// hooks have none.
func testKilled(t *testing.T, server servertest.Server) {
	c := open(t, server)
	killed, err := c.Serve("127.0.0.1", 0, cluster.Handlers{})
	if err != nil {
		t.Fatal(err)
	}
	former := newHook(t, "a.sh", `kubernetesValidating: [{name: v.example.org, rules: [{apiGroups: [x], apiVersions: [v1], resources: [xs], operations: [CREATE]}]}]`, ":")
	if err := c.Register(t.Context(), killed, cluster.Webhooks{}, cluster.Webhooks{Validating: []cluster.Webhook{{Path: "/v", Admission: former.Config.Validating[0]}}}); err != nil {
		t.Fatal(err)
	}
	k, err := c.Kind(t.Context(), "admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration")
	if err == nil {
		_, err = c.Get(t.Context(), k, "", cluster.ConfigurationName)
	}
	if err != nil {
		t.Fatal(err)
	}
	killed.Close()
	_, r := running(t, server, newHook(t, "a.sh", "onStartup: 1", ":"))
	r.wait(t, 1, "a.sh onStartup")
	if _, err := c.Get(t.Context(), k, "", cluster.ConfigurationName); !apierrors.IsNotFound(err) {
		t.Errorf("webhooks of the killed run: got %v, want not found", err)
	}
}

// testLateKind checks that a kind without a CRD blocks the main queue until the CRD
// exists, as in the engine.
func testLateKind(t *testing.T, server servertest.Server) {
	o, r := running(t, server,
		newHook(t, "a.sh", "kubernetes: [{name: tabs, apiVersion: late.example.org/v1, kind: Tab}]", ":"),
		newHook(t, "b.sh", "kubernetes: [{name: spaces, kind: Namespace, queue: b}]", ":"))
	r.wait(t, 1, "a.sh tabs: list: error, again in 5s")
	if lines := r.lines(); slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, "b.sh") }) {
		t.Errorf("the queue is not blocked: %q", lines)
	}
	var crd map[string]any
	text := `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: tabs.late.example.org}, spec: {group: late.example.org, scope: Namespaced,
names: {plural: tabs, singular: tab, kind: Tab}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}`
	if err := yaml.Unmarshal([]byte(text), &crd); err != nil {
		t.Fatal(err)
	}
	k, err := o.Cluster.Kind(t.Context(), "apiextensions.k8s.io/v1", "CustomResourceDefinition")
	if err == nil {
		_, err = o.Cluster.Create(t.Context(), k, &unstructured{Object: crd})
	}
	if err != nil {
		t.Fatal(err)
	}
	r.wait(t, 1, "b.sh spaces synchronization")
	lines := r.lines()
	at := slices.Index(lines, "a.sh tabs synchronization")
	if at < 0 || at > slices.Index(lines, "b.sh spaces synchronization") {
		t.Errorf("unexpected reports: %q", lines)
	}
}

// testOwnPermissions runs hooks with webhooks as a ServiceAccount that has the derived roles
// and no others, twice.
func testOwnPermissions(t *testing.T, server servertest.Server) {
	admin := open(t, server)
	hook := newHook(t, "own.sh", `onStartup: 1
kubernetesValidating: [{name: v.own.example.org, rules: [{apiGroups: [x], apiVersions: [v1], resources: [xs], operations: [CREATE]}]}]
kubernetesMutating: [{name: m.own.example.org, rules: [{apiGroups: [x], apiVersions: [v1], resources: [xs], operations: [CREATE]}]}]`, ":")
	roles, err := rbac.Derive(rbac.Input{Kinds: kinds.Builtin(), Webhooks: "own", Namespace: "default",
		Hooks: []rbac.Hook{{Source: rbac.Source{Path: "own.sh", Text: []byte("#!/bin/bash\n")}, Config: hook.Config}}})
	if err != nil {
		t.Fatal(err)
	}
	objects, err := hookproject.RoleObjects(roles, "default")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range append(objects, &unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": map[string]any{"name": "controller-manager", "namespace": "default"}}}) {
		k, err := admin.Kind(t.Context(), o.GetAPIVersion(), o.GetKind())
		if err == nil {
			_, err = admin.Create(t.Context(), k, o)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	own, err := admin.As(t.Context(), types.NamespacedName{Namespace: "default", Name: "controller-manager"}, "default", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	own.WebhookConfiguration = "own-hooks"
	within(t, "the permissions", func() error { // the API server grants them after a moment
		k, err := admin.Kind(t.Context(), "admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration")
		if err == nil {
			_, err = own.List(t.Context(), k, "", metav1.ListOptions{FieldSelector: "metadata.name=own-hooks"})
		}
		return err
	})
	for range 2 {
		r := &reports{}
		o := r.operator()
		o.Cluster, o.Patcher = own, own
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- o.Run(ctx, []engine.Hook{hook}) }()
		r.wait(t, 1, "own.sh onStartup")
		registered := ownWebhooks(t, admin)
		end()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		lines := slices.DeleteFunc(r.lines(), func(line string) bool { return line == "own.sh onStartup" })
		if left := ownWebhooks(t, admin); registered != 2 || left != 0 || len(lines) > 0 {
			t.Errorf("registered webhooks: %d, left at the end: %d, warnings: %q", registered, left, lines)
		}
	}
}

// ownWebhooks returns the number of registered webhooks in configurations with the name
// own-hooks.
func ownWebhooks(t *testing.T, c *cluster.Cluster) (n int) {
	t.Helper()
	for _, kind := range []string{"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"} {
		k, err := c.Kind(t.Context(), "admissionregistration.k8s.io/v1", kind)
		if err != nil {
			t.Fatal(err)
		}
		o, err := c.Get(t.Context(), k, "", "own-hooks")
		if err != nil {
			t.Fatal(err)
		}
		webhooks, _, _ := k8s.NestedSlice(o.Object, "webhooks")
		n += len(webhooks)
	}
	return n
}

// testSettings runs the schedules of two hooks; one can run twice per hour.
func testSettings(t *testing.T, server servertest.Server) {
	const clock = "schedule: [{name: tick, crontab: '* * * * * *', queue: %s}]\n"
	_, r := running(t, server,
		newHook(t, "often.sh", fmt.Sprintf(clock, "often"), ":"),
		newHook(t, "seldom.sh", fmt.Sprintf(clock, "seldom")+"settings: {executionMinInterval: 1h, executionBurst: 2}", ":"))
	r.wait(t, 2, "seldom.sh tick schedule")
	r.wait(t, len(r.lines())+3, "often.sh tick schedule")
	seldom := slices.DeleteFunc(r.lines(), func(line string) bool { return !strings.HasPrefix(line, "seldom.sh") })
	if len(seldom) != 2 {
		t.Errorf("the limited hook ran %d times", len(seldom))
	}
}

// testReplacedWebhooks replaces a hook with one whose webhook the API server rejects. The
// error is reported, and the operator continues until a valid hook replaces it.
func testReplacedWebhooks(t *testing.T, server servertest.Server) {
	webhook := func(name string) engine.Hook {
		return newHook(t, "a.sh", `onStartup: 1
kubernetesMutating: [{name: `+name+`, failurePolicy: Ignore, rules: [{apiGroups: [x], apiVersions: [v1], resources: [xs], operations: [CREATE]}]}]`, ":")
	}
	first, bad, last := webhook("m.example.org"), webhook("short"), webhook("n.example.org")
	o, r := running(t, server, first)
	r.wait(t, 1, "a.sh onStartup")
	o.Replace("a.sh", &bad)
	r.wait(t, 1, "a.sh: register webhooks: ")
	r.wait(t, 2, "a.sh onStartup")
	o.Replace("a.sh", &last)
	r.wait(t, 3, "a.sh onStartup")
	registered := func() string {
		k, err := o.Cluster.Kind(t.Context(), "admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration")
		if err != nil {
			t.Fatal(err)
		}
		c, err := o.Cluster.Get(t.Context(), k, "", "shell-operator-hooks-hooks")
		if err != nil {
			return err.Error()
		}
		webhooks, _, _ := k8s.NestedSlice(c.Object, "webhooks")
		return fmt.Sprint(len(webhooks), " ", webhooks[0].(map[string]any)["name"])
	}
	if got := registered(); got != "1 n.example.org" {
		t.Errorf("registered: %s", got)
	}
	o.Replace("a.sh", nil)
	if got := registered(); !strings.Contains(got, "not found") {
		t.Errorf("registered webhook of a removed hook: %s", got)
	}
}
