package reads

import "slices"

// frame is an execution of a template.
type frame struct {
	reads   []observed
	seen    map[int]bool // the numbers of reads
	writes  []write
	written map[*place]bool // the keys of writes
	lost    bool            // it reads or changes values in ways that are not recorded
	named   bool            // it reads what differs between templates of a scope
}

// output is the result of an execution, and what it depends on.
type output struct {
	frame    *frame
	template string // "" for any
	text     string
	err      error
}

// Do returns the output of a template. It calls execute unless an earlier output can be reused.
func (r *Recorder) Do(name string, execute func() (string, error)) (string, error) {
	r.template, r.copies, r.frame = name, map[uintptr]*object{}, nil
	return r.do(name, name, execute)
}

// Include returns the output of a template that the current one includes. It reuses outputs of
// templates with the data of a scope.
func (r *Recorder) Include(name string, data any, execute func() (string, error)) (string, error) {
	content, _ := data.(map[string]any)
	if o := r.object(content); o != nil && o.scope != nil && !o.copied {
		return r.do(name+"\x00"+o.scope.Name, name, execute)
	}
	r.Definition(name)
	return execute()
}

func (r *Recorder) do(key, name string, execute func() (string, error)) (string, error) {
	for _, o := range r.outputs[key] {
		if r.valid(o) {
			r.frame.add(r, o.frame)
			for _, w := range o.frame.writes {
				r.repeat(w)
			}
			return o.text, o.err
		}
	}
	outer, own := r.frame, &frame{seen: map[int]bool{}, written: map[*place]bool{}}
	r.frame = own
	defer func() { // execute may panic
		r.frame = outer
		outer.add(r, own)
	}()
	r.Definition(name)
	text, err := execute()
	if own.lost {
		return text, err
	}
	result := output{frame: own, text: text, err: err}
	if own.named {
		result.template = r.template
	}
	r.outputs[key] = append(r.outputs[key], result)
	return text, err
}

// valid reports whether all that an execution has read is the same now.
func (r *Recorder) valid(o output) bool {
	if o.template != "" && o.template != r.template {
		return false
	}
	for _, was := range o.frame.reads {
		if r.valueOf(was.read) != was.value {
			return false
		}
	}
	return !slices.ContainsFunc(o.frame.writes, func(w write) bool { return r.target(w) == nil })
}

// add adds what an included template has read and written. f is nil outside of templates.
func (f *frame) add(r *Recorder, inner *frame) {
	if f == nil {
		return
	}
	for _, one := range inner.reads {
		f.read(r.reads[one.read].at, one)
	}
	for _, w := range inner.writes {
		f.write(w)
	}
	f.lost, f.named = f.lost || inner.lost, f.named || inner.named
}

// read adds a read, except of what the execution has written.
func (f *frame) read(at *place, one observed) {
	if f.seen[one.read] || f.wrote(at) {
		return
	}
	f.seen[one.read] = true
	f.reads = append(f.reads, one)
}

// wrote reports whether the execution has written a place, or an object around it.
func (f *frame) wrote(at *place) bool {
	for p := at; len(f.written) > 0 && p != nil; p = p.in {
		if f.written[p] {
			return true
		}
	}
	return false
}

// write adds a write.
func (f *frame) write(w write) {
	for _, p := range w.places {
		f.lost = f.lost || f.wrote(p) // the object may not exist before
		f.written[p.child(w.key)] = true
	}
	f.writes = append(f.writes, w)
}

// Definition records that the template uses a named template.
func (r *Recorder) Definition(name string) {
	r.record(r.root.child(definitionsFact).child(name), shallow)
}

// record records a read.
func (r *Recorder) record(at *place, depth int) {
	if at.reads[depth] == 0 {
		r.reads = append(r.reads, read{at: at, depth: depth})
		at.reads[depth] = len(r.reads)
	}
	i := at.reads[depth] - 1
	if !r.frame.seen[i] {
		r.frame.read(at, observed{i, r.valueOf(i)})
	}
}
