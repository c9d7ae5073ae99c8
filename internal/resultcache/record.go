package resultcache

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/operon-dev/operon/internal/filestat"
)

// record is an answer and what it depends on. In a file it is
//
//	magic, CRC-32 of the rest, key,
//	since, until, texts, inputs
//
// with the length of lists and texts before them, and of paths how much of the
// one before them they start with.
type record struct {
	since, until int64 // seconds since 1970: the answer is of this time
	texts        []Text
	inputs       []input // sorted by path
}

// Text is a piece of what a command printed.
type Text struct {
	Stderr bool // not stdout
	Bytes  []byte
}

// input is a path and what stood there.
type input struct {
	path  string
	kind  bool // that a folder is one is all that matters of it
	stamp filestat.Stamp
}

// reduce is s as far as it matters for the input.
func (in input) reduce(s filestat.Stamp) filestat.Stamp {
	if in.kind {
		return s.Kind()
	}
	return s
}

const magic = "operon rerun 1\n"

func (r record) encode(k key) []byte {
	var b []byte
	add := func(numbers ...int) {
		for _, n := range numbers {
			b = binary.LittleEndian.AppendUint64(b, uint64(n))
		}
	}
	b = binary.LittleEndian.AppendUint64(b, k[0])
	b = binary.LittleEndian.AppendUint64(b, k[1])
	add(int(r.since), int(r.until), len(r.texts))
	for _, t := range r.texts {
		add(flag(t.Stderr), len(t.Bytes))
		b = append(b, t.Bytes...)
	}
	add(len(r.inputs))
	last := ""
	for _, in := range r.inputs {
		shared := 0
		for shared < len(last) && shared < len(in.path) && last[shared] == in.path[shared] {
			shared++
		}
		add(shared, len(in.path)-shared)
		b = append(b, in.path[shared:]...)
		add(flag(in.kind))
		b = in.stamp.Append(b)
		last = in.path
	}
	return seal(b)
}

// seal puts before b what a record starts with.
func seal(b []byte) []byte {
	head := binary.LittleEndian.AppendUint64([]byte(magic), uint64(crc32.ChecksumIEEE(b)))
	return append(head, b...)
}

func flag(v bool) int {
	if v {
		return 1
	}
	return 0
}

// decode reads a record of the key. ok is false for anything else.
func decode(k key, content []byte) (r record, ok bool) {
	if len(content) < len(magic) || string(content[:len(magic)]) != magic {
		return r, false
	}
	d := decoder{rest: content[len(magic):], ok: true}
	if sum := d.number(); sum != uint64(crc32.ChecksumIEEE(d.rest)) || d.number() != k[0] || d.number() != k[1] {
		return r, false
	}
	r.since, r.until = int64(d.number()), int64(d.number())
	for range d.count() {
		r.texts = append(r.texts, Text{Stderr: d.number() != 0, Bytes: d.bytes()})
	}
	n := d.count()
	r.inputs = make([]input, 0, n)
	last := ""
	for range n {
		shared := d.number()
		suffix := d.bytes()
		if shared > uint64(len(last)) {
			return r, false
		}
		in := input{path: last[:shared] + string(suffix), kind: d.number() != 0}
		in.stamp = d.stamp()
		if !d.ok {
			return r, false
		}
		r.inputs = append(r.inputs, in)
		last = in.path
	}
	return r, d.ok && len(d.rest) == 0
}

// decoder reads the parts of a record. From the first on that is not there it
// reads zeros, and ok is false.
type decoder struct {
	rest []byte
	ok   bool
}

func (d *decoder) number() uint64 {
	const width = 8
	if len(d.rest) < width {
		d.rest, d.ok = nil, false
		return 0
	}
	v := binary.LittleEndian.Uint64(d.rest)
	d.rest = d.rest[width:]
	return v
}

// count reads how many bytes follow, or things of at least a byte.
func (d *decoder) count() int {
	v := d.number()
	if v > uint64(len(d.rest)) {
		d.rest, d.ok = nil, false
		return 0
	}
	return int(v)
}

func (d *decoder) bytes() []byte {
	n := d.count()
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) stamp() filestat.Stamp {
	s, rest, ok := filestat.Cut(d.rest)
	d.rest, d.ok = rest, d.ok && ok
	return s
}
