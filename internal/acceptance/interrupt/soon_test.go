//go:build unix

package interrupt

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/treetest"
	"golang.org/x/tools/txtar"
)

// Templates that do not end.
const (
	loops   = "{{ range until 1000000 }}{{ range until 1000000 }}{{ end }}{{ end }}"
	doubles = `{{ define "a" }}{{ if lt (len .) 40 }}{{ template "a" (printf "%sx" .) }}{{ template "a" (printf "%sx" .) }}{{ end }}{{ end }}{{ template "a" "x" }}`
)

// endless is a command that takes very long.
type endless struct {
	files map[string]string // those below bin are programs, and touch "$STARTED" when they run
	args  string            // HOST is a server that never answers
	at    string            // the folder of a project, or ""
	locks bool              // another command works in the project
}

// TestInterruptSoon sends one signal to commands that wait or compute for very long: for a template, a hook, a plugin, a server, the go
// command, another command, or stdin. The first signal ends each of them. A new way to wait is a row.
func TestInterruptSoon(t *testing.T) {
	t.Parallel()
	project := operontest.InitProject(t)
	bundle, err := txtar.ParseFile("../../olm/bundlecheck/testdata/fleet.txtar")
	if err != nil {
		t.Fatal(err)
	}
	bundled := map[string]string{}
	for _, f := range bundle.Files {
		bundled["bundle/"+f.Name] = string(f.Data)
	}
	chart := func(template string) map[string]string {
		return map[string]string{"c/Chart.yaml": "apiVersion: v2\nname: c\nversion: 0.1.0\n", "c/values.yaml": "a: 1\n", "c/templates/a.yaml": template}
	}
	team := func(template string) map[string]string {
		return map[string]string{".operon/templates/golang/init/Makefile.tmpl": template}
	}
	program := func(name, text string) map[string]string {
		return map[string]string{name: "#!/bin/sh\ntouch \"$STARTED\"\n" + text + "\n"}
	}
	initialize := strings.Join(operontest.InitArgs, " ")
	for name, c := range map[string]endless{
		"a loop in a chart":                         {files: chart(loops), args: "chart validate c"},
		"doubling in a chart":                       {files: chart(doubles), args: "init --domain example.org --plugins helm --helm-chart c"},
		"a loop of the team":                        {files: team(loops), args: initialize},
		"doubling of the team":                      {files: team(doubles), args: initialize},
		"a hook that prints for ever":               {files: program("hooks/a.sh", "while :; do echo a; sleep 0.1; done"), args: "hooks validate"},
		"a hook that ignores signals":               {files: program("hooks/a.sh", "trap '' INT TERM; while :; do sleep 1; done"), args: "hooks rbac"},
		"a plugin":                                  {files: program("bin/slow/v1/slow.sh", "exec sleep 600"), args: "init --domain example.org --plugins slow/v1 --yes"},
		"the go command":                            {files: program("bin/go", "exec sleep 600"), args: "generate", at: project},
		"tests":                                     {files: program("bin/go", "exec sleep 600"), args: "test", at: project},
		"another command":                           {args: "generate", at: project, locks: true},
		"stdin":                                     {args: "catalog init fleet --default-channel stable --description -"},
		"a registry that sends nothing":             {args: "bundle validate HOST/fleet:v1 --plain-http"},
		"a registry that takes nothing":             {files: bundled, args: "bundle image bundle --image HOST/fleet:v1 --push --plain-http"},
		"a registry that sends no chart":            {args: "init --domain example.org --plugins helm --helm-chart oci://HOST/fleet"},
		"a server that sends no chart":              {args: "init --domain example.org --plugins helm --helm-chart http://HOST/fleet.tgz"},
		"a repository that sends no list":           {args: "init --domain example.org --plugins helm --helm-chart fleet --helm-chart-repo http://HOST"},
		"a cluster that does not answer":            {files: map[string]string{"kubeconfig": kubeconfig}, args: "olm status --kubeconfig kubeconfig"},
		"a cluster that does not answer operon run": {files: map[string]string{"kubeconfig": kubeconfig}, args: "run --kubeconfig kubeconfig", at: project},
	} {
		for sig, want := range map[syscall.Signal]int{syscall.SIGINT: fault.CodeInterrupted, syscall.SIGTERM: fault.CodeTerminated} {
			t.Run(name+" "+sig.String(), func(t *testing.T) {
				t.Parallel()
				for pause := time.Second; ; pause *= 2 { // until the signal arrives after the start of main
					code, stderr := c.interrupted(t, sig, pause)
					if code == -1 && pause < 30*time.Second {
						continue
					}
					if code != want || !strings.Contains(stderr, "error: interrupted") {
						t.Errorf("exit code %d, want %d:\n%s", code, want, stderr)
					}
					return
				}
			})
		}
	}
}

const kubeconfig = `apiVersion: v1
kind: Config
clusters: [{name: a, cluster: {server: "http://HOST"}}]
contexts: [{name: a, context: {cluster: a, user: a}}]
users: [{name: a, user: {}}]
current-context: a
`

// interrupted runs the command, sends a signal after it has started, and returns its exit code, which is -1 if the signal killed it.
// Foreign code that does not end ends the command after a minute, so it must end before that.
func (c endless) interrupted(t *testing.T, sig syscall.Signal, pause time.Duration) (code int, stderr string) {
	t.Helper()
	dir := t.TempDir()
	started := filepath.Join(dir, "started")
	host := silent(t, started)
	at := filepath.Join(dir, "fleet")
	treetest.MakeDir(t, at)
	if c.at != "" {
		if err := os.CopyFS(at, os.DirFS(c.at)); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range c.files {
		file := filepath.Join(at, filepath.FromSlash(name))
		treetest.MakeDir(t, filepath.Dir(file))
		if err := os.WriteFile(file, []byte(strings.ReplaceAll(content, "HOST", host)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if c.locks {
		unlock, err := scaffold.Lock(at)
		if err != nil {
			t.Fatal(err)
		}
		defer unlock()
	}
	cmd := exec.Command("operon", strings.Fields(strings.ReplaceAll(c.args, "HOST", host))...)
	cmd.Dir = at
	bin := filepath.Join(at, "bin")
	cmd.Env = operontest.Environ("STARTED="+started, "PATH="+bin+":"+os.Getenv("PATH"), "EXTERNAL_PLUGINS_PATH="+bin, "OPERON_CACHE=off", "KUBECONFIG=")
	var text strings.Builder
	cmd.Stderr = &text
	stdin, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stdin.Close() }()
	for start := time.Now(); time.Since(start) < pause; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(started); err == nil {
			break
		}
	}
	_ = cmd.Process.Signal(sig)
	late := time.AfterFunc(40*time.Second, func() { _ = cmd.Process.Kill() })
	_ = cmd.Wait()
	if !late.Stop() {
		t.Fatalf("it runs on after the signal:\n%s", text.String())
	}
	return cmd.ProcessState.ExitCode(), text.String()
}

// silent starts a server that accepts connections, and never sends anything. With the first one, it makes a file.
func silent(t *testing.T, started string) (host string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			defer func() { _ = c.Close() }()
			_ = os.WriteFile(started, nil, 0o600)
		}
	}()
	return l.Addr().String()
}
