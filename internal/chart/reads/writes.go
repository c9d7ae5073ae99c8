package reads

import (
	"maps"
	"slices"

	"github.com/operon-dev/operon/internal/jsonvalue"
)

// write is a change of a key of an object.
type write struct {
	places []*place // of the object
	key    string
	value  any
	remove bool
}

// changeKey records that the function set or unset changes an object of the facts or a scope.
func (r *Recorder) changeKey(args []any) func() {
	content, _ := args[0].(map[string]any)
	o := r.object(content)
	key, isString := args[1].(string)
	if o == nil || !isString {
		return nothing
	}
	if o.copied {
		o.own[key] = true
		return nothing
	}
	w := write{places: o.at(), key: key, remove: len(args) < 3}
	if !w.remove {
		w.value = jsonvalue.Clone(args[2])
		r.frame.lost = r.frame.lost || len(r.inside(args[2], nil)) > 0 // the object is then at two places
	}
	r.frame.lost = r.frame.lost || o.inList
	r.frame.write(w)
	before, existed := content[key]
	return func() {
		after, exists := content[key]
		if existed != exists || !equal(before, after) {
			r.changed(before, after)
		}
	}
}

// changed is called after a value has changed.
func (r *Recorder) changed(before, after any) {
	r.generation++
	if len(r.copies) > 0 {
		r.frame.lost = true // their reads would count as reads of the facts
	}
	if isContainer(before) || isContainer(after) {
		r.register()
	}
}

func isContainer(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}

// at returns the places of an object.
func (o *object) at() []*place {
	if o.scope != nil {
		return []*place{o.scope.place}
	}
	return o.places
}

// target returns the object that a write changes, or nil if it has other places than when the write
// was recorded.
func (r *Recorder) target(w write) map[string]any {
	content, _ := r.at(w.places[0]).(map[string]any)
	o := r.objects[pointer(content)]
	if o == nil || len(o.at()) != len(w.places) {
		return nil
	}
	for _, p := range o.at() {
		if !slices.Contains(w.places, p) {
			return nil
		}
	}
	return content
}

// repeat repeats a write.
func (r *Recorder) repeat(w write) {
	content := r.target(w)
	before, existed := content[w.key]
	if w.remove {
		delete(content, w.key)
	} else {
		content[w.key] = jsonvalue.Clone(w.value)
	}
	if existed == w.remove || !equal(before, w.value) {
		r.changed(before, content[w.key])
	}
}

// merge notes whether a function changes objects of the facts in its first argument. It reads all
// arguments.
func (r *Recorder) merge(args []any) func() {
	r.readAll(args)
	objects := r.inside(args[0], nil)
	var before []any
	for _, o := range objects {
		before = append(before, jsonvalue.Clone(o))
	}
	return func() {
		for i, content := range objects {
			switch {
			case r.objects[pointer(content)] == nil:
				delete(r.copies, pointer(content)) // its reads are recorded
			case !equal(before[i], any(content)):
				r.frame.lost = true
				r.register()
				return
			}
		}
	}
}

// inside returns the objects of the facts, of scopes and of their copies in a value. It does not search
// those of the facts.
func (r *Recorder) inside(v any, found []map[string]any) []map[string]any {
	switch v := v.(type) {
	case map[string]any:
		if o := r.object(v); o != nil {
			found = append(found, v)
			if !o.copied {
				return found
			}
		}
		for _, item := range v {
			found = r.inside(item, found)
		}
	case []any:
		for _, item := range v {
			found = r.inside(item, found)
		}
	}
	return found
}

// copy registers the copies of objects: reading them reads the facts.
func (r *Recorder) copy(v, to any) {
	switch v := v.(type) {
	case map[string]any:
		content, isObject := to.(map[string]any)
		if !isObject {
			return
		}
		if o := r.object(v); o != nil {
			own := maps.Clone(o.own)
			if own == nil {
				own = map[string]bool{}
			}
			r.copies[pointer(content)] = &object{content: content, places: o.places, inList: o.inList, scope: o.scope, copied: true, own: own}
		}
		for key, item := range v {
			r.copy(item, content[key])
		}
	case []any:
		list, isList := to.([]any)
		for i, item := range v {
			if isList && i < len(list) {
				r.copy(item, list[i])
			}
		}
	}
}
