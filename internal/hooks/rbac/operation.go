package rbac

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// operation is a patch operation. Its fields may hold unknown.
type operation struct {
	at                                             place
	name, apiVersion, kind, object, namespace, sub string
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
	name, _ := doc["operation"].(string)
	if _, known := verbsOf[name]; !known {
		return o, false
	}
	o = operation{at: at, name: name}
	if !o.creates() {
		o.apiVersion = textAt(doc, "apiVersion")
		o.kind = textAt(doc, "kind")
		o.object = textAt(doc, "name")
		o.namespace = textAt(doc, "namespace")
		o.sub = textAt(doc, "subresource")
		o.sub = strings.TrimPrefix(o.sub, "/")
		return o, true
	}
	object, isObject := doc["object"].(map[string]any)
	if text, isText := doc["object"].(string); isText && strings.Contains(text, "kind") {
		isObject = yaml.Unmarshal([]byte(text), &object) == nil && object != nil
	}
	if !isObject {
		o.apiVersion, o.kind, o.namespace = unknown, unknown, unknown
		return o, true
	}
	o.apiVersion = textAt(object, "apiVersion")
	o.kind = textAt(object, "kind")
	metadata, isObject := object["metadata"].(map[string]any)
	if !isObject {
		o.object, o.namespace = unknown, unknown
		return o, true
	}
	o.object = textAt(metadata, "name")
	o.namespace = textAt(metadata, "namespace")
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
		if o, is := operationOf(c.at(), doc); is {
			c.operate(o, c.Text)
		}
	}
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
func (d *deriver) operate(o operation, text []byte) {
	d.done = append(d.done, o)
	if !isKnown(o.kind) || !isKnown(o.apiVersion) || o.kind == "" {
		if !isDeclared(text, o.at.line) && !d.isRecorded(o) {
			d.find(o.at, RuleUnknown, "declare them with a marker right above: "+markerFor("...", "...", o.verbs()), "%sthe kind of %s is known only at run time", unknownRequests, o.name)
		}
		return
	}
	k, err := d.Kinds.Find(o.apiVersion, o.kind)
	if err != nil {
		d.unknownKind(o.at, o.name, err)
		return
	}
	in := where{namespace: o.namespace}
	switch {
	case !k.Namespaced:
	case !isKnown(o.namespace):
		in = everywhere
	case o.namespace == "":
		d.find(o.at, RuleImpossible, "add a namespace", "%s of %s names no namespace, so the engine finds no object", o.name, k.Kind)
		return
	}
	var names []string
	if isKnown(o.object) && o.object != "" {
		names = []string{o.object}
	}
	why := "patch operation " + o.name
	verbs := verbsOf[o.name]
	d.allow(o.at, in, k, "", names, why, verbs.object...)
	d.reportEscalation(o.at, text, k, o.name, o.verbs()...)
	if isKnown(o.sub) {
		d.allow(o.at, in, k, o.sub, names, why, verbs.sub...)
		return
	}
	for _, sub := range append([]string{""}, k.Subresources...) {
		d.allow(o.at, in, k, sub, names, why+" of an unknown subresource", verbs.sub...)
	}
}

// recordedIn reads the operations of a file: patches as hooks write them, or the
// expectations of hook tests.
func recordedIn(s Source) ([]operation, error) {
	docs, err := documents(string(s.Text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Path, err)
	}
	var found []operation
	var visit func(v any)
	visit = func(v any) {
		switch x := v.(type) {
		case map[string]any:
			if o, is := operationOf(place{file: s.Path}, x); is {
				found = append(found, o)
				return
			}
			for _, inner := range x {
				visit(inner)
			}
		case []any:
			for _, inner := range x {
				visit(inner)
			}
		}
	}
	for _, doc := range docs {
		visit(doc)
	}
	return found, nil
}

// isRecorded reports whether a recorded operation has the kind of o, which the source
// does not show.
func (d *deriver) isRecorded(o operation) bool {
	for _, s := range d.Recorded {
		found, err := recordedIn(s)
		if err == nil && slices.ContainsFunc(found, func(r operation) bool { return r.name == o.name && r.kind != "" }) {
			return true
		}
	}
	return false
}

// recorded allows the operations of a file that sources do not show, in any namespace
// and for any name: those in the file are examples.
func (d *deriver) recorded(s Source) {
	found, err := recordedIn(s)
	if err != nil {
		d.find(place{file: s.Path}, RuleUnknown, "", "%sit is neither JSON nor YAML: %v", unknownRequests, err)
		return
	}
	for _, o := range found {
		o.object, o.namespace = unknown, unknown
		if o.kind != "" && !d.shows(o) {
			d.operate(o, nil)
		}
	}
}

// shows reports whether a source has an operation like the recorded one.
func (d *deriver) shows(o operation) bool {
	k, err := d.Kinds.Find(o.apiVersion, o.kind)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(d.done, func(done operation) bool {
		same, err := d.Kinds.Find(done.apiVersion, done.kind)
		return err == nil && done.name == o.name && done.sub == o.sub &&
			schema.GroupKind{Group: same.Group, Kind: same.Kind} == schema.GroupKind{Group: k.Group, Kind: k.Kind}
	})
}
