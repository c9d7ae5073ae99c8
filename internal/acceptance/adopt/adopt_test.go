//go:build testall

package adopt

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/testkit/operators"
	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/repository"
)

// TestAdopt adopts public operators. A dry run writes nothing, adopt writes its two places, and a repeat has
// nothing to do. `make corpus` tries more of them, and what follows.
func TestAdopt(t *testing.T) {
	t.Parallel()
	for _, o := range operators.All {
		if !o.InCI {
			continue
		}
		t.Run(o.Name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := o.Copy(t.Context(), dir); err != nil {
				t.Fatal(err)
			}
			adopt := append([]string{"adopt"}, o.Args...)
			if o.Refused != "" {
				refuse(t, dir, o)
				return
			}
			operontest.Run(t, dir, append(adopt, "--dry-run", "--diff")...)
			if changed := changed(t, dir); len(changed) > 0 {
				t.Errorf("a dry run changed %s", changed)
			}
			if out := operontest.Run(t, dir, adopt...); !strings.Contains(out, "\nkind ") && !strings.Contains(out, "\ncontroller ") {
				t.Errorf("found neither a kind nor a controller:\n%s", out)
			}
			if diff := cmp.Diff([]string{".operon/", "PROJECT"}, changed(t, dir)); diff != "" {
				t.Errorf("changed paths (-want +got):\n%s", diff)
			}
			if out := operontest.Run(t, dir, adopt...); !strings.HasSuffix(out, "nothing to do\n") {
				t.Errorf("a repeat:\n%s", out)
			}
		})
	}
}

// refuse expects the error of an operator that adopt refuses.
func refuse(t *testing.T, dir string, o operators.Operator) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "operon", append([]string{"adopt"}, o.Args...)...)
	cmd.Dir, cmd.Env = dir, operontest.Environ()
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.HasPrefix(string(out), "error: "+o.Refused) || !strings.Contains(string(out), "\nhint:  ") {
		t.Errorf("%v\n%s\nwant the error %q with a hint", err, out, o.Refused)
	}
	if names := changed(t, dir); len(names) > 0 {
		t.Errorf("changed %s", names)
	}
}

func changed(t *testing.T, dir string) []string {
	t.Helper()
	names, err := operators.Changed(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// TestOwnProjects adopts projects that operon made. PROJECT already has all that adopt finds.
func TestOwnProjects(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"fleet", "harbor", "databaseuser", "aerospike", "s3-operator"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(repository.Path("testdata", "golden", name))); err != nil {
				t.Fatal(err)
			}
			if out := operontest.Run(t, dir, "adopt"); !strings.HasSuffix(out, "\nnothing to do\n") || strings.Contains(out, "not understood") {
				t.Errorf("operon adopt:\n%s", out)
			}
		})
	}
}

// TestModules checks that `make modules` downloads the operators that these tests adopt.
func TestModules(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile(repository.Path("Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range operators.All {
		if o.Git == "" && o.InCI != strings.Contains(string(makefile), o.Module) { // others are cloned, not downloaded
			t.Errorf("%s: InCI is %t, but OPERATORS in the Makefile disagrees", o.Module, o.InCI)
		}
	}
}
