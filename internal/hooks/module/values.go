package module

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/input"
	"github.com/operon-dev/operon/internal/jsonvalue"
	"github.com/operon-dev/operon/internal/lazyregexp"
	"go.yaml.in/yaml/v3"
	kyaml "sigs.k8s.io/yaml"
)

// document is a values file with positions.
type document struct {
	file   string // the path in findings
	values map[string]any
	root   *yaml.Node // nil for an empty document

	// The result of strict parsing, which addon-operator uses to find enabled flags: yes and
	// on are strings, and duplicate keys are errors.
	strict    map[string]any
	strictErr error // io.EOF for an empty file
}

var yamlLine = lazyregexp.New(`yaml: line (\d+): `)

// readValues reads a values file. A missing file is an empty document. file is its path in
// findings. The findings report an invalid file.
func readValues(name, file string) (document, []finding.Finding, error) {
	d := document{file: file}
	content, err := input.ReadFile(name, input.Text)
	if errors.Is(err, fs.ErrNotExist) {
		return d, nil, nil
	}
	if err != nil {
		return d, nil, err
	}
	if err := kyaml.Unmarshal(content, &d.values); err != nil {
		return d, []finding.Finding{parseError(file, ruleValues, err)}, nil
	}
	var doc yaml.Node
	if d.strictErr = yaml.NewDecoder(bytes.NewReader(content)).Decode(&doc); d.strictErr == nil {
		d.root = doc.Content[0]
		d.strictErr = d.root.Decode(&d.strict)
	}
	return d, nil, nil
}

// parseError returns the finding for a file that is not valid YAML or not an object.
func parseError(file string, rule finding.Rule, err error) finding.Finding {
	line, message := 0, strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")
	if m := yamlLine().FindStringSubmatch(message); m != nil {
		line, _ = strconv.Atoi(m[1])
		message = strings.Replace(message, m[0], "", 1)
	}
	if strings.Contains(message, "cannot unmarshal") {
		line, message = 1, "is not an object"
	}
	return rule.At(file, line, 0, "%s", strings.TrimPrefix(message, "yaml: "))
}

// position returns the position of the value at a path, or of its closest parent. It returns 0
// for an empty document.
func (d document) position(path ...string) (line, column int) {
	node := d.root
	if node == nil {
		return 0, 0
	}
	line, column = node.Line, node.Column
	for _, step := range path {
		if node.Kind == yaml.AliasNode {
			node = node.Alias
		}
		var key, next *yaml.Node
		switch node.Kind {
		case yaml.MappingNode:
			for i := 0; i+1 < len(node.Content); i += 2 {
				if node.Content[i].Value == step {
					key, next = node.Content[i], node.Content[i+1]
				}
			}
		case yaml.SequenceNode:
			if i, err := strconv.Atoi(step); err == nil && i < len(node.Content) {
				key, next = node.Content[i], node.Content[i]
			}
		}
		if next == nil {
			break
		}
		line, column, node = key.Line, key.Column, next
	}
	return line, column
}

// report returns a finding of a rule at the position of a path.
func (d document) report(rule finding.Rule, path []string, format string, args ...any) finding.Finding {
	line, column := d.position(path...)
	return rule.At(d.file, line, column, format, args...)
}

// duplicateKeys reports duplicate keys. consequence is the end of the messages.
func (d document) duplicateKeys(rule finding.Rule, consequence string) []finding.Finding {
	typeError := (*yaml.TypeError)(nil)
	if !errors.As(d.strictErr, &typeError) {
		return nil
	}
	var findings []finding.Finding
	for _, message := range slices.Compact(slices.Sorted(slices.Values(typeError.Errors))) {
		findings = append(findings, parseError(d.file, rule, fmt.Errorf("yaml: %s%s", message, consequence)))
	}
	return findings
}

