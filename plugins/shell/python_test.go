package shell

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/templates"
)

// ran is the result of a run of a hook.
type ran struct {
	stdout, stderr                       string
	code                                 int
	patches, metrics, admission, convert string
}

// python runs a hook that imports the library, with contexts.
func python(t *testing.T, script, contexts string, args ...string) ran {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("hooks run on Linux")
	}
	lib, err := templates.FS.ReadFile("shell/python/hooks/lib/operon.py")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	script = "import sys\nsys.dont_write_bytecode = True\nimport operon\n" + script
	for name, text := range map[string]string{"operon.py": string(lib), "hook.py": script, "contexts": contexts} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("python3", append([]string{filepath.Join(dir, "hook.py")}, args...)...)
	at := func(name string) string { return filepath.Join(dir, name) }
	cmd.Env = append(os.Environ(), "BINDING_CONTEXT_PATH="+at("contexts"), "KUBERNETES_PATCH_PATH="+at("patches"), "METRICS_PATH="+at("metrics"),
		"ADMISSION_RESPONSE_PATH="+at("admission"), "CONVERSION_RESPONSE_PATH="+at("convert"))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	r := ran{}
	var exit *exec.ExitError
	if err := cmd.Run(); errors.As(err, &exit) {
		r.code = exit.ExitCode()
	} else if err != nil {
		t.Fatal("hooks in Python need python3: ", err)
	}
	text := func(name string) string {
		content, _ := os.ReadFile(at(name))
		return string(content)
	}
	r.stdout, r.stderr = stdout.String(), stderr.String()
	r.patches, r.metrics, r.admission, r.convert = text("patches"), text("metrics"), text("admission"), text("convert")
	return r
}

// TestPythonCallsHandlers checks that the most specific handler is called, and
// on_anything_else if there is no other.
func TestPythonCallsHandlers(t *testing.T) {
	t.Parallel()
	const script = `
hook = operon.Hook("configVersion: v1\n")

def says(name):
    return lambda ctx, *obj: print(name) or operon.allow()

hook.on_startup(says("startup"))
hook.on_kubernetes("cms", "added", "modified")(says("changed"))
hook.on_kubernetes("cms")(says("cms"))
hook.on_kubernetes("pods", "synchronization")(says("sync"))
hook.on_group("main")(says("group"))
hook.on_schedule("tick")(says("tick"))
hook.on_validating("v.example.org")(says("validating"))
hook.on_mutating("m.example.org")(says("mutating"))
hook.on_conversion("up", "g/v1", "g/v2")(says("up"))
hook.on_conversion("up")(says("any"))
hook.on_anything_else(says("else"))
hook.run()
`
	for context, want := range map[string]string{
		`{"binding":"onStartup"}`:                                                                                            "startup",
		`{"binding":"cms","type":"Event","watchEvent":"Added"}`:                                                              "changed",
		`{"binding":"cms","type":"Event","watchEvent":"Modified"}`:                                                           "changed",
		`{"binding":"cms","type":"Event","watchEvent":"Deleted"}`:                                                            "cms",
		`{"binding":"cms","type":"Synchronization","objects":[]}`:                                                            "cms",
		`{"binding":"pods","type":"Synchronization","objects":[]}`:                                                           "sync",
		`{"binding":"pods","type":"Event","watchEvent":"Added"}`:                                                             "else",
		`{"binding":"pods","type":"Group","groupName":"main","snapshots":{}}`:                                                "group",
		`{"binding":"tick","type":"Schedule"}`:                                                                               "tick",
		`{"binding":"v.example.org","type":"Validating","review":{"request":{}}}`:                                            "validating",
		`{"binding":"m.example.org","type":"Mutating","review":{"request":{}}}`:                                              "mutating",
		`{"binding":"up","type":"Conversion","fromVersion":"g/v1","toVersion":"g/v2","review":{"request":{"objects":[{}]}}}`: "up",
		`{"binding":"up","type":"Conversion","fromVersion":"g/v2","toVersion":"g/v1","review":{"request":{"objects":[{}]}}}`: "any",
		`{"binding":"other","type":"Schedule"}`:                                                                              "else",
	} {
		if r := python(t, script, "["+context+"]"); r.stdout != want+"\n" || r.code != 0 {
			t.Errorf("%s: printed %q, exit code %d, %s", context, r.stdout, r.code, r.stderr)
		}
	}
	if r := python(t, script, "", "--config"); r.stdout != "configVersion: v1\n\n" || r.code != 0 {
		t.Errorf("--config: %+v", r)
	}
	if r := python(t, "operon.Hook('').run()", `[{"binding":"tick","type":"Schedule"}]`); r.code == 0 || !strings.Contains(r.stderr, "no handler for the context of binding tick, of type Schedule") {
		t.Errorf("without a handler: %+v", r)
	}
}

