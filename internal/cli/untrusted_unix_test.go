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

// TestUntrustedNames gives each argument and each flag a named pipe, whose name forges a message and colours it: those that name a
// file in a project for Go code, for hooks and for charts, the others in the first. Each command must end, print neither the colour
// nor the message, and give a hint with an error. A new command is tested without further words.
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
		calls, places := [][]string{append(words, pipe)}, [][]string{projects}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !strings.HasPrefix(f.Value.Type(), "bool") {
				calls = append(calls, append(append(append([]string{}, words...), needed[cmd.CommandPath()]...), "--"+f.Name+"="+pipe))
				if places = append(places, projects[1:2]); namesFile(f) {
					places[len(places)-1] = projects
				}
			}
		})
		for i, call := range calls {
			for _, project := range places[i] {
				t.Run(strings.Join(call[:len(words)], " ")+" "+filepath.Base(project), func(t *testing.T) {
					t.Parallel()
					code, out := runIn(t, project, call...)
					if code != 0 && !strings.Contains(out, "hint:") || strings.Contains(out, "deadline exceeded") {
						t.Errorf("operon %q: exit code %d, no hint, or no end:\n%s", call, code, out)
					}
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
	placeholder, usage := pflag.UnquoteUsage(f)
	return regexp.MustCompile(`(?i)\b(file|folder|path|dir|place|kubeconfig|layout|tarball|program)s?\b`).MatchString(placeholder+" "+usage) ||
		regexp.MustCompile(`file|folder|dir|chart|config`).MatchString(f.Name)
}
