package hooktest

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/operon-dev/operon/internal/finding"
)

// Report is the outcome of a test in the JSON report of operon hooks test.
type Report struct {
	File     string          `json:"file"`
	Line     int             `json:"line"`
	Hook     string          `json:"hook,omitempty"`
	Module   string          `json:"module,omitempty"` // instead of a hook
	Name     string          `json:"name"`
	Passed   bool            `json:"passed"`
	Runs     int             `json:"runs"` // of the hook
	Failures []FailureReport `json:"failures"`
	Output   string          `json:"output"` // of the hook
}

// FailureReport is a failure in a Report.
type FailureReport struct {
	Line    int    `json:"line"`
	Message string `json:"message"`
}

// Reports returns outcomes in the form of the JSON report. The list is never nil.
func Reports(outcomes []Outcome) []Report {
	all := []Report{}
	for _, o := range outcomes {
		r := Report{File: o.Test.File.Path, Line: o.Test.Line, Hook: o.Test.File.Hook, Module: o.Test.File.Module, Name: o.Test.Name,
			Passed: o.Passed(), Runs: o.Runs, Failures: []FailureReport{}, Output: o.Output}
		for _, f := range o.Failures {
			r.Failures = append(r.Failures, FailureReport(f))
		}
		all = append(all, r)
	}
	return all
}

// Passed reports whether the test passed.
func (o Outcome) Passed() bool { return len(o.Failures) == 0 }

// WriteText writes the failures in each file, and one line for the file.
func WriteText(w io.Writer, files []*File, outcomes []Outcome, paint finding.Paint) error {
	var out strings.Builder
	for _, f := range files {
		tests, failed := 0, 0
		for _, o := range outcomes {
			if o.Test.File != f {
				continue
			}
			if tests++; !o.Passed() {
				failed++
				out.WriteString(o.text(paint))
			}
		}
		switch {
		case tests == 0: // no test of the file was selected
		case failed > 0:
			fmt.Fprintf(&out, "FAIL  %s  %d of %s failed\n", f.Path, failed, countTests(tests))
		default:
			fmt.Fprintf(&out, "ok    %s  %s\n", f.Path, countTests(tests))
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// WriteFailures writes why tests failed.
func WriteFailures(w io.Writer, outcomes []Outcome, paint finding.Paint) error {
	var out strings.Builder
	for _, o := range outcomes {
		if !o.Passed() {
			out.WriteString(o.text(paint))
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// text returns why the test failed.
func (o Outcome) text(paint finding.Paint) string {
	const indent = "        "
	var out strings.Builder
	file := o.Test.File
	fmt.Fprintf(&out, "--- FAIL: %s/%s\n", file.Subject(), o.Test.Name)
	for _, failure := range o.Failures {
		fmt.Fprintf(&out, "    %s:%d: %s\n", file.Path, failure.Line, indentRest(failure.Message, indent))
	}
	for _, warning := range o.Warnings {
		fmt.Fprintf(&out, "    %s\n", warning.Text(paint))
	}
	if output := strings.TrimSpace(o.Output); output != "" {
		program := "hook"
		if file.Module != "" {
			program = "script"
		}
		fmt.Fprintf(&out, "    output of the %s:\n%s%s\n", program, indent, indentRest(output, indent))
	}
	return out.String()
}

func countTests(n int) string {
	if n == 1 {
		return "1 test"
	}
	return fmt.Sprintf("%d tests", n)
}

// indentRest puts indent before all lines but the first.
func indentRest(text, indent string) string {
	return strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+indent)
}

// These types are the part of the JUnit XML format that CI systems read, with one suite
// for each test file.
type (
	junitReport struct {
		XMLName xml.Name      `xml:"testsuites"`
		Suites  []*junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		File    string        `xml:"file,attr"`
		Line    int           `xml:"line,attr"`
		Failure *junitFailure `xml:"failure,omitempty"`
		Output  string        `xml:"system-out,omitempty"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// JUnit returns the outcomes as a JUnit XML report.
func JUnit(outcomes []Outcome) ([]byte, error) {
	var report junitReport
	for _, o := range outcomes {
		f := o.Test.File
		if len(report.Suites) == 0 || report.Suites[len(report.Suites)-1].Name != f.Path {
			report.Suites = append(report.Suites, &junitSuite{Name: f.Path})
		}
		suite := report.Suites[len(report.Suites)-1]
		c := junitCase{Class: f.Subject(), Name: o.Test.Name, File: f.Path, Line: o.Test.Line, Output: o.Output}
		suite.Tests++
		if !o.Passed() {
			suite.Failures++
			first, _, _ := strings.Cut(o.Failures[0].Message, "\n")
			c.Failure = &junitFailure{Message: first}
			for _, failure := range o.Failures {
				c.Failure.Text += fmt.Sprintf("%s:%d: %s\n", f.Path, failure.Line, failure.Message)
			}
		}
		suite.Cases = append(suite.Cases, c)
	}
	content, err := xml.MarshalIndent(report, "", "  ")
	if err != nil {
		return nil, err
	}
	return append([]byte(xml.Header), append(content, '\n')...), nil
}
