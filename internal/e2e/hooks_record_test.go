//go:build testall

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/roles"
)

// TestHooksRecord records the requests of hooks that shell-operator runs, and runs the hooks with the permissions of the
// markers.
func TestHooksRecord(t *testing.T) {
	t.Parallel()
	ns := cluster.namespace(t, "record", nil)
	first := runHooks(t, cluster, "record", ns, "--record")
	first.testTides(ns, "first")
	if err := first.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	<-first.done
	for hook, want := range map[string][]string{
		"tides.sh":   {`groups="",resources=configmaps,verbs=create;get;list;update`},
		"sub/log.py": {"groups=batch,resources=jobs,verbs=create"},
	} {
		text, err := os.ReadFile(filepath.Join(first.dir, hook))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for line := range strings.Lines(string(text)) {
			if _, marker, is := strings.Cut(strings.TrimSpace(line), "# +kubebuilder:rbac:"); is {
				got = append(got, marker)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || first.err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", hook, first.err, diff)
		}
	}

	rules, err := command(first.dir, "operon", "hooks", "rbac", first.dir, "--output", "yaml", "--namespace", ns)
	if err != nil {
		t.Fatal(err)
	}
	all := append(objects(t, rules), object("v1", "ServiceAccount", ns, roles.Scaffolded.Account))
	cluster.apply(t, all...)
	defer cluster.remove(t, all)
	own := filepath.Join(t.TempDir(), "kubeconfig")
	account := ns + "/" + roles.Scaffolded.Account
	if _, err := command(first.dir, "operon", "hooks", "kubeconfig", own, "--service-account", account, "--kubeconfig", cluster.kubeconfig); err != nil {
		t.Fatal(err)
	}
	second := runHooks(t, cluster, "record", ns, "--kubeconfig", own)
	second.testTides(ns, "second")
	if out := second.output.String(); strings.Contains(out, "forbidden") {
		t.Errorf("the hooks lack permissions:\n%s", out)
	}
}

// testTides creates a Secret, for which a hook writes a ConfigMap, for which the other hook runs.
func (h *hooks) testTides(ns, name string) {
	h.t.Helper()
	h.awaitOutput("sub/log.py  runs for tides (kubernetes)\n")
	moon := object("v1", "Secret", ns, name)
	moon.SetLabels(map[string]string{"record": "moon"})
	mustCreate(h.t, moon)
	h.awaitOutput("sub/log.py  job.batch/log\n")
}
