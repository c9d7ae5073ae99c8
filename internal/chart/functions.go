package chart

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"text/template"

	"github.com/BurntSushi/toml"
	"github.com/Masterminds/sprig/v3"
	"github.com/operon-dev/operon/internal/watchdog"
	"sigs.k8s.io/yaml"
	pretty "sigs.k8s.io/yaml/goyaml.v3"
)

// messageStart and messageEnd mark the messages of a chart, to separate them from the text that
// package template adds.
const (
	messageStart = "\x01chart message\x02"
	messageEnd   = "\x03"
)

// functions returns the functions of Helm and of sprig, except those that read the environment of
// this machine. Without lookup, that function finds nothing.
func (p *program) functions(lookup func(apiVersion, kind, namespace, name string) (map[string]any, error)) template.FuncMap {
	m := sprig.TxtFuncMap()
	delete(m, "env")
	delete(m, "expandenv")
	watchdog.Bound(m)
	m["getHostByName"] = func(string) string { return "" }
	m["lookup"] = lookup
	if lookup == nil {
		m["lookup"] = func(_, _, _, _ string) map[string]any { return map[string]any{} }
	}
	m["fail"] = func(message string) (string, error) { return "", errors.New(messageStart + message + messageEnd) }
	m["required"] = func(message string, v any) (any, error) {
		if v == nil || v == "" {
			return v, errors.New(messageStart + message + messageEnd)
		}
		return v, nil
	}
	if p.lenient {
		m["fail"] = func(string) string { return "" }
		m["required"] = func(_ string, v any) any {
			if v == nil || v == "" {
				return StandIn
			}
			return v
		}
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
	m["include"], m["tpl"] = p.include, p.tpl
	return m
}

// StandIn is the value of required for a lenient [Renderer].
const StandIn = "value"

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
