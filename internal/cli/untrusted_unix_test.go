//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestUntrustedNames gives each flag and each argument that names a file a named pipe, whose name forges a message and colours it,
// in a project for Go code, for hooks and for charts. Each command must end, and print neither the colour nor the message. A new
// command is tested without further words.
func TestUntrustedNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe := filepath.Join(dir, "\x1b[31mpipe\nerror: forged")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	projects := []string{filepath.Join(dir, "none")}
	if err := os.Mkdir(projects[0], 0o700); err != nil {
		t.Fatal(err)
	}
	for _, layout := range []string{"go/v4,olm", "shell", "helm"} {
		projects = append(projects, scaffolded(t, dir, layout))
	}
	walk(newRoot(&command.App{Catalogue: catalogue()}), func(cmd *cobra.Command) {
		words := strings.Fields(cmd.CommandPath())[1:]
		if !cmd.Runnable() || len(words) == 0 || words[0] == "completion" || words[0] == "help" {
			return
		}
		calls := [][]string{append(words, pipe)}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Value.Type() != "bool" && namesFile(f) {
				calls = append(calls, append(append(append([]string{}, words...), needed[cmd.CommandPath()]...), "--"+f.Name+"="+pipe))
			}
		})
		for _, call := range calls {
			for _, project := range projects {
				t.Run(strings.Join(call[:len(words)], " ")+" "+filepath.Base(project), func(t *testing.T) {
					t.Parallel()
					code, out := runIn(t, project, call...)
					if strings.Contains(out, "\x1b") || len(regexp.MustCompile(`(?m)^error:`).FindAllString(out, -1)) > 1 {
						t.Errorf("operon %q: exit code %d:\n%s", call, code, out)
					}
				})
			}
		}
	})
}

// needed are arguments without which a command does not look at its flags.
var needed = map[string][]string{
	"operon init":            {"--domain=example.org"},
	"operon create api":      {"--group=ship", "--version=v1", "--kind=Frigate"},
	"operon bundle generate": {"--version=0.1.0", "--image=example.org/fleet:v1"},
	"operon bundle image":    {"--image=example.org/fleet-bundle:v1"},
	"operon catalog image":   {"--image=example.org/catalog:v1"},
	"operon catalog init":    {"fleet", "--default-channel=stable"},
}

// namesFile reports whether a flag names a file or a folder.
func namesFile(f *pflag.Flag) bool {
	placeholder, _ := pflag.UnquoteUsage(f)
	return regexp.MustCompile(`(?i)^(file|folder|path|dir|place|kubeconfig)`).MatchString(placeholder) || regexp.MustCompile(`file|folder|chart|config`).MatchString(f.Name)
}