// TestPythonAnswers checks the files that the library writes for the engine.
func TestPythonAnswers(t *testing.T) {
	t.Parallel()
	const script = `
hook = operon.Hook("")

@hook.on_startup
def start(ctx):
    ctx.patch.create_or_update({"kind": "A", "metadata": {"name": "a", "resourceVersion": "1"}})
    ctx.patch.delete("v1", "Pod", "p", "default")
    ctx.patch.delete("v1", "Node", "n", operation="Delete")
    ctx.patch.merge("v1", "Pod", "p", {"status": {}}, "default", subresource="/status", ignoreMissingObject=True)
    ctx.patch.json("v1", "Node", "n", [{"op": "remove", "path": "/x"}])
    ctx.patch.jq("v1", "Node", "n", ".a = 1")
    ctx.metrics.set("m", 2, {"a": "b"}, "g")
    ctx.metrics.add("n")
    ctx.metrics.expire("g")

@hook.on_validating("v")
def validate(ctx):
    return operon.deny("no " + ctx.request["name"], ["careful"])

@hook.on_mutating("m")
def mutate(ctx):
    return operon.allow(patch=[{"op": "remove", "path": "/x"}])

@hook.on_mutating("forgetful")
def forget(ctx):
    pass

@hook.on_conversion("up")
def up(ctx, obj):
    return {**obj, "apiVersion": ctx.to_version}

hook.run()
`
	r := python(t, script, `[{"binding":"onStartup"}]`)
	want := `{"operation": "CreateOrUpdate", "object": {"kind": "A", "metadata": {"name": "a"}}}
{"operation": "DeleteInBackground", "apiVersion": "v1", "kind": "Pod", "name": "p", "namespace": "default"}
{"operation": "Delete", "apiVersion": "v1", "kind": "Node", "name": "n"}
{"operation": "MergePatch", "mergePatch": {"status": {}}, "apiVersion": "v1", "kind": "Pod", "name": "p", "namespace": "default", "subresource": "/status", "ignoreMissingObject": true}
{"operation": "JSONPatch", "jsonPatch": "[{\"op\": \"remove\", \"path\": \"/x\"}]", "apiVersion": "v1", "kind": "Node", "name": "n"}
{"operation": "JQPatch", "jqFilter": ".a = 1", "apiVersion": "v1", "kind": "Node", "name": "n"}
`
	if diff := cmp.Diff(want, r.patches); diff != "" || r.code != 0 {
		t.Errorf("patches (-want +got), exit code %d:\n%s%s", r.code, diff, r.stderr)
	}
	want = `{"name": "m", "action": "set", "value": 2, "labels": {"a": "b"}, "group": "g"}
{"name": "n", "action": "add", "value": 1, "labels": {}}
{"action": "expire", "group": "g"}
`
	if diff := cmp.Diff(want, r.metrics); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
	r = python(t, script, `[{"binding":"v","type":"Validating","review":{"request":{"name":"x"}}}]`)
	if diff := cmp.Diff(map[string]any{"allowed": false, "message": "no x", "warnings": []any{"careful"}}, decoded(t, r.admission)); diff != "" {
		t.Errorf("validating: %s%s", diff, r.stderr)
	}
	r = python(t, script, `[{"binding":"m","type":"Mutating","review":{"request":{}}}]`)
	if diff := cmp.Diff(map[string]any{"allowed": true, "patch": "W3sib3AiOiAicmVtb3ZlIiwgInBhdGgiOiAiL3gifV0="}, decoded(t, r.admission)); diff != "" {
		t.Errorf("mutating: %s%s", diff, r.stderr)
	}
	if r = python(t, script, `[{"binding":"forgetful","type":"Mutating","review":{"request":{}}}]`); r.code == 0 || !strings.Contains(r.stderr, "must return operon.allow()") {
		t.Errorf("without a response: %+v", r)
	}
	r = python(t, script, `[{"binding":"up","type":"Conversion","fromVersion":"g/v1","toVersion":"g/v2","review":{"request":{"objects":[{"apiVersion":"g/v1","a":1}]}}}]`)
	if diff := cmp.Diff(map[string]any{"convertedObjects": []any{map[string]any{"apiVersion": "g/v2", "a": 1.0}}}, decoded(t, r.convert)); diff != "" {
		t.Errorf("conversion: %s%s", diff, r.stderr)
	}
}

// TestPythonMistakes checks that mistakes in a hook are errors, also with --config.
func TestPythonMistakes(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		"operon.Hook('').on_kubernetes('a', 'changed')":                       "on_kubernetes: events are added, deleted, modified, synchronization, not changed",
		"h = operon.Hook('')\nh.on_group('a')(print)\nh.on_group('a')(print)": "two handlers for group a",
	} {
		if r := python(t, script, "", "--config"); r.code == 0 || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: %+v", script, r)
		}
	}
}

func decoded(t *testing.T, text string) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Errorf("%q: %v", text, err)
	}
	return v
}
