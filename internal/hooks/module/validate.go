package module

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-openapi/spec"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks/chart"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/kinds"
	helmchart "helm.sh/helm/v3/pkg/chart"
)

// Validate validates a module without its hooks, which package hooks validates. Findings
// have paths relative to the parent of the modules folder. The error means that the
// validation could not run.
func (m Module) Validate(common *Common, table *kinds.Table) ([]finding.Finding, error) {
	j := &validator{Module: m, at: m.at(), common: common, table: table}
	for _, step := range []func() error{j.crds, j.enabled, j.values, j.chart} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return finding.Sort(j.findings), nil
}

// validator collects findings about one module.
type validator struct {
	Module
	at       string // the path of the module in findings
	common   *Common
	table    *kinds.Table
	findings []finding.Finding

	own        document // values.yaml
	known      Values
	broken     bool // values or schemas are invalid
	incomplete bool // a required value is absent in the files
}

func (j *validator) add(f ...finding.Finding) {
	j.findings = append(j.findings, f...)
	j.broken = j.broken || slices.ContainsFunc(f, finding.Finding.IsError)
}

// crds validates the CRDs. Invalid CRDs do not prevent the validation of the chart.
func (j *validator) crds() error {
	_, found, err := j.CRDs()
	j.findings = append(j.findings, found...)
	return err
}

