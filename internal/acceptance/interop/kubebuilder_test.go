//go:build unix && testall

package interop

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/testkit/goldentest"
	"github.com/operon-dev/operon/internal/testkit/manifesttest"
	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/peertest"
	"github.com/operon-dev/operon/internal/testkit/treetest"
)

// peer is kubebuilder without network: a wrapper around the go command records the
// arguments and skips commands that would download, and make only succeeds for an installer that
// exists.
type peer struct {
	program string
	calls   string // a file with the arguments of each go command
	path    string // PATH with the wrapper on it
	modules string // its module cache
}

func newPeer(t *testing.T) peer {
	t.Helper()
	goCommand, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	stub := t.TempDir()
	p := peer{
		program: peertest.Find(t, "kubebuilder").Path,
		calls:   filepath.Join(stub, "calls"),
		path:    stub + string(filepath.ListSeparator) + os.Getenv("PATH"),
		modules: moduleCache(t),
	}
	script := "#!/bin/sh\necho \"$@\" >> " + p.calls + "\ncase \"$1 $2\" in 'mod tidy'|get*) exit 0;; esac\nexec " + goCommand + " \"$@\"\n"
	for name, content := range map[string]string{
		"go":   script,
		"make": "#!/bin/sh\ntest \"$1\" = build-installer && test -f dist/install.yaml\n",
	} {
		if err := os.WriteFile(filepath.Join(stub, name), []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// run runs kubebuilder in dir and returns its output.
func (p peer) run(dir string, args ...string) (string, error) {
	cmd := exec.Command(p.program, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+p.path, "GOMODCACHE="+p.modules, "GOPROXY=off", "GOFLAGS=-mod=mod")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (p peer) must(t *testing.T, dir string, args ...string) {
	t.Helper()
	if out, err := p.run(dir, args...); err != nil {
		t.Fatalf("kubebuilder %v: %v\n%s", args, err, out)
	}
}

// createFrigate are the arguments that create a kind.
var createFrigate = strings.Fields("create api --group ship --version v1 --kind Frigate --resource --controller --make=false")

// fleet writes kubebuilder's project with one kind to a new folder. calls are the calls of the go command by init.
func (p peer) fleet(t *testing.T) (dir, calls string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "fleet")
	type project struct {
		Tree  map[string]string
		Calls string
	}
	requirements := treetest.ReadFile(t, filepath.Join(goldentest.Dir("fleet"), "go.mod")) // they determine the module cache
	key := append(peertest.Sources(t), peertest.Find(t, "kubebuilder").Identity(), requirements)
	made := peertest.Cached(t, key, func() (project, bool) {
		treetest.MakeDir(t, dir)
		p.must(t, dir, "init", "--domain", "example.org", "--repo", "example.org/fleet", "--skip-go-version-check", "--fetch-deps=false")
		calls := treetest.ReadFile(t, p.calls)
		p.must(t, dir, createFrigate...)
		return project{treetest.Read(t, dir), calls}, true
	})
	treetest.Write(t, dir, made.Tree)
	return dir, made.Calls
}

// TestComparison checks the statements about kubebuilder in README.md on the version that
// testdata/peers pins.
func TestComparison(t *testing.T) {
	t.Parallel()
	kubebuilder := newPeer(t)
	t.Run("layout", func(t *testing.T) { sameLayout(t, kubebuilder) })

	dir, calls := kubebuilder.fleet(t)
	if !strings.Contains(calls, "mod tidy") {
		t.Errorf("init without fetching called go with:\n%s\nwant mod tidy among it", calls)
	}
	if out, err := kubebuilder.run(dir, createFrigate...); err == nil || !strings.Contains(out, "exists") {
		t.Errorf("a repeated create api: %v\n%s", err, out)
	}
	if out, err := kubebuilder.run(dir, append(createFrigate, "--dry-run")...); err == nil || !strings.Contains(out, "unknown flag: --dry-run") {
		t.Errorf("create api --dry-run: %v\n%s", err, out)
	}
	sample := manifesttest.ReadYAML(t, filepath.Join(dir, "config/samples/ship_v1_frigate.yaml"))
	if spec, ok := manifesttest.Lookup(sample, "spec"); !ok || spec != "<nil>" {
		t.Errorf("the sample's spec is %s, want null", spec)
	}
	goMod := treetest.ReadFile(t, filepath.Join(dir, "go.mod"))
	treetest.WriteFile(t, filepath.Join(dir, "go.mod"), "module example.org/fleet\n\ngo 1.21\n\nrequire sigs.k8s.io/controller-runtime v0.17.6\n")
	kubebuilder.must(t, dir, "create", "webhook", "--group", "ship", "--version", "v1", "--kind", "Frigate", "--defaulting", "--make=false")
	if code := treetest.ReadFile(t, filepath.Join(dir, "internal/webhook/v1/frigate_webhook.go")); !strings.Contains(code, "NewWebhookManagedBy(mgr, &") {
		t.Errorf("with an older controller-runtime, kubebuilder writes other code:\n%s", code)
	}
	treetest.WriteFile(t, filepath.Join(dir, "go.mod"), goMod)
	if test := treetest.ReadFile(t, filepath.Join(dir, "internal/webhook/v1/frigate_webhook_test.go")); regexp.MustCompile(`(?m)^\s*It\(`).MatchString(test) {
		t.Errorf("the webhook's test has a spec:\n%s", test)
	}

	t.Run("multigroup", func(t *testing.T) { editsOnlyPROJECT(t, kubebuilder, dir) })
	t.Run("no markers", func(t *testing.T) { worksWithoutMarkers(t, kubebuilder, dir) })
	t.Run("failed init", func(t *testing.T) {
		dir := t.TempDir()
		if _, err := kubebuilder.run(dir, "init", "--domain", "example.org", "--repo", "example.org/fleet", "--license", "mit", "--skip-go-version-check"); err == nil {
			t.Error("an unknown license was accepted")
		}
		if tree := treetest.Read(t, dir); len(tree) == 0 {
			t.Error("a failed init left no files")
		}
	})
}

// editsOnlyPROJECT checks that kubebuilder's edit --multigroup moves no files.
func editsOnlyPROJECT(t *testing.T, kubebuilder peer, project string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(project)); err != nil {
		t.Fatal(err)
	}
	kubebuilder.must(t, dir, "edit", "--multigroup")
	before := treetest.Read(t, project)
	for name, content := range treetest.Read(t, dir) {
		if name != "PROJECT" && content != before[name] {
			t.Errorf("edit --multigroup changed %s", name)
		}
	}
}

// worksWithoutMarkers removes the scaffold markers from main.go. kubebuilder does not add the
// next controller to it. operon does, and does not change kubebuilder's other files.
func worksWithoutMarkers(t *testing.T, kubebuilder peer, dir string) {
	t.Helper()
	main := filepath.Join(dir, "cmd/main.go")
	var lines []string
	for line := range strings.Lines(treetest.ReadFile(t, main)) {
		if !strings.Contains(line, "+kubebuilder:scaffold") {
			lines = append(lines, line)
		}
	}
	treetest.WriteFile(t, main, strings.Join(lines, ""))
	kubebuilder.must(t, dir, "create", "api", "--group", "ship", "--version", "v1", "--kind", "Sloop", "--resource", "--controller", "--make=false")
	if strings.Contains(treetest.ReadFile(t, main), "SloopReconciler") {
		t.Error("kubebuilder added the controller without a marker")
	}

	before := treetest.Read(t, dir)
	create := []string{"create", "api", "--group", "ship", "--version", "v1", "--kind", "Galley", "--make=false"}
	operontest.Run(t, dir, create...)
	if !strings.Contains(treetest.ReadFile(t, main), "GalleyReconciler") {
		t.Error("operon did not add its controller to kubebuilder's main.go")
	}
	for _, again := range [][]string{create, {"init", "--domain", "example.org"}} {
		if out := operontest.Run(t, dir, again...); out != "nothing to do\n" {
			t.Errorf("%s in kubebuilder's project:\n%s", again[0], out)
		}
	}
	after := treetest.Read(t, dir)
	for name := range before {
		if after[name] != before[name] && !slices.Contains(edited, name) {
			t.Errorf("%s was changed:\n%s", name, cmp.Diff(before[name], after[name]))
		}
	}
}

// sameLayout checks that a new project of operon has the paths, make targets and scaffold
// markers of kubebuilder.
func sameLayout(t *testing.T, kubebuilder peer) {
	t.Helper()
	theirs, _ := kubebuilder.fleet(t)
	ours := filepath.Join(t.TempDir(), "fleet")
	treetest.MakeDir(t, ours)
	operontest.Run(t, ours, "init", "--domain", "example.org", "--repo", "example.org/fleet")
	operontest.Run(t, ours, createFrigate...)

	have, want := treetest.Read(t, ours), treetest.Read(t, theirs)
	for name, content := range want {
		mine := have[name] + have[name+"*"] // ours may be executable
		switch {
		case slices.Contains(optionalFiles, name):
		case mine == "":
			t.Errorf("%s is missing", name)
		}
		for _, marker := range scaffoldMarker.FindAllString(content, -1) {
			if !strings.Contains(mine, marker) {
				t.Errorf("%s lacks %s", name, marker)
			}
		}
	}
	for _, target := range makeTarget.FindAllString(want["Makefile"], -1) {
		if !strings.Contains(have["Makefile"], "\n"+target) {
			t.Errorf("Makefile has no target %s", target)
		}
	}
}

// optionalFiles are files that only kubebuilder's project must have: the go command writes its
// go.sum when it downloads, and operon does not scaffold a custom build of the linter.
var optionalFiles = []string{".custom-gcl.yml", "go.sum"}

var (
	scaffoldMarker = regexp.MustCompile(`\+kubebuilder:scaffold:[a-z0-9-]+`)
	makeTarget     = regexp.MustCompile(`(?m)^[a-z0-9-]+:`)
)

// edited are the files that a new kind changes.
var edited = []string{
	"PROJECT", "cmd/main.go", "go.mod", "go.sum", "internal/controller/suite_test.go",
	"config/crd/kustomization.yaml", "config/rbac/kustomization.yaml", "config/samples/kustomization.yaml",
}

// TestKubebuilderMarkers compares the table of scaffold markers with the markers in trees of
// both tools.
func TestKubebuilderMarkers(t *testing.T) {
	t.Parallel()
	kubebuilder := newPeer(t)
	theirs, _ := kubebuilder.fleet(t)
	ours := filepath.Join(t.TempDir(), "fleet")
	treetest.MakeDir(t, ours)
	operontest.Run(t, ours, "init", "--domain", "example.org", "--repo", "example.org/fleet")
	operontest.Run(t, ours, createFrigate...)
	webhook := strings.Fields("create webhook --group ship --version v1 --kind Frigate --defaulting --programmatic-validation --make=false")
	kubebuilder.must(t, theirs, webhook...)
	operontest.Run(t, ours, webhook...)
	for _, dir := range []string{theirs, ours} {
		found := map[string]bool{}
		for name, content := range treetest.Read(t, dir) {
			if strings.HasPrefix(name, ".operon/") || filepath.Ext(name) == ".md" {
				continue
			}
			for _, marker := range scaffoldMarker.FindAllString(content, -1) {
				found[strings.TrimPrefix(marker, "+kubebuilder:scaffold:")] = true
			}
		}
		compareRows(t, docTable(t, kubebuilderDoc, "markers"), found)
	}
}
