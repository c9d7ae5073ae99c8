package watch

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/termtest"
	"github.com/operon-dev/operon/internal/testkit/treetest"
)

const (
	watchedTypes    = "api/v1/frigate_types.go"
	watchedCRD      = "config/crd/bases/ship.example.org_frigates.yaml"
	watchedDeepcopy = "api/v1/zz_generated.deepcopy.go"
)

// cycle matches the start of a line that reports a cycle.
const cycle = `^\d\d:\d\d:\d\d +\d+(\.\d)? m?s  `

// withAPI returns a project with an API, and with its generated files.
func withAPI(t *testing.T) string {
	t.Helper()
	dir := operontest.InitProject(t)
	operontest.Run(t, dir, "create", "api", "--group", "ship", "--version", "v1", "--kind", "Frigate")
	return dir
}

const frigateSpec = "type FrigateSpec struct {\n"

// TestWatch saves files in many ways, and checks the generated files after each.
func TestWatch(t *testing.T) {
	t.Parallel()
	dir := withAPI(t)
	w := watching(t, dir)
	w.expect(`^nothing to do\n^watching \d+ folders, press Ctrl-C to stop$`)

	w.edit(watchedTypes, frigateSpec, frigateSpec+"\t// Guns on board.\n\tGuns int32 `json:\"guns,omitempty\"`\n\n")
	w.expect(cycle + watchedTypes + " -> " + watchedCRD + "$")
	w.current()

	// Written in place, not renamed.
	src := treetest.ReadFile(t, filepath.Join(dir, watchedTypes))
	treetest.WriteFile(t, filepath.Join(dir, watchedTypes), strings.Replace(src, "Guns int32", "Guns []int32", 1))
	w.expect(cycle + ".* -> .*" + watchedDeepcopy + ", " + watchedCRD + "$")
	w.current()

	w.editWithError(src)
	w.editPackage()
	// So far, only sources started a cycle.
	if own := regexp.MustCompile("(?m)" + cycle + `(config/\S*|\S*zz_generated.deepcopy.go) -> .*`).FindString(w.text()); own != "" {
		t.Errorf("generated files started a cycle: %s", own)
	}
	w.editGenerated()

	w.edit("hack/boilerplate.go.txt", "Copyright", "Copyleft")
	w.expect(cycle + `hack/boilerplate.go.txt -> ` + watchedDeepcopy + "$")
	w.edit("PROJECT", "domain:", "# a comment\ndomain:")
	w.expect(cycle + "PROJECT -> no change$")
	w.editTwoFiles()

	if err := w.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	w.expect("^stopped\n")
	w.exit(0)
}

// editWithError saves a syntax error twice and corrects it.
func (w *watcher) editWithError(correct string) {
	w.t.Helper()
	before := treetest.ReadFile(w.t, filepath.Join(w.dir, watchedCRD))
	w.edit(watchedTypes, "type FrigateSpec struct {", "type FrigateSpec struct {{")
	w.expect(cycle + watchedTypes + ` -> error\n^error: ` + watchedTypes + `:\d+:\d+: `)
	if treetest.ReadFile(w.t, filepath.Join(w.dir, watchedCRD)) != before {
		w.t.Error("a syntax error changed the CRD")
	}
	w.save(watchedTypes, treetest.ReadFile(w.t, filepath.Join(w.dir, watchedTypes))+"\n")
	w.expect(cycle + watchedTypes + " -> the same error\n")
	w.save(watchedTypes, correct)
	w.expect(cycle + watchedTypes + " -> fixed, .*" + watchedCRD + "$")
	w.current()
}

// editPackage adds a package, edits it and removes it.
func (w *watcher) editPackage() {
	w.t.Helper()
	const types, crd = "api/crew/v1/sailor_types.go", "config/crd/bases/crew.example.org_sailors.yaml"
	treetest.MakeDir(w.t, filepath.Join(w.dir, "api/crew/v1"))
	w.save(types, sailor)
	w.expect(cycle + `.* -> .*api/crew/v1/zz_generated.deepcopy.go \(new\), ` + crd + ` \(new\)$`)
	w.current()
	w.edit(types, "name,omitempty", "nick,omitempty")
	w.expect(cycle + types + " -> " + crd + "$")
	if err := os.RemoveAll(filepath.Join(w.dir, "api/crew")); err != nil {
		w.t.Fatal(err)
	}
	w.expect(cycle + `.* -> .*` + crd + ` \(removed\)$`)
	w.current()
}