// enabled checks the module's enabled script.
func (j *validator) enabled() error {
	info, err := os.Stat(filepath.Join(j.Dir, "enabled"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode()&0o111 == 0:
		j.add(finding.Finding{File: j.at + "/enabled", Rule: ruleEnabled,
			Message: "is not executable, so addon-operator does not run it, and the module is enabled: chmod +x"})
	}
	return nil
}

// values validates values.yaml and the schemas, and the values against the schemas.
func (j *validator) values() error {
	var failed *finding.Finding
	var err error
	if j.own, failed, err = readValues(filepath.Join(j.Dir, "values.yaml"), j.at+"/values.yaml"); err != nil {
		return err
	}
	if failed != nil {
		j.add(*failed)
	}
	j.unknownKeys()
	j.add(j.own.duplicateKeys(config.RuleDuplicateKey, finding.Warning, ": the last one counts")...)
	static, found := j.common.static(j.Key(), j.own)
	j.add(found...)
	schemas, findings, err := readSchemas(filepath.Join(j.Dir, "openapi"), j.at+"/openapi")
	if err != nil {
		return err
	}
	j.add(findings...)
	j.known = Values{Key: j.Key(), Static: static, Schemas: schemas}
	if j.broken {
		return nil
	}
	j.schemas()
	for _, v := range Check(schemas.Helm, j.known.Effective(nil)) {
		if v.Missing { // the ConfigMap or a hook may set it
			j.incomplete = true
			continue
		}
		j.add(j.violation(v))
	}
	return nil
}

// violation returns the finding for a violation, with the position of the value.
func (j *validator) violation(m Violation) finding.Finding {
	name := strings.Join(append([]string{j.Key()}, m.Path...), ".")
	for _, d := range []document{j.own, j.common.document} {
		if section, _ := d.section(j.Key()); section != nil && has(section, m.Path) {
			return d.finding(ruleMisfit, finding.Error, append([]string{j.Key()}, m.Path...), "%s: %s", name, m.Message)
		}
	}
	file := valuesFile
	if s := j.known.Schemas.Config; s != nil && len(m.Path) > 0 && s.Properties[m.Path[0]].Default != nil {
		file = configFile
	}
	return finding.Finding{File: j.at + "/openapi/" + file, Rule: ruleMisfit, Severity: finding.Error, Message: fmt.Sprintf("the default of %s: %s", name, m.Message)}
}

func has(values map[string]any, path []string) bool {
	for i, step := range path {
		v, there := values[step]
		if !there {
			return false
		}
		if i == len(path)-1 {
			return true
		}
		switch below := v.(type) {
		case map[string]any:
			values = below
		default:
			return true // the position of the parent is known
		}
	}
	return true
}

// unknownKeys reports keys of values.yaml that do not belong to the module.
func (j *validator) unknownKeys() {
	for _, key := range slices.Sorted(maps.Keys(j.own.values)) {
		switch {
		case key == j.Key():
		case key == j.enabledKey():
			j.add(j.own.finding(ruleFlag, finding.Warning, []string{key}, "%s has no effect here: addon-operator reads it from values.yaml in the folder of modules, and from the ConfigMap", key))
		default:
			hint := ""
			if near := fault.Nearest(key, []string{j.Key()}); near != "" {
				hint = "; did you mean " + near + "?"
			}
			j.add(j.own.finding(ruleStrange, finding.Warning, []string{key}, "%s is not the key of the module, %s: hooks do not see it, and no schema validates it%s", key, j.Key(), hint))
		}
	}
}

// schemas reports parts of the schemas that have no effect.
func (j *validator) schemas() {
	s := j.known.Schemas
	if s.Config != nil && s.Values != nil {
		for _, name := range slices.Sorted(maps.Keys(s.Config.Properties)) {
			if _, there := s.Values.Properties[name]; !there && closed(s.Values) {
				j.add(finding.Finding{File: j.at + "/openapi/" + valuesFile, Rule: ruleKeyword,
					Message: fmt.Sprintf("does not allow %s, which users may set: add x-extend: {schema: %s}", name, configFile)})
			}
		}
	}
	for file, s := range map[string]*spec.Schema{configFile: s.Config, valuesFile: s.Values} {
		if s != nil {
			j.keywords(j.at+"/openapi/"+file, nil, *s)
		}
	}
}

func closed(s *spec.Schema) bool {
	return s.AdditionalProperties != nil && !s.AdditionalProperties.Allows && s.AdditionalProperties.Schema == nil && len(s.PatternProperties) == 0
}

// keywords reports keywords without effect in a schema and its children.
func (j *validator) keywords(file string, at []string, s spec.Schema) {
	name := strings.Join(at, ".")
	if name == "" {
		name = "the schema"
	}
	if _, there := s.Extensions["x-deckhouse-validations"]; there {
		j.add(finding.Finding{File: file, Rule: ruleKeyword, Message: name + ": only addon-operator evaluates x-deckhouse-validations"})
	}
	if len(at) > 0 && s.Type.Contains("object") && len(s.Properties) == 0 && closed(&s) {
		j.add(finding.Finding{File: file, Rule: ruleKeyword,
			Message: name + " allows no keys: give it properties, or additionalProperties: true"})
	}
	for _, key := range slices.Sorted(maps.Keys(s.Properties)) {
		j.keywords(file, append(at[:len(at):len(at)], key), s.Properties[key])
	}
	if s.Items != nil && s.Items.Schema != nil {
		j.keywords(file, append(at[:len(at):len(at)], "[]"), *s.Items.Schema)
	}
}

// chart validates the chart by rendering it with the known values.
func (j *validator) chart() error {
	c, err := j.loadChart()
	if wrong := (*chart.Error)(nil); errors.As(err, &wrong) {
		if j.broken && wrong.File == "values.yaml" {
			return nil // already reported
		}
		j.add(finding.Finding{File: j.at + "/" + wrong.File, Line: wrong.Line, Rule: ruleChart, Severity: finding.Error, Message: wrong.Msg})
		return nil
	}
	if err != nil {
		return err
	}
	if c == nil {
		j.add(finding.Finding{File: j.at, Rule: ruleNoChart, Message: "has neither Chart.yaml nor templates: nothing is installed"})
		return nil
	}
	if j.broken {
		return nil
	}
	rendered, err := chart.Render(c, j.chartValues(j.common.Global.Effective(nil), j.known.Effective(nil)), j.release("default"), clusterOf(j.table))
	if wrong := (*chart.Error)(nil); errors.As(err, &wrong) {
		f := finding.Finding{File: j.at + "/" + wrong.File, Line: wrong.Line, Column: wrong.Column, Rule: ruleTemplate, Severity: finding.Error, Message: wrong.Msg}
		if j.incomplete || len(Check(j.common.Global.Schemas.Helm, j.common.Global.Effective(nil))) > 0 {
			f.Rule, f.Severity = ruleRequired, finding.Warning
			f.Message += " (the ConfigMap or a hook must set required values; a test can set them)"
		}
		j.add(f)
		return nil
	}
	if err != nil {
		return err
	}
	j.rendered(rendered)
	return nil
}

// rendered validates the rendered templates.
func (j *validator) rendered(files map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		objects, err := chart.Objects(map[string]string{name: files[name]})
		if err != nil {
			f := finding.Finding{File: j.at + "/" + name, Rule: ruleTemplate, Severity: finding.Error, Message: err.Error()}
			if wrong := (*chart.Error)(nil); errors.As(err, &wrong) {
				f.Message = wrong.Msg
			}
			j.add(f)
			continue
		}
		for _, o := range objects {
			wrong := chart.Lint(o)
			if gone := unserved(j.table, o); gone != "" {
				wrong = append(wrong, gone)
			}
			for _, msg := range wrong {
				j.add(finding.Finding{File: j.at + "/" + name, Rule: ruleObject, Message: msg})
			}
		}
	}
}

// loadChart loads the module's chart as addon-operator does. The chart is nil if the
// module has none. An invalid chart is a chart.Error.
func (m Module) loadChart() (*helmchart.Chart, error) {
	_, err := os.Stat(filepath.Join(m.Dir, "Chart.yaml"))
	if err == nil {
		return chart.Load(m.Dir)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(m.Dir, "templates")); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	return chart.LoadBare(m.Dir, m.Name)
}

// chartValues returns the values for rendering the chart.
func (m Module) chartValues(global, values map[string]any) map[string]any {
	return map[string]any{"global": global, m.Key(): values}
}

// release returns the Helm release of the chart in a namespace, that of the operator.
func (m Module) release(namespace string) chart.Release {
	return chart.Release{Name: m.Name, Namespace: namespace}
}
