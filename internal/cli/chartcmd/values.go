package chartcmd

import (
	"path"

	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/helm/schema"
)

// ruleSchema is the rule of schemas that no CRD can have.
var ruleSchema = finding.Rule{Name: "values-schema", Severity: finding.Error, Summary: "The schema of the values is valid and refers to no other files"}

// misfits returns findings about default values that the schema of the chart refuses.
func (s subject) misfits() []finding.Finding {
	r, err := schema.Of(schema.ChartOf(s.options.Folder, s.chart))
	if err != nil {
		return []finding.Finding{ruleSchema.At(path.Join(s.options.Folder, "values.schema.json"), 0, 0, "%v", err)}
	}
	var all []finding.Finding
	for _, f := range r.Findings {
		if f.Rule == "values-misfit" {
			all = append(all, f)
		}
	}
	return all
}
