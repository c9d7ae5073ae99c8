package chartcmd

import (
	"path"

	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/helm/schema"
)

// ruleSchema is the rule of schemas that no CRD can have.
var ruleSchema = finding.Rule{Name: "values-schema", Severity: finding.Error, Summary: "The schema of the values is valid and refers to no other files"}

// values returns findings about the schema of the values, and about default values that it refuses.
func (s subject) values() []finding.Finding {
	r, err := schema.Of(schema.ChartOf(s.options.Folder, s.chart))
	if err != nil {
		return []finding.Finding{ruleSchema.At(path.Join(s.options.Folder, "values.schema.json"), 0, 0, "%v", err)}
	}
	return r.Findings
}
