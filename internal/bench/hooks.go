//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// manyHooks is more hooks than operators have.
const manyHooks = 200

// hookOperators are the scenarios of operators that consist of hooks and their tests.
var hookOperators = []string{"secret-copier", "configmap-reloader", "mysql-database", "node-ping"}

// hooks measures commands that no other tool has. It compares the validation of many hooks
// with the time that the hooks take to print their configurations, and measures the tests
// of hook operators.
func (b *bencher) hooks(text *strings.Builder) error {
	if !b.rows.MatchString("hooks/") {
		return nil
	}
	many, err := b.project("many", fmt.Sprintf("operon init --plugins shell\nfor i in $(seq %d); do operon create hook hook-$i --on kubernetes:ConfigMap; done", manyHooks))
	if err != nil {
		return err
	}
	validate := program{many, nil, []string{b.operon, "hooks", "validate"}}
	alone := program{many, nil, []string{"bash", "-c", `printf '%s\n' hooks/*.sh | xargs -P 8 -I{} env {} --config >/dev/null`}}
	state := filepath.Join(b.temp, "state")
	if err := os.Setenv("XDG_STATE_HOME", state); err != nil { // without the control planes of the user
		return err
	}
	if _, err := (program{b.temp, nil, []string{b.operon, "envtest", "start", "--detach"}}).measure(); err != nil {
		return err
	}
	defer func() { _, _ = program{b.temp, nil, []string{b.operon, "envtest", "stop"}}.measure() }()
	var tests []program
	for _, name := range hookOperators {
		dir, err := b.hookOperator(name)
		if err != nil {
			return err
		}
		tests = append(tests, program{dir, nil, []string{b.operon, "hooks", "test"}})
	}
	validated, tested := &row{}, make([][]usage, len(tests))
	for round := range b.rounds {
		fmt.Fprintf(os.Stderr, "hooks: round %d of %d\n", round+1, b.rounds)
		if err := validated.add(validate, alone); err != nil {
			return err
		}
		for i, test := range tests {
			u, err := test.measure()
			if err != nil {
				return err
			}
			tested[i] = append(tested[i], u)
		}
	}
	fmt.Fprintf(text, "### Hooks\n\n`operon hooks validate` takes %s ms for %d hooks in bash; the hooks alone, eight at a time, take %s ms to print their configurations.\n\n",
		digits(median(validated.ours, wall)), manyHooks, digits(median(validated.theirs, wall)))
	text.WriteString("| `operon hooks test` beside a control plane | ms | CPU ms |\n| --- | ---: | ---: |\n")
	for i, name := range hookOperators {
		fmt.Fprintf(text, "| %s | %s | %s |\n", name, digits(median(tested[i], wall)), digits(median(tested[i], cpu)))
	}
	text.WriteString("\n")
	return nil
}

// hookOperator runs the commands of a scenario without its tests.
func (b *bencher) hookOperator(name string) (dir string, err error) {
	scenario, err := filepath.Abs(filepath.Join("testdata/scenarios", name))
	if err != nil {
		return "", err
	}
	commands, err := os.ReadFile(filepath.Join(scenario, "commands"))
	if err != nil {
		return "", err
	}
	script := strings.NewReplacer("\nEDIT\n", "\ncp -R '"+scenario+"/edits/.' .\n", "\nmake test\n", "\n").Replace(string(commands))
	return b.project(name, script)
}

// project returns a new folder in which a script has run, with operon in PATH.
func (b *bencher) project(name, script string) (dir string, err error) {
	dir = filepath.Join(b.temp, "hooks", name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	path := "PATH=" + filepath.Dir(b.operon) + string(os.PathListSeparator) + os.Getenv("PATH")
	_, err = program{dir, []string{path}, []string{"bash", "-ec", script}}.measure()
	return dir, err
}
