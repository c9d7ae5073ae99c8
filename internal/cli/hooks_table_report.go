package cli

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/hooktest"
)

// hookTests is the report of `operon hooks test --output json`.
type hookTests struct {
	APIVersion string     `json:"apiVersion"`
	Kind       string     `json:"kind"`
	Tests      []hookTest `json:"tests"`
}

type hookTest struct {
	File     string            `json:"file"`
	Line     int               `json:"line"`
	Hook     string            `json:"hook,omitempty"`
	Module   string            `json:"module,omitempty"` // instead of a hook
	Name     string            `json:"name"`
	Passed   bool              `json:"passed"`
	Runs     int               `json:"runs"` // of the hook
	Failures []hookTestFailure `json:"failures"`
	Output   string            `json:"output"` // of the hook
}

type hookTestFailure struct {
	Line    int    `json:"line"`
	Message string `json:"message"`
}

// printOutcomes prints failures and a line for each file. Failures are an error.
func printOutcomes(a *command.App, output string, files []*hooktest.File, outcomes []hooktest.Outcome) error {
	failed := 0
	for _, o := range outcomes {
		if len(o.Failures) > 0 {
			failed++
		}
	}
	var err error
	if output == "json" {
		err = command.PrintJSON(a.Out, testReport(outcomes))
	} else {
		err = printTests(a, files, outcomes)
	}
	if err != nil {
		return err
	}
	if failed > 0 {
		return fault.Failed("", "%d of %s failed", failed, command.Plural(len(outcomes), "test"))
	}
	return nil
}

func printTests(a *command.App, files []*hooktest.File, outcomes []hooktest.Outcome) error {
	var out strings.Builder
	for _, f := range files {
		tests, failed := 0, 0
		for _, o := range outcomes {
			if o.Test.File != f {
				continue
			}
			if tests++; len(o.Failures) == 0 {
				continue
			}
			failed++
			fmt.Fprintf(&out, "--- FAIL: %s/%s\n", f.Subject(), o.Test.Name)
			for _, failure := range o.Failures {
				fmt.Fprintf(&out, "    %s:%d: %s\n", f.Path, failure.Line, indented(failure.Message, "        "))
			}
			for _, m := range o.Warnings {
				fmt.Fprintf(&out, "    %s\n", m.Text(command.Painter(a.Out, a.Getenv)))
			}
			if said := strings.TrimSpace(o.Output); said != "" {
				who := "hook"
				if f.Module != "" {
					who = "script"
				}
				fmt.Fprintf(&out, "    the %s said:\n        %s\n", who, indented(said, "        "))
			}
		}
		switch {
		case tests == 0: // --run leaves them out
		case failed > 0:
			fmt.Fprintf(&out, "FAIL  %s  %d of %s failed\n", f.Path, failed, command.Plural(tests, "test"))
		default:
			fmt.Fprintf(&out, "ok    %s  %s\n", f.Path, command.Plural(tests, "test"))
		}
	}
	_, err := io.WriteString(a.Out, out.String())
	return err
}

func indented(text, by string) string {
	return strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+by)
}

func testReport(outcomes []hooktest.Outcome) hookTests {
	r := hookTests{APIVersion: "operon.dev/v1", Kind: "HookTests", Tests: []hookTest{}}
	for _, o := range outcomes {
		t := hookTest{File: o.Test.File.Path, Line: o.Test.Line, Hook: o.Test.File.Hook, Module: o.Test.File.Module, Name: o.Test.Name,
			Passed: len(o.Failures) == 0, Runs: o.Runs, Failures: []hookTestFailure{}, Output: o.Output}
		for _, f := range o.Failures {
			t.Failures = append(t.Failures, hookTestFailure{f.Line, f.Message})
		}
		r.Tests = append(r.Tests, t)
	}
	return r
}

// junitSuites is a report as CI systems read it: a suite for each file.
type junitSuites struct {
	XMLName xml.Name      `xml:"testsuites"`
	Suites  []*junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	File    string        `xml:"file,attr"`
	Line    int           `xml:"line,attr"`
	Failure *junitFailure `xml:"failure,omitempty"`
	Output  string        `xml:"system-out,omitempty"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

func writeJUnit(path string, outcomes []hooktest.Outcome) error {
	var all junitSuites
	for _, o := range outcomes {
		f := o.Test.File
		if len(all.Suites) == 0 || all.Suites[len(all.Suites)-1].Name != f.Path {
			all.Suites = append(all.Suites, &junitSuite{Name: f.Path})
		}
		suite := all.Suites[len(all.Suites)-1]
		c := junitCase{Class: f.Subject(), Name: o.Test.Name, File: f.Path, Line: o.Test.Line, Output: o.Output}
		suite.Tests++
		if len(o.Failures) > 0 {
			suite.Failures++
			first, _, _ := strings.Cut(o.Failures[0].Message, "\n")
			c.Failure = &junitFailure{Message: first}
			for _, failure := range o.Failures {
				c.Failure.Text += fmt.Sprintf("%s:%d: %s\n", f.Path, failure.Line, failure.Message)
			}
		}
		suite.Cases = append(suite.Cases, c)
	}
	content, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append([]byte(xml.Header), append(content, '\n')...), 0o644)
}

// updateTests writes into files of tests what is the case, and reports whether there
// was anything to write. Nothing is written when one of them cannot be updated.
func updateTests(a *command.App, files []*hooktest.File, outcomes []hooktest.Outcome) (wrote bool, err error) {
	var all []*rewritten
	defer func() {
		for _, r := range all {
			_ = os.Remove(r.staged) // what was not put in its place
		}
	}()
	for _, f := range files {
		path := inDir(a, f.Path)
		before, err := os.ReadFile(path)
		if err != nil {
			return false, fault.Failed("", "%v", err)
		}
		u, err := f.Update(before, outcomes)
		if err != nil {
			return false, err
		}
		if bytes.Equal(before, u.Text) {
			continue
		}
		r := &rewritten{shown: f.Path, Updated: u}
		all = append(all, r)
		if err := r.stage(path); err != nil {
			return false, fault.Failed("", "%v", err)
		}
	}
	for _, r := range all {
		if err := os.Rename(r.staged, r.path); err != nil {
			return true, fault.Failed("", "%v", err)
		}
		a.Notef("%s: %s updated", r.shown, command.Plural(r.Changed, "value"))
		for _, test := range r.Failing {
			a.Notef("%s %s: the test %q expects a failure now: keep that only if the hook is to fail", command.Painter(a.Err, a.Getenv)(command.Yellow, "warning:"), r.shown, test)
		}
	}
	return len(all) > 0, nil
}

// rewritten is a file of the user's with another content, which stands beside it until
// that of all is written: a full disk must not leave a part of one.
type rewritten struct {
	hooktest.Updated
	path, staged string
	shown        string
}

// stage writes the text, with the mode of the file. A link stays one.
func (r *rewritten) stage(path string) (err error) {
	if r.path, err = filepath.EvalSymlinks(path); err != nil {
		return err
	}
	info, err := os.Stat(r.path)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(r.path), ".operon-*")
	if err != nil {
		return err
	}
	r.staged = f.Name()
	_, err = f.Write(r.Text)
	return errors.Join(err, f.Chmod(info.Mode()), f.Close())
}
