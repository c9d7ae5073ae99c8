package rbac

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/roles"
	"go.yaml.in/yaml/v3"
)

// operation is a patch operation. Its fields may hold unknown.
type operation struct {
	at                                             place
	name, apiVersion, kind, object, namespace, sub string
	role                                           roleRef
}

// verbsOf are the requests that the engine sends for an operation: on the object,
// and on its subresource when the operation names one.
var verbsOf = map[string]struct{ object, sub []string }{
	"Create":             {[]string{"create"}, nil},
	"CreateIfNotExists":  {[]string{"create"}, nil},
	"CreateOrUpdate":     {[]string{"create", "get", "update"}, nil},
	"Delete":             {[]string{"delete", "get"}, nil}, // it waits until the object is gone
	"DeleteInBackground": {[]string{"delete"}, nil},
	"DeleteNonCascading": {[]string{"delete"}, nil},
	"JQPatch":            {[]string{"get"}, []string{"update"}},
	"MergePatch":         {nil, []string{"patch"}},
	"JSONPatch":          {nil, []string{"patch"}},
}

// creates reports whether an operation has an object instead of its name.
func (o operation) creates() bool { return strings.HasPrefix(o.name, "Create") }

// verbs are all requests of an operation.
func (o operation) verbs() []string {
	v := verbsOf[o.name]
	return append(slices.Clone(v.object), v.sub...)
}

// operationOf reads an operation from a document, which may be something else.
func operationOf(at place, doc map[string]any) (o operation, is bool) {
	o = operation{at: at, name: textAt(doc, "operation"), apiVersion: unknown, kind: unknown, object: unknown, namespace: unknown}
	if _, is := verbsOf[o.name]; !is {
		return o, false
	}
	metadata := doc
	if o.creates() {
		object, _ := doc["object"].(map[string]any)
		if text, isText := doc["object"].(string); isText && strings.Contains(text, "kind") && yaml.Unmarshal([]byte(text), &object) != nil {
			object = nil
		}
		doc, o.role = object, roleRefIn(object)
		metadata, _ = object["metadata"].(map[string]any)
	} else {
		o.sub = strings.TrimPrefix(textAt(doc, "subresource"), "/")
	}
	if doc != nil {
		o.apiVersion, o.kind = textAt(doc, "apiVersion"), textAt(doc, "kind")
	}
	if metadata != nil {
		o.object, o.namespace = textAt(metadata, "name"), textAt(metadata, "namespace")
	}
	return o, true
}

// textAt returns a field that should be text: unknown when it is something else.
func textAt(doc map[string]any, field string) string {
	v := doc[field]
	if v == nil {
		return ""
	}
	text, isText := v.(string)
	if !isText {
		return unknown
	}
	return text
}

// operationsIn allows the patch operations in a text of YAML documents or JSON values.
func (c invocation) operationsIn(text string) {
	if !hasOperation(text) {
		return
	}
	docs, err := documents(text)
	if err != nil {
		c.reportUnknown("a patch operation is known only at run time")
	}
	for _, doc := range docs {
		c.operationIn(doc)
	}
}

// operationIn allows the operation in a document, which may be something else.
func (c invocation) operationIn(doc map[string]any) {
	o, is := operationOf(c.at(), doc)
	if !is {
		return
	}
	if c.edited {
		o = operation{at: o.at, name: o.name, apiVersion: unknown, kind: unknown}
	}
	c.operate(o, c.Source)
}

// documents parses a text as the engine parses patches: as a sequence of JSON values,
// or as YAML documents.
func documents(text string) (docs []map[string]any, err error) {
	for dec := json.NewDecoder(strings.NewReader(text)); err == nil; {
		var doc map[string]any
		if err = dec.Decode(&doc); err == nil {
			docs = append(docs, doc)
		}
	}
	if errors.Is(err, io.EOF) {
		return docs, nil
	}
	docs = nil
	for dec := yaml.NewDecoder(strings.NewReader(text)); ; {
		var doc map[string]any
		switch err := dec.Decode(&doc); {
		case errors.Is(err, io.EOF):
			return docs, nil
		case err != nil:
			return nil, err
		case doc != nil:
			docs = append(docs, doc)
		}
	}
}

