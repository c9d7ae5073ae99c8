package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// element is a value of a JSON document with its position.
type element struct {
	data         any    // as an API server decodes it; for objects and lists, a type alone
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

// plain returns the value as it is decoded from JSON.
func (e *element) plain() any {
	switch {
	case e.fields != nil:
		object := map[string]any{}
		for key, v := range e.fields {
			object[key] = v.plain()
		}
		return object
	case e.items != nil:
		list := []any{}
		for _, v := range e.items {
			list = append(list, v.plain())
		}
		return list
	}
	return e.data
}

// parseJSON parses a JSON document.
func parseJSON(file string, content []byte) (*element, error) {
	content = bytes.TrimPrefix(content, []byte("\ufeff"))
	p := &parser{content: content, decoder: json.NewDecoder(bytes.NewReader(content)), line: 1}
	p.decoder.UseNumber()
	root, err := p.value("", 0)
	if err == nil {
		if _, more := p.decoder.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("text after the end of the JSON document")
		}
	}
	if err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("the JSON document ends too early")
		}
		line, column := p.position(p.decoder.InputOffset())
		return nil, errorAt("correct the JSON first", file, line, column, "%v", err)
	}
	return root, nil
}

// parser follows the lines of a document.
type parser struct {
	content []byte
	decoder *json.Decoder
	offset  int64 // where line was counted
	line    int
}

func (p *parser) position(offset int64) (line, column int) {
	p.line += bytes.Count(p.content[p.offset:offset], []byte("\n"))
	p.offset = offset
	return p.line, int(offset) - bytes.LastIndexByte(p.content[:offset], '\n')
}

// next returns the next token and its position.
func (p *parser) next() (token json.Token, line, column int, err error) {
	start := p.decoder.InputOffset()
	for start < int64(len(p.content)) && strings.IndexByte(" \t\r\n,:", p.content[start]) >= 0 {
		start++
	}
	token, err = p.decoder.Token()
	if err == nil {
		line, column = p.position(start)
	}
	return token, line, column, err
}

// maxDepth is the maximum nesting that the API server decodes.
const maxDepth = 10_000

// value reads the value with a name.
func (p *parser) value(name string, depth int) (*element, error) {
	token, line, column, err := p.next()
	if err != nil {
		return nil, err
	}
	e := &element{data: token, name: name, line: line, column: column}
	switch token := token.(type) {
	case json.Number:
		return e, utiljson.Unmarshal([]byte(token), &e.data)
	case json.Delim:
		if depth > maxDepth {
			return nil, errors.New("the JSON document is nested too deeply")
		}
		if token == '{' {
			return e, p.object(e, depth)
		}
		e.items = []*element{}
		for p.decoder.More() {
			item, err := p.value(name, depth+1)
			if err != nil {
				return nil, err
			}
			e.items = append(e.items, item)
		}
		_, err = p.decoder.Token()
	}
	return e, err
}

func (p *parser) object(e *element, depth int) error {
	e.fields = map[string]*element{}
	for p.decoder.More() {
		key, line, column, err := p.next()
		if err != nil {
			return err
		}
		name, _ := key.(string)
		if e.fields[name] != nil {
			return fmt.Errorf("key %q occurs twice", name)
		}
		v, err := p.value(e.child(name), depth+1)
		if err != nil {
			return err
		}
		v.line, v.column = line, column
		e.keys = append(e.keys, name)
		e.fields[name] = v
	}
	_, err := p.decoder.Token()
	return err
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
