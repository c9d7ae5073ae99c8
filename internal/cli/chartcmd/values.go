package chartcmd

import (
	"context"
	"os"
	"path"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/crdschema"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
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
		return err
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
		for i := range s.charts {
			for _, o := range all {
				if s.charts[i].options.Resource.GroupVersionKind == o.GroupVersionKind() {
					s.charts[i].samples = append(s.charts[i].samples, sample{name, o.Object["spec"]})
				}
			}
		}
	}
	return nil
}

// sample is the value of spec in a sample.
type sample struct {
	file string
	spec any
}

// values returns findings about the schema of the values, and about values that it refuses: the
// defaults, the samples, --values and overrideValues.
func (s subject) values(ctx context.Context) []finding.Finding {
	whole := schema.ChartOf(s.options.Folder, s.chart)
	r, of, found := specOf(whole)
	if of == nil {
		return found
	}
	found = r.Findings
	for _, sample := range s.samples {
		found = append(found, of.check(ctx, sample.file, sample.spec)...)
	}
	for _, set := range s.options.Values {
		found = append(found, of.check(ctx, set.Name, set.Values)...)
	}
	if len(s.options.Overrides) == 0 {
		return found
	}
	found = append(found, of.unknown(watches.File, s.watch.Line, s.options.Overrides)...)
	if whole.Schema == nil {
		return found // Helm accepts values of all types
	}
	if _, of, _ = specOf(schema.Chart{Folder: whole.Folder, Schema: whole.Schema}); of != nil {
		found = append(found, of.refused(ctx, watches.File, s.watch.Line, s.options.Overrides, true)...)
	}
	return found
}

// spec validates values of spec.
type spec struct{ *crdschema.Validator }

// specOf returns the schema of the values of a chart, or findings that say why there is none.
func specOf(c schema.Chart) (r schema.Result, of *spec, found []finding.Finding) {
	r, err := schema.Of(c)
	if f, isChart := findingOf(ruleSchema, err); isChart {
		return r, nil, []finding.Finding{f}
	}
	if err == nil {
		var validator *crdschema.Validator
		properties := map[string]any{"spec": map[string]any(r.Schema)}
		if validator, err = crdschema.NewValidator(crdschema.Schema{"type": "object", "properties": properties}); err == nil {
			return r, &spec{validator}, nil
		}
	}
	return r, nil, []finding.Finding{ruleSchema.At(path.Join(c.Folder, "values.schema.json"), 0, 0, "%v", err)}
}

// check returns findings about a value of spec in a file.
func (s *spec) check(ctx context.Context, file string, v any) []finding.Finding {
	values, isObject := v.(map[string]any)
	if !isObject {
		return []finding.Finding{ruleValues.At(file, 0, 0, "spec is %s, not a mapping of names to values", jsonvalue.WithArticle(jsonvalue.Type(v)))}
	}
	return append(s.refused(ctx, file, 0, values, false), s.unknown(file, 0, values)...)
}

// refused returns findings about values that the schema does not allow. If they are partial, others are there, too.
func (s *spec) refused(ctx context.Context, file string, line int, values map[string]any, partial bool) (found []finding.Finding) {
	for _, problem := range s.Validate(ctx, nil, map[string]any{"spec": values}) {
		if !partial || problem.Type != field.ErrorTypeRequired {
			found = append(found, ruleValues.At(file, line, 0, "%s: %s", problem.Field, problem.ErrorBody()))
		}
	}
	return found
}

// unknown returns findings about values that the schema does not have.
func (s *spec) unknown(file string, line int, values map[string]any) (found []finding.Finding) {
	object := map[string]any{"spec": jsonvalue.Clone(values)}
	names, _ := s.Prune(object) // it has no embedded objects
	for _, name := range names {
		found = append(found, ruleUnknown.At(file, line, 0, "%s: the chart has no such value", name))
	}
	return found
}
