// Command adopt adopts public operators with bin/operon, tries what their teams would do next, and writes the
// results into docs/existing-projects.md. Columns that do not run keep their results. The columns are independent:
// each one starts with a new copy of the repository.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/operon-dev/operon/internal/bench/document"
	"github.com/operon-dev/operon/internal/testkit/operators"
)

const page = "docs/existing-projects.md"

// columns has the columns of the table after the module.
var columns = []struct {
	name string
	run  func(*trial) string
}{
	{"adopt", (*trial).adopt},
	{"again", (*trial).again},
	{"generate --check", (*trial).check},
	{"generate", (*trial).generate},
	{"new kind", (*trial).create},
	{"kustomize", (*trial).kustomize},
	{"second version", (*trial).secondVersion},
	{"manager", (*trial).manager},
	{"multigroup", (*trial).multigroup},
	{"vet", (*trial).vet},
	{"tests", (*trial).test},
}

func main() {
	if err := runFlags(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// runFlags runs what the command line asks for.
func runFlags() error {
	rows := flag.String("rows", "", "regular expression for the names of operators")
	only := flag.String("columns", "", "comma-separated columns to run (default: all)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	return run(ctx, regexp.MustCompile(*rows), strings.FieldsFunc(*only, func(r rune) bool { return r == ',' }))
}

func run(ctx context.Context, rows *regexp.Regexp, only []string) error {
	operon, err := filepath.Abs("bin/operon")
	if err != nil {
		return err
	}
	results, err := known()
	if err != nil {
		return err
	}
	for _, o := range operators.All {
		if !rows.MatchString(o.Name) {
			continue
		}
		cells := slices.Grow(results[o.Name], len(columns))[:len(columns)]
		for i, c := range columns {
			if len(only) > 0 && !slices.Contains(only, c.name) {
				continue
			}
			if cells[i], err = try(ctx, operon, o, c.run); err != nil {
				return err
			}
			fmt.Printf("%s: %s: %s\n", o.Name, c.name, cells[i])
		}
		results[o.Name] = cells
		if err := document.Insert(page, "corpus", table(results)); err != nil { // after each row: all take an hour
			return err
		}
	}
	return nil
}

// try runs a column in a new copy of an operator.
func try(ctx context.Context, operon string, o operators.Operator, column func(*trial) string) (string, error) {
	tmp, err := os.MkdirTemp("", "operon-corpus-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp) //nolint:errcheck // a temporary folder
	t := &trial{ctx: ctx, operon: operon, of: o, dir: filepath.Join(tmp, filepath.Base(o.Name))}
	if err := o.Copy(ctx, t.dir); err != nil {
		return "not available: " + firstLine(err.Error()), ctx.Err()
	}
	t.download()
	return column(t), ctx.Err()
}

// known returns the results in the page, by the name of the operator.
func known() (map[string][]string, error) {
	content, err := os.ReadFile(page)
	if err != nil {
		return nil, err
	}
	results := map[string][]string{}
	for line := range strings.Lines(string(content)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		for _, o := range operators.All {
			if len(cells) == len(columns)+1 && strings.HasPrefix(strings.TrimSpace(cells[0]), o.Name+" `") {
				for i := range cells {
					cells[i] = strings.TrimSpace(cells[i])
				}
				results[o.Name] = cells[1:]
			}
		}
	}
	return results, nil
}

// table prints the results.
func table(results map[string][]string) string {
	var b strings.Builder
	b.WriteString("| operator |")
	for _, c := range columns {
		b.WriteString(" " + c.name + " |")
	}
	b.WriteString("\n|" + strings.Repeat(" --- |", len(columns)+1) + "\n")
	for _, o := range operators.All {
		if len(results[o.Name]) == 0 {
			continue // no column ran yet
		}
		cells := slices.Grow(results[o.Name], len(columns))[:len(columns)]
		for i := range cells {
			if cells[i] == "" {
				cells[i] = "not run"
			}
		}
		_, version, _ := strings.Cut(o.Module, "@")
		fmt.Fprintf(&b, "| %s `%s` | %s |\n", o.Name, version, strings.Join(cells, " | "))
	}
	return b.String()
}

// trial is a copy of an operator in which commands run.
type trial struct {
	ctx    context.Context
	operon string
	of     operators.Operator
	dir    string
	env    []string // added to the environment of commands
}

// result is what a command did.
type result struct {
	stdout string
	failed string        // the first line of the error, for the table; empty: it succeeded
	cpu    time.Duration // of the command and its children
}

// download does what a developer does after cloning: it lets the go command write a go.sum that the repository does
// not keep, and download the modules. Without the network, the columns report what is missing.
func (t *trial) download() {
	if _, err := os.Stat(filepath.Join(t.dir, "go.sum")); os.IsNotExist(err) {
		t.exec("go", "mod", "tidy")
		t.exec("git", "add", "-A", "--force")
		t.exec("git", "-c", "user.name=me", "-c", "user.email=me@example.org", "commit", "-qm", "go.sum")
	}
	t.exec("go", "list", "-e", "-deps", "-test", "./...")
}

func (t *trial) exec(name string, args ...string) result {
	cmd := exec.CommandContext(t.ctx, name, args...)
	cmd.Dir = t.dir
	cmd.Env = append(os.Environ(), t.env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	r := result{stdout: string(out)}
	if cmd.ProcessState != nil {
		r.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	if err != nil {
		r.failed = firstLine(stderr.String() + "\n" + r.stdout + "\n" + err.Error())
	}
	return r
}

// firstLine returns the first error in a text, in the form of a cell.
func firstLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	line := lines[0]
	for _, l := range lines {
		if message, ok := strings.CutPrefix(l, "error: "); ok {
			line = message
			break
		}
	}
	line = strings.ReplaceAll(line, moduleCache()+string(filepath.Separator), "")
	if runes := []rune(line); len(runes) > 160 {
		line = string(runes[:160]) + "..."
	}
	return strings.NewReplacer("|", "\\|", "<", "&lt;").Replace(strings.TrimSpace(line))
}

// moduleCache returns the folder of the go command's module cache, which differs between machines.
var moduleCache = sync.OnceValue(func() string {
	out, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		return "GOMODCACHE"
	}
	return strings.TrimSpace(string(out))
})
