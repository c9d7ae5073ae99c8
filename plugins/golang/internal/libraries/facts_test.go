package libraries

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/spf13/afero"
)

// planFor returns a plan over a project with a go.mod, unless it is "".
func planFor(t *testing.T, goMod string) *scaffold.Plan {
	t.Helper()
	fsys := afero.NewMemMapFs()
	if goMod != "" {
		if err := afero.WriteFile(fsys, "go.mod", []byte(goMod), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p, err := scaffold.New(fsys, scaffold.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestReadFacts(t *testing.T) {
	t.Parallel()
	const older = "module example.org/fleet\n\ngo 1.22.0\n\nrequire (\n\tk8s.io/apimachinery v0.33.0\n\tsigs.k8s.io/controller-runtime v0.21.0\n)\n"
	all := []string{"NameValidation", "FieldValidation", GenericWebhooks, "Randfill", "Diff", "ResourceVersionCompare", "Apply", "EventRecorder", "Go122", Go124, Go126}
	for name, test := range map[string]struct {
		goMod string
		lacks []string
	}{
		"no go.mod":                    {goMod: ""},
		"a go.mod that does not parse": {goMod: "require ("},
		"no controller-runtime":        {goMod: "module example.org/fleet\n\ngo 1.21\n\nrequire k8s.io/apimachinery v0.29.2\n"},
		"older":                        {goMod: older, lacks: []string{"Apply", "EventRecorder", GenericWebhooks, "Diff", "ResourceVersionCompare", Go124, Go126}},
		"apimachinery is not listed": {goMod: "module example.org/fleet\n\ngo 1.26.0\n\nrequire sigs.k8s.io/controller-runtime v0.21.3\n",
			lacks: []string{"Apply", "EventRecorder", GenericWebhooks, "Diff", "ResourceVersionCompare"}},
		"replaced by a version": {goMod: older + "\nreplace sigs.k8s.io/controller-runtime => example.org/fork v0.18.0\n",
			lacks: []string{"NameValidation", "FieldValidation", "Apply", "EventRecorder", GenericWebhooks, "Diff", "ResourceVersionCompare", Go124, Go126}},
		"replaced by a folder": {goMod: older + "\nreplace k8s.io/apimachinery => ../apimachinery\n", lacks: []string{"Apply", "EventRecorder", GenericWebhooks, Go124, Go126}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := Facts{}
			for _, fact := range all {
				want[fact] = true
			}
			for _, fact := range test.lacks {
				want[fact] = false
			}
			got, err := ReadValues(planFor(t, test.goMod))
			if diff := cmp.Diff(want, got.Has); diff != "" || err != nil {
				t.Errorf("%v, facts (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestCheckOldest(t *testing.T) {
	t.Parallel()
	const requires = "module example.org/fleet\n\nrequire sigs.k8s.io/controller-runtime "
	for goMod, want := range map[string]string{
		"":                           "",
		"module example.org/fleet\n": "",
		requires + "v0.17.0\n":       "",
		requires + "v0.16.6\nreplace sigs.k8s.io/controller-runtime => ../cr\n": "",
		requires + "v0.16.6\n": "go.mod has sigs.k8s.io/controller-runtime v0.16.6: operon writes code for v0.17.0 and later versions\n" +
			"run `go get sigs.k8s.io/controller-runtime@v0.17.0 && go mod tidy`, or a later version, and repeat the command",
	} {
		library, err := ReadValues(planFor(t, goMod))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := library.CheckOldest(); err != nil {
			got = err.Error() + "\n" + fault.HintOf(err)
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", goMod, got, want)
		}
	}
}
