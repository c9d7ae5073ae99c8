//go:build testall

package engine_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/operon-dev/operon/internal/process"
	"github.com/operon-dev/operon/internal/testkit/servertest"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// hookScript is the content of each hook. It first records its contexts, and exits when the test
// allows it.
const hookScript = `#!/bin/bash
name=${0##*/} dir=%q
if [[ "${1:-}" == --config ]]; then cat "$dir/config/$name"; exit; fi
log="$dir/runs/$(date +%%s%%N)-$name"
cp "$BINDING_CONTEXT_PATH" "$log.part"
mv "$log.part" "$log"
while [[ -e "$dir/hold/$name" ]]; do sleep 0.02; done
if [[ -e "$dir/write/$name" ]]; then cat "$dir/write/$name" >"$KUBERNETES_PATCH_PATH"; fi
if rm "$dir/fail/$name" 2>/dev/null; then exit 1; fi
`

// quiet is the time without a run after which the engine counts as idle.
const quiet = 2 * time.Second

// recorder runs a scenario on the real engine.
type recorder struct {
	servertest.Server
	dir  string
	seen []string // files of the recorded runs
	runs []run
	when time.Time // the time for the crontab
	stop func()
}

// record runs a scenario on the real engine, and writes the runs of its hooks to a file.
func record(t *testing.T, s scenario, file string) {
	program := os.Getenv("OPERON_ENGINE")
	if program == "" {
		t.Fatal("OPERON_ENGINE is not set")
	}
	r := &recorder{Server: servertest.Start(t), dir: t.TempDir(), runs: []run{}, stop: func() {}}
	for _, sub := range []string{"config", "hooks", "runs", "hold", "fail", "write", "tmp"} {
		if err := os.Mkdir(filepath.Join(r.dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r.when = time.Now().Add(40 * time.Second)
	crontab := fmt.Sprintf("%d %d %d * * *", r.when.Second(), r.when.Minute(), r.when.Hour())
	for name, conf := range s.Hooks {
		r.write("config/"+name, strings.ReplaceAll(conf, tick, crontab), 0o644)
		r.write("hooks/"+name, fmt.Sprintf(hookScript, r.dir), 0o755)
	}
	for name, text := range s.Writes {
		r.write("write/"+name, text, 0o644)
	}
	for _, o := range s.Given {
		r.send(http.MethodPost, o)
	}
	defer func() { r.stop() }()
	for i, st := range s.Steps {
		r.step(program, st)
		if st.Hold == "" && st.Fail == "" {
			r.await(i, st)
		}
	}
	content, err := json.MarshalIndent(r.runs, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(content, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (r *recorder) write(name, text string, mode os.FileMode) {
	r.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), mode); err != nil {
		r.Fatal(err)
	}
}

func (r *recorder) step(program string, st step) {
	switch {
	case st.Start:
		r.start(program)
	case st.Hold != "":
		r.write("hold/"+st.Hold, "", 0o644)
	case st.Release != "":
		if err := os.Remove(filepath.Join(r.dir, "hold", st.Release)); err != nil {
			r.Fatal(err)
		}
	case st.Fail != "":
		r.write("fail/"+st.Fail, "", 0o644)
	case st.Apply != nil:
		r.send(http.MethodPost, st.Apply)
	case st.Delete != nil:
		r.send(http.MethodDelete, st.Delete)
	}
}

func (r *recorder) start(program string) {
	kubeconfig := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: a, contexts: [{name: a, context: {cluster: a, user: a}}],
clusters: [{name: a, cluster: {server: %q, insecure-skip-tls-verify: true}}], users: [{name: a, user: {token: %s}}]}`, r.URL, servertest.Token)
	r.write("kubeconfig", kubeconfig, 0o600)
	cmd := exec.CommandContext(r.Context(), program, "start", "--hooks-dir", filepath.Join(r.dir, "hooks"), "--tmp-dir", filepath.Join(r.dir, "tmp"),
		"--kube-config", filepath.Join(r.dir, "kubeconfig"), "--listen-address", "127.0.0.1", "--listen-port", "0",
		"--kube-client-qps", "100", "--kube-client-burst", "100", "--object-patcher-kube-client-qps", "100", "--object-patcher-kube-client-burst", "100")
	cmd.Env = append(os.Environ(), "DEBUG_UNIX_SOCKET="+filepath.Join(r.dir, "debug.socket"), "TZ=UTC")
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	wait, err := process.Start(cmd)
	if err != nil {
		r.Fatal(err)
	}
	r.stop = func() {
		_ = cmd.Process.Kill()
		_ = wait()
		if r.Failed() || testing.Verbose() {
			r.Logf("%s", log.Bytes())
		}
	}
}

// await records the runs of hooks until the engine is idle.
func (r *recorder) await(i int, st step) {
	patience := quiet
	switch {
	case st.Start:
		patience = 10 * time.Second
	case st.Retry:
		patience = 9 * time.Second // the engine retries after five seconds
	case st.Tick:
		patience = time.Until(r.when) + quiet
	}
	for last := time.Now(); time.Since(last) < patience; time.Sleep(50 * time.Millisecond) {
		entries, err := os.ReadDir(filepath.Join(r.dir, "runs"))
		if err != nil {
			r.Fatal(err)
		}
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), ".part") || slices.Contains(r.seen, e.Name()) {
				continue
			}
			content, err := os.ReadFile(filepath.Join(r.dir, "runs", e.Name()))
			if err != nil {
				r.Fatal(err)
			}
			_, hook, _ := strings.Cut(e.Name(), "-")
			r.seen, r.runs, last = append(r.seen, e.Name()), append(r.runs, newRun(r.T, i, hook, content)), time.Now()
			if !st.Tick {
				patience = quiet
			}
		}
	}
}

// send creates, replaces or deletes an object.
func (r *recorder) send(method string, object map[string]any) {
	r.Helper()
	o := unstructured.Unstructured{Object: object}
	kind, err := kubeapi.Builtin().Find(o.GetAPIVersion(), o.GetKind())
	if err != nil {
		r.Fatal(err)
	}
	path := servertest.Root(kind.APIVersion())
	if kind.Namespaced {
		path += "/namespaces/" + o.GetNamespace()
	}
	path += "/" + kind.Resource
	body, err := yaml.Marshal(object)
	if err != nil {
		r.Fatal(err)
	}
	if method == http.MethodDelete {
		body, path = nil, path+"/"+o.GetName()
	}
	code, content, err := r.Request(method, path, string(body))
	if code == http.StatusConflict {
		code, content, err = r.Request(http.MethodPut, path+"/"+o.GetName(), string(body))
	}
	if err != nil || code >= 300 {
		r.Fatalf("%s %s: %d %s %v", method, path, code, content, err)
	}
}
