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

// messageStart and messageEnd mark the messages of a chart, to separate them from the text that
// package template adds.
const (
	messageStart = "\x01chart message\x02"
	messageEnd   = "\x03"
)

// maxDepth limits the recursion of include.
const maxDepth = 1000

// functions returns the functions of Helm and of sprig, except those that read the environment of
// this machine. include and tpl use the templates of t. lookup is called for each lookup, unless it
// is nil.
func functions(t *template.Template, lookup func(apiVersion, kind, namespace, name string)) template.FuncMap {
	m := sprig.TxtFuncMap()
	delete(m, "env")
	delete(m, "expandenv")
	m["getHostByName"] = func(string) string { return "" }
	m["lookup"] = func(apiVersion, kind, namespace, name string) map[string]any {
		if lookup != nil {
			lookup(apiVersion, kind, namespace, name)
		}
		return map[string]any{}
	}
	m["fail"] = func(message string) (string, error) { return "", errors.New(messageStart + message + messageEnd) }
	m["required"] = func(message string, v any) (any, error) {
		if v == nil || v == "" {
			return v, errors.New(messageStart + message + messageEnd)
		}
		return v, nil
	}
	m["toYaml"] = func(v any) string { return textOrEmpty(yaml.Marshal(v)) }
	m["toYamlPretty"] = toPrettyYAML
	m["toJson"] = func(v any) string { return textOrEmpty(json.Marshal(v)) }
	m["toToml"] = toTOML
	m["fromYaml"] = func(text string) map[string]any { return object(text, decodeYAML) }
	m["fromJson"] = func(text string) map[string]any { return object(text, decodeJSON) }
	m["fromToml"] = func(text string) map[string]any { return object(text, decodeTOML) }
	m["fromYamlArray"] = func(text string) []any { return array(text, decodeYAML) }
	m["fromJsonArray"] = func(text string) []any { return array(text, decodeJSON) }
	depth := map[string]int{}
	m["include"], m["tpl"] = include(t, depth), tpl(t, depth)
	return m
}

// include returns the function include, which executes a template and returns its output.
func include(t *template.Template, depth map[string]int) func(string, any) (string, error) {
	return func(name string, data any) (string, error) {
		if depth[name] > maxDepth {
			return "", fmt.Errorf("%s includes itself more than %d times", name, maxDepth)
		}
		depth[name]++
		defer func() { depth[name]-- }()
		var b strings.Builder
		err := t.ExecuteTemplate(&b, name, data)
		return b.String(), err
	}
}

// tpl returns the function tpl, which renders a text that the values contain.
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

// textOrEmpty returns an encoded value, or "" after an error: Helm's functions hide errors.
func textOrEmpty(content []byte, err error) string {
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
	return textOrEmpty(b.Bytes(), err)
}

func toTOML(v any) string {
	var b bytes.Buffer
	if err := toml.NewEncoder(&b).Encode(v); err != nil {
		return err.Error()
	}
	return b.String()
}

func decodeYAML(text string, v any) error { return yaml.Unmarshal([]byte(text), v) }
func decodeJSON(text string, v any) error { return json.Unmarshal([]byte(text), v) }
func decodeTOML(text string, v any) error { return toml.Unmarshal([]byte(text), v) }

// object decodes an object. After an error, the result has the message in the key Error.
func object(text string, decode func(string, any) error) map[string]any {
	m := map[string]any{}
	if err := decode(text, &m); err != nil {
		m["Error"] = err.Error()
	}
	return m
}

// array decodes a list. After an error, the only item of the result is the message.
func array(text string, decode func(string, any) error) []any {
	list := []any{}
	if err := decode(text, &list); err != nil {
		return []any{err.Error()}
	}
	return list
}
