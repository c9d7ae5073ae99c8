//go:build testall

package watch

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/treetest"
)

// manager is a main without dependencies, which builds fast.
const manager = `package main

import (
	_ "embed"
	"os"
	"os/signal"
	"strings"
)

//go:embed greeting.txt
var greeting string

func main() {
	env := os.Getenv("ENABLE_WEBHOOKS") + " " + os.Getenv("WATCH_NAMESPACE")
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt)
	println("first", greeting, env, strings.Join(os.Args[1:], " "))
	println("process", os.Getpid())
	<-stop
	println("end")
}
`

// tiny is a project with webhooks that watches its own namespace.
const tiny = `domain: example.org
layout:
- go.kubebuilder.io/v4
namespaced: true
projectName: tiny
repo: example.org/tiny
resources:
- core: true
  group: core
  kind: Pod
  path: k8s.io/api/core/v1
  version: v1
  webhooks:
    validation: true
    webhookVersion: v1
version: "3"
`

// TestRun saves files of a project that runs, and checks when its manager is restarted.
func TestRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"PROJECT": tiny, "go.mod": "module example.org/tiny\n\ngo 1.26.0\n", "cmd/main.go": manager, "cmd/greeting.txt": "hello",
		"kubeconfig": answering(t),
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		treetest.WriteFile(t, filepath.Join(dir, name), content)
	}
	w := startWatcher(t, operontest.Environ("KUBECONFIG=", "ENABLE_WEBHOOKS=", "WATCH_NAMESPACE="), filepath.Join(dir, "cmd"),
		"run", "--kubeconfig", "../kubeconfig", "--context", "other", "--", "--level", "debug")
	w.dir = dir
	w.expect(`^running the operator on http://127.0.0.1:\d+ \(context other, Kubernetes v1.2.3\), press Ctrl-C to stop$`)
	w.expect(`^webhooks are off, because this cluster cannot call them on this machine$`)
	w.expect(`^first hello false tiny-system --level debug$`)

	w.save("cmd/greeting.txt", "bye")
	w.expect(`^cmd/greeting.txt changed: restarting\nend\nfirst bye `)

	// What does not build, or does not change the program, restarts nothing.
	w.edit("cmd/main.go", "<-stop", "<-nothing")
	w.expect(`undefined: nothing\n(.*\n)*error: go build: exit status 1\nthe operator keeps running without the change$`)
	w.edit("cmd/main.go", "<-nothing", "<-stop")
	w.expect(`^fixed; the operator keeps running$`)
	w.save("cmd/main_test.go", "package main\n")
	w.edit("cmd/main.go", `"first"`, `"second"`)
	w.expect(`^cmd/main.go.* changed: restarting\nend\nsecond bye `)
	if starts := strings.Count(w.text(), "first "); starts != 2 {
		t.Errorf("%d starts before the last change, want 2:\n%s", starts, w.text())
	}

	// A manager that ends is started by the next save, also by touch.
	w.edit("cmd/main.go", "<-stop\n", "os.Exit(3)\n")
	w.expect(`^end\nsecond `)
	w.expect(`^error: the operator ended: .*manager: exit status 3\nhint:  the next save starts it again$`)
	if err := os.Chtimes(filepath.Join(dir, "cmd", "main.go"), time.Now(), time.Now()); err != nil {
		t.Fatal(err)
	}
	w.expect(`^second bye `)
	w.expect(`^error: the operator ended: `)
	w.edit("cmd/main.go", "os.Exit(3)\n", "<-stop\n")
	w.expect(`^cmd/main.go changed: restarting\nsecond `)

	w.stop()
}

// boats is a CRD and a sample.
var boats = map[string]string{
	"config/crd/kustomization.yaml": "resources: [boats.yaml]\n",
	"config/crd/boats.yaml": `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boats.example.org}
spec:
  group: example.org
  scope: Namespaced
  names: {kind: Boat, plural: boats}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {sails: {type: integer}}}}}}}
`,
	"config/samples/kustomization.yaml": "resources: [invalid.yaml, boat.yaml]\n",
	"config/samples/invalid.yaml":       "{apiVersion: example.org/v1, kind: Boat, metadata: {name: second}, spec: {sails: many}}\n",
	"config/samples/boat.yaml":          "{apiVersion: example.org/v1, kind: Boat, metadata: {name: first}, spec: {sails: 2}}\n",
}

