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

// ParseAdmission reads the answer to a request to validate or mutate. It is nil
// when a finding refuses, and when the hook wrote nothing: then the engine denies
// the request with an error of its own.
func ParseAdmission(text []byte) (*Admission, []finding.Finding) {
	j := &judge{}
	a := &Admission{}
	d, ok := answer(j, text, a)
	if !ok {
		findings, _ := j.sorted()
		return nil, findings
	}
	j.unknown(d, []string{"allowed", "message", "warnings", "patch"}, ruleAnswerKey)
	switch _, allowed := d.pair("allowed"); {
	case allowed == nil && d.root != nil:
		j.lint(d.at, ruleAnswerDenies, "lacks allowed, and so denies")
	case a.Allowed && a.Message != "":
		j.lint(d.key("message"), ruleAnswerNoEffect, "message has no effect when the request is allowed: use warnings")
	case !a.Allowed && a.Message == "":
		j.lint(d.at, ruleAnswerDenies, "denies without message, so nobody learns why")
	}
	switch {
	case len(a.Patch) == 0:
	case !a.Allowed:
		j.lint(d.key("patch"), ruleAnswerNoEffect, "patch has no effect when the request is denied")
	default:
		var patch any
		if err := json.Unmarshal(a.Patch, &patch); err != nil {
			j.lint(d.value("patch"), ruleAnswerPatch, "patch is no JSON, once decoded from base64: %s", Plainly(err.Error()))
			break
		}
		for _, fault := range patchFaults(patch) {
			j.lint(d.value("patch"), ruleAnswerPatch, "patch, once decoded from base64: %s", fault)
		}
	}
	findings, _ := j.sorted()
	return a, findings
}

// conversion is what an answer to a request to convert is decoded into.
type conversion struct {
	FailedMessage    string                 `json:"failedMessage"`
	ConvertedObjects []runtime.RawExtension `json:"convertedObjects"`
}

// ParseConversion reads the answer to a request to convert objects. It is nil when
// a finding refuses, and when the hook wrote nothing: then the conversion fails.
func ParseConversion(text []byte) (*Conversion, []finding.Finding) {
	j := &judge{}
	var c conversion
	d, ok := answer(j, text, &c)
	if !ok {
		findings, _ := j.sorted()
		return nil, findings
	}
	j.unknown(d, []string{"failedMessage", "convertedObjects"}, ruleAnswerKey)
	answer := &Conversion{FailedMessage: c.FailedMessage}
	for i, raw := range c.ConvertedObjects {
		var o map[string]any
		if err := json.Unmarshal(raw.Raw, &o); err != nil || o == nil {
			j.lint(d.item("convertedObjects", i), ruleAnswerObject, "convertedObjects[%d] is no object, and the API server refuses the answer", i)
		}
		answer.ConvertedObjects = append(answer.ConvertedObjects, o)
	}
	if c.FailedMessage != "" && len(c.ConvertedObjects) > 0 {
		j.lint(d.key("convertedObjects"), ruleAnswerNoEffect, "convertedObjects have no effect beside failedMessage")
	}
	if c.FailedMessage == "" && len(c.ConvertedObjects) == 0 {
		j.lint(d.at, ruleAnswerObject, "has neither convertedObjects nor failedMessage")
	}
	findings, _ := j.sorted()
	return answer, findings
}

// answer decodes the first value of a file. It is not ok when there is none, or
// when the engine refuses it.
func answer[T any](j *judge, text []byte, into *T) (document, bool) {
	if len(text) == 0 {
		j.lint(place{}, ruleAnswerMissing, "is empty: the engine answers with an error")
		return document{}, false
	}
	docs := jsonDocuments(text)
	d := documentAt(docs, 0)
	if err := decodeOne(gojson.NewDecoder(bytes.NewReader(text)).Decode, into); err != nil {
		if d.at.line == 0 {
			d.at.line = 1
		}
		if errors.Is(err, io.EOF) {
			err = errors.New("there is nothing but white space")
		}
		_, message := streamFault[T](text, 0, err)
		j.refuse(d.at, ruleAnswerSyntax, "%s", message)
		return d, false
	}
	if len(docs) > 1 {
		j.lint(docs[1].at, ruleAnswerNoEffect, "the engine reads the first value and passes over the others")
	}
	return d, true
}
