// Package output parses and validates the files that a run of a hook writes: operations
// on objects, metrics, and responses to the API server. It does not apply them.
//
// Decoders differ in the invalid input that they accept, so the package uses the
// libraries of shell-operator in the same versions. What the engine rejects is an error.
// What it accepts but ignores, or fails with later, is a warning.
package output

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
)

// Operation is a document of a patch file.
type Operation struct {
	Line        int    // of the first line of the document, from 1; 0 when unknown
	Operation   string // Create, CreateOrUpdate, CreateIfNotExists, Delete, DeleteInBackground, DeleteNonCascading, JQPatch, MergePatch or JSONPatch
	APIVersion  string // of the object to delete or patch; "" means the preferred version
	Kind        string // or plural, singular or short name
	Namespace   string
	Name        string
	Subresource string // with or without a leading slash

	Object     any // to create: a map[string]any, or a string of YAML or JSON
	JQFilter   string
	MergePatch any // a map[string]any, or a string of YAML or JSON
	JSONPatch  any // a []any, or a string of YAML or JSON

	IgnoreMissingObject bool
	IgnoreHookError     bool
}

// Metric is a line of a metrics file. Set and add are expanded into Action and Value.
type Metric struct {
	Line    int    // from 1; 0 when unknown
	Name    string // "" only with the action expire
	Action  string // add, set, observe or expire
	Value   *float64
	Labels  map[string]string
	Group   string // the name of the hook unless the line has one
	Buckets []float64
}

// Admission is the response of a hook to an admission request.
type Admission struct {
	Allowed  bool     `json:"allowed"`
	Message  string   `json:"message,omitempty"` // for a request that is not allowed
	Warnings []string `json:"warnings,omitempty"`
	Patch    []byte   `json:"patch,omitempty"` // a JSON patch (RFC 6902); base64 in the file
}

// Conversion is the response of a hook to a conversion request.
type Conversion struct {
	FailedMessage    string           // not empty when the conversion failed
	ConvertedObjects []map[string]any // in the order of the request; nil where a value is not an object
}

// report collects the findings about a file.
type report struct{ findings []finding.Finding }

func (r *report) add(f finding.Finding) {
	if !slices.Contains(r.findings, f) {
		r.findings = append(r.findings, f)
	}
}

func (r *report) errorf(at position, rule, format string, args ...any) {
	r.add(finding.Finding{Line: at.line, Column: at.column, Rule: rule, Severity: finding.Error, Message: fmt.Sprintf(format, args...)})
}

func (r *report) warnf(at position, rule, format string, args ...any) {
	r.add(finding.Finding{Line: at.line, Column: at.column, Rule: rule, Message: fmt.Sprintf(format, args...)})
}

// sorted returns the findings by position, and whether one of them is an error.
func (r *report) sorted() (findings []finding.Finding, refused bool) {
	slices.SortStableFunc(r.findings, func(a, b finding.Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return r.findings, slices.ContainsFunc(r.findings, finding.Finding.IsError)
}

// suggestion suggests the nearest known name, or returns "".
func suggestion(name string, known []string) string {
	if near := fault.Nearest(name, known); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

// article puts the indefinite article before a word.
func article(word string) string {
	if strings.ContainsAny(word[:1], "aeioAEIO") {
		return "an " + word
	}
	return "a " + word
}
