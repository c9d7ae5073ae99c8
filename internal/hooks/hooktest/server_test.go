//go:build testall

package hooktest_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/engine"
	"github.com/operon-dev/operon/internal/hooks/hooktest"
	"github.com/operon-dev/operon/internal/process"
	"github.com/operon-dev/operon/internal/testkit/clustertest"
	"github.com/operon-dev/operon/internal/testkit/servertest"
)

// envHook is a hook that takes its actions from environment variables.
const envHook = `#!/bin/bash
eval "${RUN}"
`

const envHookConfig = `
configVersion: v1
schedule:
- {name: tick, crontab: "* * * * *"}
kubernetesValidating:
- name: v.policy.example.com
  rules: [{apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [CREATE]}]
kubernetesCustomResourceConversion:
- {name: up, crdName: tabs.example.com, conversions: [{fromVersion: v1, toVersion: v2}]}
`

// obedient returns a suite with the hook, on a new API server.
func obedient(t *testing.T) hooktest.Suite {
	t.Helper()
	return obedientOn(t, servertest.Start(t))
}

func obedientOn(t *testing.T, server servertest.Server) hooktest.Suite {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.sh")
	if err := process.WriteProgram(path, []byte(envHook), 0o755); err != nil {
		t.Fatal(err)
	}
	conf, findings := config.Shell.Parse([]byte(envHookConfig))
	if conf == nil {
		t.Fatal(findings)
	}
	return hooktest.Suite{
		Hooks:   []engine.Hook{{Hook: hooks.Hook{Name: "a.sh", Path: path}, Config: conf}},
		Backend: clustertest.Open(t, server.Kubeconfig(""), "default", nil, clustertest.All(t)), Env: []string{"PATH=" + os.Getenv("PATH")}, Timeout: time.Minute,
	}
}

// outcomesOf runs the tests of a new file in a folder.
func outcomesOf(t *testing.T, s hooktest.Suite, dir, text string) (*hooktest.File, []hooktest.Outcome) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "t.yaml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	files, err := hooktest.Find(dir, "hooks", []string{"t.yaml"})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	outcomes, err := s.Run(t.Context(), files[0].Tests)
	if err != nil {
		t.Fatal(err)
	}
	return files[0], outcomes
}

func failures(outcomes []hooktest.Outcome) string {
	var all strings.Builder
	for _, o := range outcomes {
		for _, f := range o.Failures {
			all.WriteString(f.Message + "\n")
		}
	}
	return all.String()
}

const (
	makes    = `echo '{"operation": "CreateOrUpdate", "object": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": "default", "name": "made"}, "data": {"k": "v"}}}' >$KUBERNETES_PATCH_PATH`
	deletes  = `echo '{"operation": "DeleteInBackground", "apiVersion": "v1", "kind": "ConfigMap", "namespace": "default", "name": "there"}' >$KUBERNETES_PATCH_PATH`
	measures = `printf '{"name": "lost", "action": "set", "value": %s, "labels": {"node": "%s"}}\n' 1 a 2 b >$METRICS_PATH`
	made     = "apiVersion: v1, kind: ConfigMap, metadata: {namespace: default, name: made}"
	there    = "apiVersion: v1, kind: ConfigMap, metadata: {namespace: default, name: there}"
	none     = "apiVersion: v1, kind: ConfigMap, metadata: {namespace: default, name: none}"
	reviews  = "- validate: {object: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: default, name: x}}}\n  expect: "
	converts = "- convert: {to: example.com/v2, objects: [{apiVersion: example.com/v1, kind: Tab, metadata: {name: x}}]}\n  expect: "
	ticks    = "- schedule: tick # now\n  expect: "
)

// TestUpdate runs the tests of --update, which share an API server.
func TestUpdate(t *testing.T) {
	t.Parallel()
	s := obedient(t)
	t.Run("failed hooks", func(t *testing.T) { testFailedHooks(t, s) })
	t.Run("expectations", func(t *testing.T) { testExpectations(t, s) })
	t.Run("files", func(t *testing.T) { testFiles(t, s) })
}

