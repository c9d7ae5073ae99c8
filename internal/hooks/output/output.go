// Package output reads the files that a hook wrote while it ran, and judges them
// as shell-operator does: operations on objects, metrics, and answers to the API
// server. It does nothing of what they ask for.
//
// The engine decodes them with libraries that forgive more than others, so the
// same libraries at the same versions decode them here. What it refuses is refused
// here; what it takes and passes over, or fails with later, is a finding that does
// not refuse.
package output

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
)

// Operation is what one document of a patch file asks for.
type Operation struct {
	Line        int    // at which its document begins, from 1; 0 when unknown
	Operation   string // Create, CreateOrUpdate, CreateIfNotExists, Delete, DeleteInBackground, DeleteNonCascading, JQPatch, MergePatch or JSONPatch
	APIVersion  string // of the object to delete or patch; "" is the preferred one
	Kind        string // in any spelling that the API server's discovery knows
	Namespace   string
	Name        string
	Subresource string // with or without a slash before it

	Object     any // to create: a map[string]any, or a string of YAML or JSON
	JQFilter   string
	MergePatch any // a map[string]any, or a string of YAML or JSON
	JSONPatch  any // a []any, or a string of YAML or JSON

	IgnoreMissingObject bool
	IgnoreHookError     bool
}

// Metric is one line of a metrics file, with its shortcuts written out.
type Metric struct {
	Line    int    // from 1; 0 when unknown
	Name    string // "" is for the action expire alone
	Action  string // add, set, observe or expire
	Value   *float64
	Labels  map[string]string
	Group   string // that of the line, or else the name of the hook
	Buckets []float64
}

// Admission is what a hook answers to a request to validate or mutate.
type Admission struct {
	Allowed  bool     `json:"allowed"`
	Message  string   `json:"message,omitempty"` // told when it is not allowed
	Warnings []string `json:"warnings,omitempty"`
	Patch    []byte   `json:"patch,omitempty"` // a JSON patch (RFC 6902), in base64 in the file
}

// Conversion is what a hook answers to a request to convert objects.
type Conversion struct {
	FailedMessage    string           // when not empty, the conversion failed
	ConvertedObjects []map[string]any // in the order of the request; nil for what is no object
}

// judge collects findings about one file.
type judge struct{ findings []finding.Finding }

func (j *judge) add(f finding.Finding) {
	if !slices.Contains(j.findings, f) {
		j.findings = append(j.findings, f)
	}
}

func (j *judge) refuse(at place, rule, format string, args ...any) {
	j.add(finding.Finding{Line: at.line, Column: at.column, Rule: rule, Severity: finding.Error, Message: fmt.Sprintf(format, args...)})
}

func (j *judge) lint(at place, rule, format string, args ...any) {
	j.add(finding.Finding{Line: at.line, Column: at.column, Rule: rule, Message: fmt.Sprintf(format, args...)})
}

// sorted are the findings in the order of their places, and whether one refuses.
func (j *judge) sorted() (findings []finding.Finding, refused bool) {
	slices.SortStableFunc(j.findings, func(a, b finding.Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return j.findings, slices.ContainsFunc(j.findings, finding.Finding.IsError)
}

// meant is a question for the nearest of the known names, or "".
func meant(name string, known []string) string {
	if near := fault.Nearest(name, known); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

// article is a word with its article before it.
func article(word string) string {
	if strings.ContainsAny(word[:1], "aeioAEIO") {
		return "an " + word
	}
	return "a " + word
}
