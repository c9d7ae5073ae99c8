package golang

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/gomod"
	"github.com/operon-dev/operon/internal/pins"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
	"github.com/operon-dev/operon/plugins/golang/internal/modules"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
	"github.com/operon-dev/operon/templates"
	"github.com/spf13/afero"
	"golang.org/x/mod/modfile"
)

// kubernetes are the modules that Kubernetes releases together, with the same version.
var kubernetes = []string{
	"k8s.io/api", "k8s.io/apiextensions-apiserver", "k8s.io/apimachinery", "k8s.io/apiserver",
	"k8s.io/client-go", "k8s.io/component-base",
}

// TestPins compares go.mod.tmpl with package pins. After a change of the pins,
//
//	OPERON_PINS=write go test ./plugins/golang -run TestPins
//
// rewrites go.mod.tmpl and go.sum; it runs `go mod tidy`, so it uses the network.
func TestPins(t *testing.T) {
	wanted := map[string]string{
		"github.com/onsi/ginkgo/v2": pins.Ginkgo, "github.com/onsi/gomega": pins.Gomega,
		"sigs.k8s.io/controller-runtime": pins.ControllerRuntime, "sigs.k8s.io/randfill": pins.Randfill,
	}
	for _, path := range kubernetes {
		wanted[path] = pins.KubernetesAPI
	}
	if os.Getenv("OPERON_PINS") == "write" {
		writePins(t, wanted)
		return
	}
	ours, f, err := modules.Pinned("example.org/fleet")
	if err != nil {
		t.Fatal(err)
	}
	if f.Go.Version != pins.Go {
		t.Errorf("go.mod.tmpl has go %s, and package pins has %s", f.Go.Version, pins.Go)
	}
	have := map[string]string{}
	for _, r := range f.Require {
		if !bytes.Contains(ours.Sum, []byte(r.Mod.Path+" "+r.Mod.Version)) {
			t.Errorf("go.sum has no line for %s", r.Mod)
		}
		if _, pinned := wanted[r.Mod.Path]; pinned || !r.Indirect {
			have[r.Mod.Path] = r.Mod.Version
		}
	}
	if diff := cmp.Diff(wanted, have); diff != "" {
		t.Errorf("go.mod.tmpl differs from the pins (-pins +go.mod.tmpl):\n%s", diff)
	}
}

// TestCertificatePins compares the modules with which a manager makes its certificates with
// package pins. After a change of the pins, run TestPins first, and then
//
//	OPERON_PINS=write go test ./plugins/golang -run TestCertificatePins
func TestCertificatePins(t *testing.T) {
	const path = modules.CertController
	if os.Getenv("OPERON_PINS") == "write" {
		writeCertificatePins(t, path)
		return
	}
	added, f, err := modules.Certificates("example.org/fleet")
	if err != nil {
		t.Fatal(err)
	}
	initial, _, err := modules.Pinned("example.org/fleet")
	if err != nil {
		t.Fatal(err)
	}
	direct := map[string]string{}
	for _, r := range f.Require {
		if !bytes.Contains(append(added.Sum, initial.Sum...), []byte(r.Mod.Path+" "+r.Mod.Version)) {
			t.Errorf("go.sum has no line for %s", r.Mod)
		}
		if !r.Indirect {
			direct[r.Mod.Path] = r.Mod.Version
		}
	}
	if diff := cmp.Diff(map[string]string{path: pins.CertController}, direct); diff != "" {
		t.Errorf("go.mod.tmpl differs from the pins (-pins +go.mod.tmpl):\n%s", diff)
	}
	runtime, err := gomod.Go{}.RequiredBy(t.Context(), gomod.Module{Path: path, Version: pins.CertController}, source.ControllerRuntime)
	if err != nil || runtime != modules.CertControllerRuntime {
		t.Errorf("%s %s requires controller-runtime %q, %v, want %s", path, pins.CertController, runtime, err, modules.CertControllerRuntime)
	}
}

// templateVersion matches a version, or a release of Debian, in a template.
var templateVersion = regexp.MustCompile(`\bv[0-9]+\.[0-9]+\.[0-9]+\b|\bdebian[0-9]+\b`)

