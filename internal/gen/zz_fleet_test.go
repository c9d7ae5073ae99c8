package gen

import (
	"os"
	"testing"

	"github.com/operon-dev/operon/internal/project"
)

func TestZZFleet(t *testing.T) {
	dir := os.Getenv("FLEET")
	if dir == "" {
		t.Skip()
	}
	b, _ := os.ReadFile(dir + "/PROJECT")
	cfg, err := project.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	p := newPlan(t, dir)
	if err := Plan(t.Context(), Request{Dir: dir, Project: cfg, ThisYear: "2026"}, p); err != nil {
		t.Fatal(err)
	}
	for n, c := range generated(p) {
		t.Log(n, len(c))
	}
}
