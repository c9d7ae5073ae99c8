package bundlecheck

import (
	"github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/olm/bundle"
	"github.com/operon-dev/operon/internal/olm/scorecard"
	"sigs.k8s.io/yaml"
)

// scorecardRules validates the configuration of the tests, which a bundle may lack.
func (x *input) scorecardRules() {
	var folder string
	if x.annotations != nil {
		folder, _ = x.annotations.value("annotations", bundle.TestConfigKey).(string)
	}
	name := bundle.ScorecardFileIn(folder)
	if x.files[name] == nil {
		if folder != "" {
			x.add(RuleScorecardConfig, finding.Warning, x.annotations.at("annotations", bundle.TestConfigKey), "the bundle has no file %s", name)
		}
		return
	}
	d := x.parse(name)
	for _, m := range d.mistakes {
		x.reportMistake(RuleScorecardConfig, name, m)
	}
	if len(d.mistakes) > 0 {
		return
	}
	if err := yaml.Unmarshal(d.src, &d.Object); err != nil {
		x.report(RuleScorecardConfig, d.at(), "it is not a scorecard configuration")
		return
	}
	config, ok := decodeAs[v1alpha3.Configuration](x, d, RuleScorecardConfig)
	if !ok {
		return
	}
	for _, p := range scorecard.Problems(d.src, *config) {
		r, severity := RuleScorecardConfig, finding.Error
		if p.Harmless {
			severity = finding.Warning
		}
		r.Fix = p.Fix
		x.add(r, severity, d.at(fieldPath(p.Field)...), "%s", p.Text)
	}
}
