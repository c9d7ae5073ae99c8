// Package reads reuses the outputs of templates. It records which values the execution of a template
// reads, and returns the former output if these values are the same in a later rendering.
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
	// Field has the keys of which only one field differs between renderings.
	Field map[string]string
}

// Recorder records what templates read. It serves one rendering at a time.
type Recorder struct {
	facts   Facts
	scopes  []Scope
	define  func(name string) any // the named template that is in effect
	objects map[uintptr]*object   // those of the facts and the scopes, by their pointers
	root    *place
	reads   []read
	outputs map[string][]output // by the name of the template

	generation int // changes when facts change
	execution  int // the number of the execution
	current    []observed
	writes     []write
	written    map[*place]bool // the keys of writes
	lost       bool            // the execution reads or changes values in ways that are not recorded
}

// object is an object that templates can read.
type object struct {
	content map[string]any // keeps its pointer from being used again
	places  []*place       // an object can be at several places
	inList  bool           // it is in a list at these places
	scope   *scope         // nil for other objects
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
	execution  int // that has read it last
}

// observed is a read with the number of the value.
type observed struct{ read, value int }

// output is the result of an execution, and what it depends on.
type output struct {
	reads  []observed
	writes []write
	text   string
	err    error
}

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

// Do returns the output of a template. It calls execute unless an earlier output can be reused.
func (r *Recorder) Do(name string, execute func() (string, error)) (string, error) {
	for _, o := range r.outputs[name] {
		if r.valid(o) {
			for _, w := range o.writes {
				r.repeat(w)
			}
			return o.text, o.err
		}
	}
	r.execution++
	r.current, r.writes, r.written, r.lost = nil, nil, map[*place]bool{}, false
	r.Definition(name)
	text, err := execute()
	if !r.lost {
		r.outputs[name] = append(r.outputs[name], output{r.current, r.writes, text, err})
	}
	return text, err
}

// valid reports whether all that an execution has read is the same now.
func (r *Recorder) valid(o output) bool {
	for _, was := range o.reads {
		if r.valueOf(was.read) != was.value {
			return false
		}
	}
	return !slices.ContainsFunc(o.writes, func(w write) bool { return r.target(w) == nil })
}

// Definition records that the template uses a named template.
func (r *Recorder) Definition(name string) {
	r.record(r.root.child(definitionsFact).child(name), shallow)
}

// record records a read, except of what the execution has written.
func (r *Recorder) record(at *place, depth int) {
	for p := at; len(r.written) > 0 && p != nil; p = p.in {
		if r.written[p] {
			return
		}
	}
	if at.reads[depth] == 0 {
		r.reads = append(r.reads, read{at: at, depth: depth})
		at.reads[depth] = len(r.reads)
	}
	i := at.reads[depth] - 1
	if r.reads[i].execution == r.execution {
		return
	}
	r.reads[i].execution = r.execution
	r.current = append(r.current, observed{i, r.valueOf(i)})
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

func pointer(object map[string]any) uintptr { return reflect.ValueOf(object).Pointer() }
