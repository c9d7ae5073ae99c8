package output

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"

	gojson "github.com/goccy/go-json"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"go.yaml.in/yaml/v3"
)

// Names of operations.
var (
	creates    = []string{"Create", "CreateOrUpdate", "CreateIfNotExists"}
	deletes    = []string{"Delete", "DeleteInBackground", "DeleteNonCascading"}
	patches    = []string{"JQPatch", "MergePatch", "JSONPatch"}
	operations = slices.Concat(creates, deletes, patches)
)

// Creates reports whether the operation creates an object.
func (o Operation) Creates() bool { return slices.Contains(creates, o.Operation) }

// isDelete reports whether the operation deletes an object.
func (o Operation) isDelete() bool { return slices.Contains(deletes, o.Operation) }

// isPatch reports whether the operation changes an existing object.
func (o Operation) isPatch() bool { return slices.Contains(patches, o.Operation) }

// operation is the encoded form of Operation. Its field types determine which values the
// decoders accept.
type operation struct {
	Operation           string `json:"operation" yaml:"operation"`
	APIVersion          string `json:"apiVersion" yaml:"apiVersion"`
	Kind                string `json:"kind" yaml:"kind"`
	Namespace           string `json:"namespace" yaml:"namespace"`
	Name                string `json:"name" yaml:"name"`
	Subresource         string `json:"subresource" yaml:"subresource"`
	Object              any    `json:"object" yaml:"object"`
	JQFilter            string `json:"jqFilter" yaml:"jqFilter"`
	MergePatch          any    `json:"mergePatch" yaml:"mergePatch"`
	JSONPatch           any    `json:"jsonPatch" yaml:"jsonPatch"`
	IgnoreMissingObject bool   `json:"ignoreMissingObject" yaml:"ignoreMissingObject"`
	IgnoreHookError     bool   `json:"ignoreHookError" yaml:"ignoreHookError"`
}

// operationKeys are the keys of an operation.
var operationKeys = []string{"operation", "apiVersion", "kind", "namespace", "name", "subresource",
	"object", "jqFilter", "mergePatch", "jsonPatch", "ignoreMissingObject", "ignoreHookError"}

// ParsePatches parses a patch file, a stream of JSON objects or of YAML documents. If a finding
// is an error, the result is empty, because the engine rejects the entire file.
func ParsePatches(text []byte) ([]Operation, []finding.Finding) {
	r := &report{}
	decoded, docs, ok := r.decodeOperations(text)
	if !ok {
		return nil, r.findings
	}
	var ops []Operation
	for i, o := range decoded {
		d := documentAt(docs, i)
		op := Operation{d.at.line, o.Operation, o.APIVersion, o.Kind, o.Namespace, o.Name, o.Subresource,
			o.Object, o.JQFilter, o.MergePatch, o.JSONPatch, o.IgnoreMissingObject, o.IgnoreHookError}
		ops = append(ops, op)
		r.unknownKeys(d, operationKeys, rulePatchKey)
		if r.checkOperation(op, d) {
			r.lintOperation(op, d)
		}
	}
	if finding.HasErrors(r.findings) {
		ops = nil
	}
	return ops, finding.Sort(r.findings)
}

// decodeOperations decodes a file as the engine does: as JSON, or if that fails, as YAML.
func (r *report) decodeOperations(text []byte) ([]operation, []document, bool) {
	decoded, err := decodeAll(gojson.NewDecoder(bytes.NewReader(text)).Decode)
	if err == nil {
		return decoded, jsonDocuments(text), true
	}
	decoded, yamlErr := decodeAll(yaml.NewDecoder(bytes.NewReader(text)).Decode)
	if yamlErr == nil {
		return decoded, yamlDocuments(text), true
	}
	if looksLikeJSON(text) {
		docs := jsonDocuments(text)
		i, message := streamError[operation](text, -1, err)
		at := position{line: nextLine(docs, text)}
		if i >= 0 && i < len(docs) {
			at = docs[i].at
		}
		r.add(at, rulePatchSyntax, "%s", message)
	} else {
		line, message := yamlError(yamlErr)
		r.add(position{line: line}, rulePatchSyntax, "%s", message)
	}
	return nil, nil, false
}

// decodeAll decodes all values of a stream.
func decodeAll(decode func(any) error) (all []operation, err error) {
	for {
		var o operation
		err = decodeOne(decode, &o)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		all = append(all, o)
	}
}

func looksLikeJSON(text []byte) bool {
	return strings.HasPrefix(strings.TrimSpace(string(text)), "{")
}

// unknownKeys warns about unknown keys.
func (r *report) unknownKeys(d document, known []string, rule finding.Rule) {
	for _, k := range d.unknownKeys(known) {
		r.add(d.positionOf(k), rule, "unknown key %s; the engine ignores it%s", k.Value, fault.DidYouMean(k.Value, known))
	}
}
