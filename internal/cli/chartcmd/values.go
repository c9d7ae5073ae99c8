package chartcmd

import (
	"context"
	"os"
	"path"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/crdschema"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/helm/rights"
	"github.com/operon-dev/operon/internal/helm/schema"
	"github.com/operon-dev/operon/internal/helm/watches"
	"github.com/operon-dev/operon/internal/hooks/objects"
	"github.com/operon-dev/operon/internal/jsonvalue"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The rules of values.
var (
	ruleSchema  = finding.Rule{Name: "values-schema", Severity: finding.Error, Summary: "The schema of the values is valid and refers to no other files"}
	ruleValues  = finding.Rule{Name: "values-refused", Severity: finding.Error, Summary: "The schema of the chart accepts the values of samples, overrideValues and --values"}
	ruleUnknown = finding.Rule{Name: "values-unknown", Summary: "The chart has the values of samples, overrideValues and --values"}
)

// samplesDir is the folder of a project with an object of each kind.
const samplesDir = "config/samples"

// readSamples reads the values of the samples in a project, which belong to the charts of their kinds.
func (s *subjects) readSamples(a *command.App) error {
	shown := path.Join(s.place, samplesDir)
	if _, err := os.Stat(a.Path(shown)); s.root == "" || err != nil {
		return nil //nolint:nilerr // a project may have no samples
	}
	entries, err := os.ReadDir(a.Path(shown))
	if err != nil {
		return fault.Failed("", "%v", err)
	}
	for _, entry := range entries {
		if ext := path.Ext(entry.Name()); entry.IsDir() || ext != ".yaml" && ext != ".yml" || entry.Name() == "kustomization.yaml" {
			continue
		}
		name := path.Join(samplesDir, entry.Name())
		all, err := objects.Read(a.Path(path.Join(s.place, name)), name)
		if err != nil {
			return fault.Usage("correct the sample", "%v", err)
		}
		for _, o := range all {
			for i := range s.charts {
				if spec, isObject := o.Object["spec"].(map[string]any); isObject && s.charts[i].options.Resource.GroupVersionKind == o.GroupVersionKind() {
					s.charts[i].samples = append(s.charts[i].samples, rights.ValueSet{Name: name, Values: spec})
				}
			}
		}
	}
	return nil
}

// values returns findings about the schema of the values, and about values that it refuses: the
// defaults, and those of samples, of --values and of overrideValues.
func (s subject) values(ctx context.Context) []finding.Finding {
	r, err := schema.Of(schema.ChartOf(s.options.Folder, s.chart))
	if f, isChart := findingOf(ruleSchema, err); isChart {
		return []finding.Finding{f}
	} else if err != nil {
		return []finding.Finding{ruleSchema.At(path.Join(s.options.Folder, "values.schema.json"), 0, 0, "%v", err)}
	}
	found := r.Findings
	validator, err := crdschema.NewValidator(crdschema.Schema{"type": "object", "properties": map[string]any{"spec": map[string]any(r.Schema)}})
	if err != nil {
		return append(found, ruleSchema.At(path.Join(s.options.Folder, "values.schema.json"), 0, 0, "%v", err))
	}
	check := func(file string, line int, about string, values map[string]any, partial bool) {
		object := map[string]any{"spec": values}
		for _, problem := range validator.Validate(ctx, nil, object) {
			if !partial || problem.Type != field.ErrorTypeRequired {
				found = append(found, ruleValues.At(file, line, 0, "%s%s: %s", about, problem.Field, problem.ErrorBody()))
			}
		}
		unknown, _ := validator.Prune(jsonvalue.Clone(object).(map[string]any)) // it has no embedded objects
		for _, name := range unknown {
			found = append(found, ruleUnknown.At(file, line, 0, "%s%s: the chart has no such value", about, name))
		}
	}
	for _, set := range append(s.samples[:len(s.samples):len(s.samples)], s.options.Values...) {
		check(set.Name, 0, "", set.Values, false)
	}
	check(watches.File, s.watch.Line, "overrideValues: ", s.options.Overrides, true) // an object has the other values
	return found
}
