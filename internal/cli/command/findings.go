package command

import (
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/term"
	"github.com/spf13/cobra"
)

// The formats of validators, besides the formats that every report has.
const (
	FormatSARIF = "sarif" // for code scanners
	FormatJUnit = "junit" // for CI systems
)

var findingsFormats = []string{FormatSARIF, FormatJUnit, FormatGitHub}

// Findings is the result of a validator, to be printed.
type Findings struct {
	Rules    []finding.Rule
	Findings []finding.Finding
	JSON     any    // the report for --output json
	Clean    string // the line for people if there are no findings
	Command  string // such as "operon hooks validate"
	FailOn   finding.Severity
}

// BindFindingsOutput adds the flag --output of a validator.
func BindFindingsOutput(cmd *cobra.Command, format *string) {
	BindOutput(cmd, format, findingsFormats...)
}

// CheckFindingsOutput validates the value of that flag.
func CheckFindingsOutput(format string, more ...string) error {
	return CheckOutput(format, slices.Concat(findingsFormats, more)...)
}

// PrintFindings prints the result of a validator on stdout.
func (a *App) PrintFindings(format string, r Findings) error {
	var out strings.Builder
	switch format {
	case FormatJSON:
		return PrintJSON(a.Out, r.JSON)
	case FormatSARIF:
		return PrintJSON(a.Out, finding.SARIF(Version(), r.Rules, r.Findings))
	case FormatJUnit:
		report, err := finding.JUnit(r.Command, r.Rules, r.Findings, r.FailOn)
		if err != nil {
			return err
		}
		out.Write(report)
	case FormatGitHub:
		folder := folderInRepository(a.Dir)
		for _, f := range r.Findings {
			out.WriteString(f.Annotation(folder).String())
		}
	default:
		paint := Painter(a.Out, a.Getenv)
		for _, f := range r.Findings {
			out.WriteString(term.Line(f.Text(paint), true) + "\n")
		}
		if len(r.Findings) == 0 {
			out.WriteString(r.Clean + "\n")
		}
	}
	return a.Print(out.String())
}

// FailOn is the flag --fail-on of a validator: the least severity that makes it fail.
type FailOn struct{ value string }

// Bind adds the flag.
func (f *FailOn) Bind(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.value, failOnFlag, "error", "findings that fail: error or warning")
	CompleteValues(cmd, failOnFlag, "error", "warning")
}

const failOnFlag = "fail-on"

// Check validates the value.
func (f *FailOn) Check() error { return CheckValue(failOnFlag, f.value, "error", "warning") }

// Severity returns the value.
func (f *FailOn) Severity() finding.Severity {
	if f.value == "warning" {
		return finding.Warning
	}
	return finding.Error
}

// Verdict returns the error for findings. The consequence says what errors result in, such as
// "OLM would refuse the bundle".
func (f *FailOn) Verdict(findings []finding.Finding, consequence string) error {
	errs := len(finding.Errors(findings))
	warnings := len(findings) - errs
	if errs > 0 || warnings > 0 && f.Severity() == finding.Warning {
		return FindingsError(consequence, errs, warnings)
	}
	return nil
}

// FindingsError returns the error for the findings that a command has printed. It has no hint: the findings say what to do.
func FindingsError(consequence string, errs, warnings int) error {
	e := &fault.Error{Code: fault.CodeDifferences, Msg: Plural(warnings, "warning")}
	switch {
	case errs > 0 && warnings > 0:
		e.Msg = consequence + ": " + Plural(errs, "error") + ", " + e.Msg
	case errs > 0:
		e.Msg = consequence + ": " + Plural(errs, "error")
	}
	return e
}
