// Package filestat tells whether a file or folder is as it was, without reading it.
// It imports next to nothing, so that a program can ask before it starts.
package filestat

import (
	"encoding/binary"
	"time"
)

// Stamp tells what stands at a path from what stood there, as far as the file
// system does. Stamps are compared with ==; the zero one is that of nothing.
type Stamp struct {
	self   node
	target node // what self leads to, if it is a link
}

// node is what the file system says of one file. mode is never 0, and what is not
// known (times of change and numbers, on Windows) is.
type node struct {
	mode         uint32
	number       uint64 // of the inode
	size         int64
	mtime, ctime int64 // in nanoseconds since 1970
}

// Of looks at a path, and where a link leads to. It is no error that nothing
// stands there.
func Of(path string) (Stamp, error) {
	var s Stamp
	var err error
	if s.self, err = look(path, false); err == nil && s.self.isLink() {
		s.target, err = look(path, true)
	}
	return s, err
}

// Exists reports whether something stands there, be it a link to nothing.
func (s Stamp) Exists() bool { return s != Stamp{} }

// IsDir reports whether a folder stands there, links followed.
func (s Stamp) IsDir() bool { return s.self.isDir() || s.target.isDir() }

// Kind is the stamp of a folder without all that changes while it stays one. A
// link to a folder still has to stay the same link.
func (s Stamp) Kind() Stamp { return Stamp{self: s.self.kind(), target: s.target.kind()} }

func (n node) kind() node {
	if n.isDir() {
		return node{mode: n.mode}
	}
	return n
}

// How long a change may go unseen behind another: file systems take the time
// from a clock that ticks a hundred times a second or more, and some (FAT, old
// disks of macOS and Linux) keep whole or even seconds.
const (
	tick   = int64(20 * time.Millisecond)
	second = int64(time.Second)
	coarse = 5 * second / 2
)

// Settled reports whether the last change was clearly before t, so that a
// change after t makes another stamp.
func (s Stamp) Settled(t time.Time) bool {
	return s.self.settled(t.UnixNano()) && s.target.settled(t.UnixNano())
}

func (n node) settled(t int64) bool {
	changed := n.ctime // which nobody can set
	if changed == 0 {
		changed = n.mtime
	}
	if changed%second == 0 {
		return changed < t-coarse
	}
	return changed < t-tick
}

// Append adds the stamp in binary.
func (s Stamp) Append(b []byte) []byte {
	return s.target.append(s.self.append(b))
}

func (n node) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(n.mode))
	if n.mode == 0 {
		return b
	}
	for _, v := range []uint64{n.number, uint64(n.size), uint64(n.mtime), uint64(n.ctime)} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}

// Cut takes the stamp off the front of b. ok is false when there is none.
func Cut(b []byte) (s Stamp, rest []byte, ok bool) {
	if s.self, b, ok = cut(b); ok {
		s.target, b, ok = cut(b)
	}
	return s, b, ok
}

func cut(b []byte) (n node, rest []byte, ok bool) {
	const width = 8
	if len(b) < width {
		return n, nil, false
	}
	number := func() uint64 {
		v := binary.LittleEndian.Uint64(b)
		b = b[width:]
		return v
	}
	mode := number()
	if mode == 0 {
		return n, b, true
	}
	if len(b) < 4*width || mode != uint64(uint32(mode)) {
		return n, nil, false
	}
	n = node{uint32(mode), number(), int64(number()), int64(number()), int64(number())}
	return n, b, true
}
