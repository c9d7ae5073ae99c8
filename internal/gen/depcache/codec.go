package depcache

import (
	"encoding/binary"
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Encode encodes the texts of all entries, and then the entries as numbers of texts,
// because entries of several systems often have the same texts.
func Encode(entries []*Entry) []byte {
	var all []string
	numbers := map[string]int{}
	var list encoder
	text := func(s string) {
		n, ok := numbers[s]
		if !ok {
			n = len(all)
			numbers[s] = n
			all = append(all, s)
		}
		list.count(n)
	}
	list.count(len(entries))
	for _, entry := range entries {
		list.count(len(entry.Closure))
		for _, path := range entry.Closure {
			text(path)
		}
		text(string(entry.Sum[:]))
		text(string(entry.Types))
		text(entry.Group)
		list.count(map[bool]int{true: 1}[entry.Grouped])
		list.count(len(entry.Uses))
		for _, path := range entry.Uses {
			text(path)
		}
		text(string(entry.schemas))
	}
	var e encoder
	e.count(len(all))
	for _, s := range all {
		e.text(s)
	}
	return append(e, list...)
}

// decode decodes what Encode returned. ok is false for any other content.
func decode(content []byte) (entries []*Entry, ok bool) {
	d := decoder{rest: content, size: len(content), ok: true}
	var all [][]byte
	for range d.count() {
		all = append(all, d.bytes())
	}
	text := func() []byte {
		if n := d.count(); n < len(all) {
			return all[n]
		}
		d = decoder{}
		return nil
	}
	for range d.count() {
		entry := &Entry{}
		for range d.count() {
			entry.Closure = append(entry.Closure, string(text()))
		}
		d.ok = copy(entry.Sum[:], text()) == len(entry.Sum) && d.ok
		entry.Types = text()
		entry.Group = string(text())
		entry.Grouped = d.count() == 1
		for range d.count() {
			entry.Uses = append(entry.Uses, string(text()))
		}
		entry.schemas = text()
		d.ok = d.ok && len(entry.Closure) > 0
		entries = append(entries, entry)
	}
	return entries, d.ok && len(d.rest) == 0
}

type encoder []byte

func (e *encoder) count(n int) { *e = binary.AppendUvarint(*e, uint64(n)) }

func (e *encoder) text(s string) {
	e.count(len(s))
	*e = append(*e, s...)
}

type decoder struct {
	rest []byte
	size int // of the whole content
	ok   bool
}

// count reads a number that is at most the size of the whole content.
func (d *decoder) count() int {
	n, size := binary.Uvarint(d.rest)
	if size <= 0 || n > uint64(d.size) {
		*d = decoder{}
		return 0
	}
	d.rest = d.rest[size:]
	return int(n)
}

func (d *decoder) take(n int) []byte {
	if n > len(d.rest) {
		*d = decoder{}
		return nil
	}
	taken := d.rest[:n:n]
	d.rest = d.rest[n:]
	return taken
}

func (d *decoder) bytes() []byte { return d.take(d.count()) }

// encodeSchemas encodes schemas in the Protocol Buffers form of the API server, as the
// definitions of one schema. That is faster than JSON, and keeps the text of JSON values
// unchanged.
func encodeSchemas(all map[string]apiextensionsv1.JSONSchemaProps) ([]byte, error) {
	if len(all) == 0 {
		return nil, nil
	}
	return (&apiextensionsv1.JSONSchemaProps{Definitions: all}).Marshal()
}

func decodeSchemas(content []byte) (map[string]apiextensionsv1.JSONSchemaProps, bool) {
	var all apiextensionsv1.JSONSchemaProps
	err := all.Unmarshal(content)
	return all.Definitions, err == nil
}

// mentioned returns the paths of the packages that schemas refer to.
func mentioned(all map[string]apiextensionsv1.JSONSchemaProps) []string {
	paths := map[string]bool{}
	for _, s := range all {
		EachRef(&s, func(path, _ string) {
			if path != "" {
				paths[path] = true
			}
		})
	}
	return slices.Sorted(maps.Keys(paths))
}
