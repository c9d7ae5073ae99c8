// Package output parses and validates the files that hooks write: operations on objects,
// metrics, and responses to the API server. It does not apply them.
//
// Decoders differ in the invalid input that they accept, so the package uses the same
// versions of the same libraries as shell-operator. Input that the engine rejects results in
// errors. Input that it accepts, but ignores or fails to process later, results in warnings.
package output

import (
	"slices"

	"github.com/operon-dev/operon/internal/finding"
)

// Operation is a document of a patch file.
type Operation struct {
	Line int // the first line of the document, from 1; 0 if unknown
	// Operation is Create, CreateOrUpdate, CreateIfNotExists, Delete, DeleteInBackground,
	// DeleteNonCascading, JQPatch, MergePatch or JSONPatch.
	Operation   string
	APIVersion  string // of the object to delete or patch; "" means the preferred version
	Kind        string // the kind, or its plural, singular or short name
	Namespace   string
	Name        string
	Subresource string // with or without a leading slash

	Object     any // the object to create: a map[string]any, or a string with YAML or JSON
	JQFilter   string
	MergePatch any // a map[string]any, or a string with YAML or JSON
	JSONPatch  any // a []any, or a string with YAML or JSON

	IgnoreMissingObject bool
	IgnoreHookError     bool
}

// Metric is a line of a metrics file. Set and add are expanded into Action and Value.
type Metric struct {
	Line    int    // from 1; 0 if unknown
	Name    string // "" is valid only for the action expire
	Action  string // add, set, observe or expire
	Value   *float64
	Labels  map[string]string
	Group   string // the name of the hook if the line has no group
	Buckets []float64
}

// Admission is the response of a hook to an admission request.
type Admission struct {
	Allowed  bool     `json:"allowed"`
	Message  string   `json:"message,omitempty"` // the reason for denying the request
	Warnings []string `json:"warnings,omitempty"`
	Patch    []byte   `json:"patch,omitempty"` // a JSON patch (RFC 6902); base64 in the file
}

// Conversion is the response of a hook to a conversion request.
type Conversion struct {
	FailedMessage    string           // not empty if the conversion failed
	ConvertedObjects []map[string]any // in the order of the request; nil for a value that is not an object
}

// report collects the findings about a file.
type report struct{ findings []finding.Finding }

// add adds a finding of a rule, unless it is a duplicate.
func (r *report) add(at position, rule finding.Rule, format string, args ...any) {
	if f := rule.At("", at.line, at.column, format, args...); !slices.Contains(r.findings, f) {
		r.findings = append(r.findings, f)
	}
}
