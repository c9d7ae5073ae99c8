package reads

import (
	"slices"
	"strings"
)

// The calls that Instrument adds. Errors that name them are no errors of the user's templates.
const (
	prefix   = "recorded"
	fieldsOf = prefix + "Fields"
	chainOf  = prefix + "Chain"
	allOf    = prefix + "Whole"
)

// Visible reports whether an error shows that a template is instrumented. The template as it was
// then has the error to report.
func Visible(err error) bool { return strings.Contains(err.Error(), prefix) }

// fields records fields of values. Its arguments are pairs of a value and a path such as a.b. A path
// that starts with * is read completely. A value with the path ! is the name of a template.
func (r *Recorder) fields(pairs ...any) string {
	for i := 0; i+1 < len(pairs); i += 2 {
		path, _ := pairs[i+1].(string)
		if name, isName := pairs[i].(string); isName && path == "!" {
			r.Definition(name)
			continue
		}
		r.path(pairs[i], path)
	}
	return ""
}

// chain records a field of the value of a pipeline, and returns the value.
func (r *Recorder) chain(v any, path string) any {
	r.path(v, path)
	return v
}

// all records that a value is read completely, and returns it.
func (r *Recorder) all(v any) any {
	r.whole(v, 0)
	return v
}

func (r *Recorder) path(v any, path string) {
	depth := shallow
	if inner, isDeep := strings.CutPrefix(path, "*"); isDeep {
		path, depth = inner, deep
	}
	var names []string
	if path != "" {
		names = strings.Split(path, ".")
	}
	r.walk(v, names, depth)
}

// walk records the read of the value that names lead to.
func (r *Recorder) walk(v any, names []string, depth int) {
	var places []*place // of v
	for {
		content, isObject := v.(map[string]any)
		if !isObject {
			break
		}
		o := r.object(content)
		switch {
		case o == nil:
			if len(places) > 0 {
				depth = deep // a template has added the object
			}
		case len(names) > 0 && o.own[names[0]]:
			v, names, places = content[names[0]], names[1:], nil
			continue
		case o.scope != nil:
			if len(names) > 0 {
				v, names = r.key(o, names)
				places = nil
				continue
			}
			r.frame.lost = r.frame.lost || depth == deep
			return
		case o.inList:
			places, names, depth = o.places, nil, deep
		default:
			places = union(places, o.places)
		}
		if len(names) == 0 {
			break
		}
		var below []*place
		for _, p := range places {
			below = append(below, p.child(names[0]))
		}
		v, places, names = content[names[0]], below, names[1:]
	}
	for _, p := range places {
		for _, name := range names {
			p = p.child(name)
		}
		r.record(p, depth)
	}
}

// key records the read of a key of a scope, and returns its value with the names after the key.
func (r *Recorder) key(o *object, names []string) (any, []string) {
	at, known := o.scope.keys[names[0]]
	v := o.content[names[0]]
	field := o.scope.Field[names[0]]
	switch content, isObject := v.(map[string]any); {
	case names[0] == o.scope.Template:
		r.frame.named = r.frame.named || len(names) == 1 || names[1] != o.scope.Same
	case !known:
		at = o.scope.place
		for _, name := range names {
			at = at.child(name)
		}
		r.record(at, deep) // a template has set the key, or has not
	case at == nil, field != "" && len(names) > 1 && names[1] != field:
	case !isObject || r.object(content) == nil:
		r.record(at, deep)
	}
	return v, names[1:]
}

// union appends the places that a list lacks.
func union(all, more []*place) []*place {
	for _, p := range more {
		if !slices.Contains(all, p) {
			all = append(all[:len(all):len(all)], p)
		}
	}
	return all
}

// maxDepth limits how deep the arguments of functions are searched for objects of the facts.
const maxDepth = 50

// whole records that a value is read completely.
func (r *Recorder) whole(v any, depth int) {
	if depth > maxDepth {
		r.frame.lost = true
		return
	}
	switch v := v.(type) {
	case map[string]any:
		o := r.object(v)
		for key, item := range v {
			if o == nil || o.own[key] {
				r.whole(item, depth+1)
			}
		}
		switch {
		case o == nil:
		case o.scope != nil:
			r.frame.lost = true
		default:
			for _, p := range o.places {
				r.record(p, deep)
			}
		}
	case []any:
		for _, item := range v {
			r.whole(item, depth+1)
		}
	}
}
