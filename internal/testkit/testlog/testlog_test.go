package testlog

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/testkit/repository"
)

func TestCompact(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ log, want string }{
		"repeated":         {"open a\nstat a\ngetenv HOME\nopen a\nstat a\ngetenv HOME\n", "open a\nstat a\ngetenv HOME\n"},
		"ignored":          {"open /t\nopen /t/a\nstat /t/a b\nopen /tb\nopen /m/t\n", "open /tb\nopen /m/t\n"},
		"other folder":     {"open a\nchdir /m/x\nopen a\nopen a\n", "open a\nchdir /m/x\nopen a\n"},
		"ignored folder":   {"chdir /t/x\nopen a\nopen /m/a\nopen ../../m/b\n", "chdir /t/x\nopen /m/a\nopen ../../m/b\n"},
		"variable in path": {"getenv /t\n", "getenv /t\n"},
		"empty":            {"", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := compact(test.log, "/m", func(name string) bool { return inside(name, "/t") })
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestOutside(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		repository.Path("go.mod"):                             false,
		repository.Path():                                     false,
		repository.Path() + "-2":                              true,
		filepath.Join(filepath.Dir(repository.Path()), "x/y"): true,
		"/": true,
	} {
		if got := outside(name); got != want {
			t.Errorf("%s: outside is %t, want %t", name, got, want)
		}
	}
}
