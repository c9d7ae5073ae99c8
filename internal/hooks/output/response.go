package output

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	gojson "github.com/goccy/go-json"
	"github.com/operon-dev/operon/internal/finding"
	"k8s.io/apimachinery/pkg/runtime"
)

// ParseAdmission parses a response to an admission request. The result is nil if a finding is
// an error or if the file is empty: the engine then denies the request.
func ParseAdmission(text []byte) (*Admission, []finding.Finding) {
	r := &report{}
	a := &Admission{}
	d, ok := decodeResponse(r, text, a)
	if !ok {
		return nil, r.findings
	}
	r.unknownKeys(d, []string{"allowed", "message", "warnings", "patch"}, ruleAnswerKey)
	_, _, found := d.pair("allowed")
	switch {
	case !found && d.root != nil:
		r.add(d.at, ruleAnswerDenies, "allowed is missing, so the request is denied")
	case a.Allowed && a.Message != "":
		r.add(d.key("message"), ruleAnswerNoEffect, "message has no effect if the request is allowed; use warnings")
	case !a.Allowed && a.Message == "":
		r.add(d.at, ruleAnswerDenies, "the request is denied without a message")
	}
	switch {
	case len(a.Patch) == 0:
	case !a.Allowed:
		r.add(d.key("patch"), ruleAnswerNoEffect, "patch has no effect if the request is denied")
	default:
		var patch any
		if err := json.Unmarshal(a.Patch, &patch); err != nil {
			r.add(d.value("patch"), ruleAnswerPatch, "the decoded patch is invalid: %s", DecodeMessage(err.Error()))
			break
		}
		for _, problem := range jsonPatchErrors(patch) {
			r.add(d.value("patch"), ruleAnswerPatch, "the decoded patch is invalid: %s", problem)
		}
	}
	return a, finding.Sort(r.findings)
}

// conversion is the encoded form of Conversion.
type conversion struct {
	FailedMessage    string                 `json:"failedMessage"`
	ConvertedObjects []runtime.RawExtension `json:"convertedObjects"`
}

// ParseConversion parses a response to a conversion request. The result is nil if a finding is
// an error or if the file is empty: the conversion then fails.
func ParseConversion(text []byte) (*Conversion, []finding.Finding) {
	r := &report{}
	var c conversion
	d, ok := decodeResponse(r, text, &c)
	if !ok {
		return nil, r.findings
	}
	r.unknownKeys(d, []string{"failedMessage", "convertedObjects"}, ruleAnswerKey)
	response := &Conversion{FailedMessage: c.FailedMessage}
	for i, raw := range c.ConvertedObjects {
		var o map[string]any
		if err := json.Unmarshal(raw.Raw, &o); err != nil || o == nil {
			r.add(d.item("convertedObjects", i), ruleAnswerObject, "convertedObjects[%d] is not an object; the API server rejects the response", i)
		}
		response.ConvertedObjects = append(response.ConvertedObjects, o)
	}
	if c.FailedMessage != "" && len(c.ConvertedObjects) > 0 {
		r.add(d.key("convertedObjects"), ruleAnswerNoEffect, "convertedObjects has no effect if failedMessage is set")
	}
	if c.FailedMessage == "" && len(c.ConvertedObjects) == 0 {
		r.add(d.at, ruleAnswerObject, "the response has neither convertedObjects nor failedMessage")
	}
	return response, finding.Sort(r.findings)
}

// decodeResponse decodes the first value of a file. ok is false if there is none, or if the
// engine rejects it.
func decodeResponse[T any](r *report, text []byte, into *T) (d document, ok bool) {
	if len(text) == 0 {
		r.add(position{}, ruleAnswerMissing, "the file is empty; the engine responds with an error")
		return document{}, false
	}
	docs := jsonDocuments(text)
	d = documentAt(docs, 0)
	if err := decodeOne(gojson.NewDecoder(bytes.NewReader(text)).Decode, into); err != nil {
		if d.at.line == 0 {
			d.at.line = 1
		}
		if errors.Is(err, io.EOF) {
			err = errors.New("the file has only whitespace")
		}
		_, message := streamError[T](text, 0, err)
		r.add(d.at, ruleAnswerSyntax, "%s", message)
		return d, false
	}
	if len(docs) > 1 {
		r.add(docs[1].at, ruleAnswerNoEffect, "the engine reads only the first value")
	}
	return d, true
}
