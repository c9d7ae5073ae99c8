package addon

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/chart"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/spf13/afero"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// TestBuild builds the manifests of make deploy and checks the references between them.
func TestBuild(t *testing.T) {
	t.Parallel()
	disk := afero.NewMemMapFs()
	p, err := scaffold.New(disk, scaffold.Options{Command: "test"})
	if err != nil {
		t.Fatal(err)
	}
	c := &project.Config{Version: "3", Domain: "example.org", ProjectName: "fleet", Layout: []string{Key}}
	if err := (Plugin{}).Plan(t.Context(), plugin.Event{Type: plugin.Init, Project: c}, p); err != nil {
		t.Fatal(err)
	}
	if err := p.Apply(t.Context()); err != nil {
		t.Fatal(err)
	}
	memory := filesys.MakeFsInMemory()
	err = afero.Walk(disk, "config", func(name string, info fs.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		content, err := afero.ReadFile(disk, name)
		if err != nil {
			return err
		}
		return memory.WriteFile(name, content)
	})
	if err != nil {
		t.Fatal(err)
	}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(memory, "config/default")
	if err != nil {
		t.Fatal(err)
	}
	text, err := built.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	objects, err := chart.Objects(map[string]string{"all.yaml": string(text)})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, o := range objects {
		names = append(names, o.GetKind()+" "+o.GetNamespace()+"/"+o.GetName())
		for _, wrong := range chart.Lint(o) {
			t.Error(wrong)
		}
	}
	// kubectl applies them one by one: the namespace must come first.
	want := "Namespace /fleet-system, ConfigMap fleet-system/addon-operator, Deployment fleet-system/fleet, " +
		"ServiceAccount fleet-system/fleet, ClusterRole /fleet, ClusterRoleBinding /fleet"
	if got := strings.Join(names, ", "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, part := range []string{"subjects:\n- kind: ServiceAccount\n  name: fleet\n  namespace: fleet-system\n", "image: controller:v0.1.0", "serviceAccountName: fleet\n"} {
		if !strings.Contains(string(text), part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
}
