package output

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"

	gojson "github.com/goccy/go-json"
	"github.com/operon-dev/operon/internal/finding"
	"gopkg.in/yaml.v3"
)

// Operations by what they do.
var (
	creates  = []string{"Create", "CreateOrUpdate", "CreateIfNotExists"}
	deletes  = []string{"Delete", "DeleteInBackground", "DeleteNonCascading"}
	patches  = []string{"JQPatch", "MergePatch", "JSONPatch"}
	everyone = slices.Concat(creates, deletes, patches)
)

// Creates reports whether the operation creates an object.
func (o Operation) Creates() bool { return slices.Contains(creates, o.Operation) }

// Deletes reports whether the operation deletes an object.
func (o Operation) Deletes() bool { return slices.Contains(deletes, o.Operation) }

// Patches reports whether the operation changes an object that is there.
func (o Operation) Patches() bool { return slices.Contains(patches, o.Operation) }

// operation is what a document of a patch file is decoded into: the types decide
// what the decoders take.
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

// operationKeys are the keys of a document.
var operationKeys = []string{"operation", "apiVersion", "kind", "namespace", "name", "subresource",
	"object", "jqFilter", "mergePatch", "jsonPatch", "ignoreMissingObject", "ignoreHookError"}

// ParsePatches reads a file of operations, a stream of JSON objects or of YAML
// documents. There are no operations when a finding refuses: the engine carries
// out either all that the file asks for, or nothing.
func ParsePatches(text []byte) ([]Operation, []finding.Finding) {
	j := &judge{}
	decoded, docs, ok := j.operations(text)
	if !ok {
		findings, _ := j.sorted()
		return nil, findings
	}
	var ops []Operation
	for i, o := range decoded {
		d := documentAt(docs, i)
		op := Operation{d.at.line, o.Operation, o.APIVersion, o.Kind, o.Namespace, o.Name, o.Subresource,
			o.Object, o.JQFilter, o.MergePatch, o.JSONPatch, o.IgnoreMissingObject, o.IgnoreHookError}
		ops = append(ops, op)
		j.unknown(d, operationKeys, rulePatchKey)
		if j.operation(op, d) {
			j.lintOperation(op, d)
		}
	}
	findings, refused := j.sorted()
	if refused {
		ops = nil
	}
	return ops, findings
}

// operations decodes a file as the engine does: as JSON, or when that fails
// anywhere, all of it as YAML.
func (j *judge) operations(text []byte) ([]operation, []document, bool) {
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
		i, message := streamFault[operation](text, -1, err)
		at := place{line: lastLine(docs, text)}
		if i >= 0 && i < len(docs) {
			at = docs[i].at
		}
		j.refuse(at, rulePatchSyntax, "%s", message)
	} else {
		line, message := yamlFault(yamlErr)
		j.refuse(place{line: line}, rulePatchSyntax, "%s", message)
	}
	return nil, nil, false
}

// decodeAll decodes values until there are no more.
func decodeAll(decode func(any) error) (all []operation, err error) {
	for {
		var o operation
		switch err := decodeOne(decode, &o); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, err
		}
		all = append(all, o)
	}
}

func looksLikeJSON(text []byte) bool {
	return strings.HasPrefix(strings.TrimSpace(string(text)), "{")
}

// unknown finds keys that the engine passes over.
func (j *judge) unknown(d document, known []string, rule string) {
	for _, k := range d.unknown(known) {
		j.lint(d.placeOf(k), rule, "the engine knows no %s, and drops it%s", k.Value, meant(k.Value, known))
	}
}
