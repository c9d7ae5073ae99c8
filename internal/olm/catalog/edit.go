package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/fault"
	"go.yaml.in/yaml/v3"
)

// appendDocument returns a file of a catalog with one more document at its end, in the format
// of the file. The other bytes stay.
func appendDocument(src []byte, doc any) ([]byte, error) {
	text, err := encode(src, doc)
	if err != nil {
		return nil, err
	}
	if !isJSON(src) && len(bytes.TrimSpace(src)) > 0 {
		text = append(withLineEndings(src, []byte("---\n")), text...)
	}
	if len(src) > 0 && !bytes.HasSuffix(src, []byte("\n")) {
		text = append(withLineEndings(src, []byte("\n")), text...)
	}
	return append(bytes.Clone(src), text...), nil
}

// appendEntry returns the file of a channel with one more entry. The other bytes stay.
func appendEntry(src []byte, pkg, channel string, e Entry) ([]byte, error) {
	s, err := find(src, func(node *yaml.Node) bool {
		return text(node, "schema") == SchemaChannel && text(node, "package") == pkg && text(node, "name") == channel
	})
	if err != nil {
		return nil, err
	}
	doc := src[s.start:s.end]
	if isJSON(src) {
		doc, err = appendJSON(src, doc, "entries", e)
	} else {
		doc, err = appendYAML(src, s, e)
	}
	if err != nil {
		return nil, err
	}
	return bytes.Join([][]byte{src[:s.start], doc, src[s.end:]}, nil), nil
}

// replaceBundle returns the file of a bundle with another bundle of the same name in its
// place. The other documents stay.
func replaceBundle(src []byte, b Bundle) ([]byte, error) {
	s, err := find(src, func(node *yaml.Node) bool {
		return text(node, "schema") == SchemaBundle && text(node, "package") == b.Package && text(node, "name") == b.Name
	})
	if err != nil {
		return nil, err
	}
	doc, err := encode(src, b)
	if err != nil {
		return nil, err
	}
	if isJSON(src) {
		doc = bytes.TrimRight(doc, "\r\n")
	}
	return bytes.Join([][]byte{src[:s.start], doc, src[s.end:]}, nil), nil
}

func isJSON(src []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(src), []byte("{")) }

// encode returns a document in the format of a file.
func encode(src []byte, doc any) ([]byte, error) {
	if isJSON(src) {
		text, err := JSON([]any{doc})
		return withLineEndings(src, text), err
	}
	text, err := YAML([]any{doc})
	return withLineEndings(src, bytes.TrimPrefix(text, []byte("---\n"))), err
}

// withLineEndings returns new text with the line ending that the first line of a file has.
func withLineEndings(src, text []byte) []byte {
	if end := bytes.IndexByte(src, '\n'); end < 1 || src[end-1] != '\r' {
		return text
	}
	return bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
}

// text returns the value of a key, or "".
func text(node *yaml.Node, key string) string {
	if value := child(node, key); value != nil {
		return value.Value
	}
	return ""
}

// span is the place of a document in its file, without the line that separates it from the
// document before.
type span struct{ start, end int }

// find returns the place of the first document that matches.
func find(src []byte, matches func(*yaml.Node) bool) (span, error) {
	places := spansYAML
	if isJSON(src) {
		places = spansJSON
	}
	for _, s := range places(src) {
		var doc yaml.Node
		if yaml.Unmarshal(src[s.start:s.end], &doc) == nil && len(doc.Content) > 0 && matches(doc.Content[0]) {
			return s, nil
		}
	}
	return span{}, fault.Usage("write each document in a form of its own, after a line ---", "the document cannot be edited in place")
}

// spansYAML returns the places of documents. A line that starts with --- begins one, wherever
// it is.
func spansYAML(src []byte) []span {
	var all []span
	start, at := 0, 0
	for line := range bytes.Lines(src) {
		rest, marker := bytes.CutPrefix(line, []byte("---"))
		if marker && (len(rest) == 0 || strings.ContainsRune(" \t\r\n", rune(rest[0]))) {
			all = append(all, span{start, at})
			start = at
			if rest = bytes.TrimSpace(rest); len(rest) == 0 || rest[0] == '#' {
				start = at + len(line)
			}
		}
		at += len(line)
	}
	return append(all, span{start, at})
}

// spansJSON returns the places of the objects in a stream.
func spansJSON(src []byte) []span {
	var all []span
	dec := json.NewDecoder(bytes.NewReader(src))
	for {
		var doc json.RawMessage
		if dec.Decode(&doc) != nil {
			return all
		}
		end := int(dec.InputOffset())
		all = append(all, span{end - len(doc), end})
	}
}

// appendYAML returns a document with one more entry. The blank lines before it give
// errors the position in the file.
func appendYAML(src []byte, s span, e Entry) ([]byte, error) {
	item, err := YAML([]any{e})
	if err != nil {
		return nil, err
	}
	before := bytes.Repeat([]byte("\n"), bytes.Count(src[:s.start], []byte("\n")))
	doc := append(bytes.Clone(before), src[s.start:s.end]...)
	doc, err = yamledit.Append(doc, strings.TrimPrefix(string(item), "---\n"), yamledit.ListAnchor{Path: []string{"entries"}})
	if err != nil {
		return nil, err
	}
	doc, ok := bytes.CutPrefix(doc, before)
	if !ok {
		return nil, fmt.Errorf("the document moves")
	}
	return doc, nil
}

// appendJSON returns an object of a file with one more item in a list, which is indented as the
// first item is.
func appendJSON(src, doc []byte, key string, item any) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(doc))
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, err
		}
		if name != key {
			var value json.RawMessage
			if err := dec.Decode(&value); err != nil {
				return nil, err
			}
			continue
		}
		if open, err := dec.Token(); err != nil || open != json.Delim('[') {
			break
		}
		first, last := int(dec.InputOffset()), int(dec.InputOffset())
		for dec.More() {
			var value json.RawMessage
			if err := dec.Decode(&value); err != nil {
				return nil, err
			}
			last = int(dec.InputOffset())
		}
		return insertJSON(src, doc, first, last, item)
	}
	return nil, fault.Usage("write a list", "%s is not a list", key)
}

// insertJSON inserts an item after the last one of a list that starts at first.
func insertJSON(src, doc []byte, first, last int, item any) ([]byte, error) {
	space := doc[first : first+len(doc[first:])-len(bytes.TrimLeft(doc[first:], " \t\r\n"))]
	text, err := json.Marshal(item)
	if line := bytes.LastIndexByte(space, '\n'); err == nil && line >= 0 && last > first {
		text, err = json.MarshalIndent(item, string(space[line+1:]), "    ")
	}
	if err != nil {
		return nil, err
	}
	text = withLineEndings(src, text)
	if last > first {
		text = bytes.Join([][]byte{[]byte(","), space, text}, nil)
	}
	return bytes.Join([][]byte{doc[:last], text, doc[last:]}, nil), nil
}
