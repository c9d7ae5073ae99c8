package kustomize

import (
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
	"github.com/spf13/afero"
)

// TestInitKeepsResources repeats init in a project of an earlier version, whose manager has
// other resources and no GOMEMLIMIT.
func TestInitKeepsResources(t *testing.T) {
	t.Parallel()
	const container = "        name: manager\n"
	for name, test := range map[string]struct {
		old, new string // an edit by the user
		tuned    bool
	}{
		"unchanged":              {"", "", true},
		"another line":           {"replicas: 1", "replicas: 2", true},
		"a memory limit":         {"memory: 128Mi", "memory: 1Gi", false},
		"a CPU request":          {"cpu: 10m", "cpu: 50m", true},
		"a variable":             {container, container + "        env: [{name: REGION, value: north}]\n", false},
		"a variable further off": {"        livenessProbe:\n", "        env: [{name: REGION, value: north}]\n        livenessProbe:\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := config()
			fsys := afero.NewMemMapFs()
			p := newPlan(t, fsys, scaffold.Options{Command: "test"})
			earlier := initData(c)
			earlier.Tuned = false
			if err := tree("kustomize/init", nil, earlier, p, render.Only(p.Seed, managerFile)); err != nil {
				t.Fatal(err)
			}
			if err := p.Apply(t.Context()); err != nil {
				t.Fatal(err)
			}
			edited := strings.Replace(read(t, fsys, managerFile), test.old, test.new, 1)
			if err := afero.WriteFile(fsys, managerFile, []byte(edited), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := do(t, fsys, c, nil); err != nil {
				t.Fatal(err)
			}
			after := read(t, fsys, managerFile)
			if tuned := strings.Contains(after, "GOMEMLIMIT") && !strings.Contains(after, "128Mi"); tuned != test.tuned {
				t.Errorf("the current resources: %t, want %t:\n%s", tuned, test.tuned, after)
			}
			if !test.tuned && after != edited {
				t.Errorf("the file changed:\n%s", after)
			}
			if !strings.Contains(after, test.new) {
				t.Errorf("the edit is lost:\n%s", after)
			}
			if err := do(t, fsys, c, nil); err != nil {
				t.Fatal(err)
			}
			if again := read(t, fsys, managerFile); again != after {
				t.Errorf("the next init changes the file:\n%s", again)
			}
		})
	}
}
