// Package schema makes the OpenAPI schema of a custom resource from a Helm chart: the spec of
// the resource has the values of the chart.
//
// The types come from values.schema.json and, for values that it does not describe, from values.yaml. Helm
// validates values with values.schema.json again when it renders the chart, so the schema of
// the CRD may allow more than the chart. It must not refuse what the chart uses. Therefore
//
//   - a key is not required if values.yaml has a value for it, which Helm merges;
//   - an object that a template uses as a whole accepts any keys;
//   - a key that only templates mention accepts any value.
//
// Other keys are refused: an API server reports them as unknown fields, which finds typing
// errors.
//
// The schema has no defaults. An API server would store them in each object, where they would
// override the defaults of the next version of the chart. The descriptions name them instead.
//
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema
package schema

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/chart"
	"github.com/operon-dev/operon/internal/crdschema"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/jsonvalue"
	helmchart "helm.sh/helm/v3/pkg/chart"
)

// Chart holds the files of a chart that say which values it has.
type Chart struct {
	Folder       string            // the prefix of the chart's files in errors and findings, such as helm-charts/nginx
	Values       []byte            // values.yaml, or nil
	Schema       []byte            // values.schema.json, or nil
	Templates    map[string][]byte // the files in templates/, by their paths in the chart
	Dependencies map[string]Chart  // the charts in charts/, by the keys of their values: alias or name
	Imports      []Import          // values of dependencies that the chart has as its own
	Library      bool              // it has only named templates
}

// Import is an entry of import-values in Chart.yaml.
type Import struct {
	Dependency   string   // the key of its values
	Child, Chart []string // the paths of the values in the dependency and in the chart
}

// Result is the schema of a spec that has the values of a chart.
type Result struct {
	Schema   crdschema.Schema  // the structural schema of spec; its type is object
	Sample   []byte            // a valid value of spec: values.yaml with its comments where possible; not indented
	Findings []finding.Finding // warnings, sorted by position
}

// RuleOpen is the rule for values that the chart does not describe. Large charts have dozens of them.
var RuleOpen = finding.Rule{Name: "values-open", Summary: "a value for which the schema of the CRD accepts unknown fields"}

// The other rules of the findings. All are warnings.
var (
	ruleKeyword = finding.Rule{Name: "values-schema-keyword", Summary: "a part of values.schema.json that the schema of a CRD cannot express"}
	ruleMisfit  = finding.Rule{Name: "values-misfit", Summary: "values that do not match the schema of the chart"}
)

// Rules returns the rules of this package.
func Rules() []finding.Rule { return []finding.Rule{RuleOpen, ruleKeyword, ruleMisfit} }

// ChartOf returns the files of a loaded chart and its dependencies. folder is the path of the
// chart in errors and findings.
func ChartOf(folder string, c *helmchart.Chart) Chart {
	own := Chart{
		Folder: folder, Library: c.Metadata.Type == "library", Schema: c.Schema,
		Templates: map[string][]byte{}, Dependencies: map[string]Chart{},
	}
	for _, file := range c.Raw {
		if file.Name == "values.yaml" {
			own.Values = file.Data
		}
	}
	for _, file := range c.Templates {
		own.Templates[file.Name] = file.Data
	}
	for _, d := range c.Dependencies() {
		listed := false
		dependency := ChartOf(path.Join(folder, "charts", d.Name()), d)
		for _, entry := range c.Metadata.Dependencies {
			if entry.Name == d.Name() {
				listed = true
				key := cmp.Or(entry.Alias, entry.Name)
				own.Dependencies[key] = dependency
				own.Imports = append(own.Imports, importsOf(key, entry.ImportValues)...)
			}
		}
		if !listed {
			own.Dependencies[d.Name()] = dependency
		}
	}
	return own
}

// importsOf returns the entries of import-values: a name below exports of the dependency, or two paths.
func importsOf(key string, entries []any) []Import {
	var all []Import
	for _, entry := range entries {
		switch entry := entry.(type) {
		case string:
			all = append(all, Import{key, append([]string{"exports"}, keysIn(entry)...), nil})
		case map[string]any:
			all = append(all, Import{key, keysIn(entry["child"]), keysIn(entry["parent"])})
		}
	}
	return all
}

// keysIn returns the keys in a path such as a.b. A dot alone is the root.
func keysIn(path any) []string {
	text, _ := path.(string)
	return slices.DeleteFunc(strings.Split(text, "."), func(key string) bool { return key == "" })
}

