// Package finding defines what validators report, and the formats in which
// commands print it: text, JSON, SARIF, and workflow commands of GitHub Actions.
package finding

import (
	"cmp"
	"path"
	"slices"
)

// Severity says how serious a finding is.
type Severity int

// The severities. The zero value is Warning.
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

// Finding is one problem at one place. Its JSON keys are part of the reports that
// commands print with --output json.
type Finding struct {
	File     string   `json:"file"`             // with slashes, from a folder that the caller knows
	Line     int      `json:"line,omitempty"`   // from 1; 0: unknown
	Column   int      `json:"column,omitempty"` // from 1; 0: unknown
	Severity Severity `json:"level"`
	Rule     string   `json:"rule"` // the name of a Rule
	Message  string   `json:"message"`
	Fix      string   `json:"fix,omitempty"` // what to do, if the message does not say it
}

// IsError reports whether the finding is an error rather than a warning.
func (f Finding) IsError() bool { return f.Severity == Error }

// Rule describes the findings that carry its name.
type Rule struct {
	Name     string // the identifier in reports and flags; it never changes
	Severity Severity
	Summary  string // one line, without a period
}

// Sort sorts findings by place and keeps the order of those at the same place.
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

// FirstError returns the index of the first error, or -1.
func FirstError(findings []Finding) int { return slices.IndexFunc(findings, Finding.IsError) }

// InFolder returns the findings with folder before each file name.
func InFolder(folder string, findings []Finding) []Finding {
	all := slices.Clone(findings)
	for i := range all {
		all[i].File = path.Join(folder, all[i].File)
	}
	return all
}
