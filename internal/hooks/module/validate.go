package module

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-openapi/spec"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
)

// Validate validates a module, except its hooks, which package hooks validates. The paths of
// findings are relative to the parent of the modules folder. An error means that the
// validation itself failed.
func (m Module) Validate(common *Common, table *kubeapi.Kinds) ([]finding.Finding, error) {
	v := &validator{Module: m, path: m.path(), common: common, table: table}
	for _, check := range []func() error{v.checkCRDs, v.checkEnabledScript, v.checkValues, v.checkChart} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	return finding.Sort(v.findings), nil
}

// validator collects the findings about one module.
type validator struct {
	Module
	path     string // the path of the module in findings
	common   *Common
	table    *kubeapi.Kinds
	findings []finding.Finding

	own        document // values.yaml of the module
	static     Values   // the values that files define
	invalid    bool     // values or schemas are invalid
	incomplete bool     // the files lack a required value
}

func (v *validator) add(f ...finding.Finding) {
	v.findings = append(v.findings, f...)
	v.invalid = v.invalid || finding.HasErrors(f)
}

// checkCRDs validates the CRDs. Invalid CRDs do not prevent the validation of the chart.
func (v *validator) checkCRDs() error {
	_, found, err := v.CRDs()
	v.findings = append(v.findings, found...)
	return err
}

// checkEnabledScript reports an enabled script that addon-operator does not run.
func (v *validator) checkEnabledScript() error {
	info, err := os.Stat(filepath.Join(v.Dir, "enabled"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode()&0o111 == 0:
		v.add(ruleEnabledScript.At(v.path+"/enabled", 0, 0, "is not executable, so addon-operator enables the module without running it: run chmod +x"))
	}
	return nil
}

// checkValues validates values.yaml and the schemas, and the values with the schemas.
func (v *validator) checkValues() error {
	var findings []finding.Finding
	var err error
	if v.own, findings, err = readValues(filepath.Join(v.Dir, "values.yaml"), v.path+"/values.yaml"); err != nil {
		return err
	}
	v.add(findings...)
	v.checkKeys()
	v.add(v.own.duplicateKeys(config.RuleDuplicateKey, ": the last one wins")...)
	static, findings := v.common.static(v.Key(), v.own)
	v.add(findings...)
	schemas, findings, err := readSchemas(filepath.Join(v.Dir, "openapi"), v.path+"/openapi")
	if err != nil {
		return err
	}
	v.add(findings...)
	v.static = Values{Key: v.Key(), Static: static, Schemas: schemas}
	if v.invalid {
		return nil
	}
	v.checkSchemas()
	for _, violation := range checkValues(schemas.Helm, v.static.effective(nil)) {
		if violation.Missing { // the ConfigMap or a hook may set the value
			v.incomplete = true
			continue
		}
		v.add(v.locate(violation))
	}
	return nil
}

// locate returns the finding for a violation, with the position of the value.
func (v *validator) locate(violation Violation) finding.Finding {
	path := append([]string{v.Key()}, violation.Path...)
	name := strings.Join(path, ".")
	for _, d := range []document{v.own, v.common.document} {
		if d.defines(path) {
			return d.report(ruleMisfit, path, "%s: %s", name, violation.Message)
		}
	}
	file := valuesFile
	if s := v.static.Schemas.Config; s != nil && len(violation.Path) > 0 && s.Properties[violation.Path[0]].Default != nil {
		file = configFile
	}
	return ruleMisfit.At(v.path+"/openapi/"+file, 0, 0, "the default of %s: %s", name, violation.Message)
}

// checkKeys reports keys of values.yaml that do not belong to the module.
func (v *validator) checkKeys() {
	for _, key := range slices.Sorted(maps.Keys(v.own.values)) {
		switch {
		case key == v.Key():
		case key == v.enabledKey():
			v.add(v.own.report(ruleFlagIgnored, []string{key}, "%s has no effect here: addon-operator reads it from values.yaml in the folder of modules, and from the ConfigMap", key))
		default:
			v.add(v.own.report(ruleUnknownValues, []string{key}, "%s is not the key of the module, %s: hooks cannot read it, and no schema validates it%s", key, v.Key(), fault.DidYouMean(key, []string{v.Key()})))
		}
	}
}

// checkSchemas reports parts of the schemas that have no effect.
func (v *validator) checkSchemas() {
	s := v.static.Schemas
	if s.Config != nil && s.Values != nil {
		for _, name := range slices.Sorted(maps.Keys(s.Config.Properties)) {
			if _, exists := s.Values.Properties[name]; !exists && isClosed(s.Values) {
				v.add(ruleKeyword.At(v.path+"/openapi/"+valuesFile, 0, 0, "does not allow %s, which users may set: add x-extend: {schema: %s}", name, configFile))
			}
		}
	}
	for file, s := range map[string]*spec.Schema{configFile: s.Config, valuesFile: s.Values} {
		if s != nil {
			v.checkKeywords(v.path+"/openapi/"+file, nil, *s)
		}
	}
}

// isClosed reports whether a schema allows no additional properties.
func isClosed(s *spec.Schema) bool {
	more := s.AdditionalProperties
	return more != nil && !more.Allows && more.Schema == nil && len(s.PatternProperties) == 0
}

// checkKeywords reports keywords without effect in a schema and its children. path is the path
// of the schema.
func (v *validator) checkKeywords(file string, path []string, s spec.Schema) {
	name := strings.Join(path, ".")
	if name == "" {
		name = "the schema"
	}
	if _, exists := s.Extensions["x-deckhouse-validations"]; exists {
		v.add(ruleKeyword.At(file, 0, 0, "%s: only addon-operator evaluates x-deckhouse-validations", name))
	}
	if len(path) > 0 && s.Type.Contains("object") && len(s.Properties) == 0 && isClosed(&s) {
		v.add(ruleKeyword.At(file, 0, 0, "%s allows no keys: add properties, or additionalProperties: true", name))
	}
	for _, key := range slices.Sorted(maps.Keys(s.Properties)) {
		v.checkKeywords(file, append(path[:len(path):len(path)], key), s.Properties[key])
	}
	if s.Items != nil && s.Items.Schema != nil {
		v.checkKeywords(file, append(path[:len(path):len(path)], "[]"), *s.Items.Schema)
	}
}
