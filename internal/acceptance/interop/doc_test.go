//go:build unix

package interop

import (
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/kballard/go-shellquote"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/testkit/answers"
	"github.com/operon-dev/operon/internal/testkit/manifesttest"
	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/peertest"
	"github.com/operon-dev/operon/internal/testkit/repository"
	"github.com/operon-dev/operon/internal/testkit/treetest"
)

// The pages with tables of another program's commands.
const (
	kubebuilderDoc = "kubebuilder.md"
	sdkDoc         = "operator-sdk.md"
)

// docTable returns the cells of the table after the comment with a name, row by row, without
// the header.
func docTable(t *testing.T, page, name string) [][]string {
	t.Helper()
	_, rest, _ := strings.Cut(treetest.ReadFile(t, repository.Path("docs", page)), "<!-- "+name+" -->")
	table, _, ok := strings.Cut(rest, "<!-- end -->")
	if !ok {
		t.Fatalf("%s has no table %s", page, name)
	}
	var rows [][]string
	for line := range strings.Lines(table) {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		var cells []string
		for cell := range strings.SplitSeq(strings.Trim(strings.TrimSpace(line), "|"), "|") {
			cells = append(cells, strings.TrimSpace(cell))
		}
		cells[0] = strings.Trim(cells[0], "`")
		rows = append(rows, cells)
	}
	return rows
}

// compareRows reports rows that are missing, and rows for things that do not exist.
func compareRows(t *testing.T, rows [][]string, want map[string]bool) {
	t.Helper()
	var have []string
	for _, cells := range rows {
		have = append(have, cells[0])
	}
	slices.Sort(have)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), have); diff != "" {
		t.Errorf("the table differs from what the program has (-program +doc):\n%s", diff)
	}
}

// TestKubebuilderFlags compares the table of commands and flags with kubebuilder's.
func TestKubebuilderFlags(t *testing.T) {
	t.Parallel()
	want := map[string]bool{"init --plugins": true} // kubebuilder lists it as a flag of all commands
	for _, flag := range answers.Ask(t, "kubebuilder flags", peertest.Recorded(t, "kubebuilder", peertest.Question{}), func() []string { return peerFlags(t) }) {
		want[flag] = true
	}
	compareRows(t, docTable(t, kubebuilderDoc, "flags"), want)
}

// peerFlags returns the commands of kubebuilder, and their flags, from its help texts.
func peerFlags(t *testing.T) (all []string) {
	t.Helper()
	var visit func(command []string)
	visit = func(command []string) {
		help := peerHelp(t, command...)
		own, _, _ := strings.Cut(help, "\nGlobal Flags:")
		if _, list, group := strings.Cut(own, "\nAvailable Commands:\n"); group {
			for _, m := range peerCommand.FindAllStringSubmatch(list, -1) {
				visit(append(slices.Clone(command), m[1]))
			}
		} else {
			all = append(all, strings.Join(command, " "))
		}
		variants := []string{own}
		if slices.Contains([]string{"init", "create api", "create webhook", "edit"}, strings.Join(command, " ")) {
			for _, m := range peerPlugin.FindAllStringSubmatch(peerHelp(t), -1) {
				help, _, _ := strings.Cut(peerHelp(t, append(slices.Clone(command), "--plugins", m[1])...), "\nGlobal Flags:")
				variants = append(variants, help)
			}
		}
		for _, text := range variants {
			_, flags, _ := strings.Cut(text, "\nFlags:\n")
			for _, m := range peerFlag.FindAllStringSubmatch(flags, -1) {
				if m[1] != "--help" || len(command) == 0 {
					all = append(all, strings.Join(append(slices.Clone(command), m[1]), " "))
				}
			}
		}
	}
	visit(nil)
	slices.Sort(all)
	return slices.Compact(all)
}

var (
	peerCommand = regexp.MustCompile(`(?m)^  ([a-z]+) `)
	peerPlugin  = regexp.MustCompile(`(?m)^  (\S+/v\d\S*) `)
	peerFlag    = regexp.MustCompile(`(?m)^ +(?:-[a-z], )?(--[a-z0-9-]+)`)
)

// peerHelp returns the help of kubebuilder without external plugins.
func peerHelp(t *testing.T, command ...string) string {
	t.Helper()
	a := peertest.Find(t, "kubebuilder").Run(t, peertest.Question{Args: append(slices.Clone(command), "--help"), Env: []string{"EXTERNAL_PLUGINS_PATH=."}})
	if a.Code != 0 {
		t.Fatalf("kubebuilder %v --help: exit code %d\n%s", command, a.Code, a.Stderr)
	}
	return a.Stdout
}

// TestKubebuilderTry runs the command lines in the last column: supported ones must work, and
// others must fail with a hint.
func TestKubebuilderTry(t *testing.T) {
	t.Parallel()
	fleet := newFleet(t, "init --domain example.org --repo example.org/fleet")
	for _, cells := range docTable(t, kubebuilderDoc, "flags") {
		t.Run(cells[0], func(t *testing.T) {
			t.Parallel()
			runTry(t, fleet, cells)
		})
	}
}

// newFleet returns a project with two kinds in three versions. more commands follow.
func newFleet(t *testing.T, init string, more ...string) string {
	t.Helper()
	fleet := filepath.Join(t.TempDir(), "fleet")
	treetest.MakeDir(t, fleet)
	for _, line := range append([]string{
		init,
		"create api --group ship --version v1 --kind Frigate",
		"create api --group ship --version v1 --kind Sloop --make=false",
		"create api --group ship --version v2 --kind Frigate --controller=false",
	}, more...) {
		operontest.Run(t, fleet, strings.Fields(line)...)
	}
	return fleet
}

