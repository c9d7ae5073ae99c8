package config

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/lazyregexp"
	kyaml "sigs.k8s.io/yaml"
)

var (
	versionLine = lazyregexp.New(`(?m)^[ \t]*configVersion:[ \t]*["']?v1\b`)
	versionKey  = lazyregexp.New(`["']?configVersion["']?\s*:`)
	keyLine     = lazyregexp.New(`^["']?[A-Za-z]\w*["']?:(\s|$)`)
)

// FromScript returns the configuration that a script contains literally, in a here-document
// or a string. It neither runs the script nor validates the configuration, which may differ
// from the one that the hook prints. It returns nil if the script contains none.
func FromScript(script []byte) *Config {
	for _, at := range versionLine().FindAllIndex(script, -1) {
		if c := fromText(block(string(script), bytes.Count(script[:at[0]], []byte("\n")))); c != nil {
			return c
		}
	}
	for _, at := range versionKey().FindAllIndex(script, -1) {
		open := bytes.LastIndexByte(script[:at[0]], '{')
		if open < 0 {
			continue
		}
		var object json.RawMessage
		text := script[open:]
		if json.NewDecoder(bytes.NewReader(text)).Decode(&object) == nil {
			text = object
		} else { // not JSON, but perhaps YAML flow style on one line
			text, _, _ = bytes.Cut(text, []byte("\n"))
			text = text[:bytes.LastIndexByte(text, '}')+1]
		}
		if c := fromText(text); c != nil {
			return c
		}
	}
	return nil
}

// block returns the YAML block that contains a line of a script.
func block(script string, line int) []byte {
	lines := strings.Split(script, "\n")
	indent := lines[line][:len(lines[line])-len(strings.TrimLeft(lines[line], " \t"))]
	isInBlock := func(s string) bool {
		rest, inside := strings.CutPrefix(s, indent)
		return inside && rest != "" && (strings.ContainsAny(rest[:1], " \t-#") || keyLine().MatchString(rest))
	}
	empty := func(s string) bool { return strings.TrimSpace(s) == "" }
	first, last := line, line
	for first > 0 && (isInBlock(lines[first-1]) || empty(lines[first-1])) {
		first--
	}
	for first < line && !keyLine().MatchString(strings.TrimPrefix(lines[first], indent)) {
		first++ // skip indented script lines before the first key
	}
	for last+1 < len(lines) && (isInBlock(lines[last+1]) || empty(lines[last+1])) {
		last++
	}
	return []byte(strings.Join(lines[first:last+1], "\n"))
}

// fromText parses a configuration of version v1, or returns nil.
func fromText(text []byte) *Config {
	c := &Config{Version: "v1", Steps: map[string]float64{}}
	var keys map[string]any
	if kyaml.Unmarshal(text, &keys) != nil || keys["configVersion"] != c.Version || kyaml.Unmarshal(text, c) != nil {
		return nil
	}
	for _, step := range slices.Concat(Global.Steps(), Module.Steps()) {
		if order, isNumber := keys[step].(float64); isNumber {
			c.Steps[step] = order
		}
	}
	return c
}