// testFailedHooks checks that a hook with a mistake does not replace the expectations of its tests.
func testFailedHooks(t *testing.T, s hooktest.Suite) {
	for name, expect := range map[string]string{
		"success":              "{exitCode: 0}",
		"an object":            "{objects: [{" + made + "}]}",
		"a metric":             "{metrics: [{name: lost}]}",
		"runs and empty items": "{runs: 3, objects: }",
	} {
		t.Run(name, func(t *testing.T) {
			text := "hook: a.sh\ntests:\n- name: x\n  env: {RUN: exit 4}\n  events:\n  " + strings.ReplaceAll(ticks+expect, "\n", "\n  ") + "\n"
			f, outcomes := outcomesOf(t, s, t.TempDir(), text)
			u, err := f.Update(outcomes)
			if err != nil || string(u.Text) != text || !outcomes[0].HookFailed || outcomes[0].Passed() {
				t.Errorf("%v, %+v\n%s", err, outcomes[0].Failures, u.Text)
			}
		})
	}
}

// testExpectations updates each kind of expectation. The tests then pass, and a second update changes nothing.
func testExpectations(t *testing.T, s hooktest.Suite) {
	for name, tc := range map[string]struct{ run, events, want string }{
		"runs":                            {"true", ticks + "{runs: 3} # once", ticks + "{runs: 1} # once"},
		"the exit code":                   {"exit 4", ticks + "{exitCode: 3}", ticks + "{exitCode: 4}"},
		"success instead of a failure":    {"true", ticks + "{exitCode: 4, error: no luck}", ticks + "{exitCode: 0}"},
		"a different failure":             {"echo nonsense >$METRICS_PATH", ticks + "{exitCode: 3}", ticks + "{exitCode: 0, error: '$METRICS_PATH:1: not valid JSON: invalid character ''o'' in literal null (expecting ''u'')'}"},
		"no run":                          {"true", "- retry: true\n  expect: {exitCode: 3}", "- retry: true\n  expect: {runs: 0}"},
		"an error":                        {"echo no luck at all >&2; exit 4", ticks + "{error: no lock}", ticks + "{error: 'exit code 4: no luck at all'}"},
		"no error":                        {"true", ticks + "{error: no luck}", ticks + "{runs: 1}"},
		"an error with a folder":          {`echo "$HOME/x: it is gone for good" >&2; exit 4`, ticks + "{error: it was gone}", ticks + "{error: it is gone for good}"},
		"output":                          {"echo a lost 3; echo b lost 4; echo c", ticks + "{output: [a lost, b lost 5]}", ticks + "{output: [a lost, b lost 4]}"},
		"no output":                       {"true", ticks + "{output: [a]}", ticks + "{runs: 1}"},
		"output with a folder":            {`echo "$HOME/x: it is gone"`, ticks + "{output: [it was gone]}", ticks + "{output: [it is gone]}"},
		"a patch":                         {makes, ticks + "{patches: [{operation: CreateOrUpdate, object: {data: {k: w, gone: x}}}]}", ticks + "{patches: [{operation: CreateOrUpdate, object: {data: {k: v}}}]}"},
		"no patch":                        {"true", ticks + "\n    runs: 1\n    patches: # none\n    - {operation: Create}", ticks + "\n    runs: 1\n    patches: [] # none"},
		"one more patch":                  {makes, ticks + "{patches: []}", ticks + "{patches: [{object: {" + "apiVersion: v1, data: {k: v}, kind: ConfigMap, metadata: {name: made, namespace: default}}, operation: CreateOrUpdate}]}"},
		"a patch before":                  {makes + "; " + strings.Replace(deletes, ">", ">>", 1), ticks + "\n    patches:\n    - {operation: DeleteInBackground} # the last", ticks + "\n    patches:\n    - object:\n        apiVersion: v1\n        data:\n          k: v\n        kind: ConfigMap\n        metadata:\n          name: made\n          namespace: default\n      operation: CreateOrUpdate\n    - {operation: DeleteInBackground} # the last"},
		"an object":                       {makes, ticks + "\n    objects:\n    - {" + made + ", data: {k: w, l: null}} # as it is", ticks + "\n    objects:\n    - {" + made + ", data: {k: v, l: null}} # as it is"},
		"a missing object":                {"true", ticks + "\n    objects: [{" + there + "}, {" + none + ", data: {k: v}}] # one", ticks + "\n    absent:\n    - apiVersion: v1\n      kind: ConfigMap\n      metadata:\n        name: none\n        namespace: default\n    objects: [{" + there + "}] # one"},
		"only a missing object":           {"true", ticks + "{objects: [{" + none + "}]}", ticks + "{absent: [{apiVersion: v1, kind: ConfigMap, metadata: {name: none, namespace: default}}]}"},
		"an object without a name":        {makes, ticks + "{objects: [{apiVersion: v1, kind: ConfigMap, data: {k: w}}]}", ticks + "{objects: [{apiVersion: v1, kind: ConfigMap, data: {k: v}}]}"},
		"an object that exists":           {"true", ticks + "{absent: [{" + none + "}, {" + there + ", data: {k: v}}]}", ticks + "{absent: [{" + none + "}], objects: [{apiVersion: v1, data: {k: there}, kind: ConfigMap, metadata: {name: there, namespace: default}}]}"},
		"only an object that exists":      {"true", ticks + "{absent: [{" + there + "}]}", ticks + "{objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: there, namespace: default}}]}"},
		"a metric":                        {measures, ticks + "{metrics: [{name: lost, value: 1, labels: {node: a}}, {name: lost, value: 3, labels: {node: b}}]}", ticks + "{metrics: [{name: lost, value: 1, labels: {node: a}}, {name: lost, value: 2, labels: {node: b}}]}"},
		"a short metric":                  {`echo '{"name": "lost", "add": 2}' > $METRICS_PATH`, ticks + "{metrics: [{name: lost, add: 1}]}", ticks + "{metrics: [{name: lost, add: 2}]}"},
		"a missing metric":                {measures, ticks + "{metrics: [{name: found}, {name: lost, value: 1}]}", ticks + "{metrics: [{name: lost, value: 1}]}"},
		"only a missing metric":           {measures, ticks + "{metrics: [{name: found}]}", ticks + "{metrics: [{name: lost, action: set, group: a.sh, labels: {node: a}, value: 1}, {action: set, group: a.sh, labels: {node: b}, name: lost, value: 2}]}"},
		"no metrics":                      {"true", ticks + "{metrics: [{name: lost}]}", ticks + "{metrics: []}"},
		"metrics instead of none":         {measures, ticks + "{metrics: []}", ticks + "{metrics: [{action: set, group: a.sh, labels: {node: a}, name: lost, value: 1}, {action: set, group: a.sh, labels: {node: b}, name: lost, value: 2}]}"},
		"contexts":                        {"true", ticks + "{contexts: [{binding: tock, type: Schedule}]}", ticks + "{contexts: [{binding: tick, type: Schedule}]}"},
		"a response":                      {`echo '{"allowed": false, "message": "no"}' >$ADMISSION_RESPONSE_PATH`, reviews + "{response: {allowed: true, message: null}}", reviews + "{response: {allowed: false, message: \"no\"}}"},
		"no response":                     {"true", ticks + "{response: {allowed: true}}", ticks + "{runs: 1}"},
		"converted objects":               {`echo '{"convertedObjects": [{"apiVersion": "example.com/v2", "kind": "Tab", "metadata": {"name": "x"}}]}' >$CONVERSION_RESPONSE_PATH`, converts + "{converted: [{apiVersion: example.com/v3}]}", converts + "{converted: [{apiVersion: example.com/v2}]}"},
		"empty runs":                      {"true", ticks + "{runs: }", ticks + "{runs: 1}"},
		"empty exit code":                 {"exit 4", ticks + "\n    error: exit\n    exitCode:", ticks + "\n    error: exit\n    exitCode: 4"},
		"empty error":                     {"exit 4", ticks + "\n    error:", ticks + "\n    error: exit code 4"},
		"empty error without a result":    {"true", ticks + "\n    error:", ticks + "\n    runs: 1"},
		"empty output":                    {`echo a; echo "$HOME/b"; echo; echo a`, ticks + "\n    output:", ticks + "\n    output:\n    - a"},
		"empty patches":                   {deletes, ticks + "\n    patches:", ticks + "\n    patches:\n    - apiVersion: v1\n      kind: ConfigMap\n      name: there\n      namespace: default\n      operation: DeleteInBackground"},
		"empty patches without a result":  {"true", ticks + "{patches: , runs: 1}", ticks + "{patches: [], runs: 1}"},
		"empty objects":                   {makes, ticks + "{objects: }", ticks + "{objects: [{apiVersion: v1, data: {k: v}, kind: ConfigMap, metadata: {name: made, namespace: default}}]}"},
		"empty absent":                    {deletes, ticks + "{absent: }", ticks + "{absent: [{apiVersion: v1, kind: ConfigMap, metadata: {name: there, namespace: default}}]}"},
		"empty metrics":                   {measures + " && sed -i 2d $METRICS_PATH", ticks + "{metrics: }", ticks + "{metrics: [{action: set, group: a.sh, labels: {node: a}, name: lost, value: 1}]}"},
		"empty contexts":                  {"true", ticks + "{contexts: }", ticks + "{contexts: [{binding: tick, type: Schedule}]}"},
		"empty response":                  {`echo '{"allowed": true}' >$ADMISSION_RESPONSE_PATH`, reviews + "{response: }", reviews + "{response: {allowed: true, object: {apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: default}}}}"},
		"empty response without a result": {"true", ticks + "{response: }", ticks + "{runs: 1}"},
		"empty converted":                 {`echo '{"convertedObjects": [{"apiVersion": "example.com/v2", "kind": "Tab", "metadata": {"name": "x"}}]}' >$CONVERSION_RESPONSE_PATH`, converts + "{converted: }", converts + "{converted: [{apiVersion: example.com/v2, kind: Tab, metadata: {name: x}}]}"},
		"empty expect":                    {makes + "; " + strings.Replace(deletes, ">", ">>", 1), ticks + "# to do", ticks + "# to do\n    absent:\n    - apiVersion: v1\n      kind: ConfigMap\n      metadata:\n        name: there\n        namespace: default\n    objects:\n    - apiVersion: v1\n      data:\n        k: v\n      kind: ConfigMap\n      metadata:\n        name: made\n        namespace: default\n    runs: 1"},
		"empty expect with a failure":     {"exit 4", ticks, ticks + "\n    error: exit code 4\n    exitCode: 4\n    runs: 1"},
		"an alias":                        {makes, "- apply: &x {" + none + ", data: {k: w}}\n- schedule: tick\n  expect: {objects: [*x, {" + made + ", data: {k: x}}], absent: [*x]}", "- apply: &x {" + none + ", data: {k: w}}\n- schedule: tick\n  expect: {objects: [*x, {" + made + ", data: {k: v}}]}"},
	} {
		t.Run(name, func(t *testing.T) {
			text := func(events string) string {
				return "# Hands off.\nhook: a.sh\ntests:\n- name: x # that one\n  idempotent: false\n  given: [{" + there + ", data: {k: there}}]\n  env:\n    RUN: |-\n      " +
					strings.ReplaceAll(tc.run, "\n", "\n      ") + "\n  events:\n  " + strings.ReplaceAll(events, "\n", "\n  ") + "\n"
			}
			f, outcomes := outcomesOf(t, s, t.TempDir(), text(tc.events))
			if failures(outcomes) == "" {
				t.Fatal("it passes before the update")
			}
			u, err := f.Update(outcomes)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(text(tc.want), string(u.Text)); diff != "" || u.Changed == 0 {
				t.Errorf("%d changes (-want +got):\n%s", u.Changed, diff)
			}
			f, outcomes = outcomesOf(t, s, t.TempDir(), string(u.Text))
			if failed := failures(outcomes); failed != "" {
				t.Errorf("it fails now:\n%s", failed)
			}
			again, err := f.Update(outcomes)
			if err != nil || again.Changed > 0 || string(again.Text) != string(u.Text) {
				t.Errorf("again: %d changes, %v\n%s", again.Changed, err, again.Text)
			}
		})
	}
}