// TestTemplatesPinNothing finds versions that are in a template but not in package pins.
func TestTemplatesPinNothing(t *testing.T) {
	err := fs.WalkDir(templates.FS, ".", func(name string, d fs.DirEntry, err error) error {
		// TestPins compares the modules, and go.sum has many more.
		if err != nil || d.IsDir() || d.Name() == modules.GoMod+render.Suffix || d.Name() == modules.GoSum {
			return err
		}
		content, err := fs.ReadFile(templates.FS, name)
		if err != nil {
			return err
		}
		for i, line := range strings.Split(string(content), "\n") {
			// Actions are pinned by commit, with the release in a comment.
			if strings.Contains(name, "/.github/workflows/") && strings.Contains(line, "- uses: ") {
				continue
			}
			for _, version := range templateVersion.FindAllString(line, -1) {
				// Bundles replace v0.0.0 by the version of the operator.
				if version != firstRelease && version != "v0.0.0" {
					t.Errorf("templates/%s:%d: %s: add it to package pins", name, i+1, version)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// firstRelease is the tag of the image that a new project builds.
const firstRelease = "v0.1.0"

// writePins resolves the pinned versions for a new project, checks that a
// project with an API needs the same, and writes the result into the templates.
func writePins(t *testing.T, wanted map[string]string) {
	const repo = "operon.invalid/pins"
	root := t.TempDir()
	cfg := &project.Config{Version: "3", Domain: "example.org", ProjectName: "pins", Repo: repo, Layout: []string{Key}}
	r := frigate()

	planOnDisk(t, root, plugin.Event{Type: plugin.Init, Project: cfg})
	// Start with the pins, and ignore the versions in the templates.
	writeFile(t, filepath.Join(root, modules.GoMod), requiring(t, repo, wanted))
	writeFile(t, filepath.Join(root, modules.GoSum), nil)
	fresh := tidied(t, root)
	planOnDisk(t, root, plugin.Event{Type: plugin.CreateAPI, Project: cfg, Resource: &r})
	if diff := cmp.Diff(fresh, tidied(t, root)); diff != "" {
		t.Fatalf("a project with an API needs other modules than a new one (-new +with API):\n%s", diff)
	}

	const dir = "../../templates/golang/init/"
	goMod := strings.Replace(fresh[modules.GoMod], "module "+repo, "module {{ .Project.Repo }}", 1)
	writeFile(t, dir+modules.GoMod+render.Suffix, []byte(goMod))
	writeFile(t, dir+modules.GoSum, []byte(fresh[modules.GoSum]))
}

// writeCertificatePins resolves what a project with a webhook needs to make its certificates,
// and writes what a new project does not have into the templates.
func writeCertificatePins(t *testing.T, path string) {
	const repo = "operon.invalid/pins"
	root := t.TempDir()
	cfg := &project.Config{Version: "3", Domain: "example.org", ProjectName: "pins", Repo: repo, Layout: []string{Key}}
	r := frigate()
	r.Webhooks = &project.Webhooks{Defaulting: true, WebhookVersion: "v1"}
	cfg.Put(r)
	cfg.SetWebhookCerts(project.SelfCerts)
	for _, event := range []plugin.EventType{plugin.Init, plugin.CreateAPI} {
		planOnDisk(t, root, plugin.Event{Type: event, Project: cfg, Resource: &r})
	}
	fresh, err := os.ReadFile(filepath.Join(root, modules.GoMod))
	if err != nil {
		t.Fatal(err)
	}
	before := tidied(t, root)
	planOnDisk(t, root, plugin.Event{Type: plugin.CreateWebhook, Project: cfg, Resource: &r})
	f, err := modfile.Parse(modules.GoMod, fresh, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.AddRequire(path, pins.CertController); err != nil {
		t.Fatal(err)
	}
	content, err := f.Format()
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(root, modules.GoMod), content)
	after := tidied(t, root)

	old, next, extra := map[string]bool{}, new(modfile.File), ""
	f, err = modfile.Parse(modules.GoMod, []byte(before[modules.GoMod]), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range f.Require {
		old[r.Mod.String()] = true
	}
	f, err = modfile.Parse(modules.GoMod, []byte(after[modules.GoMod]), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := next.AddModuleStmt(repo); err != nil {
		t.Fatal(err)
	}
	var added []*modfile.Require
	for _, r := range f.Require {
		if !old[r.Mod.String()] {
			added = append(added, r)
		}
	}
	next.SetRequireSeparateIndirect(added)
	if content, err = next.Format(); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(after[modules.GoSum]) {
		if !strings.Contains(before[modules.GoSum], line) {
			extra += line
		}
	}
	const dir = "../../templates/golang/certificates/"
	writeFile(t, dir+modules.GoMod+render.Suffix, bytes.Replace(content, []byte("module "+repo), []byte("module {{ .Project.Repo }}"), 1))
	writeFile(t, dir+modules.GoSum, []byte(extra))
}

// planOnDisk plans and applies an event in the folder root.
func planOnDisk(t *testing.T, root string, e plugin.Event) {
	t.Helper()
	p, err := scaffold.New(afero.NewBasePathFs(afero.NewOsFs(), root), scaffold.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := (Plugin{}).Plan(t.Context(), e, p); err != nil {
		t.Fatal(err)
	}
	if err := p.Apply(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// requiring returns a go.mod with the wanted versions as direct requirements.
func requiring(t *testing.T, repo string, wanted map[string]string) []byte {
	t.Helper()
	f := new(modfile.File)
	for _, err := range []error{f.AddModuleStmt(repo), f.AddGoStmt(pins.Go)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for path, version := range wanted {
		f.AddNewRequire(path, version, false)
	}
	src, err := f.Format()
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// tidied runs `go mod tidy` in root and returns go.mod and go.sum by name.
func tidied(t *testing.T, root string) map[string]string {
	t.Helper()
	cmd := exec.Command("go", "mod", "tidy")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go mod tidy: %v\n%s", err, out)
	}
	files := map[string]string{}
	for _, name := range []string{modules.GoMod, modules.GoSum} {
		content, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(content)
	}
	return files
}

func writeFile(t *testing.T, name string, content []byte) {
	t.Helper()
	if err := os.WriteFile(name, content, 0o644); err != nil {
		t.Fatal(err)
	}
}
