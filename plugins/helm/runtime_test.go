package helm

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/pins"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/templates"
	"golang.org/x/mod/modfile"
)

// TestPins compares the go.mod of the runtime with package pins. After a change of the pins,
//
//	OPERON_PINS=write go test ./plugins/helm -run TestPins
//
// rewrites go.mod.tmpl and go.sum; it runs `go mod tidy`, so it uses the network.
func TestPins(t *testing.T) {
	wanted := map[string]string{
		"github.com/operator-framework/helm-operator-plugins": pins.HelmPlugins, "sigs.k8s.io/controller-runtime": pins.ControllerRuntime,
		"k8s.io/api": pins.KubernetesAPI, "k8s.io/apiextensions-apiserver": pins.KubernetesAPI, "k8s.io/apimachinery": pins.KubernetesAPI,
		"k8s.io/client-go": pins.KubernetesAPI, "helm.sh/helm/v3": pins.Helm,
	}
	const name = "pins"
	files := map[string][]byte{}
	err := runtimeFiles(templates.FS, &project.Config{ProjectName: name}, func(file string, _ fs.FileMode, content []byte) error {
		files[path.Base(file)] = content
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("OPERON_PINS") == "write" {
		writePins(t, name, wanted, files)
		return
	}
	f, err := modfile.Parse("go.mod", files["go.mod"], nil)
	if err != nil {
		t.Fatal(err)
	}
	if f.Go.Version != pins.Go {
		t.Errorf("go.mod.tmpl has go %s, and package pins has %s", f.Go.Version, pins.Go)
	}
	have := map[string]string{}
	for _, r := range f.Require {
		if !bytes.Contains(files["go.sum"], []byte(r.Mod.Path+" "+r.Mod.Version)) {
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

// writePins resolves the pinned versions for the runtime, and writes the result into the templates.
func writePins(t *testing.T, project string, wanted map[string]string, files map[string][]byte) {
	f := new(modfile.File)
	for _, err := range []error{f.AddModuleStmt(project + "/runtime"), f.AddGoStmt(pins.Go)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for path, version := range wanted {
		f.AddNewRequire(path, version, false)
	}
	var err error
	if files["go.mod"], err = f.Format(); err != nil {
		t.Fatal(err)
	}
	delete(files, "go.sum")
	root := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(root, name), content, 0o644); err != nil {
			t.Fatal(err)
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
		text, suffix := string(content), ""
		if name == "go.mod" {
			text, suffix = strings.Replace(text, "module "+project, "module {{ .Project.ProjectName }}", 1), ".tmpl"
		}
		if err := os.WriteFile("../../templates/helm/runtime/runtime/"+name+suffix, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