// testFiles checks that the results of tests do not change a file that was edited while they ran: the tests may be at other
// places in it.
func testFiles(t *testing.T, s hooktest.Suite) {
	test := func(runs string) string {
		return "- name: x" + runs + "\n  events:\n  - schedule: tick\n    expect: {runs: " + runs + "}\n"
	}
	const head = "hook: a.sh\ntests:\n"
	for name, tc := range map[string]struct{ before, after, updated, wants string }{
		"unchanged":         {head + test("2"), "", head + strings.Replace(test("2"), "runs: 2", "runs: 1", 1), ""},
		"another test":      {head + test("2"), head + test("7") + test("2"), "", "t.yaml changed while the tests ran"},
		"no tests":          {head + test("2"), "hook: a.sh\ntests: []\n", "", "t.yaml changed while the tests ran"},
		"nothing to update": {head + test("1"), head + test("7") + test("1"), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			f, outcomes := outcomesOf(t, s, dir, tc.before)
			if tc.after != "" {
				if err := os.WriteFile(filepath.Join(dir, "t.yaml"), []byte(tc.after), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			changes, err := hooktest.PlanUpdate(dir, []*hooktest.File{f}, outcomes)
			if tc.wants != "" && (err == nil || err.Error() != tc.wants || fault.HintOf(err) != "repeat the command") || tc.wants == "" && err != nil {
				t.Errorf("%v, want %s", err, tc.wants)
			}
			updated := ""
			if len(changes) > 0 {
				updated = string(changes[0].Text)
			}
			if diff := cmp.Diff(tc.updated, updated); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestIdempotent repeats a hook while a controller changes objects all the time. Only objects of the kind that the hook
// writes count.
func TestIdempotent(t *testing.T) {
	t.Parallel()
	server := servertest.Start(t)
	s := obedientOn(t, server)
	for kind, want := range map[string]string{"Secret": "", "ConfigMap": ", changes v1 ConfigMap default/busy: "} {
		t.Run(kind, func(t *testing.T) {
			var run sync.WaitGroup
			stop := make(chan struct{})
			run.Go(func() {
				path := "/api/v1/namespaces/default/" + strings.ToLower(kind) + "s/busy"
				for i := 0; ; i++ {
					select {
					case <-stop:
						return
					case <-time.After(time.Millisecond):
						body := fmt.Sprintf(`{"apiVersion": "v1", "kind": "%s", "metadata": {"name": "busy", "labels": {"turn": "%d"}}}`, kind, i)
						_, _, _ = server.Request(http.MethodPut, path, body) // fails before the test and after it
					}
				}
			})
			text := "hook: a.sh\ntests:\n- name: x\n  given: [{apiVersion: v1, kind: " + kind + ", metadata: {namespace: default, name: busy}}]\n  env:\n    RUN: |-\n      sleep 0.5; " +
				makes + "\n  events:\n  " + strings.ReplaceAll(ticks, "\n", "\n  ") + "{runs: 1}\n"
			_, outcomes := outcomesOf(t, s, t.TempDir(), text)
			close(stop)
			run.Wait()
			if got := failures(outcomes); want == "" && got != "" || !strings.Contains(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