// TestRunCRDs runs a project whose CRDs the cluster lacks.
func TestRunCRDs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := map[string]string{
		"PROJECT": "domain: example.org\nlayout:\n- go.kubebuilder.io/v4\nprojectName: tiny\nrepo: example.org/tiny\nversion: \"3\"\n",
		"go.mod":  "module example.org/tiny\n\ngo 1.26.0\n", "cmd/main.go": manager, "cmd/greeting.txt": "hello",
	}
	maps.Copy(files, boats)
	for name, content := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		treetest.WriteFile(t, filepath.Join(dir, name), content)
	}
	env := operontest.Environ("KUBECONFIG=", "XDG_STATE_HOME="+t.TempDir(), "KUBEBUILDER_ASSETS="+operontest.Assets())
	start := exec.Command("operon", "envtest", "start", "--detach")
	start.Env, start.Stderr = env, os.Stderr
	out, err := start.Output()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop := exec.Command("operon", "envtest", "stop", "--all")
		stop.Env = env
		if out, err := stop.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
	kubeconfig := strings.TrimSpace(string(out))
	kubectl := func(args ...string) string {
		cmd := exec.Command(filepath.Join(operontest.Assets(), "kubectl"), append(args, "--kubeconfig", kubeconfig)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("kubectl %s: %v\n%s", args, err, out)
		}
		return string(out)
	}

	w := startWatcher(t, env, dir, "run", "--kubeconfig", kubeconfig)
	w.expect(`^warning: the cluster has no CRD boats.example.org: run KUBECONFIG=\S+ make install, or operon run --install$`)
	w.expect(`^the operator starts when the cluster has its CRDs$`)
	kubectl("apply", "-k", "config/crd") // no file changes
	w.expect(`^the cluster has the CRDs now\nfirst hello `)

	// A new kind: the operator with the change waits for its CRD.
	w.save("config/crd/ships.yaml", strings.NewReplacer("boat", "ship", "Boat", "Ship").Replace(boats["config/crd/boats.yaml"]))
	w.save("config/crd/kustomization.yaml", "resources: [boats.yaml, ships.yaml]\n")
	w.save("cmd/greeting.txt", "aye")
	w.expect(`^warning: the cluster has no CRD ships.example.org: run `)
	w.expect(`^the operator keeps running without the change until the cluster has its CRDs$`)
	kubectl("apply", "-k", "config/crd")
	w.expect(`^the cluster has the CRDs now\nend\nfirst aye `)

	// The running operator ends while the one with the change waits: no save starts it.
	w.save("config/crd/tugs.yaml", strings.NewReplacer("boat", "tug", "Boat", "Tug").Replace(boats["config/crd/boats.yaml"]))
	w.save("config/crd/kustomization.yaml", "resources: [boats.yaml, ships.yaml, tugs.yaml]\n")
	w.save("cmd/greeting.txt", "yo")
	w.expect(`^the operator keeps running without the change until the cluster has its CRDs$`)
	running := regexp.MustCompile(`(?m)^process (\d+)$`).FindAllStringSubmatch(w.text(), -1)
	pid, err := strconv.Atoi(running[len(running)-1][1])
	if err == nil {
		err = syscall.Kill(pid, syscall.SIGKILL)
	}
	if err != nil {
		t.Fatal(err)
	}
	w.expect(`^error: the operator ended: .*\nhint:  it starts again when the cluster has its CRDs$`)
	kubectl("apply", "-k", "config/crd")
	w.expect(`^the cluster has the CRDs now\nfirst yo `)
	w.stop()

	kubectl("delete", "-k", "config/crd")
	w = startWatcher(t, env, dir, "run", "--kubeconfig", kubeconfig)
	w.expect(`^the operator starts when the cluster has its CRDs$`)
	w.save("cmd/greeting.txt", "ahoy")
	w.expect(`^the operator starts when the cluster has its CRDs$`)
	w.edit("cmd/main.go", "<-stop", "<-nothing")
	w.expect(`^error: go build: exit status 1$`)
	kubectl("apply", "-k", "config/crd")
	w.edit("cmd/main.go", "<-nothing", "<-stop")
	w.expect(`^first ahoy `)
	if failures := strings.Count(w.text(), "error: go build"); failures != 1 {
		t.Errorf("%d failed builds of one save:\n%s", failures, w.text())
	}
	w.stop()

	kubectl("delete", "-k", "config/crd")
	w = startWatcher(t, env, dir, "run", "--kubeconfig", kubeconfig, "--install")
	w.expect(`^installed CRD boats.example.org, ships.example.org, tugs.example.org$`)
	w.expect(`^first ahoy `)
	w.expect(`^warning: not all samples are applied: config/samples/invalid.yaml: .*sails: expected numeric`)
	kubectl("wait", "--for=create", "boat", "first", "--timeout=60s")
	w.edit("config/crd/boats.yaml", "sails: {type: integer}", "sails: {type: integer, minimum: 1}")
	w.save("cmd/greeting.txt", "hoy")
	w.expect(`^installed CRD boats.example.org$`)
	w.expect(`^first hoy `)
	w.stop()
	if got := kubectl("get", "boat", "first", "-o", "jsonpath={.spec.sails}"); got != "2" {
		t.Errorf("the sample has %s sails", got)
	}
}

