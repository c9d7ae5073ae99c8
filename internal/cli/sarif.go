package cli

import "github.com/operon-dev/operon/internal/hooks"

// sarif is the form of output that code scanners read.
const sarif = "sarif"

// The parts of SARIF 2.1.0 that a code scanner needs.
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
type (
	sarifFile struct {
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
		Physical sarifPlace `json:"physicalLocation"`
	}
	sarifPlace struct {
		File   sarifURI     `json:"artifactLocation"`
		Region *sarifRegion `json:"region,omitempty"`
	}
	sarifURI struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		Line   int `json:"startLine"`
		Column int `json:"startColumn,omitempty"`
	}
)

func sarifLog(findings []hooks.Finding) sarifFile {
	run := sarifRun{Tool: sarifTool{sarifDriver{Name: "operon", Version: versions().Version, Rules: []sarifRule{}}}, Results: []sarifResult{}}
	for _, r := range validateRules() {
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{r.Name, sarifText{r.About}})
	}
	for _, f := range findings {
		at := sarifPlace{File: sarifURI{f.File}}
		if f.Line > 0 {
			at.Region = &sarifRegion{f.Line, f.Column}
		}
		run.Results = append(run.Results, sarifResult{f.Rule, level(f), sarifText{f.Message}, []sarifLocation{{at}}})
	}
	return sarifFile{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}}
}
