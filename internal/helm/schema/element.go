package schema

import (
	"bytes"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/lazyregexp"
	"go.yaml.in/yaml/v3"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	kjson "sigs.k8s.io/json"
)

// element is a value of a JSON document with its position.
type element struct {
	data         any    // as an API server decodes it
	name         string // the keys that lead to it, without the keyword properties
	line, column int
	keys         []string
	fields       map[string]*element
	items        []*element
}

// get returns the value of a key, or nil.
func (e *element) get(key string) *element {
	if e == nil {
		return nil
	}
	return e.fields[key]
}

func (e *element) isObject() bool { return e != nil && e.fields != nil }

// text returns the string at a key, or "".
func (e *element) text(key string) string {
	if v := e.get(key); v != nil {
		text, _ := v.data.(string)
		return text
	}
	return ""
}

// strings returns the strings of the list at a key.
func (e *element) strings(key string) []string {
	var all []string
	if list := e.get(key); list != nil {
		for _, item := range list.items {
			if text, isText := item.data.(string); isText {
				all = append(all, text)
			}
		}
	}
	return all
}

var jsonEscape = lazyregexp.New(`\\(?:u[dD][89a-fA-F][0-9a-fA-F]{2}|.)`)

// escapesOfYAML replaces the two escapes of JSON that package yaml does not read: a slash, and half of a character,
// for which a space is enough to find positions.
func escapesOfYAML(content []byte) []byte {
	return jsonEscape().ReplaceAllFunc(content, func(escape []byte) []byte {
		switch {
		case escape[1] == '/':
			return []byte(`\x2f`)
		case len(escape) > 2:
			return []byte(`\u0020`)
		}
		return escape
	})
}

// parseJSON parses a JSON document. The positions come from package yaml: JSON is YAML.
func parseJSON(file string, content []byte) (*element, error) {
	content = bytes.TrimPrefix(content, []byte("\ufeff"))
	var data any
	var doc yaml.Node
	if err := utiljson.Unmarshal(content, &data); err != nil {
		_, offset := kjson.SyntaxErrorOffset(err)
		before := content[:min(int(offset), len(content))]
		line, column := 1+bytes.Count(before, []byte("\n")), len(before)-bytes.LastIndexByte(before, '\n')
		return nil, errorAt("correct the JSON first", file, line, column, "%v", err)
	}
	if err := yaml.Unmarshal(escapesOfYAML(content), &doc); err != nil {
		return nil, errorAt("correct the JSON first", file, 1, 0, "%v", err)
	}
	root := &element{data: data}
	return root, root.read(file, doc.Content[0])
}

// read adds the position and the content of a node.
func (e *element) read(file string, node *yaml.Node) error {
	if e.line == 0 {
		e.line, e.column = node.Line, node.Column
	}
	switch data := e.data.(type) {
	case map[string]any:
		e.fields = map[string]*element{}
		for pair := range slices.Chunk(node.Content, 2) {
			key := pair[0].Value
			if e.fields[key] != nil {
				return errorAt("correct the JSON first", file, pair[0].Line, pair[0].Column, "key %q occurs twice", key)
			}
			e.keys = append(e.keys, key)
			e.fields[key] = &element{data: data[key], name: e.child(key), line: pair[0].Line, column: pair[0].Column}
			if err := e.fields[key].read(file, pair[1]); err != nil {
				return err
			}
		}
	case []any:
		e.items = []*element{}
		for i, item := range node.Content {
			e.items = append(e.items, &element{data: data[i], name: e.name})
			if err := e.items[i].read(file, item); err != nil {
				return err
			}
		}
	}
	return nil
}

// child returns the name of the value of a key.
func (e *element) child(key string) string {
	switch {
	case key == "properties":
		return e.name
	case e.name == "":
		return key
	}
	return e.name + "." + key
}

// resolve returns the element that a reference within the document points to, or nil.
func (e *element) resolve(reference string) *element {
	fragment, err := url.PathUnescape(strings.TrimPrefix(reference, "#"))
	if err != nil {
		return nil
	}
	if fragment != "" && !strings.HasPrefix(fragment, "/") {
		return e.anchor(fragment)
	}
	at := e
	for step := range strings.SplitSeq(strings.TrimPrefix(fragment, "/"), "/") {
		if fragment == "" {
			break
		}
		step = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
		if at == nil {
			return nil
		}
		if i, err := strconv.Atoi(step); err == nil && at.items != nil && i >= 0 && i < len(at.items) {
			at = at.items[i]
		} else {
			at = at.get(step)
		}
	}
	return at
}

// anchor returns the schema with an $anchor or, in older drafts, with an $id of this name.
func (e *element) anchor(name string) *element {
	if e.text("$anchor") == name || e.text("$id") == "#"+name || e.text("id") == "#"+name {
		return e
	}
	for _, key := range e.keys {
		if found := e.fields[key].anchor(name); found != nil {
			return found
		}
	}
	for _, item := range e.items {
		if found := item.anchor(name); found != nil {
			return found
		}
	}
	return nil
}
