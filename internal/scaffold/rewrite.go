package scaffold

import (
	"bytes"
	"fmt"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/scaffold/merge"
)

// Rewrite plans the content that an external plugin writes into an existing file. The base stays, so that later
// commands keep the change, and operon remembers what the plugin wrote. If the user edited the file since then, and
// the content lacks these edits, Rewrite merges both; if they overlap, that is an error.
func (p *Plan) Rewrite(path string, content []byte) error {
	e, err := p.based(path)
	if err != nil {
		return err
	}
	e.restored()
	op, now := e.outcome(p.force)
	if now == nil {
		return notExist(path)
	}
	if op == Conflict {
		return fault.Failed("resolve the conflict first", "%s is in conflict", path)
	}
	written, result := content, content
	if last := e.lastWritten(); last != nil && !bytes.Equal(now, e.nextBase()) {
		if !p.force && !keepsLines(now, content) {
			merged, clean := merge.Text(last, now, content)
			if !clean {
				return fault.Differences("revert your edit, or use --force to replace the file (the old content is kept in .operon/journal)",
					"%s: the change overlaps with your edit", path)
			}
			result = merged
		}
		if change, clean := merge.Text(now, last, content); clean {
			written = change // without the edits of the user
		} else {
			written = last
		}
	}
	if e.nextBase() != nil {
		e.rewritten, e.rewrittenOn = present(bytes.Clone(written)), e.nextBase()
	}
	if e.class == Seeded {
		e.currentBase = e.pristine
	}
	e.content, e.edited = present(bytes.Clone(result)), true
	return nil
}

// lastWritten returns what operon or a plugin wrote last into the file: the base, with the changes of plugins. nil: the
// file is the user's.
func (e *entry) lastWritten() []byte {
	base := e.nextBase()
	if e.rewritten == nil || base == nil {
		return base
	}
	if merged, clean := merge.Text(e.rewrittenOn, e.rewritten, base); clean {
		return present(merged)
	}
	return e.rewritten
}

// keepsLines reports whether text has all lines of old, in their order.
func keepsLines(old, text []byte) bool {
	rest := bytes.SplitAfter(text, []byte("\n"))
	for line := range bytes.Lines(old) {
		i := 0
		for i < len(rest) && !bytes.Equal(bytes.TrimRight(rest[i], "\r\n"), bytes.TrimRight(line, "\r\n")) {
			i++
		}
		if i == len(rest) {
			return false
		}
		rest = rest[i+1:]
	}
	return true
}

// MaxText is the size above which a file does not count as text.
const MaxText = 1 << 20

// IsText reports whether content is text in UTF-8 of at most MaxText bytes.
func IsText(content []byte) bool { return len(content) <= MaxText && isText(content) }

// Texts returns the contents of all text files of the project after Apply, by their paths. It omits
// files above MaxText, links, and the folders of git and of operon.
func (p *Plan) Texts() (map[string][]byte, error) {
	names, err := p.Below(".")
	if err != nil {
		return nil, err
	}
	texts := map[string][]byte{}
	for _, name := range names {
		if !p.canBeText(name) {
			continue
		}
		content, err := p.Read(name)
		switch {
		case err == nil && IsText(content):
			texts[name] = content
		case err != nil && p.Exists(name):
			return nil, err
		}
	}
	return texts, nil
}

// canBeText reports whether the path of a file is not a link, and the size not above MaxText.
func (p *Plan) canBeText(name string) bool {
	if e := p.entries[name]; e != nil {
		return e.real == name
	}
	info, err := p.tree.lstat(name)
	return err == nil && info.Mode().IsRegular() && info.Size() <= MaxText
}

// Writable returns an error unless a plan may change the file at path: a path that is clean, relative
// and inside of the project, also through links, and neither in .git nor in .operon.
func (p *Plan) Writable(path string) error {
	if isTemplate(path) {
		return fmt.Errorf("path %q is in %s, which only operon templates changes", path, TemplatesDir)
	}
	e, err := p.entry(path)
	if err == nil && e.real != path {
		err = fault.Failed("replace the link with a file or folder of the project", "%s is a link to %s", path, e.real)
	}
	return err
}
