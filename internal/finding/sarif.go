package finding

// The subset of SARIF 2.1.0 that code scanners need.
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID    string    `json:"id"`
		Short sarifText `json:"shortDescription"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		Rule      string          `json:"ruleId"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifLocation struct {
		Physical sarifPhysicalLocation `json:"physicalLocation"`
	}
	sarifPhysicalLocation struct {
		File   sarifArtifactLocation `json:"artifactLocation"`
		Region *sarifRegion          `json:"region,omitempty"`
	}
	sarifArtifactLocation struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		Line   int `json:"startLine"`
		Column int `json:"startColumn,omitempty"`
	}
)

// SARIF returns a SARIF 2.1.0 log of the findings, to encode as JSON. version is the
// version of operon. rules must include the rules of all findings.
func SARIF(version string, rules []Rule, findings []Finding) any {
	run := sarifRun{Tool: sarifTool{sarifDriver{Name: "operon", Version: version, Rules: []sarifRule{}}}, Results: []sarifResult{}}
	for _, r := range rules {
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{r.Name, sarifText{r.Summary}})
	}
	for _, f := range findings {
		at := sarifPhysicalLocation{File: sarifArtifactLocation{f.File}}
		if f.Line > 0 {
			at.Region = &sarifRegion{f.Line, f.Column}
		}
		run.Results = append(run.Results, sarifResult{f.Rule, f.Severity.String(), sarifText{f.Message}, []sarifLocation{{at}}})
	}
	return sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}}
}
