//go:build unix && testall

package interop

import (
	"errors"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/peertest"
	"github.com/operon-dev/operon/internal/testkit/repository"
	"github.com/operon-dev/operon/internal/testkit/treetest"
)

const sdkModule = "github.com/operator-framework/operator-sdk"

// sdkStep is a command in a project of operator-sdk.
type sdkStep struct {
	line    string
	code    int
	changes []string // the files of operator-sdk that the command changes
	creates []string // the first elements of the paths of new files
	output  string   // a part of stdout or stderr
}

// sdkSteps are commands in the project memcached, each in a new copy.
var sdkSteps = []sdkStep{
	{line: "init", output: "nothing to do"},
	{line: "generate", output: "nothing to do"},
	{line: "generate --check"},
	{line: "edit --plugins olm", output: "nothing to do"},
	{line: "create api --group cache --version v1alpha1 --kind Memcached", output: "nothing to do"},
	{line: "chart validate"},
	{line: "chart rbac", output: "poddisruptionbudgets"},
	{line: "chart rbac --check", code: fault.CodeDifferences, output: "if another tool wrote it, delete it first"},
	{line: "chart update", code: fault.CodeUsage, output: "PROJECT does not say where a chart comes from"},
	{line: "kustomize build config/default", output: "memcached-operator-manager-role"},
	{line: "kustomize build config/manifests", output: "memcached-sample"},
	{line: "installer", creates: []string{".operon", "dist"}},
	{line: "envtest status", output: "no control plane is running"},
	{line: "bundle validate", output: "csv.Spec.minKubeVersion is not informed"},
	{line: "bundle validate --suite operatorframework", code: fault.CodeDifferences, output: "csv.Spec.Icon elements should contain both data and mediatype"},
	{line: "bundle generate --check", code: fault.CodeDifferences, output: "differs   bundle/manifests/memcached-operator.clusterserviceversion.yaml"},
	{line: "scorecard --selector suite=basic", output: "State: pass"},
	{line: "scorecard", code: fault.CodeFailed, output: "spec.replicaCount has no descriptor"},
	{line: "__complete create api --kind ''", output: "Memcached\n"},
	{line: "create webhook --group cache --version v1alpha1 --kind Memcached --defaulting", code: fault.CodeUsage, output: "helm-operator has no webhooks"},
	{line: "edit --namespaced", code: fault.CodeUsage, output: "another tool wrote config/rbac/role.yaml"},
	{line: "edit --runtime module", changes: []string{"PROJECT"}, creates: []string{".operon", "runtime"}, output: "Dockerfile: another tool wrote it"},
	{line: "create api --group cache --version v1 --kind Galley",
		changes: []string{"PROJECT", "config/crd/kustomization.yaml", "config/rbac/kustomization.yaml", "config/samples/kustomization.yaml", "watches.yaml"},
		creates: []string{".operon", "config", "helm-charts", "test"}, output: "config/rbac/role.yaml: another tool wrote it"},
	{line: "create api --group cache --version v1 --kind Shop --helm-chart CHARTS/shop",
		changes: []string{"PROJECT", "config/crd/kustomization.yaml", "config/rbac/kustomization.yaml", "config/samples/kustomization.yaml", "watches.yaml"},
		creates: []string{".operon", "config", "helm-charts", "test"}, output: `"operon chart rbac" prints`},
}

// TestSDKHelmProject runs operon in the Helm project that operator-sdk has as an example. The
// files of the project stay as they are, except for those that the command is about.
func TestSDKHelmProject(t *testing.T) {
	t.Parallel()
	original := sdkHelmProject(t)
	for _, step := range sdkSteps {
		t.Run(step.line, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "memcached-operator")
			treetest.Write(t, dir, original)
			out, code := runAny(t, dir, strings.ReplaceAll(step.line, "CHARTS", repository.Path("testdata", "charts")))
			if code != step.code || !strings.Contains(out, step.output) {
				t.Errorf("exit code %d, want %d and %q:\n%s", code, step.code, step.output, out)
			}
			changed, created := changesOf(original, treetest.Read(t, dir))
			if diff := cmp.Diff(step.changes, changed); diff != "" {
				t.Errorf("changed files (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(step.creates, created); diff != "" {
				t.Errorf("new files (-want +got):\n%s", diff)
			}
			if strings.Contains(out, "accept any fields") && len(changed) == 0 {
				t.Errorf("operon warns of a CRD that it does not derive:\n%s", out)
			}
		})
	}
}

// TestSDKHelmFiles deletes the files that operator-sdk derived, and lets operon derive them. What
// follows works as in a project of operon.
func TestSDKHelmFiles(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "memcached-operator")
	original := sdkHelmProject(t)
	derived := []string{"config/crd/bases/cache.example.com_memcacheds.yaml", "config/rbac/role.yaml", "config/samples/cache_v1alpha1_memcached.yaml"}
	tree := maps.Clone(original)
	for _, name := range derived {
		delete(tree, name)
	}
	treetest.Write(t, dir, tree)
	operontest.Run(t, dir, "generate")
	changed, _ := changesOf(original, treetest.Read(t, dir))
	if diff := cmp.Diff(derived, changed); diff != "" {
		t.Errorf("changed files (-want +got):\n%s", diff)
	}
	for _, line := range []string{"chart rbac --check", "generate --check", "edit --namespaced", "chart rbac --check", "generate --check", "kustomize build config/default"} {
		out, code := runAny(t, dir, line)
		if code != fault.CodeOK {
			t.Fatalf("%s: exit code %d\n%s", line, code, out)
		}
		if strings.HasPrefix(line, "kustomize") && (!strings.Contains(out, "name: WATCH_NAMESPACE") || !strings.Contains(out, "kind: Role\n")) {
			t.Errorf("the operator watches all namespaces:\n%s", out)
		}
	}
}

// sdkHelmProject returns the files of the example.
func sdkHelmProject(t *testing.T) map[string]string {
	t.Helper()
	tree := treetest.Read(t, filepath.Join(peertest.Module(t, sdkModule), "testdata", "helm", "memcached-operator"))
	if tree["watches.yaml"] == "" {
		t.Fatalf("the example has no watches.yaml: %d files", len(tree))
	}
	return tree
}

// runAny runs operon, and returns its output and exit code.
func runAny(t *testing.T, dir, line string) (string, int) {
	t.Helper()
	words := strings.Fields(line)
	for i, word := range words {
		words[i] = strings.Trim(word, "'")
	}
	cmd := exec.Command("operon", words...)
	cmd.Dir, cmd.Env = dir, operontest.Environ(operontest.NoGC, "XDG_STATE_HOME="+t.TempDir()) // without the control planes of other tests
	out, err := cmd.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return string(out), exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	return string(out), fault.CodeOK
}

// changesOf returns the files that changed or are gone, and the first elements of the paths of
// new files.
func changesOf(before, after map[string]string) (changed, created []string) {
	for name, content := range after {
		if old, existed := before[name]; !existed {
			top, _, _ := strings.Cut(name, "/")
			created = append(created, top)
		} else if old != content {
			changed = append(changed, name)
		}
	}
	for name := range before {
		if _, exists := after[name]; !exists {
			changed = append(changed, name)
		}
	}
	slices.Sort(changed)
	slices.Sort(created)
	return changed, slices.Compact(created)
}
