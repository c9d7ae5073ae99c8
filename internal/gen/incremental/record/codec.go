package record

import (
	"encoding/binary"

	"github.com/operon-dev/operon/internal/filestat"
	"github.com/operon-dev/operon/internal/gen/load/golist"
	"github.com/operon-dev/operon/internal/scaffold"
)

// Encode returns the binary form of the record.
func (r *Record) Encode() []byte {
	n := r.names()
	// Growing the map and the buffer would take longer than filling them. A source with its checksums, and an
	// output with its path, have about 200 bytes.
	c := &codec{writes: true, known: make(map[string]uint64, n), out: make([]byte, 0, 200*n)}
	c.record(r)
	return c.out
}

// names estimates the number of different strings in the record.
func (r *Record) names() int {
	n := len(r.Identities) + 4*len(r.Packages)
	for _, f := range r.Folders {
		n += 1 + len(f.Names)
	}
	for _, u := range r.Units {
		n += 1 + len(u.Object)
	}
	for _, k := range r.Kinds {
		n += 1 + len(k.Outputs)
	}
	return n
}

// Decode returns the record in content that Encode returned, or nil for any other
// content.
func Decode(in []byte) *Record {
	c := newDecoder(in)
	r := &Record{}
	c.record(r)
	if c.failed || len(c.in) > 0 {
		return nil
	}
	return r
}

// Encode returns the binary form of the dependencies.
func (d *Dependencies) Encode() []byte {
	c := &codec{writes: true, known: map[string]uint64{}}
	c.dependencies(d)
	return c.out
}

// DecodeDependencies returns the dependencies in content that Encode returned. ok is false for
// any other content.
func DecodeDependencies(in []byte) (d Dependencies, ok bool) {
	c := newDecoder(in)
	c.dependencies(&d)
	return d, !c.failed && len(c.in) == 0
}

func (c *codec) dependencies(d *Dependencies) {
	c.strings(&d.Sums)
	slice(c, &d.Packages, c.listed)
}

// codec writes or reads values in the same order, so that each type needs one method for
// both. Writing does not change the values, so others can read them meanwhile. Numbers are varints. A string is written once, and later only its number.
type codec struct {
	writes bool

	out   []byte
	known map[string]uint64

	in     []byte // what is not decoded yet: the end of text
	text   string // all; the decoded strings are parts of it, and keep it in memory
	table  []string
	failed bool // the input is damaged
}

func newDecoder(in []byte) *codec { return &codec{in: in, text: string(in)} }

func (c *codec) uint(v *uint64) {
	if c.writes {
		c.out = binary.AppendUvarint(c.out, *v)
		return
	}
	*v = 0
	for shift := 0; shift < 64; shift += 7 {
		if len(c.in) == 0 {
			break
		}
		b := c.in[0]
		c.in = c.in[1:]
		*v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return
		}
	}
	c.failed = true
}

func (c *codec) int(v *int) {
	u := uint64(*v)
	c.uint(&u)
	if !c.writes {
		*v = int(u)
	}
}

func (c *codec) bool(v *bool) {
	u := uint64(0)
	if *v {
		u = 1
	}
	c.uint(&u)
	if !c.writes {
		*v = u == 1
	}
}

func (c *codec) bytes(n uint64) []byte {
	if c.failed || n > uint64(len(c.in)) {
		c.failed = true
		return nil
	}
	s := c.in[:n]
	c.in = c.in[n:]
	return s
}

func (c *codec) string(v *string) {
	if c.writes {
		if n, ok := c.known[*v]; ok {
			c.uint(&n)
			return
		}
		c.known[*v] = uint64(len(c.known)) + 1
		zero, length := uint64(0), uint64(len(*v))
		c.uint(&zero)
		c.uint(&length)
		c.out = append(c.out, *v...)
		return
	}
	var n, length uint64
	c.uint(&n)
	switch {
	case n == 0:
		c.uint(&length)
		start := uint64(len(c.text) - len(c.in))
		*v = c.text[start : start+uint64(len(c.bytes(length)))]
		c.table = append(c.table, *v)
	case n > uint64(len(c.table)):
		c.failed = true
	default:
		*v = c.table[n-1]
	}
}