// editGenerated edits a generated file and removes another one.
func (w *watcher) editGenerated() {
	w.t.Helper()
	before := treetest.ReadFile(w.t, filepath.Join(w.dir, watchedCRD))
	w.save(watchedCRD, "edited: by hand\n")
	w.expect(cycle + watchedCRD + " -> error$")
	w.save(watchedCRD, before)
	w.expect(cycle + watchedCRD + " -> fixed$")
	if err := os.Remove(filepath.Join(w.dir, watchedDeepcopy)); err != nil {
		w.t.Fatal(err)
	}
	w.expect(cycle + watchedDeepcopy + ` -> restored$`)
	w.current()
}

// editTwoFiles saves two files at once. The second save may happen during the cycle of the
// first one.
func (w *watcher) editTwoFiles() {
	w.t.Helper()
	w.edit(watchedTypes, frigateSpec, frigateSpec+"\tMasts int32 `json:\"masts,omitempty\"`\n\n")
	w.edit("internal/controller/frigate_controller.go", "// +kubebuilder:rbac:", "// +kubebuilder:rbac:groups=\"\",resources=pods,verbs=get\n// +kubebuilder:rbac:")
	for done := false; !done; {
		w.expect(cycle + ".* -> .*(role.yaml|" + watchedCRD + ")")
		done = strings.Contains(treetest.ReadFile(w.t, filepath.Join(w.dir, watchedCRD)), "masts:") &&
			strings.Contains(treetest.ReadFile(w.t, filepath.Join(w.dir, "config/rbac/role.yaml")), "- pods")
	}
	w.current()
}

const sailor = `// Package v1 has the crew.
// +kubebuilder:object:generate=true
// +groupName=crew.example.org
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Sailor is one of the crew.
// +kubebuilder:object:root=true
type Sailor struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `

	Name string ` + "`json:\"name,omitempty\"`" + `
}
`

// TestWatchBroken starts a watch of a project that does not parse.
func TestWatchBroken(t *testing.T) {
	t.Parallel()
	dir := withAPI(t)
	treetest.Replace(t, filepath.Join(dir, watchedTypes), "type FrigateSpec struct {", "type FrigateSpec struct {{")
	w := watching(t, dir)
	w.expect(`^error: ` + watchedTypes + `:\d+:\d+: (.*\n)+^watching \d+ folders, press Ctrl-C to stop$`)
	w.edit(watchedTypes, "type FrigateSpec struct {{", "type FrigateSpec struct {")
	w.expect(cycle + watchedTypes + " -> fixed$")
	w.current()
	if err := w.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	w.expect("^stopped\n")
	w.exit(0)
}

// TestWatchGoScript edits files of a project whose go command is a script, so that not all
// inputs are known.
func TestWatchGoScript(t *testing.T) {
	t.Parallel()
	dir := withAPI(t)
	goCommand, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	treetest.WriteFile(t, filepath.Join(folder, "go"), "#!/bin/sh\nexec "+goCommand+" \"$@\"\n")
	if err := os.Chmod(filepath.Join(folder, "go"), 0o755); err != nil {
		t.Fatal(err)
	}
	w := watchingEnv(t, operontest.Environ("PATH="+folder+string(os.PathListSeparator)+os.Getenv("PATH")), dir)
	w.expect("^watching ")
	w.editGenerated()
	w.edit("hack/boilerplate.go.txt", "Copyright", "Copyleft")
	w.expect(cycle + `hack/boilerplate.go.txt -> ` + watchedDeepcopy + "$")
	w.current()
}

