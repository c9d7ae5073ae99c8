package bundlecheck

import (
	"bytes"
	"encoding/json"

	"github.com/operator-framework/api/pkg/validation/errors"
	"github.com/operon-dev/operon/internal/finding"
)

// External returns the findings that an external validator printed: a ManifestResult of the
// library in JSON.
func External(files map[string][]byte, output []byte) ([]finding.Finding, error) {
	var result errors.ManifestResult
	dec := json.NewDecoder(bytes.NewReader(output))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&result); err != nil {
		return nil, err
	}
	x := read(files)
	x.found = nil
	for severity, all := range map[finding.Severity][]errors.Error{finding.Error: result.Errors, finding.Warning: result.Warnings} {
		for _, e := range all {
			at := place{file: result.Name}
			if x.csv != nil {
				at = x.csv.at(fieldPath(e.Field)...)
			}
			x.add(ruleValidator, severity, at, "%s", shortened(e.Detail))
		}
	}
	return distinct(x.found), nil
}