func (c *codec) sum(v *Sum) {
	if c.writes {
		c.out = append(c.out, v[:]...)
		return
	}
	copy(v[:], c.bytes(uint64(len(v))))
}

func (c *codec) stamp(v *filestat.Stat) {
	if c.writes {
		c.out = v.Append(c.out)
		return
	}
	var ok bool
	if *v, c.in, ok = filestat.Decode(c.in); !ok {
		c.in, c.failed = nil, true
	}
}

// slice encodes or decodes a list by the codec of its items. An empty list is nil.
func slice[T any](c *codec, v *[]T, item func(*T)) {
	n := uint64(len(*v))
	c.uint(&n)
	if !c.writes {
		*v = nil
		if n > uint64(len(c.in)) { // an item has at least a byte
			c.failed = true
		}
		if c.failed || n == 0 {
			return
		}
		*v = make([]T, n)
	}
	for i := range *v {
		if c.failed {
			return
		}
		item(&(*v)[i])
	}
}

func (c *codec) strings(v *[]string) { slice(c, v, c.string) }

func (c *codec) record(r *Record) {
	for _, s := range []*string{&r.Go.Flags, &r.Go.Arch, &r.Go.Root, &r.Go.ModCache, &r.Go.Env, &r.Go.Work, &r.Go.Compiler} {
		c.string(s)
	}
	c.strings(&r.Go.Folders)
	slice(c, &r.Outside, func(f *File) { c.string(&f.Path); c.stamp(&f.Stat); c.sum(&f.Sum) })
	slice(c, &r.Walks, func(w *Walk) { c.string(&w.Dir); c.bool(&w.Below) })
	slice(c, &r.Folders, func(f *Folder) {
		c.string(&f.Dir)
		c.stamp(&f.Stat)
		c.bool(&f.Listed)
		c.strings(&f.Names)
		slice(c, &f.Sources, func(s *Source) { c.string(&s.Name); c.stamp(&s.Stat); c.sum(&s.Sum); c.sum(&s.Head) })
	})
	slice(c, &r.Packages, c.listed)
	slice(c, &r.Identities, func(i *Identity) { c.string(&i.Path); c.sum(&i.Sum) })
	slice(c, &r.Units, c.unit)
	slice(c, &r.Kinds, func(k *Kind) {
		c.string(&k.Group)
		c.string(&k.Kind)
		c.sum(&k.Key)
		slice(c, &k.Outputs, c.output)
	})
	slice(c, &r.Joint, c.output)
}

func (c *codec) listed(p *golist.Saved) {
	for _, s := range []*string{&p.ImportPath, &p.Name, &p.Dir} {
		c.string(s)
	}
	for _, s := range []*[]string{&p.GoFiles, &p.CgoFiles, &p.SwigFiles, &p.SwigCXXFiles} {
		c.strings(s)
	}
	c.bool(&p.DepOnly)
	c.bool(&p.Known)
	slice(c, &p.Imports, func(i *golist.SavedImport) { c.string(&i.Written); c.int(&i.Package) })
}

func (c *codec) unit(u *Unit) {
	c.string(&u.Path)
	c.strings(&u.Refs)
	c.bool(&u.Root)
	c.string(&u.Group)
	slice(c, &u.Object, c.output)
	c.strings(&u.Markers)
	slice(c, &u.Warnings, func(w *scaffold.Warning) {
		c.string(&w.File)
		c.int(&w.Line)
		c.int(&w.Column)
		c.string(&w.Rule)
		c.string(&w.Message)
	})
}

func (c *codec) output(o *Output) {
	c.string(&o.Generator)
	c.string(&o.Path)
	c.stamp(&o.Stat)
	c.sum(&o.Sum)
}
