package rerun

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/operon-dev/operon/internal/stamp"
)

// record is an answer and what it depends on. In a file it is
//
//	magic, CRC-32 of the rest, key,
//	since, until, texts, inputs
//
// with numbers as varints, lists and texts with their length before them, and
// paths without the start that they share with the path before.
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
	stamp stamp.Stamp
}

// reduce is s as far as it matters for the input.
func (in input) reduce(s stamp.Stamp) stamp.Stamp {
	if in.kind {
		return s.Kind()
	}
	return s
}

const magic = "operon rerun 1\n"

func (r record) encode(k key) []byte {
	b := binary.LittleEndian.AppendUint64(nil, k[0])
	b = binary.LittleEndian.AppendUint64(b, k[1])
	b = binary.AppendVarint(b, r.since)
	b = binary.AppendVarint(b, r.until)
	b = binary.AppendUvarint(b, uint64(len(r.texts)))
	for _, t := range r.texts {
		b = appendBool(b, t.Stderr)
		b = append(binary.AppendUvarint(b, uint64(len(t.Bytes))), t.Bytes...)
	}
	b = binary.AppendUvarint(b, uint64(len(r.inputs)))
	last := ""
	for _, in := range r.inputs {
		shared := 0
		for shared < len(last) && shared < len(in.path) && last[shared] == in.path[shared] {
			shared++
		}
		b = binary.AppendUvarint(b, uint64(shared))
		b = binary.AppendUvarint(b, uint64(len(in.path)-shared))
		b = append(b, in.path[shared:]...)
		b = in.stamp.Append(appendBool(b, in.kind))
		last = in.path
	}
	return seal(b)
}

// seal puts before b what a record starts with.
func seal(b []byte) []byte {
	head := binary.LittleEndian.AppendUint32([]byte(magic), crc32.ChecksumIEEE(b))
	return append(head, b...)
}

func appendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

// decode reads a record of the key. ok is false for anything else.
func decode(k key, content []byte) (r record, ok bool) {
	const head = len(magic) + 4
	if len(content) < head || string(content[:len(magic)]) != magic {
		return r, false
	}
	d := decoder{rest: content[head:], ok: true}
	if binary.LittleEndian.Uint32(content[len(magic):]) != crc32.ChecksumIEEE(d.rest) {
		return r, false
	}
	if d.fixed() != k[0] || d.fixed() != k[1] {
		return r, false
	}
	r.since, r.until = d.signed(), d.signed()
	for range d.count() {
		t := Text{Stderr: d.bool()}
		t.Bytes = d.take(d.count())
		r.texts = append(r.texts, t)
	}
	n := d.count()
	r.inputs = make([]input, 0, n)
	last := ""
	for range n {
		shared := d.number()
		suffix := d.take(d.count())
		if shared > uint64(len(last)) {
			return r, false
		}
		in := input{path: last[:shared] + string(suffix), kind: d.bool()}
		var ok bool
		if in.stamp, d.rest, ok = stamp.Cut(d.rest); !ok {
			return r, false
		}
		r.inputs = append(r.inputs, in)
		last = in.path
	}
	return r, d.ok && len(d.rest) == 0
}

// decoder reads the parts of a record. Behind the first that is not there it
// reads zeros, and ok is false.
type decoder struct {
	rest []byte
	ok   bool
}

func (d *decoder) take(n int) []byte {
	if n > len(d.rest) {
		d.rest, d.ok = nil, false
		return nil
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) fixed() uint64 {
	b := d.take(8)
	if b == nil {
		return 0
	}
	return binary.LittleEndian.Uint64(b)
}

func (d *decoder) bool() bool {
	b := d.take(1)
	return b != nil && b[0] != 0
}

func (d *decoder) signed() int64 {
	v, n := binary.Varint(d.rest)
	d.take(d.valid(n))
	return v
}

func (d *decoder) number() uint64 {
	v, n := binary.Uvarint(d.rest)
	d.take(d.valid(n))
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

// valid turns the length that a varint of package binary claims into that of
// what is to be taken.
func (d *decoder) valid(n int) int {
	if n <= 0 {
		return len(d.rest) + 1
	}
	return n
}
