package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/joelanford/ignore"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/olm/bundle"
	"go.yaml.in/yaml/v3"
)

// ignoreFile excludes files and folders below its own folder, with patterns as in .gitignore.
const ignoreFile = ".indexignore"

// Read reads all files of a catalog, except those that files named .indexignore exclude. Documents
// that cannot be read are findings, by file and line, and missing in the catalog. The error is one of
// the file system.
func Read(folder fs.FS) (*Catalog, []finding.Finding, error) {
	c := &Catalog{}
	var found []finding.Finding
	ignored, err := ignore.NewMatcher(folder, ignoreFile)
	if err != nil {
		return nil, nil, fault.Usage("remove it, or correct it", "%s: %v", ignoreFile, fault.Reason(err))
	}
	err = fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != "." && ignored.Match(filepath.FromSlash(name), true) {
				return fs.SkipDir
			}
			return nil
		}
		if path.Base(name) == ignoreFile || ignored.Match(filepath.FromSlash(name), false) {
			return nil
		}
		info, err := fs.Stat(folder, name) // follows links, as OLM does
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return fault.Usage("remove the link, or add it to "+ignoreFile, "%s is a link to a file that does not exist", name)
		case err == nil && info.IsDir():
			return fault.Usage("remove it, or add it to "+ignoreFile, "%s is a link to a folder", name)
		}
		src, err := fs.ReadFile(folder, name)
		if err != nil {
			return fault.Usage("remove it, or add it to "+ignoreFile, "%s: %v", name, fault.Reason(err))
		}
		found = append(found, c.AddFile(name, src)...)
		return nil
	})
	return c, finding.Sort(found), err
}

// AddFile adds the documents of a file. It returns findings for those that it cannot read.
func (c *Catalog) AddFile(name string, src []byte) []finding.Finding {
	var found []finding.Finding
	docs, bad := split(name, src)
	found = append(found, bad...)
	for _, d := range docs {
		found = append(found, c.add(d)...)
	}
	return finding.Sort(found)
}

// raw is a document that has not been decoded.
type raw struct {
	file  string
	node  *yaml.Node // a mapping
	lines int        // before the node's first line
}

// split returns the documents of a file: a stream of YAML documents, or of JSON objects.
func split(name string, src []byte) ([]raw, []finding.Finding) {
	if bytes.HasPrefix(bytes.TrimSpace(src), []byte("{")) {
		return splitJSON(name, src)
	}
	var docs []raw
	dec := yaml.NewDecoder(bytes.NewReader(src))
	for {
		var doc yaml.Node
		err := dec.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return docs, nil
		}
		if err != nil {
			line, message := yamlError(err)
			return docs, []finding.Finding{ruleSyntax.At(name, line, 0, "%s", message)}
		}
		node := doc.Content[0]
		switch {
		case node.Kind == yaml.MappingNode:
			bundle.ResolveAsOLM(node)
			docs = append(docs, raw{name, node, 0})
		case node.Tag != "!!null": // an empty document
			return docs, []finding.Finding{ruleSyntax.At(name, node.Line, node.Column, "the document is not an object")}
		}
	}
}

// splitJSON returns the objects of a JSON stream.
func splitJSON(name string, src []byte) ([]raw, []finding.Finding) {
	var docs []raw
	dec := json.NewDecoder(bytes.NewReader(src))
	for {
		var doc json.RawMessage
		err := dec.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return docs, nil
		}
		end := int(dec.InputOffset())
		if err != nil {
			end = len(src) // of a document that is cut off
			if bad, ok := errors.AsType[*json.SyntaxError](err); ok {
				end = min(int(bad.Offset), len(src))
			}
			return docs, []finding.Finding{ruleSyntax.At(name, 1+bytes.Count(src[:end], []byte("\n")), 0, "%s", err)}
		}
		var node yaml.Node
		if err := yaml.Unmarshal(doc, &node); err != nil { // JSON is YAML, but for few characters
			return docs, []finding.Finding{ruleSyntax.At(name, 1+bytes.Count(src[:end], []byte("\n")), 0, "%s", err)}
		}
		docs = append(docs, raw{name, node.Content[0], bytes.Count(src[:end-len(doc)], []byte("\n"))})
	}
}

// yamlError returns the line and the message of an error of the YAML library.
func yamlError(err error) (line int, message string) {
	message = strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, ok := strings.CutPrefix(message, "line "); ok {
		number, text, _ := strings.Cut(rest, ": ")
		for _, c := range number {
			if c < '0' || c > '9' {
				return 0, message
			}
			line = line*10 + int(c-'0')
		}
		return line, text
	}
	return 0, message
}

// add decodes a document and adds it to the catalog.
func (c *Catalog) add(r raw) []finding.Finding {
	schema := child(r.node, "schema")
	if schema == nil || schema.Value == "" || schema.Tag != "!!str" {
		return []finding.Finding{ruleSyntax.At(r.file, r.lines+r.node.Line, 0, "the document has no schema")}
	}
	switch schema.Value {
	case SchemaPackage:
		return decode(r, &c.Packages)
	case SchemaChannel:
		return decode(r, &c.Channels)
	case SchemaBundle:
		return decode(r, &c.Bundles)
	case SchemaDeprecations:
		return decode(r, &c.Deprecations)
	default:
		return decode(r, &c.Others)
	}
}

// decode decodes a document and appends it to docs.
func decode[T any](r raw, docs *[]Doc[T]) []finding.Finding {
	d := Doc[T]{File: r.file, Line: r.lines + r.node.Line, node: r.node, lines: r.lines}
	if err := r.node.Decode(&d.Value); err != nil {
		line, message := yamlError(err)
		var bad *yaml.TypeError
		if errors.As(err, &bad) {
			line, message = yamlError(errors.New(bad.Errors[0]))
		}
		return []finding.Finding{ruleSyntax.At(r.file, r.lines+max(line, r.node.Line), 0, "%s", message)}
	}
	if err := asJSON(r.node, new(T)); err != nil {
		line, message := d.Line, err.Error()
		if mismatch, is := errors.AsType[*json.UnmarshalTypeError](err); is {
			key, _, _ := strings.Cut(mismatch.Field, ".")
			line, message = d.lineOf(key), fmt.Sprintf("%s: a %s is not valid here, put it into quotes", mismatch.Field, mismatch.Value)
		}
		return []finding.Finding{ruleSyntax.At(r.file, line, 0, "%s", message)}
	}
	*docs = append(*docs, d)
	return nil
}

// asJSON decodes a node as opm does, which makes JSON of it: the channel 4.10 is the number 4.1.
func asJSON(node *yaml.Node, into any) error {
	var value any
	err := node.Decode(&value)
	var src []byte
	if err == nil {
		src, err = json.Marshal(value)
	}
	if err == nil {
		err = json.Unmarshal(src, into)
	}
	return err
}
