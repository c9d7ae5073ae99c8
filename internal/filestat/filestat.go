// Package filestat records the metadata of a file or folder: type, size, times and
// inode. Code that compares two records finds out whether the file changed, without
// reading it.
package filestat

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"time"
)

// Stat is the metadata of a path. Two stats that are equal with == mean that
// the path did not change in between. The zero Stat means that nothing exists
// at the path.
type Stat struct {
	self   node
	target node // the target of self if self is a symbolic link
}

// node is the metadata of one file. The mode of an existing file is never 0.
// What the system does not report is 0: on Windows, the change time and the
// inode number.
type node struct {
	mode         uint32
	inode        uint64
	size         int64
	mtime, ctime int64 // nanoseconds since 1970
}

// Of returns the stat of a path, and of its target if it is a symbolic link. A
// path at which nothing exists is not an error.
func Of(path string) (Stat, error) {
	var s Stat
	var err error
	if s.self, err = stat(path, false); err == nil && s.self.isLink() {
		s.target, err = stat(path, true)
	}
	return s, err
}

// Exists reports whether something exists at the path. A dangling symbolic link
// exists.
func (s Stat) Exists() bool { return s != Stat{} }

// IsDir reports whether the path is a folder or a link to one.
func (s Stat) IsDir() bool { return s.self.isDir() || s.target.isDir() }

// IsLink reports whether the path is a symbolic link.
func (s Stat) IsLink() bool { return s.self.isLink() }

// IgnoreEntries returns s without the metadata that changes if entries are added to a
// folder or removed from it. The stat of a file does not change. A symbolic link to a
// folder must still be the same link.
func (s Stat) IgnoreEntries() Stat {
	return Stat{self: s.self.ignoreEntries(), target: s.target.ignoreEntries()}
}

func (n node) ignoreEntries() node {
	if n.isDir() {
		return node{mode: n.mode}
	}
	return n
}

// Two changes within one tick of a file system's clock have the same time. Clocks tick at
// least a hundred times a second. Some file systems (FAT, old ones of macOS and Linux)
// store only whole seconds, or only even ones.
const (
	tick   = int64(20 * time.Millisecond)
	second = int64(time.Second)
	coarse = 5 * second / 2
)

// Settled reports whether the last change is old enough before t that any
// change after t results in another stat.
func (s Stat) Settled(t time.Time) bool {
	return s.self.settled(t.UnixNano()) && s.target.settled(t.UnixNano())
}

func (n node) settled(t int64) bool {
	changed := n.ctime // unlike mtime, programs cannot set it
	if changed == 0 {
		changed = n.mtime
	}
	if changed%second == 0 {
		return changed < t-coarse
	}
	return changed < t-tick
}

// Append appends the binary form of s to b.
func (s Stat) Append(b []byte) []byte {
	return s.target.append(s.self.append(b))
}

func (n node) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(n.mode))
	if n.mode == 0 {
		return b
	}
	for _, v := range []uint64{n.inode, uint64(n.size), uint64(n.mtime), uint64(n.ctime)} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}

// MarshalText implements encoding.TextMarshaler.
func (s Stat) MarshalText() ([]byte, error) {
	return base64.RawStdEncoding.AppendEncode(nil, s.Append(nil)), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Stat) UnmarshalText(text []byte) error {
	b, err := base64.RawStdEncoding.AppendDecode(nil, text)
	is, rest, ok := Decode(b)
	if err != nil || !ok || len(rest) > 0 {
		return fmt.Errorf("%q is no stat", text)
	}
	*s = is
	return nil
}

// Decode decodes the stat at the start of b and returns the rest of b. ok is
// false if b does not start with a stat.
func Decode(b []byte) (s Stat, rest []byte, ok bool) {
	if s.self, b, ok = decode(b); ok {
		s.target, b, ok = decode(b)
	}
	return s, b, ok
}

func decode(b []byte) (n node, rest []byte, ok bool) {
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
