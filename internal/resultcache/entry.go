package resultcache

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/operon-dev/operon/internal/filestat"
)

// entry is a cached result and its inputs. Its file format is
//
//	magic, CRC-32 of the rest, key,
//	since, until, output, inputs
//
// A length precedes each list and each text. Paths are sorted, and omit the prefix that
// they share with the previous path.
type entry struct {
	since, until int64 // seconds since 1970: the period in which the entry is valid
	output       []Chunk
	inputs       []tracked // sorted by path
}

// tracked is a path that the result depends on.
type tracked struct {
	path          string
	ignoreEntries bool // if it is a folder, its entries do not matter
	stat          filestat.Stat
}

// relevant returns the part of s that matters for the input.
func (in tracked) relevant(s filestat.Stat) filestat.Stat {
	if in.ignoreEntries {
		return s.IgnoreEntries()
	}
	return s
}

const magic = "operon rerun 1\n"

func (e entry) encode(k key) []byte {
	var b []byte
	add := func(numbers ...int) {
		for _, n := range numbers {
			b = binary.LittleEndian.AppendUint64(b, uint64(n))
		}
	}
	b = binary.LittleEndian.AppendUint64(b, k[0])
	b = binary.LittleEndian.AppendUint64(b, k[1])
	add(int(e.since), int(e.until), len(e.output))
	for _, c := range e.output {
		add(flag(c.Stderr), len(c.Bytes))
		b = append(b, c.Bytes...)
	}
	add(len(e.inputs))
	last := ""
	for _, in := range e.inputs {
		shared := 0
		for shared < len(last) && shared < len(in.path) && last[shared] == in.path[shared] {
			shared++
		}
		add(shared, len(in.path)-shared)
		b = append(b, in.path[shared:]...)
		add(flag(in.ignoreEntries))
		b = in.stat.Append(b)
		last = in.path
	}
	return seal(b)
}

// seal prepends the magic and the checksum.
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

// decode decodes an entry with the key k. ok is false for any other content.
func decode(k key, content []byte) (e entry, ok bool) {
	if len(content) < len(magic) || string(content[:len(magic)]) != magic {
		return e, false
	}
	d := decoder{rest: content[len(magic):], ok: true}
	if sum := d.number(); sum != uint64(crc32.ChecksumIEEE(d.rest)) || d.number() != k[0] || d.number() != k[1] {
		return e, false
	}
	e.since, e.until = int64(d.number()), int64(d.number())
	for range d.count() {
		e.output = append(e.output, Chunk{Stderr: d.number() != 0, Bytes: d.bytes()})
	}
	n := d.count()
	e.inputs = make([]tracked, 0, n)
	last := ""
	for range n {
		shared := d.number()
		suffix := d.bytes()
		if shared > uint64(len(last)) {
			return e, false
		}
		in := tracked{path: last[:shared] + string(suffix), ignoreEntries: d.number() != 0}
		in.stat = d.stat()
		if !d.ok {
			return e, false
		}
		e.inputs = append(e.inputs, in)
		last = in.path
	}
	return e, d.ok && len(d.rest) == 0
}

// decoder reads the parts of an entry. After the first missing part, it returns
// zeros and ok is false.
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

// count reads the number of bytes, or of items of at least one byte, that follow.
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

func (d *decoder) stat() filestat.Stat {
	s, rest, ok := filestat.Decode(d.rest)
	d.rest, d.ok = rest, d.ok && ok
	return s
}
