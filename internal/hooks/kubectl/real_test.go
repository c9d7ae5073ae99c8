//go:build testall

package kubectl

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/testkit/peertest"
	"github.com/operon-dev/operon/internal/testkit/servertest"
)

// TestLikeKubectl compares each call in the recorded sessions with the output of the real
// kubectl on an API server.
func TestLikeKubectl(t *testing.T) {
	t.Parallel()
	sessions := map[string]string{}
	for _, name := range ordered {
		text, err := os.ReadFile("testdata/" + name + ".session")
		if err != nil {
			t.Fatal(err)
		}
		sessions[name] = string(text)
	}
	from := append(append(peertest.Sources(t), readFiles(t)...), servertest.Key(t))
	for _, name := range ordered {
		from = append(from, sessions[name])
	}
	outputs := peertest.Cached(t, from, func() (map[string]string, bool) { return replayAll(t, sessions), true })
	for _, name := range ordered {
		want, got := calls(outputs[name]), calls(sessions[name])
		if len(want) != len(got) {
			t.Fatalf("%s: got %d calls, recorded %d", name, len(want), len(got))
		}
		for i := range want {
			if strings.Contains(got[i], "hook tests") || differs.MatchString(got[i]) {
				continue
			}
			if diff := cmp.Diff(masked(want[i]), masked(got[i])); diff != "" {
				t.Errorf("%s (-kubectl +recorded):\n%s", name, diff)
			}
		}
	}
}

// ordered are the sessions in the order of their replay: a session finds the kinds that an
// earlier one created.
var ordered = []string{"get", "crd", "apply", "write"}

// readFiles returns the names and contents of the other files, which the calls read.
func readFiles(t *testing.T) (files []string) {
	t.Helper()
	err := filepath.WalkDir("testdata", func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) == ".session" {
			return err
		}
		content, err := os.ReadFile(name)
		files = append(files, name, string(content))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// replayAll replays the sessions with the real kubectl, on an API server.
func replayAll(t *testing.T, sessions map[string]string) map[string]string {
	t.Helper()
	server := servertest.Start(t)
	file := filepath.Join(t.TempDir(), "config")
	content := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: t, contexts: [{name: t, context: {cluster: t, user: t}}],
clusters: [{name: t, cluster: {server: %q, insecure-skip-tls-verify: true}}], users: [{name: t, user: {token: %s}}]}`, server.URL, servertest.Token)
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	outputs := map[string]string{}
	for _, name := range ordered {
		clean(t, file)
		outputs[name] = replay(t, sessions[name], realKubectl(t, file))
	}
	return outputs
}

// clean deletes the objects that an earlier session left in the shared namespaces.
func clean(t *testing.T, config string) {
	t.Helper()
	kubectl := realKubectl(t, config)
	for _, what := range []string{"configmap", "secret", "serviceaccount", "deployment"} {
		if _, stderr, exit := kubectl([]string{"delete", what, "--all"}, ""); exit != 0 {
			t.Fatal(stderr)
		}
	}
}

// realKubectl returns the kubectl that belongs to the API server.
func realKubectl(t *testing.T, config string) answerer {
	return func(args []string, stdin string) (string, string, int) {
		if slices.Contains(args, "-w") { // it would not end
			return "", "", 0
		}
		cmd := exec.CommandContext(t.Context(), servertest.Program(t, "kubectl"), append([]string{"--kubeconfig", config}, args...)...)
		cmd.Dir = "testdata"
		cmd.Stdin = strings.NewReader(stdin)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err := cmd.Run()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
	}
}

// calls returns the calls of a session, each with its output.
func calls(session string) []string {
	var all []string
	for line := range strings.Lines(session) {
		if strings.HasPrefix(line, "$ ") {
			all = append(all, "")
		}
		if len(all) > 0 && !strings.HasPrefix(line, "#") {
			all[len(all)-1] += line
		}
	}
	return all
}

// masks match the parts of outputs that depend on the server or on the time.
var masks = []struct {
	what *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "UID"},
	{regexp.MustCompile(`20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ`), "TIME"},
	{regexp.MustCompile(`"?resourceVersion"?: "\d+"`), "VERSION"},
	{regexp.MustCompile(` y \d+\n`), " y VERSION\n"},
	{regexp.MustCompile(`(?m)(\s)\d+[smh](\s|$)`), "${1}AGE$2"},
	{regexp.MustCompile(` +`), " "},
	{regexp.MustCompile(`(?m) +$`), ""},
}

func masked(call string) string {
	for _, m := range masks {
		call = m.what.ReplaceAllString(call, m.with)
	}
	return call
}

// differs matches calls whose outputs necessarily differ: in fields that only a real server
// sets, in versions, or in the environment of the test.
var differs = regexp.MustCompile(`^\$ (get svc|version|config current-context|get deploy/web -o yaml)`)
