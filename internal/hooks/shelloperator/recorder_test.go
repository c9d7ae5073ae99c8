//go:build unix

package shelloperator

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/hooks/cluster"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/operon-dev/operon/internal/hooks/output"
)

// TestRequestsFor has the requests of docs/patch-operations.md.
func TestRequestsFor(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ operation, kind, subresource, want string }{
		{"Create", "Pod", "/status", "create pods in namespace web"},
		{"CreateIfNotExists", "Pod", "", "create pods in namespace web"},
		{"CreateOrUpdate", "Pod", "", `create pods in namespace web, get pods "a" in namespace web, update pods "a" in namespace web`},
		{"Delete", "Pod", "", `delete pods "a" in namespace web, get pods "a" in namespace web`},
		{"DeleteInBackground", "Pod", "", `delete pods "a" in namespace web`},
		{"DeleteNonCascading", "Pod", "", `delete pods "a" in namespace web`},
		{"JQPatch", "Pod", "/status", `get pods "a" in namespace web, update pods/status "a" in namespace web`},
		{"MergePatch", "Pod", "status", `patch pods/status "a" in namespace web`},
		{"JSONPatch", "Node", "", `patch nodes "a"`},
		{"unknown", "Pod", "", ""},
	} {
		k, err := kubeapi.Builtin().Find("", tc.kind)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range requestsFor(output.Operation{Operation: tc.operation, Namespace: "web", Name: "a", Subresource: tc.subresource}, k) {
			got = append(got, r.String())
		}
		if s := strings.Join(got, ", "); s != tc.want {
			t.Errorf("%s %s: %s, want %s", tc.operation, tc.kind, s, tc.want)
		}
	}
}

// TestScripts runs hooks through the scripts of a recorder, in folders with odd names.
func TestScripts(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "it's $HOME")
	for name, content := range map[string]string{
		"kubeconfig": "{contexts: [{name: a, context: {cluster: a}}], current-context: a, clusters: [{name: a, cluster: {server: 'https://127.0.0.1:1'}}]}",
		"hooks/a b/hook.sh": `#!/bin/sh
echo "$0 $* in $PWD of $SHELL_OPERATOR_HOOKS_DIR"
[ "$1" = --config ] || echo "$2" >"$KUBERNETES_PATCH_PATH"
exit $1
`,
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	c, err := cluster.Open(cluster.ClientOptions{Kubeconfig: filepath.Join(dir, "kubeconfig")}, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	home, err := c.NewKubeconfigDir()
	if err != nil {
		t.Fatal(err)
	}
	defer home.Remove()
	hooks := filepath.Join(dir, "hooks")
	r, err := NewRecorder(c, home, hooks)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var scripts string
	for range 2 { // shell-operator restarts
		if scripts, err = r.writeScripts(); err != nil {
			t.Fatal(err)
		}
	}
	patch := filepath.Join(dir, "patch")
	run := func(env string, args ...string) string {
		if err := os.WriteFile(patch, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), filepath.Join(scripts, "a b", "hook.sh"), args...)
		cmd.Env = append(os.Environ(), env)
		out, err := cmd.CombinedOutput()
		if err != nil {
			out = append(out, err.Error()...)
		}
		return string(out)
	}
	shown := hooks + "/a b/hook.sh "
	for _, tc := range []struct{ got, want string }{
		{run("KUBERNETES_PATCH_PATH="+patch, "0", "kept"), shown + "0 kept in " + hooks + "/a b of " + hooks + "\n"},
		{run("KUBERNETES_PATCH_PATH="+patch, "3", "lost"), shown + "3 lost in " + hooks + "/a b of " + hooks + "\nexit status 3"},
		{run("PATCH=", "--config"), shown + "--config in " + hooks + " of " + hooks + "\n"},
	} {
		if !strings.HasPrefix(tc.got, tc.want) {
			t.Errorf("got  %s\nwant %s", tc.got, tc.want)
		}
	}
	var kept []string
	for _, own := range r.all {
		files, err := filepath.Glob(filepath.Join(own.patches, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			kept = append(kept, own.hook+": "+string(text))
		}
	}
	if diff := cmp.Diff([]string{"a b/hook.sh: kept\n"}, kept); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
}
