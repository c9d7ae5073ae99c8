package golang

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/testkit/repository"
	"github.com/operon-dev/operon/internal/testkit/treetest"
	"github.com/operon-dev/operon/plugins/golang/internal/modules"
	"golang.org/x/mod/modfile"
)

func TestModules(t *testing.T) {
	t.Parallel()
	ours, _, err := modules.Pinned("example.org/fleet")
	if err != nil {
		t.Fatal(err)
	}
	without := func(path string) string {
		f, err := modfile.Parse(modules.GoMod, ours.Mod, nil)
		if err == nil {
			err = f.DropRequire(path)
		}
		if err != nil {
			t.Fatal(err)
		}
		f.Cleanup()
		src, err := f.Format()
		if err != nil {
			t.Fatal(err)
		}
		return string(src)
	}
	warning := []scaffold.Warning{{File: modules.GoMod, Rule: modules.TidyRule, Message: "run go mod tidy"}}
	older := treetest.ReadFile(t, repository.Path("testdata/compat/controller-runtime-0.17/go.mod"))
	external := "module example.org/fleet\n\ngo 1.24\n\nrequire k8s.io/client-go v0.99.0 // mine\n"
	tests := map[string]struct {
		goMod string
		kind  plugin.EventType
		want  string // the whole of go.mod; "": unchanged
		parts []string
		warns []scaffold.Warning
	}{
		"no go.mod":                 {goMod: "", kind: plugin.Init, want: string(ours.Mod)},
		"from go mod init":          {goMod: "module example.org/fleet\n\ngo 1.26.0\n", kind: plugin.Init, want: string(ours.Mod)},
		"older go":                  {goMod: "module example.org/fleet\n\ngo 1.22\n", kind: plugin.Init, want: string(ours.Mod)},
		"ours":                      {goMod: string(ours.Mod), kind: plugin.CreateAPI},
		"raised by the user":        {goMod: strings.Replace(string(ours.Mod), "controller-runtime v0.25.2", "controller-runtime v0.25.9", 1), kind: plugin.CreateAPI},
		"tidied without k8s.io/api": {goMod: without("k8s.io/api"), kind: plugin.CreateAPI, warns: warning, want: string(ours.Mod)},
		"external requirements": {goMod: external, kind: plugin.Init, warns: warning, parts: []string{
			"go 1.26.0\n", "k8s.io/client-go v0.99.0 // mine\n", "sigs.k8s.io/controller-runtime v0.25.2\n", "golang.org/x/net v"}},
		"older libraries": {goMod: older, kind: plugin.CreateAPI, warns: warning, parts: []string{
			"\ngo 1.21\n", "require (\n\tgithub.com/onsi/ginkgo/v2 v2.14.0\n\t" +
				"github.com/onsi/gomega v1.30.0\n\tk8s.io/api v0.29.2\n\tk8s.io/apimachinery v0.29.2\n\tk8s.io/client-go v0.29.2\n\tsigs.k8s.io/controller-runtime v0.17.6\n)\n"}},
		"missing module": {goMod: without("sigs.k8s.io/controller-runtime"), kind: plugin.CreateAPI, warns: warning, want: string(ours.Mod)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := initialized(t, nil)
			if err := x.fs.Remove(modules.GoSum); err != nil {
				t.Fatal(err)
			}
			x.write(modules.GoMod, test.goMod)
			e := x.createAPI(frigate())
			if test.kind == plugin.Init {
				e = plugin.Event{Type: plugin.Init}
			}
			p := x.apply(e)
			got := x.read(modules.GoMod)
			want := test.want
			if want == "" {
				want = test.goMod
			}
			for _, part := range test.parts {
				want = got
				if !strings.Contains(got, part) {
					t.Errorf("go.mod lacks %q:\n%s", part, got)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("go.mod (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.warns, p.Warnings()); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
			if again, err := x.plan(e); err != nil || len(again.Warnings()) > 0 {
				t.Errorf("a repeat: %v, %v", again.Warnings(), err)
			}
		})
	}
}

// TestSumsAreRestored checks that each command completes go.sum if go.mod has the pinned
// versions. The go command maintains other go.sum files.
func TestSumsAreRestored(t *testing.T) {
	t.Parallel()
	ours, _, err := modules.Pinned("example.org/fleet")
	if err != nil {
		t.Fatal(err)
	}
	sums := ours.Sum
	own := strings.Replace(string(ours.Mod), "require (\n", "require (\n\texample.org/mine v1.0.0\n", 1)
	raised := strings.Replace(string(ours.Mod), "controller-runtime v0.25.2", "controller-runtime v0.25.9", 1)
	half := string(sums[:bytes.LastIndexByte(sums[:len(sums)/2], '\n')+1])
	unsorted := "zzz.org/x v1.0.0 h1:x=\n" + string(sums)
	tests := map[string]struct{ goMod, goSum, want string }{
		"gone":               {string(ours.Mod), "", string(sums)},
		"half":               {string(ours.Mod), half, string(sums)},
		"additional module":  {own, "", string(sums)},
		"complete, unsorted": {own, unsorted, unsorted},
		"raised by the user": {raised, half, half},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := initialized(t, nil)
			for _, e := range []plugin.Event{{Type: plugin.Init}, x.createAPI(frigate())} {
				x.write(modules.GoMod, test.goMod)
				x.write(modules.GoSum, "x")
				x.write(modules.GoSum, test.goSum)
				x.apply(e)
				if diff := cmp.Diff(test.want, x.read(modules.GoSum)); diff != "" {
					t.Errorf("%s: go.sum (-want +got):\n%s", e.Type, diff)
				}
			}
		})
	}
}

func TestBrokenGoModIsExplained(t *testing.T) {
	t.Parallel()
	x := initialized(t, nil)
	x.write(modules.GoMod, "module example.org/fleet\nrequire (\nx y z\nmore wrong\n")
	_, err := x.plan(x.createAPI(frigate()))
	if err == nil || fault.HintOf(err) == "" || strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "go.mod:") {
		t.Errorf("got %v, hint %q", err, fault.HintOf(err))
	}
}
