package module

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/jsonvalue"
	"github.com/operon-dev/operon/internal/lazyregexp"
	"go.yaml.in/yaml/v3"
	kyaml "sigs.k8s.io/yaml"
)

// document is a file of values with positions.
type document struct {
	file   string // path in findings
	values map[string]any
	root   *yaml.Node // nil for an empty document

	// The result of strict parsing, which addon-operator uses to find enabled keys: yes
	// and on are strings, and duplicate keys are errors.
	strict map[string]any
	wrong  error // io.EOF for an empty file
}

var yamlLine = lazyregexp.New(`yaml: line (\d+): `)

// readValues reads a file of values. A missing file is an empty document. file is its
// path in findings.
func readValues(name, file string) (document, *finding.Finding, error) {
	d := document{file: file}
	content, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return d, nil, nil
	}
	if err != nil {
		return d, nil, err
	}
	if err := kyaml.Unmarshal(content, &d.values); err != nil {
		return d, unreadable(file, ruleValues, err), nil
	}
	var doc yaml.Node
	if d.wrong = yaml.NewDecoder(bytes.NewReader(content)).Decode(&doc); d.wrong == nil {
		d.root = doc.Content[0]
		d.wrong = d.root.Decode(&d.strict)
	}
	return d, nil, nil
}

// unreadable returns the finding for a file that is invalid YAML or no object.
func unreadable(file, rule string, err error) *finding.Finding {
	f := &finding.Finding{File: file, Rule: rule, Severity: finding.Error}
	msg := strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")
	if m := yamlLine().FindStringSubmatch(msg); m != nil {
		f.Line, _ = strconv.Atoi(m[1])
		msg = strings.Replace(msg, m[0], "", 1)
	}
	if strings.Contains(msg, "cannot unmarshal") {
		f.Line, msg = 1, "is no object"
	}
	f.Message = strings.TrimPrefix(msg, "yaml: ")
	return f
}