// checkEnabledFlags validates the common values as addon-operator does when it searches them
// for enabled flags.
func (d document) checkEnabledFlags() []finding.Finding {
	findings := d.duplicateKeys(ruleValues, ": addon-operator does not start")
	switch {
	case errors.Is(d.strictErr, io.EOF):
		findings = append(findings, d.report(ruleValues, nil, "is empty, so addon-operator does not start: write {} to it, or delete it"))
	case d.strictErr != nil && len(findings) == 0:
		findings = append(findings, parseError(d.file, ruleValues, d.strictErr))
	}
	invalid := map[string]bool{}
	for _, values := range []map[string]any{d.values, d.strict} {
		for key, v := range values {
			if _, isBool := v.(bool); strings.HasSuffix(key, enabledSuffix) && !isBool {
				invalid[key] = true
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(invalid)) {
		findings = append(findings, d.report(ruleValues, []string{key}, "%s must be true or false: otherwise addon-operator does not start", key))
	}
	return findings
}

// section returns the values below a key. ok is false if the key exists, but its value is not
// an object. The values of an absent key are nil.
func (d document) section(key string) (values map[string]any, ok bool) {
	v, exists := d.values[key]
	if !exists {
		return nil, true
	}
	values, ok = v.(map[string]any)
	return values, ok
}

// defines reports whether the document has a value at a path, or a value that is not an object
// at a parent of the path.
func (d document) defines(path []string) bool {
	values := d.values
	for i, step := range path {
		v, exists := values[step]
		if !exists {
			return false
		}
		if i == len(path)-1 {
			return true
		}
		object, isObject := v.(map[string]any)
		if !isObject {
			return i > 0
		}
		values = object
	}
	return false
}

// ignored returns a warning if the value of a key is not an object, and is therefore ignored.
func (d document) ignored(key string) []finding.Finding {
	if d.values[key] == nil {
		return nil
	}
	return []finding.Finding{d.report(ruleIgnored, []string{key}, "%s is not an object, so it is ignored", key)}
}

// merge merges values. Later layers override earlier ones: objects are merged, and all other
// values are replaced. The result shares no memory with the layers.
func merge(layers ...map[string]any) map[string]any {
	merged := map[string]any{}
	for _, layer := range layers {
		for key, v := range layer {
			base, baseIsObject := merged[key].(map[string]any)
			override, isObject := v.(map[string]any)
			if baseIsObject && isObject {
				merged[key] = merge(base, override)
			} else {
				merged[key] = jsonvalue.Clone(v)
			}
		}
	}
	return merged
}

// Common has what all modules share: the values and enabled flags in values.yaml of the modules
// folder, and the global values with their schemas.
type Common struct {
	document
	Global Values
}

// ReadCommon reads the common values from the modules folder, and the schemas of the global
// values from the folder of global hooks. The paths of findings are relative to the parent of
// both folders.
func ReadCommon(modules, globalHooks string) (*Common, []finding.Finding, error) {
	d, findings, err := readValues(filepath.Join(modules, "values.yaml"), filepath.Base(modules)+"/values.yaml")
	if err != nil {
		return nil, nil, err
	}
	c := &Common{document: d}
	if len(findings) > 0 {
		return c, findings, nil
	}
	findings = d.checkEnabledFlags()
	static, ok := d.section("global")
	if !ok {
		findings = append(findings, d.ignored("global")...)
	}
	schemas, schemaFindings, err := readSchemas(filepath.Join(globalHooks, "openapi"), filepath.Base(globalHooks)+"/openapi")
	if err != nil {
		return nil, nil, err
	}
	c.Global = Values{Key: "global", Static: static, Schemas: schemas}
	return c, append(findings, schemaFindings...), nil
}

// static returns the values of a module that files define. The values of the module's own file
// override the common ones. The findings report values that are not objects; for a common value
// that is only an error if the module's own file does not override it.
func (c *Common) static(key string, own document) (map[string]any, []finding.Finding) {
	const message = "%s must be an object with the values of the module"
	var findings []finding.Finding
	commonValues, commonOK := c.section(key)
	ownValues, ownOK := own.section(key)
	switch {
	case !commonOK && ownValues != nil:
		findings = c.ignored(key)
	case !commonOK:
		findings = append(findings, c.report(ruleValues, []string{key}, message, key))
	}
	if !ownOK {
		findings = append(findings, own.report(ruleValues, []string{key}, message, key))
	}
	return merge(commonValues, ownValues), findings
}

// Values reads the values of a module and their schemas. The error is the first finding that is
// an error.
func (m Module) Values(common *Common) (Values, error) {
	own, findings, err := readValues(filepath.Join(m.Dir, "values.yaml"), m.path()+"/values.yaml")
	if err != nil {
		return Values{}, err
	}
	static, staticFindings := common.static(m.Key(), own)
	schemas, schemaFindings, err := readSchemas(filepath.Join(m.Dir, "openapi"), m.path()+"/openapi")
	if err != nil {
		return Values{}, err
	}
	findings = slices.Concat(findings, staticFindings, schemaFindings)
	if i := finding.FirstError(findings); i >= 0 {
		f := findings[i]
		return Values{}, fmt.Errorf("%s:%d: %s", f.File, max(1, f.Line), f.Message)
	}
	return Values{Key: m.Key(), Static: static, Schemas: schemas}, nil
}
