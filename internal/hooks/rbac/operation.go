package rbac

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// operation is a patch operation, with holes for what is not known of it.
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

// operationOf reads an operation from its document, if that is one.
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
		o.apiVersion, o.kind, o.namespace = hole, hole, hole
		return o, true
	}
	o.apiVersion = textAt(object, "apiVersion")
	o.kind = textAt(object, "kind")
	metadata, isObject := object["metadata"].(map[string]any)
	if !isObject {
		o.object, o.namespace = hole, hole
		return o, true
	}
	o.object = textAt(metadata, "name")
	o.namespace = textAt(metadata, "namespace")
	return o, true
}

// textAt is a field that should be text: a hole when it is something else, or text
// that stands for a hole.
func textAt(doc map[string]any, field string) string {
	v := doc[field]
	if v == nil {
		return ""
	}
	text, isText := v.(string)
	if !isText {
		return hole
	}
	return strings.ReplaceAll(text, standIn, hole)
}

// standIn stands for a hole where a control character would not parse.
const standIn = "OPERON0HOLE"

// operationsIn allows the operations in a text, YAML documents or JSON values.
func (p *program) operationsIn(text string, at place, in *script) {
	if !strings.Contains(text, "operation") {
		return
	}
	docs, err := documents(text)
	if err != nil {
		if hasOperation(text) {
			p.unseen(at, in, "what looks like a patch operation does not parse before it runs")
		}
		return
	}
	for _, doc := range docs {
		if o, is := operationOf(at, doc); is {
			p.operate(o, in.Text)
		}
	}
}

// documents reads a text with holes as the engine reads patches: JSON values one
// after the other, or YAML documents.
func documents(text string) ([]map[string]any, error) {
	var docs []map[string]any
	for dec := json.NewDecoder(strings.NewReader(inJSON(text))); ; {
		var doc map[string]any
		err := dec.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return docs, nil
		}
		if err != nil {
			break
		}
		docs = append(docs, doc)
	}
	docs = nil
	for dec := yaml.NewDecoder(bytes.NewReader([]byte(strings.ReplaceAll(text, hole, standIn)))); ; {
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

// inJSON puts the stand-in for holes, with quotes where it is not in a string.
func inJSON(text string) string {
	var b strings.Builder
	quoted, escaped := false, false
	for _, r := range text {
		switch {
		case r == 0 && quoted:
			b.WriteString(standIn)
			continue
		case r == 0:
			b.WriteString(`"` + standIn + `"`)
			continue
		case escaped:
			escaped = false
		case r == '\\':
			escaped = quoted
		case r == '"':
			quoted = !quoted
		}
		b.WriteRune(r)
	}
	return b.String()
}

// operate allows what the engine does for an operation.
func (d *deriver) operate(o operation, text []byte) {
	d.done = append(d.done, o)
	if !isKnown(o.kind) || !isKnown(o.apiVersion) || o.kind == "" {
		if !spokenFor(text, o.at.line) && !d.isRecorded(o) {
			d.find(o.at, RuleUnseen, "say it with a marker right above: "+markerFor("...", "...", o.verbs()), "the kind of %s is known only when it runs", o.name)
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
		d.find(o.at, RuleImpossible, "give it a namespace", "%s of %s names no namespace, and the engine would look for it in none", o.name, k.Kind)
		return
	}
	var names []string
	if isKnown(o.object) && o.object != "" {
		names = []string{o.object}
	}
	why := "patch operation " + o.name
	verbs := verbsOf[o.name]
	d.allow(o.at, in, k, "", names, why, verbs.object...)
	d.gives(o.at, &script{Source: Source{Text: text}}, k, o.name, o.verbs()...)
	if isKnown(o.sub) {
		d.allow(o.at, in, k, o.sub, names, why, verbs.sub...)
		return
	}
	for _, sub := range append([]string{""}, k.Subresources...) {
		d.allow(o.at, in, k, sub, names, why+" of a subresource that is known only when it runs", verbs.sub...)
	}
}

// recordedIn reads the operations of a file: patches as hooks write them, or a file
// of tests whose steps expect them.
func recordedIn(s Source) ([]operation, error) {
	docs, err := documents(string(s.Text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Path, err)
	}
	var found []operation
	var look func(v any)
	look = func(v any) {
		switch x := v.(type) {
		case map[string]any:
			if o, is := operationOf(place{file: s.Path}, x); is {
				found = append(found, o)
				return
			}
			for _, inner := range x {
				look(inner)
			}
		case []any:
			for _, inner := range x {
				look(inner)
			}
		}
	}
	for _, doc := range docs {
		look(doc)
	}
	return found, nil
}

// isRecorded reports whether a recorded operation tells the kind of o, which the
// source does not.
func (d *deriver) isRecorded(o operation) bool {
	for _, s := range d.Recorded {
		found, err := recordedIn(s)
		if err == nil && slices.ContainsFunc(found, func(r operation) bool { return r.name == o.name && r.kind != "" }) {
			return true
		}
	}
	return false
}

// recorded allows the operations of a file that sources do not show. In which
// namespaces and of which names they were is by chance.
func (d *deriver) recorded(s Source) {
	found, err := recordedIn(s)
	if err != nil {
		d.find(place{file: s.Path}, RuleUnseen, "", "it does not parse: %v", err)
		return
	}
	for _, o := range found {
		o.object, o.namespace = hole, hole
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
