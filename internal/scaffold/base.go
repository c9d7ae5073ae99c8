package scaffold

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/input"
	"github.com/operon-dev/operon/internal/scaffold/merge"
)

// baseFile has the base of each seeded file: the pristine content that operon
// wrote last. A base is one line that says everything itself:
//
//	<path> TAB <SHA-256 of the content, in hex> TAB <content: gzip, base64>
//
// The order of the lines has no meaning, so git merges the file by taking the
// lines of both sides (merge=union). A path whose base changed on both sides
// then has two lines, which combine joins.
//
// git joins changes of neighbouring lines to one. A union would then bring back
// old lines. Therefore each base is between two comments that contain its path.
//
// A file that an external plugin rewrote also has what the plugin wrote last, in the same form after rewrittenMark.
// An operon that does not know the mark reads a comment.
const (
	baseFile      = stateDir + "/base.lines"
	rewrittenMark = "#rewritten "
	baseHeader    = `# The files of this project as operon created them, to merge later changes with yours.
# Each file is one line; the lines around it separate the changes of git branches.
`
)

// bases reads baseFile when the first base is needed.
type bases struct {
	tree   *tree
	loaded bool
	src    []byte              // baseFile on disk; nil: none
	lines  map[string][]string // by path, without newlines
	marked map[string][]string // those after rewrittenMark, without it
}

// load reads baseFile once.
func (b *bases) load() error {
	if b.loaded {
		return nil
	}
	var err error
	if b.src, err = b.tree.state(baseFile); err != nil {
		return err
	}
	if b.lines, b.marked, err = parseBases(string(b.src)); err != nil {
		return err
	}
	b.loaded = true
	return nil
}

// parseBases returns the lines of each path, and those after rewrittenMark. It checks the paths because a
// repository is not trusted.
func parseBases(src string) (lines, marked map[string][]string, err error) {
	lines, marked = map[string][]string{}, map[string][]string{}
	number := 0
	for line := range strings.Lines(src) {
		number++
		line = strings.TrimRight(line, "\r\n")
		all := lines
		if rewritten, isMarked := strings.CutPrefix(line, rewrittenMark); isMarked {
			line, all = rewritten, marked
		}
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if isMarker(line) {
			return nil, nil, fault.Failed("delete the lines that start with <<<<<<<, |||||||, ======= or >>>>>>>, and keep all others: operon merges them",
				"%s:%d: the file has merge conflicts", baseFile, number)
		}
		fields := strings.Split(line, "\t")
		if len(fields) != 3 {
			return nil, nil, damaged(fmt.Sprintf("%s:%d", baseFile, number))
		}
		if err := checkName(fields[0]); err != nil {
			return nil, nil, fault.In(fmt.Sprintf("%s:%d", baseFile, number), fault.Failed("restore the file from version control, or remove the line", "%v", err))
		}
		if !slices.Contains(all[fields[0]], line) {
			all[fields[0]] = append(all[fields[0]], line)
		}
	}
	return lines, marked, nil
}

func isMarker(line string) bool {
	marks := []string{"<<<<<<<", "|||||||", "=======", ">>>>>>>"}
	return slices.ContainsFunc(marks, func(mark string) bool { return strings.HasPrefix(line, mark) })
}

func damaged(what string) error {
	return fault.Failed("restore the file from version control", "%s is damaged", what)
}

// read returns the base of the file at path, whose content on disk is disk. It
// returns nil if there is none.
func (b *bases) read(path string, disk []byte) ([]byte, error) {
	if err := b.load(); err != nil {
		return nil, err
	}
	return combine(b.lines[path], disk)
}

// rewritten returns what an external plugin wrote last into the file at path, whose content on disk is disk. It
// returns nil if that is the base.
func (b *bases) rewritten(path string, disk []byte) ([]byte, error) {
	return combine(b.marked[path], disk)
}

// combine joins the bases of one file on several branches: the result is
// what operon would have written if the commands of all branches had run on one. The lines have the order of the
// user's file.
func combine(lines []string, disk []byte) ([]byte, error) {
	var base []byte
	for _, line := range lines {
		content, err := decodeBase(line)
		switch {
		case err != nil:
			return nil, err
		case base == nil:
			base = content
		case !bytes.Equal(base, content):
			base = merge.Union(base, content, disk)
		}
	}
	return base, nil
}

// has reports whether a base of the file at path is stored.
func (b *bases) has(path string) bool { return len(b.lines[path]) > 0 }

// paths returns the paths of all files that have a base.
func (b *bases) paths() ([]string, error) {
	if err := b.load(); err != nil {
		return nil, err
	}
	return slices.Collect(maps.Keys(b.lines)), nil
}

// encode returns the new content of baseFile, or nil if there are no bases. next
// has the bases that change, and rewritten what plugins wrote; nil removes one.
func (b *bases) encode(next, rewritten map[string][]byte) ([]byte, error) {
	lines := maps.Clone(b.lines)
	marked := maps.Clone(b.marked)
	if err := cmp.Or(replaceBases(lines, next), replaceBases(marked, rewritten)); err != nil {
		return nil, err
	}
	if len(lines) == 0 {
		return nil, nil
	}
	var out bytes.Buffer
	out.Grow(len(b.src) + 4096)
	out.WriteString(baseHeader)
	for _, path := range slices.Sorted(maps.Keys(lines)) {
		fmt.Fprintf(&out, "# begin %s\n%s\n", path, strings.Join(lines[path], "\n"))
		for _, line := range marked[path] {
			out.WriteString(rewrittenMark + line + "\n")
		}
		fmt.Fprintf(&out, "# end %s\n", path)
	}
	return out.Bytes(), nil
}

// replaceBases replaces the lines of the paths in next; nil removes them.
func replaceBases(lines map[string][]string, next map[string][]byte) error {
	for path, content := range next {
		delete(lines, path)
		if content == nil {
			continue
		}
		var err error
		if lines[path], err = appendBase(nil, path, content); err != nil {
			return err
		}
	}
	return nil
}

// appendBase adds the line for a base, unless lines has the same content.
func appendBase(lines []string, path string, content []byte) ([]string, error) {
	sum := hash(content)
	if strings.ContainsAny(path, "\t\r\n") {
		return nil, fault.Failed("rename it", "the path %q has a tab or a line break", path)
	}
	if slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, path+"\t"+sum+"\t") }) {
		return lines, nil
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(content); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return append(lines, path+"\t"+sum+"\t"+base64.StdEncoding.EncodeToString(packed.Bytes())), nil
}

// decodeBase returns the content in a line.
func decodeBase(line string) ([]byte, error) {
	fields := strings.Split(line, "\t")
	z, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(fields[2])))
	var content []byte
	if err == nil {
		content, err = input.ReadAll(z, input.Data)
	}
	if err == nil && hash(content) != fields[1] {
		err = fmt.Errorf("the content has another SHA-256")
	}
	if err != nil {
		f := damaged(fmt.Sprintf("the line of %s in %s", fields[0], baseFile))
		return nil, &fault.Error{Code: fault.Code(f), Msg: f.Error(), Hint: fault.HintOf(f), Err: err}
	}
	return content, nil
}