// fakeGo is a go command that builds a shell script. Linking the program that runs charts takes long, and
// internal/e2e does it.
const fakeGo = `#!/bin/sh
echo "go $*" >&2
while [ "$1" != -o ]; do shift; done
mkdir -p "$(dirname "$2")"
cat >"$2" <<'END'
#!/bin/sh
test -f watches.yaml || exit 1
trap 'echo end; exit 0' INT
echo "start $*"
while :; do sleep 0.05; done
END
chmod 755 "$2"
`

// TestRunCharts saves charts of a project that runs.
func TestRunCharts(t *testing.T) {
	t.Parallel()
	for runtime, build := range map[string]string{"image": `/cache/run/[0-9a-f]{16}/runtime`, "module": `/tug/runtime`} {
		t.Run(runtime, func(t *testing.T) {
			t.Parallel()
			temp := t.TempDir()
			dir := filepath.Join(temp, "tug")
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			operontest.Run(t, dir, "init", "--plugins", "helm", "--domain", "example.org", "--runtime", runtime)
			operontest.Run(t, dir, "create", "api", "--group", "ship", "--version", "v1alpha1", "--kind", "Tug")
			treetest.WriteFile(t, filepath.Join(temp, "kubeconfig"), answering(t))
			treetest.WriteFile(t, filepath.Join(temp, "go"), fakeGo)
			if err := os.Chmod(filepath.Join(temp, "go"), 0o755); err != nil {
				t.Fatal(err)
			}
			env := operontest.Environ("PATH="+temp+":"+os.Getenv("PATH"), "OPERON_CACHE="+filepath.Join(temp, "cache"), "KUBECONFIG="+filepath.Join(temp, "kubeconfig"))
			w := startWatcher(t, env, dir, "run", "--context", "other", "--", "--max-concurrent-reconciles=1")
			w.expect(`^warning: the cluster has no CRD tugs\.ship\.example\.org: run make install, with other as the current context, or operon run --install$`)
			w.expect(`^go build -C /\S*` + build + ` -trimpath -o /\S*/bin/manager \.$`)
			w.expect(`^start --metrics-bind-address=0 --health-probe-bind-address=0 --zap-devel --max-concurrent-reconciles=1$`)
			if warned := strings.Contains(w.text(), "warning: the project uses an image"); warned != (runtime == "image") {
				t.Errorf("%s", w.text())
			}

			// A chart that does not render restarts nothing. The CRD follows the chart.
			const values, template = "helm-charts/tug/values.yaml", "helm-charts/tug/templates/service.yaml"
			w.edit(template, "apiVersion: v1", "apiVersion: {{ nothing }}")
			w.expect(`^error: helm-charts/tug/templates/service.yaml.*\n(hint: .*\n)?the operator keeps running without the change$`)
			w.edit(template, "apiVersion: {{ nothing }}", "apiVersion: v1")
			w.edit(values, "replicas: ", "tow: true\nreplicas: ")
			w.expect(`^update   config/crd/bases/ship.example.org_tugs.yaml$`)
			w.expect(`helm-charts/tug/values.yaml changed: restarting\nend\nstart `)
			w.save("watches.yaml", treetest.ReadFile(t, filepath.Join(dir, "watches.yaml"))+"# last\n")
			w.expect(`^watches.yaml changed: restarting\nend\nstart `)

			if err := w.cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			w.expect(`^end\nstopped$`)
			w.exit(0)
		})
	}
}

// answering returns a kubeconfig whose context other has a server that knows its version. It has a CRD after the first question for it.
func answering(t *testing.T) string {
	t.Helper()
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		answer := `{"gitVersion": "v1.2.3"}`
		if strings.Contains(r.URL.Path, "/customresourcedefinitions/") {
			if asked.Add(1) == 1 {
				http.NotFound(w, r)
				return
			}
			answer = `{"status": {"conditions": [{"type": "Established", "status": "True"}]}}`
		}
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	return `{apiVersion: v1, kind: Config, current-context: none, clusters: [{name: here, cluster: {server: "` + server.URL + `"}}, {name: none, cluster: {server: "http://127.0.0.1:1"}}],
contexts: [{name: other, context: {cluster: here}}, {name: none, context: {cluster: none}}]}
`
}
