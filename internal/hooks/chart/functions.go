package chart

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/template"

	"github.com/BurntSushi/toml"
	"github.com/Masterminds/sprig/v3"
	"sigs.k8s.io/yaml"
	pretty "sigs.k8s.io/yaml/goyaml.v3"
)

// Messages of the chart itself are marked to separate them from the text that package
// template adds.
const (
	saidStart = "\x01chart says\x02"
	saidEnd   = "\x03"
)

// deepest limits how deeply a template can include itself.
const deepest = 1000

// functions returns the functions of Helm and of sprig, without those that read the
// environment of this machine. include and tpl use the templates of t.
func functions(t *template.Template) template.FuncMap {
	m := sprig.TxtFuncMap()
	delete(m, "env")
	delete(m, "expandenv")
	m["getHostByName"] = func(string) string { return "" }
	m["lookup"] = func(string, string, string, string) map[string]any { return map[string]any{} }
	m["fail"] = func(message string) (string, error) { return "", errors.New(saidStart + message + saidEnd) }
	m["required"] = func(message string, v any) (any, error) {
		if v == nil || v == "" {
			return v, errors.New(saidStart + message + saidEnd)
		}
		return v, nil
	}
	m["toYaml"] = func(v any) string { return whole(yaml.Marshal(v)) }
	m["toYamlPretty"] = toPrettyYAML
	m["toJson"] = func(v any) string { return whole(json.Marshal(v)) }
	m["toToml"] = toTOML
	m["fromYaml"] = func(text string) map[string]any { return object(text, yamlInto) }
	m["fromJson"] = func(text string) map[string]any { return object(text, jsonInto) }
	m["fromToml"] = func(text string) map[string]any { return object(text, tomlInto) }
	m["fromYamlArray"] = func(text string) []any { return array(text, yamlInto) }
	m["fromJsonArray"] = func(text string) []any { return array(text, jsonInto) }
	depth := map[string]int{}
	m["include"], m["tpl"] = include(t, depth), tpl(t, depth)
	return m
}

// include executes a template as a function, so that its output can be piped.
func include(t *template.Template, depth map[string]int) func(string, any) (string, error) {
	return func(name string, data any) (string, error) {
		if depth[name] > deepest {
			return "", fmt.Errorf("%s includes itself without an end", name)
		}
		depth[name]++
		defer func() { depth[name]-- }()
		var b strings.Builder
		err := t.ExecuteTemplate(&b, name, data)
		return b.String(), err
	}
}

// tpl renders a text from the values, which can define templates.
func tpl(parent *template.Template, depth map[string]int) func(string, any) (string, error) {
	return func(text string, data any) (string, error) {
		t, err := parent.Clone()
		if err != nil {
			return "", err
		}
		t.Option("missingkey=zero") // Clone does not copy the option
		t.Funcs(template.FuncMap{"include": include(t, depth), "tpl": tpl(t, depth)})
		if t, err = t.New(parent.Name()).Parse(text); err != nil {
			return "", fmt.Errorf("tpl of %q: %w", text, err)
		}
		var b strings.Builder
		if err := t.Execute(&b, data); err != nil {
			return "", fmt.Errorf("tpl of %q: %w", text, err)
		}
		return strings.ReplaceAll(b.String(), "<no value>", ""), nil
	}
}

// whole returns the marshalled text, or "" after an error: these functions hide errors
// from charts.
func whole(content []byte, err error) string {
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(content), "\n")
}

func toPrettyYAML(v any) string {
	var b bytes.Buffer
	e := pretty.NewEncoder(&b)
	e.SetIndent(2)
	err := e.Encode(v)
	return whole(b.Bytes(), err)
}

func toTOML(v any) string {
	var b bytes.Buffer
	if err := toml.NewEncoder(&b).Encode(v); err != nil {
		return err.Error()
	}
	return b.String()
}

func yamlInto(text string, v any) error { return yaml.Unmarshal([]byte(text), v) }
func jsonInto(text string, v any) error { return json.Unmarshal([]byte(text), v) }
func tomlInto(text string, v any) error { return toml.Unmarshal([]byte(text), v) }

// object parses an object. After an error, the result has the message in the key Error.
func object(text string, into func(string, any) error) map[string]any {
	m := map[string]any{}
	if err := into(text, &m); err != nil {
		m["Error"] = err.Error()
	}
	return m
}

// array parses a list. After an error, the result has the message as its only item.
func array(text string, into func(string, any) error) []any {
	list := []any{}
	if err := into(text, &list); err != nil {
		return []any{err.Error()}
	}
	return list
}