// TestWatchOutside edits a module outside the project, which go.mod replaces another with.
func TestWatchOutside(t *testing.T) {
	t.Parallel()
	dir := withAPI(t)
	lib := filepath.Join(filepath.Dir(dir), "lib")
	treetest.MakeDir(t, lib)
	treetest.WriteFile(t, filepath.Join(lib, "go.mod"), "module example.org/lib\n\ngo 1.26.0\n")
	treetest.WriteFile(t, filepath.Join(lib, "lib.go"), "package lib\n\n// Sail is of canvas.\ntype Sail struct {\n\tArea int32 `json:\"area\"`\n}\n")
	treetest.WriteFile(t, filepath.Join(dir, "go.mod"), treetest.ReadFile(t, filepath.Join(dir, "go.mod"))+"\nrequire example.org/lib v0.0.0\n\nreplace example.org/lib => ../lib\n")
	w := watching(t, dir)
	w.expect("^watching ")
	w.edit(watchedTypes, "import (", "import (\n\t\"example.org/lib\"\n")
	w.edit(watchedTypes, "\tFoo *string", "\tBar lib.Sail")
	w.expect(cycle + watchedTypes + " -> .*" + watchedCRD + "$")
	w.edit("../lib/lib.go", "Area int32", "Area int64")
	w.expect(cycle + `../lib/lib.go -> ` + watchedCRD + "$")
	w.current()
}

// TestWatchBusy saves a file while another command holds the lock of the project.
func TestWatchBusy(t *testing.T) {
	t.Parallel()
	dir := withAPI(t)
	w := watching(t, dir)
	w.expect("^watching ")
	unlock, err := scaffold.Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	w.edit(watchedTypes, "\tFoo *string", "\tBar *int32")
	w.expect("^waiting for another operon command")
	if strings.Contains(w.text(), " -> ") {
		t.Errorf("the watch did not wait:\n%s", w.text())
	}
	unlock()
	w.expect(cycle + watchedTypes + " -> ")
	w.current()
}

// TestWatchProjectRemoved removes the project.
func TestWatchProjectRemoved(t *testing.T) {
	t.Parallel()
	for name, what := range map[string]string{"PROJECT": "PROJECT", "": ""} {
		dir := operontest.InitProject(t)
		w := watching(t, dir)
		w.expect("^watching ")
		gone := filepath.Join(dir, name)
		if err := os.Rename(gone, gone+".old"); err != nil {
			t.Fatal(err)
		}
		w.expect(`^error: ` + filepath.Join(dir, what) + ` no longer exists: nothing left to watch\n^hint: `)
		w.exit(1)
	}
}

// TestWatchTerminal compares what a terminal shows, until Ctrl-C.
func TestWatchTerminal(t *testing.T) {
	t.Parallel()
	dir := withAPI(t)
	user, program := termtest.Open(t, 110)
	w := &watcher{t: t, dir: dir, ended: make(chan error, 1), more: make(chan struct{}, 1)}
	w.cmd = exec.Command("operon", "generate", "--watch")
	w.cmd.Dir, w.cmd.Env = dir, operontest.Environ("TERM=xterm", "NO_COLOR=")
	w.cmd.Stdin, w.cmd.Stdout, w.cmd.Stderr = program, program, program
	w.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	w.start()
	go func() { _, _ = io.Copy(w, user) }()

	w.expect(`nothing to do\r\n^watching \d+ folders, press Ctrl-C to stop\r\n`)
	cycleStart := `\x1b\[2m` + strings.TrimPrefix(cycle, "^") // of a line that stays, or of one that is replaced
	arrow := `\x1b\[2m -> \x1b\[0m`
	// A save without effect leaves no line.
	w.edit("cmd/main.go", "func main() {", "func main() { // starts here")
	w.expect(`\r` + cycleStart + `cmd/main.go -> no change\x1b\[0m\x1b\[K`)
	w.edit(watchedTypes, "\tFoo *string", "\tBar *int32")
	w.expect(`\r\x1b\[K(.*\r)*(\x1b\[K)*` + cycleStart + `\x1b\[0m` + watchedTypes + arrow + `zz_generated.deepcopy.go, ship.example.org_frigates.yaml\r\n`)
	w.edit(watchedTypes, "type FrigateSpec struct {", "type FrigateSpec struct {{")
	w.expect(cycleStart + `\x1b\[0m` + watchedTypes + arrow + `\x1b\[31merror\x1b\[0m\r\n` + `^\x1b\[31merror:\x1b\[0m ` + watchedTypes)
	if _, err := fmt.Fprint(user, "\x03"); err != nil {
		t.Fatal(err)
	}
	w.expect(`\x1b\[Kstopped\r\n`)
	w.exit(0)
}
