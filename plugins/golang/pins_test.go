package golang

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/pins"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/spf13/afero"
	"golang.org/x/mod/modfile"
)

// Modules of generated projects that package pins has no constant for.
const (
	ginkgo = "v2.34.0"
	gomega = "v1.44.0"
)

// kubernetes are the modules that Kubernetes releases together, in one version.
var kubernetes = []string{
	"k8s.io/api", "k8s.io/apiextensions-apiserver", "k8s.io/apimachinery", "k8s.io/apiserver",
	"k8s.io/client-go", "k8s.io/component-base",
}

// TestPins compares go.mod.tmpl with package pins. After a change of the pins,
//
//	OPERON_PINS=write go test ./plugins/golang -run TestPins
//
// writes go.mod.tmpl and go.sum anew; it runs `go mod tidy`, so it uses the network.
func TestPins(t *testing.T) {
	wanted := map[string]string{
		"github.com/onsi/ginkgo/v2": ginkgo, "github.com/onsi/gomega": gomega,
		"sigs.k8s.io/controller-runtime": pins.ControllerRuntime,
	}
	for _, path := range kubernetes {
		wanted[path] = pins.KubernetesAPI
	}
	if os.Getenv("OPERON_PINS") == "write" {
		writePins(t, wanted)
		return
	}
	goMod, goSum, err := pinnedModules("example.org/fleet")
	if err != nil {
		t.Fatal(err)
	}
	f, err := modfile.Parse("go.mod", goMod, nil)
	if err != nil {
		t.Fatal(err)
	}
	if f.Go.Version != pins.Go {
		t.Errorf("go.mod.tmpl is for go %s, pins say %s", f.Go.Version, pins.Go)
	}
	have := map[string]string{}
	for _, r := range f.Require {
		if !bytes.Contains(goSum, []byte(r.Mod.Path+" "+r.Mod.Version)) {
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

// writePins resolves the pinned versions for a new project, checks that a
// project with an API needs the same, and writes the result into the templates.
func writePins(t *testing.T, wanted map[string]string) {
	const dir = "../../templates/golang/init"
	const repo = "operon.invalid/pins"
	root := t.TempDir()
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
	if err := os.WriteFile(filepath.Join(root, "go.mod"), src, 0o644); err != nil {
		t.Fatal(err)
	}
	cfg := &project.Config{Version: "3", Domain: "example.org", ProjectName: "pins", Repo: repo, Layout: []string{Key}}
	r := project.Resource{Group: "ship", Domain: "example.org", Version: "v1", Kind: "Frigate",
		API: &project.API{CRDVersion: "v1", Namespaced: true}, Controller: true}
	var tidied [2][]byte
	for i, e := range []plugin.Event{{Kind: plugin.Init, Project: cfg}, {Kind: plugin.CreateAPI, Project: cfg, Resource: &r}} {
		p, err := scaffold.New(afero.NewBasePathFs(afero.NewOsFs(), root), scaffold.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := (Plugin{}).Plan(context.Background(), e, p); err != nil {
			t.Fatal(err)
		}
		if err := p.Apply(context.Background()); err != nil {
			t.Fatal(err)
		}
		if i == 0 { // the templates' old pins are not to be asked
			for name, content := range map[string][]byte{"go.mod": src, "go.sum": nil} {
				if err := os.WriteFile(filepath.Join(root, name), content, 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
		cmd := exec.Command("go", "mod", "tidy")
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go mod tidy: %v\n%s", err, out)
		}
		for _, name := range []string{"go.mod", "go.sum"} {
			content, err := os.ReadFile(filepath.Join(root, name))
			if err != nil {
				t.Fatal(err)
			}
			tidied[i] = append(tidied[i], content...)
			target := map[string]string{"go.mod": "go.mod.tmpl", "go.sum": "go.sum"}[name]
			tmpl := strings.Replace(string(content), "module "+repo, "module {{ .Project.Repo }}", 1)
			if err := os.WriteFile(filepath.Join(dir, target), []byte(tmpl), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if diff := cmp.Diff(string(tidied[0]), string(tidied[1])); diff != "" {
		t.Errorf("a project with an API needs other modules than a new one (-new +with API):\n%s", diff)
	}
}
