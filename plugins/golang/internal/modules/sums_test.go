package modules

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/spf13/afero"
)

// newPlan returns an empty plan over the given files.
func newPlan(t *testing.T, files map[string]string) *scaffold.Plan {
	t.Helper()
	fsys := afero.NewMemMapFs()
	for name, content := range files {
		if err := afero.WriteFile(fsys, name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p, err := scaffold.New(fsys, scaffold.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestSumsAreMerged(t *testing.T) {
	t.Parallel()
	ours, _, err := Pinned("example.org/fleet")
	if err != nil {
		t.Fatal(err)
	}
	sums := ours.Sum
	for name, have := range map[string]string{
		"none": "", "some": "", "all": string(sums), "no newline": "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines := strings.SplitAfter(string(sums), "\n")
			switch name {
			case "some":
				have = lines[100] + lines[3]
			case "no newline":
				have = lines[3] + strings.TrimSpace(lines[100])
			}
			p := newPlan(t, map[string]string{GoSum: have})
			if err := addSums(sums, p); err != nil {
				t.Fatal(err)
			}
			got, err := p.Read(GoSum)
			if diff := cmp.Diff(string(sums), string(got)); err != nil || diff != "" {
				t.Errorf("%v, go.sum (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestWarnRaised(t *testing.T) {
	t.Parallel()
	p := newPlan(t, nil)
	before, err := parse([]byte("module m\n\nrequire (\n\ta.example v1.2.0\n\tb.example v1.0.0 // indirect\n\tc.example v1.0.0\n)\n"))
	if err != nil {
		t.Fatal(err)
	}
	after, err := parse([]byte("module m\n\nrequire (\n\ta.example v1.10.0\n\tb.example v1.1.0 // indirect\n\tc.example v1.0.0\n)\n"))
	if err != nil {
		t.Fatal(err)
	}
	warnRaised(before, after, p)
	want := []scaffold.Warning{{File: GoMod, Rule: "raised", Message: "newer versions are needed: a.example from v1.2.0 to v1.10.0"}}
	if diff := cmp.Diff(want, p.Warnings()); diff != "" {
		t.Error(diff)
	}
}