// Of returns the schema of a chart's values. For values that are not a YAML mapping, and for a schema
// that is invalid or refers to other files, the error is a *chart.Error with a hint.
func Of(c Chart) (Result, error) {
	b := &builder{}
	values, spec, err := b.chart(c)
	if err != nil {
		return Result{}, err
	}
	r := Result{Schema: spec}
	r.Sample, err = b.sample(c, values, r.Schema)
	if err != nil {
		return Result{}, err
	}
	r.Findings = slices.Compact(finding.Sort(b.findings))
	return r, nil
}

// errorAt returns an error at a position in a file of the chart.
func errorAt(hint, file string, line, column int, format string, args ...any) error {
	e := &chart.Error{File: file, Line: line, Column: column, Msg: fmt.Sprintf(format, args...)}
	return &fault.Error{Code: fault.CodeUsage, Hint: hint, Err: e}
}

// builder makes the schemas of a chart and its dependencies.
type builder struct {
	findings []finding.Finding
	nodes    int
}

// maxNodes limits the size of the schema. An API server accepts requests of 3 MB.
const maxNodes = 20_000

// source is what is known about the values of one chart.
type source struct {
	*builder
	valuesFile, schemaFile string
	uses                   uses
	root                   *element        // values.schema.json, or nil
	closed                 map[string]bool // the paths of objects for which values.schema.json forbids other keys
}

// chart returns the values of a chart and the schema for them, including the values of its
// dependencies.
func (b *builder) chart(c Chart) (*value, crdschema.Schema, error) {
	s := &source{builder: b, valuesFile: path.Join(c.Folder, "values.yaml"), schemaFile: path.Join(c.Folder, "values.schema.json")}
	s.uses, s.closed = usesIn(c), map[string]bool{}
	values, err := readValues(s.valuesFile, c.Values)
	if err != nil {
		return nil, nil, err
	}
	var spec crdschema.Schema
	if c.Schema != nil {
		spec, err = s.fromDocument(c.Schema, values)
	} else {
		spec = s.object(values, nil)
	}
	if err != nil {
		return nil, nil, err
	}
	dependencies := map[string]crdschema.Schema{}
	for _, key := range slices.Sorted(maps.Keys(c.Dependencies)) {
		if _, dependencies[key], err = b.chart(c.Dependencies[key]); err != nil {
			return nil, nil, err
		}
	}
	for _, i := range c.Imports {
		addImport(spec, i, dependencies[i.Dependency])
	}
	s.addMentioned(spec)
	for _, key := range slices.Sorted(maps.Keys(dependencies)) {
		if inner := dependencies[key]; !c.Dependencies[key].Library || len(properties(inner)) > 0 {
			addDependency(spec, key, inner)
		}
	}
	if c.Values == nil && c.Schema == nil && len(properties(spec)) == 0 && !c.Library {
		s.found(RuleOpen, s.valuesFile, 0, 0, "the chart has neither values.yaml nor values.schema.json: spec accepts any fields")
		open(spec)
	}
	return values, spec, nil
}

// addDependency adds the values of a dependency below its key, and its global values to the global values
// of the chart. What the chart itself says about them comes first.
func addDependency(spec crdschema.Schema, key string, dependency crdschema.Schema) {
	inner := maps.Clone(dependency)
	if global, exists := properties(dependency)["global"]; exists {
		merge(spec, objectOf(map[string]any{"global": global}))
	}
	delete(inner, "required") // the dependency has defaults, or is disabled
	merge(spec, objectOf(map[string]any{key: map[string]any(inner)}))
}

// addImport adds the values that a chart imports from a dependency, with their types.
func addImport(spec crdschema.Schema, i Import, dependency crdschema.Schema) {
	imported := dependency
	for _, key := range i.Child {
		imported, _ = property(imported, key)
	}
	if imported["type"] != "object" {
		return // Helm imports only objects
	}
	own, _ := jsonvalue.Clone(map[string]any(imported)).(map[string]any)
	delete(own, "required") // the dependency has defaults
	imported = own
	for _, key := range slices.Backward(i.Chart) {
		imported = objectOf(map[string]any{key: map[string]any(imported)})
	}
	merge(spec, imported)
}

func (b *builder) found(rule finding.Rule, file string, line, column int, format string, args ...any) {
	b.findings = append(b.findings, rule.At(file, line, column, format, args...))
}

func (s *source) openValue(v *value, reason string) {
	s.found(RuleOpen, s.valuesFile, v.line, v.column, "%s: %s", v.name(), reason)
}