// runTry runs the command line in the last column of a row: in an empty folder if it is init,
// and otherwise in a copy of the project.
func runTry(t *testing.T, fleet string, cells []string) {
	t.Helper()
	row, status, line := cells[0], cells[1], strings.Trim(cells[len(cells)-1], "`")
	words, err := shellquote.Split(line)
	if err != nil || len(cells) != 4 {
		t.Fatalf("%v in %q", err, cells)
	}
	checkTry(t, row, cells[2], words)
	dir := filepath.Join(t.TempDir(), "fleet")
	treetest.MakeDir(t, dir)
	treetest.WriteFile(t, filepath.Join(filepath.Dir(dir), "galley/Chart.yaml"), galleyChart)
	if i := slices.Index(words, "https://charts.example.org"); i >= 0 {
		words[i] = chartRepository(t)
	}
	switch {
	case words[1] == "init":
	case slices.Contains(words, "--helm-chart"):
		operontest.Run(t, dir, "init", "--plugins", "helm", "--domain", "example.org")
	default:
		if err := os.CopyFS(dir, os.DirFS(fleet)); err != nil {
			t.Fatal(err)
		}
	}
	treetest.WriteFile(t, filepath.Join(filepath.Dir(dir), "header.txt"), "/*\nOurs.\n*/\n")
	treetest.WriteFile(t, filepath.Join(filepath.Dir(dir), "packagemanifests/fleet.package.yaml"), "packageName: fleet\nchannels:\n- {name: alpha, currentCSV: fleet.v0.1.0}\n")
	treetest.WriteFile(t, filepath.Join(filepath.Dir(dir), "packagemanifests/0.1.0/csv.yaml"),
		"kind: ClusterServiceVersion\nmetadata: {name: fleet.v0.1.0}\nspec: {version: 0.1.0, install: {strategy: deployment, spec: {deployments: []}}}\n")
	treetest.WriteFile(t, filepath.Join(filepath.Dir(dir), "other/PROJECT"), "version: \"3\"\nlayout: [go.kubebuilder.io/v4]\nprojectName: other\nrepo: example.org/other\n")
	treetest.WriteFile(t, filepath.Join(dir, "custom.yaml"), "stages: [{tests: [{image: example.org/own-tests}]}]\n")
	treetest.WriteFile(t, filepath.Join(dir, "validator.sh"), "#!/bin/sh\necho '{}'\n")
	if err := os.Chmod(filepath.Join(dir, "validator.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	treetest.WriteFile(t, filepath.Join(dir, "kubeconfig.yaml"), "apiVersion: v1\nkind: Config\n")
	if words[0] != "operon" {
		t.Fatalf("%q is no command of operon", line)
	}
	var stderr strings.Builder
	code := operontest.Do(dir, operontest.Environ("KUBECONFIG="+filepath.Join(dir, "no-kubeconfig")), io.Discard, &stderr, words[1:]...)
	switch status {
	case "same", "better":
		if code != fault.CodeOK && !strings.HasPrefix(stderr.String(), "error: no cluster: ") {
			t.Errorf("%s: exit code %d\n%s", line, code, stderr.String())
		}
	case "later", "refused":
		if code != fault.CodeUsage || !strings.Contains(stderr.String(), "\nhint: ") {
			t.Errorf("%s: exit code %d, want %d and a hint\n%s", line, code, fault.CodeUsage, stderr.String())
		}
	default:
		t.Errorf("unknown status %q", status)
	}
}

// otherName matches a note about a command with another name.
var otherName = regexp.MustCompile("^as `([a-z -]+?)( --[a-z-]+)?`")

// checkTry checks that a command line has the command and the flag of its row, or the command
// that the note starts with.
func checkTry(t *testing.T, row, note string, words []string) {
	t.Helper()
	if m := otherName.FindStringSubmatch(note); m != nil {
		_, flag, _ := strings.Cut(row, "--")
		if row = m[1] + m[2]; flag != "" {
			row += " --" + flag
		}
	}
	command, flag, _ := strings.Cut(row, "--")
	if !strings.HasPrefix(strings.Join(words, " ")+" ", "operon "+command) {
		t.Errorf("%q does not try %s", words, row)
	}
	if flag != "" && !slices.ContainsFunc(words, func(w string) bool { return w == "--"+flag || strings.HasPrefix(w, "--"+flag+"=") }) {
		t.Errorf("%q does not try --%s", words, flag)
	}
}

// TestKubebuilderKeys compares the table of keys in PROJECT with a file that has all of them.
func TestKubebuilderKeys(t *testing.T) {
	t.Parallel()
	want := map[string]bool{"resources.plural": true} // the file has regular plurals only
	var visit func(prefix string, v any)
	visit = func(prefix string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, item := range v {
				want[prefix+key] = true
				if key != "plugins" { // the keys below belong to the plugins
					visit(prefix+key+".", item)
				}
			}
		case []any:
			for _, item := range v {
				visit(prefix, item)
			}
		}
	}
	visit("", manifesttest.ReadYAML(t, repository.Path("internal", "project", "testdata", "full.yaml")))
	compareRows(t, docTable(t, kubebuilderDoc, "keys"), want)
}