// hasOperation reports whether a text has the name of an operation, and its key.
func hasOperation(text string) bool {
	if !strings.Contains(text, "operation") {
		return false
	}
	for name := range verbsOf {
		if strings.Contains(text, name) {
			return true
		}
	}
	return false
}

// operate allows the requests that the engine sends for an operation.
func (d *deriver) operate(o operation, s Source) {
	d.done = append(d.done, o)
	if !isKnown(o.kind) || !isKnown(o.apiVersion) || o.kind == "" {
		if !isDeclared(s, o.at) && !d.isRecorded(o) {
			d.find(o.at, ruleUnknown, "declare them with a marker right above: "+markerFor("...", "...", o.verbs()), "%sthe kind of %s is known only at run time", unknownRequests, o.name)
		}
		return
	}
	k, err := d.Kinds.Find(o.apiVersion, o.kind)
	if err != nil {
		d.unknownKind(o.at, o.name, err)
		return
	}
	in := roles.Scope{Namespace: o.namespace}
	switch {
	case !k.Namespaced:
	case !isKnown(o.namespace):
		in = roles.Everywhere
	case o.namespace == "":
		d.find(o.at, ruleImpossible, "add a namespace", "%s of %s names no namespace, so the engine finds no object", o.name, k.Kind)
		return
	}
	var names []string
	if isKnown(o.object) && o.object != "" {
		names = []string{o.object}
	}
	why := "patch operation " + o.name
	verbs := verbsOf[o.name]
	d.allow(o.at, in, objects{Kind: k, names: names}, why, verbs.object...)
	d.escalate(s, o.at, in, k, o.role, o.name, o.verbs()...)
	if isKnown(o.sub) {
		d.allow(o.at, in, objects{k, o.sub, names}, why, verbs.sub...)
		return
	}
	for _, sub := range append([]string{""}, k.Subresources...) {
		d.allow(o.at, in, objects{k, sub, names}, why+" of an unknown subresource", verbs.sub...)
	}
}

// readRecorded reads the operations of the recorded files: patches as hooks write them,
// or the expectations of hook tests.
func (d *deriver) readRecorded() {
	for _, s := range d.Recorded {
		docs, err := documents(string(s.Text))
		if err != nil {
			d.find(place{file: s.Path}, ruleUnknown, "", "%sit is neither JSON nor YAML: %v", unknownRequests, err)
		}
		for _, doc := range docs {
			d.readRecordedIn(place{file: s.Path}, doc)
		}
	}
}

func (d *deriver) readRecordedIn(at place, v any) {
	switch x := v.(type) {
	case map[string]any:
		if o, is := operationOf(at, x); is {
			o.object, o.namespace = unknown, unknown // those in the file are examples
			if o.kind != "" {
				d.recorded = append(d.recorded, o)
			}
			return
		}
		for _, inner := range x {
			d.readRecordedIn(at, inner)
		}
	case []any:
		for _, inner := range x {
			d.readRecordedIn(at, inner)
		}
	}
}

// isRecorded reports whether a recorded operation has the kind of o, which the source
// does not show.
func (d *deriver) isRecorded(o operation) bool {
	return slices.ContainsFunc(d.recorded, func(r operation) bool { return r.name == o.name })
}

// shows reports whether a source has an operation like the recorded one.
func (d *deriver) shows(o operation) bool {
	k, err := d.Kinds.Find(o.apiVersion, o.kind)
	return err == nil && slices.ContainsFunc(d.done, func(done operation) bool {
		same, err := d.Kinds.Find(done.apiVersion, done.kind)
		return err == nil && done.name == o.name && done.sub == o.sub && same.Group == k.Group && same.Kind == k.Kind
	})
}
