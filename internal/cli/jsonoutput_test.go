package cli

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/spf13/cobra"
)

// TestJSONOutput calls each command that has --output json in projects of each kind, as it is and with an argument that does
// not exist. stdout has one document or nothing, and a document if the command succeeds. A new command is tested without
// further words.
func TestJSONOutput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	projects := []string{filepath.Join(dir, "none")}
	if err := os.Mkdir(projects[0], 0o700); err != nil {
		t.Fatal(err)
	}
	for _, layout := range []string{"go/v4,olm", "shell", "helm,olm"} {
		projects = append(projects, scaffolded(t, dir, layout))
	}
	walk(newRoot(&command.App{Catalogue: catalogue()}), func(cmd *cobra.Command) {
		flag := cmd.Flags().Lookup("output")
		if !cmd.Runnable() || flag == nil || !strings.Contains(flag.Usage, command.FormatJSON) {
			return
		}
		words := strings.Fields(cmd.CommandPath())[1:]
		output := []string{"--output", command.FormatJSON}
		for _, call := range [][]string{slices.Concat(words, output), slices.Concat(words, output, []string{"does-not-exist"})} {
			for _, project := range projects {
				t.Run(strings.Join(call, " ")+" "+filepath.Base(project), func(t *testing.T) {
					t.Parallel()
					code, stdout, stderr := streamsIn(t, project, call...)
					dec := json.NewDecoder(strings.NewReader(stdout))
					var document any
					err := dec.Decode(&document)
					if stdout == "" && code != 0 {
						if !strings.HasPrefix(stderr, "error: ") && !strings.Contains(stderr, "\nerror: ") {
							t.Errorf("operon %q: exit code %d without an error:\n%s", call, code, stderr)
						}
						return
					}
					if err != nil {
						t.Errorf("operon %q: exit code %d: stdout is no JSON: %v\n%s", call, code, err, stdout)
					} else if err := dec.Decode(&document); err != io.EOF {
						t.Errorf("operon %q: more than one document:\n%s", call, stdout)
					}
				})
			}
		}
	})
}
