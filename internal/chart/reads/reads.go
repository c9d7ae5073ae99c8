// Package reads reuses the outputs of templates. It records which values the execution of a template
// reads, and returns the earlier output if these values are the same in a later rendering.
//
// A Recorder sees reads in two ways: [Instrument] adds a call before each statement of a template that
// names the fields in it, and [Recorder.Wrap] replaces the functions of templates that take objects.
// What a template may read counts as read, so that an output is never reused wrongly. Templates can
// change values, too: reusing the output repeats what the function set did. A template that changes values
// in other ways is executed each time.
package reads

import (
	"maps"
	"reflect"
	"slices"
	"text/template/parse"

	"github.com/operon-dev/operon/internal/jsonvalue"
)

// Facts are what templates can read, by names: objects, and any other values.
type Facts map[string]any

// Scope is the data of a template: an object whose keys lead to facts.
type Scope struct {
	Name string // unique
	Data map[string]any
	// Keys has the paths in Facts of keys of Data. Other keys have the same value in each rendering.
	Keys map[string][]string
	// Field has the keys where only one field differs between renderings.
	Field map[string]string
	// Template is a key that differs between templates, except in its field Same.
	Template, Same string
}

// Recorder records what templates read. It serves one rendering at a time.
type Recorder struct {
	facts   Facts
	scopes  []Scope
	define  func(name string) any // the named template that is in effect
	objects map[uintptr]*object   // those of the facts and the scopes, by their pointers
	root    *place
	reads   []read
	outputs map[string][]output // by the name of the template, and of its scope for included ones

	generation int                 // changes when facts change
	template   string              // the one that is executed, not included
	copies     map[uintptr]*object // by deepCopy in its execution
	frame      *frame
}

// object is an object that templates can read.
type object struct {
	content map[string]any // keeps its pointer from being used again
	places  []*place       // an object can be at several places
	inList  bool           // it is in a list at these places
	scope   *scope         // nil for other objects
	copied  bool
	own     map[string]bool // the keys of a copy that a template has changed
}

// scope is a Scope with places instead of paths.
type scope struct {
	Scope
	place *place // of the keys that templates add
	keys  map[string]*place
}

// place is a path in the facts. Places last as long as their Recorder.
type place struct {
	in    *place
	name  string
	below map[string]*place
	reads [2]int // the numbers of reads plus 1, by depth
}

// The depths of reads.
const (
	shallow = iota // whether an object exists and is empty; others completely
	deep           // completely
)

// read is a value that templates read, with the values that it has had.
type read struct {
	at         *place
	depth      int
	values     []any
	now        int // the number of its current value
	generation int // of now
}

// observed is a read with the number of the value.
type observed struct{ read, value int }

// New returns a Recorder.
func New() *Recorder { return &Recorder{root: &place{}, outputs: map[string][]output{}} }

// Start begins a rendering with facts. define returns what identifies the template with a name: a
// comparable value.
func (r *Recorder) Start(facts Facts, scopes []Scope, define func(name string) any) {
	r.facts, r.scopes, r.define = facts, scopes, define
	added := map[string]any{}
	for _, s := range scopes {
		added[s.Name] = s.Data
	}
	r.facts[scopesFact] = added
	for i, s := range r.scopes {
		r.scopes[i].Keys = maps.Clone(s.Keys)
		for key := range s.Data {
			if r.scopes[i].Keys[key] == nil {
				r.scopes[i].Keys[key] = []string{}
			}
		}
	}
	r.register()
}

// The facts that a Recorder adds: the data of scopes, and the named templates.
const (
	scopesFact      = "\x00scopes"
	definitionsFact = "\x00definitions"
)

// register registers the objects in the facts and the scopes.
func (r *Recorder) register() {
	r.generation++
	r.objects = map[uintptr]*object{}
	for _, s := range r.scopes {
		own := &scope{Scope: s, place: r.root.child(scopesFact).child(s.Name), keys: map[string]*place{}}
		r.objects[pointer(s.Data)] = &object{content: s.Data, scope: own}
		for key, path := range s.Keys {
			if len(path) == 0 {
				own.keys[key] = nil
				continue
			}
			at := r.root
			for _, step := range path {
				at = at.child(step)
			}
			own.keys[key] = at
			r.add(s.Data[key], at, false)
		}
		for key, v := range s.Data {
			if _, known := own.keys[key]; !known {
				r.add(v, own.place.child(key), false)
			}
		}
	}
	for name, fact := range r.facts {
		if name != scopesFact {
			r.add(fact, r.root.child(name), false)
		}
	}
}

// add registers the objects in a value.
func (r *Recorder) add(v any, at *place, inList bool) {
	switch v := v.(type) {
	case map[string]any:
		if v == nil {
			return
		}
		o := r.objects[pointer(v)]
		if o == nil {
			o = &object{content: v, inList: inList}
			r.objects[pointer(v)] = o
		}
		if o.scope != nil || slices.Contains(o.places, at) {
			return
		}
		o.places = append(o.places, at)
		for key, item := range v {
			switch item.(type) {
			case map[string]any, []any:
				below := at
				if !inList {
					below = at.child(key)
				}
				r.add(item, below, inList)
			}
		}
	case []any:
		for _, item := range v {
			r.add(item, at, true)
		}
	}
}

func (p *place) child(name string) *place {
	if c := p.below[name]; c != nil {
		return c
	}
	if p.below == nil {
		p.below = map[string]*place{}
	}
	c := &place{in: p, name: name}
	p.below[name] = c
	return c
}

// valueOf returns the number of the value that a read has now.
func (r *Recorder) valueOf(i int) int {
	one := &r.reads[i]
	if one.generation == r.generation {
		return one.now
	}
	v := r.at(one.at)
	if object, isObject := v.(map[string]any); isObject && one.depth == shallow {
		v = exists{empty: len(object) == 0}
	}
	one.generation, one.now = r.generation, slices.IndexFunc(one.values, func(known any) bool { return equal(known, v) })
	if one.now < 0 {
		one.now = len(one.values)
		one.values = append(one.values, jsonvalue.Clone(v))
	}
	return one.now
}

// exists stands for an object in shallow reads.
type exists struct{ empty bool }

// gap stands for a value in an object that does not exist.
type gap struct {
	missing *place
	kind    string // the Go type of what is there instead of an object
}

// at returns the value at a place, or a gap.
func (r *Recorder) at(p *place) any {
	if p.in == r.root {
		return r.facts[p.name]
	}
	if p.in.in == r.root && p.in.name == definitionsFact {
		return r.define(p.name)
	}
	switch around := r.at(p.in).(type) {
	case map[string]any:
		if v, exists := around[p.name]; exists {
			return v
		}
		return gap{missing: p}
	case gap:
		return around
	case nil:
		return gap{missing: p.in}
	default:
		return gap{p.in, reflect.TypeOf(around).String()}
	}
}

// equal compares values. Most of them are scalars.
func equal(a, b any) bool {
	switch a := a.(type) {
	case nil:
		return b == nil
	case bool, string, float64, int64, int, gap, exists, *parse.Tree:
		return a == b
	}
	return reflect.DeepEqual(a, b)
}

// object returns what is known of an object, or nil.
func (r *Recorder) object(content map[string]any) *object {
	at := pointer(content)
	if o := r.objects[at]; o != nil {
		return o
	}
	return r.copies[at]
}

func pointer(object map[string]any) uintptr { return reflect.ValueOf(object).Pointer() }
