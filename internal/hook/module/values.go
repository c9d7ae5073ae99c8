package module

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/hook"
	"go.yaml.in/yaml/v3"
	kyaml "sigs.k8s.io/yaml"
)

// document is a file of values: what is in it, and where.
type document struct {
	file   string // for findings
	values map[string]any
	root   *yaml.Node // nil when there is none
}

var yamlLine = regexp.MustCompile(`yaml: line (\d+): `)

// readValues reads a file of values; one that is not there has none. file is how
// findings call it.
func readValues(name, file string) (document, *hook.Finding, error) {
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
	if yaml.Unmarshal(content, &doc) == nil && len(doc.Content) == 1 {
		d.root = doc.Content[0]
	}
	return d, nil, nil
}

// unreadable says where a file is no YAML, or not an object.
func unreadable(file, rule string, err error) *hook.Finding {
	f := &hook.Finding{File: file, Rule: rule, Refused: true}
	msg := strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")
	if m := yamlLine.FindStringSubmatch(msg); m != nil {
		f.Line, _ = strconv.Atoi(m[1])
		msg = strings.Replace(msg, m[0], "", 1)
	}
	if strings.Contains(msg, "cannot unmarshal") {
		f.Line, msg = 1, "is no object"
	}
	f.Message = strings.TrimPrefix(msg, "yaml: ")
	return f
}

// at is the place of what stands at a path, or as far towards it as there is
// something; 0 when the document is empty.
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

// finding is one about what stands at a path.
func (d document) finding(rule string, refused bool, path []string, format string, args ...any) hook.Finding {
	line, column := d.at(path...)
	return hook.Finding{File: d.file, Line: line, Column: column, Rule: rule, Refused: refused, Message: fmt.Sprintf(format, args...)}
}

// section returns the values below a key: none when the key is not there, and an
// error finding when they are no object.
func (d document) section(key string) (map[string]any, *hook.Finding) {
	v, there := d.values[key]
	if !there {
		return nil, nil
	}
	section, isTable := v.(map[string]any)
	if !isTable {
		f := d.finding(ruleValues, true, []string{key}, "%s must be an object: the values of the module stand below it", key)
		return nil, &f
	}
	return section, nil
}

// Merge lays values over each other, later ones over earlier: objects are merged,
// anything else replaces what was there. The result shares nothing with them.
func Merge(layers ...map[string]any) map[string]any {
	merged := map[string]any{}
	for _, layer := range layers {
		for key, v := range layer {
			below, isTable := merged[key].(map[string]any)
			above, other := v.(map[string]any)
			if isTable && other {
				merged[key] = Merge(below, above)
			} else {
				merged[key] = clone(v)
			}
		}
	}
	return merged
}

// clone copies what JSON is made of.
func clone(v any) any {
	switch x := v.(type) {
	case map[string]any:
		return Merge(x)
	case []any:
		c := make([]any, len(x))
		for i, item := range x {
			c[i] = clone(item)
		}
		return c
	}
	return v
}

// Common is what all modules of a folder share: the values and switches in its
// values.yaml, and the schemas of global values.
type Common struct {
	document
	Global Values
}

// ReadCommon reads the values of all modules from the folder of modules, and the
// schemas of global values from that of global hooks. Files in findings are named
// from the folder that has both.
func ReadCommon(modules, globalHooks string) (*Common, []hook.Finding, error) {
	d, failed, err := readValues(filepath.Join(modules, "values.yaml"), filepath.Base(modules)+"/values.yaml")
	if err != nil {
		return nil, nil, err
	}
	c := &Common{document: d}
	if failed != nil {
		return c, []hook.Finding{*failed}, nil
	}
	var findings []hook.Finding
	for key, v := range d.values {
		if _, isBool := v.(bool); strings.HasSuffix(key, "Enabled") && !isBool {
			findings = append(findings, d.finding(ruleValues, true, []string{key}, "%s must be true or false, or addon-operator does not start", key))
		}
	}
	static, failed := d.section("global")
	if failed != nil {
		findings = append(findings, *failed)
	}
	schemas, more, err := readSchemas(filepath.Join(globalHooks, "openapi"), filepath.Base(globalHooks)+"/openapi")
	if err != nil {
		return nil, nil, err
	}
	c.Global = Values{Key: "global", Static: static, Schemas: schemas}
	return c, append(findings, more...), nil
}

// Values reads the values of a module and their schemas. The error is the first
// thing that is wrong with them.
func (m Module) Values(common *Common) (Values, error) {
	at := m.at()
	own, failed, err := readValues(filepath.Join(m.Dir, "values.yaml"), at+"/values.yaml")
	if err != nil {
		return Values{}, err
	}
	v := Values{Key: m.Key()}
	for _, d := range []document{common.document, own} {
		section, wrong := d.section(m.Key())
		if failed == nil {
			failed = wrong
		}
		v.Static = Merge(v.Static, section)
	}
	schemas, findings, err := readSchemas(filepath.Join(m.Dir, "openapi"), at+"/openapi")
	if err != nil {
		return Values{}, err
	}
	if failed == nil && len(findings) > 0 {
		failed = &findings[0]
	}
	if failed != nil {
		return Values{}, fmt.Errorf("%s:%d: %s", failed.File, max(1, failed.Line), failed.Message)
	}
	v.Schemas = schemas
	return v, nil
}
