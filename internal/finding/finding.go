// Package finding defines the problems that validators report, and the formats in which
// commands print them: text, JSON, SARIF, JUnit, and workflow commands of GitHub Actions.
package finding

import (
	"cmp"
	"fmt"
	"path"
	"slices"
)

// Severity is the severity of a finding. The zero value is Warning.
type Severity int

// The severities, in ascending order.
const (
	Warning Severity = iota
	Error
)

// String returns "warning" or "error".
func (s Severity) String() string {
	if s == Error {
		return "error"
	}
	return "warning"
}

// MarshalText implements encoding.TextMarshaler.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Finding is one problem at one position. Its JSON keys are part of the reports that
// commands print with --output json.
type Finding struct {
	File     string   `json:"file"`             // a relative path with slashes; the validator documents the base folder
	Line     int      `json:"line,omitempty"`   // from 1; 0 if unknown
	Column   int      `json:"column,omitempty"` // from 1; 0 if unknown
	Severity Severity `json:"level"`
	Rule     string   `json:"rule"` // the name of a Rule
	Message  string   `json:"message"`
	Fix      string   `json:"fix,omitempty"` // the action to take, unless the message includes it
}

// IsError reports whether the finding is an error rather than a warning.
func (f Finding) IsError() bool { return f.Severity == Error }

// Rule is a rule of a validator. Its findings have its name and severity.
type Rule struct {
	Name     string // the identifier in reports and flags; it never changes
	Severity Severity
	Summary  string // one line, without a period
}

// At returns a finding of the rule. A line or column of 0 means that it is unknown.
func (r Rule) At(file string, line, column int, format string, args ...any) Finding {
	return Finding{File: file, Line: line, Column: column, Severity: r.Severity, Rule: r.Name, Message: fmt.Sprintf(format, args...)}
}

// Sort sorts findings by position, and returns them. Findings at the same position keep
// their order.
func Sort(findings []Finding) []Finding {
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return findings
}

// Errors returns the findings that are errors.
func Errors(findings []Finding) []Finding {
	return slices.DeleteFunc(slices.Clone(findings), func(f Finding) bool { return !f.IsError() })
}

// HasErrors reports whether one of the findings is an error.
func HasErrors(findings []Finding) bool { return FirstError(findings) >= 0 }

// FirstError returns the index of the first error, or -1.
func FirstError(findings []Finding) int { return slices.IndexFunc(findings, Finding.IsError) }

// InFolder returns the findings with the folder prepended to their files.
func InFolder(folder string, findings []Finding) []Finding {
	all := slices.Clone(findings)
	for i := range all {
		all[i].File = path.Join(folder, all[i].File)
	}
	return all
}
