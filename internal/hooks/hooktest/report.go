package hooktest

import (
	"strings"

	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks/testfile"
)

// Report is the outcome of a test in the JSON report of operon hooks test.
type Report struct {
	File     string             `json:"file"`
	Line     int                `json:"line"`
	Hook     string             `json:"hook,omitempty"`
	Module   string             `json:"module,omitempty"` // instead of a hook
	Name     string             `json:"name"`
	Passed   bool               `json:"passed"`
	Runs     int                `json:"runs"` // of the hook
	Failures []testfile.Failure `json:"failures"`
	Output   string             `json:"output"` // of the hook
}

// Reports returns outcomes in the form of the JSON report. The list is never nil.
func Reports(outcomes []Outcome) []Report {
	all := []Report{}
	for _, o := range outcomes {
		all = append(all, Report{File: o.Test.File.Path, Line: o.Test.Line, Hook: o.Test.File.Hook, Module: o.Test.File.Module, Name: o.Test.Name,
			Passed: o.Passed(), Runs: o.Runs, Failures: append([]testfile.Failure{}, o.Failures...), Output: o.Output})
	}
	return all
}

// Passed reports whether the test passed.
func (o Outcome) Passed() bool { return len(o.Failures) == 0 }

// Results returns outcomes in the form of text and JUnit reports.
func Results(outcomes []Outcome, paint finding.Paint) []testfile.Result {
	var all []testfile.Result
	for _, o := range outcomes {
		r := testfile.Result{
			File: o.Test.File.Path, Line: o.Test.Line, Subject: o.Test.File.subject(), Name: o.Test.Name,
			Failures: o.Failures, Output: o.Output,
		}
		for _, warning := range o.Warnings {
			r.Notes = append(r.Notes, warning.Text(paint))
		}
		if output := strings.TrimSpace(o.Output); output != "" {
			program := "hook"
			if o.Test.File.Module != "" {
				program = "script"
			}
			r.Notes = append(r.Notes, "output of the "+program+":\n"+output)
		}
		all = append(all, r)
	}
	return all
}