// at returns the position of the value at a path, or of the closest parent. It returns 0
// for an empty document.
func (d document) at(path ...string) (line, column int) {
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

// finding returns a finding at the position of a path.
func (d document) finding(rule string, severity finding.Severity, path []string, format string, args ...any) finding.Finding {
	line, column := d.at(path...)
	return finding.Finding{File: d.file, Line: line, Column: column, Rule: rule, Severity: severity, Message: fmt.Sprintf(format, args...)}
}

// duplicateKeys reports duplicate keys. outcome is the consequence for the message.
func (d document) duplicateKeys(rule string, severity finding.Severity, outcome string) []finding.Finding {
	wrong := (*yaml.TypeError)(nil)
	if !errors.As(d.wrong, &wrong) {
		return nil
	}
	var findings []finding.Finding
	for _, msg := range slices.Compact(slices.Sorted(slices.Values(wrong.Errors))) {
		f := unreadable(d.file, rule, fmt.Errorf("yaml: %s%s", msg, outcome))
		f.Severity = severity
		findings = append(findings, *f)
	}
	return findings
}

// switches validates the common values as addon-operator does when it looks for enabled
// keys.
func (d document) switches() []finding.Finding {
	findings := d.duplicateKeys(ruleValues, finding.Error, ", and addon-operator does not start")
	switch {
	case errors.Is(d.wrong, io.EOF):
		findings = append(findings, d.finding(ruleValues, finding.Error, nil, "is empty, so addon-operator does not start: write {} to it, or delete it"))
	case d.wrong != nil && len(findings) == 0:
		findings = append(findings, *unreadable(d.file, ruleValues, d.wrong))
	}
	wrong := map[string]bool{}
	for _, values := range []map[string]any{d.values, d.strict} {
		for key, v := range values {
			if _, isBool := v.(bool); strings.HasSuffix(key, switchSuffix) && !isBool {
				wrong[key] = true
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(wrong)) {
		findings = append(findings, d.finding(ruleValues, finding.Error, []string{key}, "%s must be true or false, or addon-operator does not start", key))
	}
	return findings
}

// section returns the values below a key. They are nil for an absent key. The finding is
// an error for a value that is no object.
func (d document) section(key string) (map[string]any, *finding.Finding) {
	v, there := d.values[key]
	if !there {
		return nil, nil
	}
	section, isTable := v.(map[string]any)
	if !isTable {
		f := d.finding(ruleValues, finding.Error, []string{key}, "%s must be an object with the values of the module", key)
		return nil, &f
	}
	return section, nil
}

// ignored returns a warning if the value of a key is not an object and therefore ignored.
func (d document) ignored(key string) []finding.Finding {
	if d.values[key] == nil {
		return nil
	}
	return []finding.Finding{d.finding(ruleIgnored, finding.Warning, []string{key}, "%s is not an object, so it is ignored: it must hold values", key)}
}

// merge merges values; later layers override earlier ones. It merges objects and replaces
// all other values. The result shares no memory with the layers.
func merge(layers ...map[string]any) map[string]any {
	merged := map[string]any{}
	for _, layer := range layers {
		for key, v := range layer {
			below, isTable := merged[key].(map[string]any)
			above, other := v.(map[string]any)
			if isTable && other {
				merged[key] = merge(below, above)
			} else {
				merged[key] = jsonvalue.Clone(v)
			}
		}
	}
	return merged
}

// Common has what all modules share: the values and enabled keys in values.yaml of the
// modules folder, and the schemas of global values.
type Common struct {
	document
	Global Values
}

// ReadCommon reads the common values from the folder of modules, and the schemas of
// global values from the folder of global hooks. Findings have paths relative to the
// parent of both.
func ReadCommon(modules, globalHooks string) (*Common, []finding.Finding, error) {
	d, failed, err := readValues(filepath.Join(modules, "values.yaml"), filepath.Base(modules)+"/values.yaml")
	if err != nil {
		return nil, nil, err
	}
	c := &Common{document: d}
	if failed != nil {
		return c, []finding.Finding{*failed}, nil
	}
	findings := d.switches()
	static, failed := d.section("global")
	if failed != nil {
		findings = append(findings, d.ignored("global")...)
	}
	schemas, more, err := readSchemas(filepath.Join(globalHooks, "openapi"), filepath.Base(globalHooks)+"/openapi")
	if err != nil {
		return nil, nil, err
	}
	c.Global = Values{Key: "global", Static: static, Schemas: schemas}
	return c, append(findings, more...), nil
}

// static returns the values of a module from files. The module's own values override the
// common ones. A common value that is no object is an error unless the module's file
// overrides it.
func (c *Common) static(key string, own document) (map[string]any, []finding.Finding) {
	var findings []finding.Finding
	shared, failed := c.section(key)
	mine, wrong := own.section(key)
	switch {
	case failed != nil && mine != nil:
		findings = c.ignored(key)
	case failed != nil:
		findings = append(findings, *failed)
	}
	if wrong != nil {
		findings = append(findings, *wrong)
	}
	return merge(shared, mine), findings
}

// Values reads the values of a module and their schemas. The error is the first finding
// that is an error.
func (m Module) Values(common *Common) (Values, error) {
	at := m.at()
	own, failed, err := readValues(filepath.Join(m.Dir, "values.yaml"), at+"/values.yaml")
	if err != nil {
		return Values{}, err
	}
	static, findings := common.static(m.Key(), own)
	if failed != nil {
		findings = []finding.Finding{*failed}
	}
	schemas, more, err := readSchemas(filepath.Join(m.Dir, "openapi"), at+"/openapi")
	if err != nil {
		return Values{}, err
	}
	for _, f := range append(findings, more...) {
		if f.IsError() {
			return Values{}, fmt.Errorf("%s:%d: %s", f.File, max(1, f.Line), f.Message)
		}
	}
	return Values{Key: m.Key(), Static: static, Schemas: schemas}, nil
}
