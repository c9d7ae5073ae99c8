package goedit

import (
	"bytes"
	"go/ast"
	"go/scanner"
	"go/token"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit"
	"github.com/operon-dev/operon/internal/fault"
)

// Insert adds text, one or more unindented lines, at the first of the anchors
// that the file has. The lines get the indentation of the anchor and the line
// endings of the file. If the file already contains the same code, in any
// formatting, Insert does nothing. If the file has none of the anchors, or the
// lines do not parse there, the hint of the error contains the lines to add by
// hand, with the imports that Import added.
func (f *File) Insert(text string, anchors ...Anchor) error {
	text = strings.Trim(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if f.err != nil || text == "" || f.holds(text) {
		return f.err
	}
	for _, a := range anchors {
		p, ok := a.find(f)
		if !ok {
			continue
		}
		if p.folded != nil {
			f.edit(func(*File) bool { return true }, f.unfold(p.folded))
			p, _ = a.find(f)
		}
		lines := p.lead + indented(text, p.indent, edit.LineEnd(f.src)) + p.tail
		if p.off == len(f.src) && !bytes.HasSuffix(f.src, []byte("\n")) {
			lines = edit.LineEnd(f.src) + strings.TrimSuffix(lines, p.tail)
		}
		ok = f.edit(func(g *File) bool { return g.holds(text) }, []splice{{p.off, p.off + p.skip, lines}})
		if !ok {
			f.err = fault.Failed(f.byHand(text), "%s: the new lines do not parse at %s", f.path, a.what)
		}
		return f.err
	}
	f.err = fault.Failed(f.byHand(text), "%s has %s", f.path, lacking(anchors))
	return f.err
}

// lacking describes the missing anchors in an error message.
func lacking(anchors []Anchor) string {
	var whats []string
	for _, a := range anchors {
		if !slices.Contains(whats, a.what) {
			whats = append(whats, a.what)
		}
	}
	switch len(whats) {
	case 0:
		return "no place for new lines"
	case 1:
		what := strings.TrimPrefix(strings.TrimPrefix(whats[0], "the "), "a ")
		return "no " + what
	case 2:
		return "neither " + whats[0] + " nor " + whats[1]
	default:
		return "none of these: " + strings.Join(whats, ", ")
	}
}

// byHand returns the hint with the lines to insert by hand.
func (f *File) byHand(text string) string {
	var b strings.Builder
	b.WriteString("add these lines by hand where they belong, then repeat the command:\n")
	for _, line := range f.added {
		b.WriteString("\n\timport " + line)
	}
	if len(f.added) > 0 {
		b.WriteString("\n")
	}
	b.WriteString("\n" + indented(text, "\t", "\n"))
	return b.String()
}

// holds reports whether the file contains the statements of text or, if text
// has only comments, these comments. It compares tokens, so it finds a block
// that the user reformatted, and does not find one that is commented out.
func (f *File) holds(text string) bool {
	if want := tokens([]byte(text)); len(want) > 0 {
		have := f.tokens()
		return hasRun(have, want, func(start, end int) bool {
			return slices.Contains([]string{"{", ";", ":"}, have[start-1]) &&
				(end == len(have) || have[end] == ";" || have[end] == "}")
		})
	}
	var have, want []string
	for _, g := range f.file.Comments {
		for _, c := range g.List {
			have = append(have, commentLines(c.Text)...)
		}
	}
	for line := range strings.Lines(text) {
		want = append(want, commentLines(line)...)
	}
	return hasRun(have, want, func(int, int) bool { return true })
}

func commentLines(text string) []string {
	var list []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return list
}

// hasRun reports whether list contains run as consecutive elements whose start
// and end whole accepts. A run never starts the file, because a file starts
// with "package".
func hasRun(list, run []string, whole func(start, end int) bool) bool {
	for start := 0; start+len(run) <= len(list); start++ {
		end := start + len(run)
		if slices.Equal(list[start:end], run) && whole(start, end) {
			return true
		}
	}
	return false
}

// indented puts indent before every non-empty line of text and joins the lines
// with eol. It does not indent lines inside a raw string, where white space is
// significant.
func indented(text, indent, eol string) string {
	raw := rawLines(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if line != "" && !raw[i] {
			lines[i] = indent + line
		}
	}
	return strings.Join(lines, eol)
}

// rawLines returns the lines of text, counted from 0, that start inside a raw
// string.
func rawLines(text string) map[int]bool {
	raw := map[int]bool{}
	file := token.NewFileSet().AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, []byte(text), nil, 0)
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return raw
		}
		if tok == token.STRING && lit[0] == '`' {
			first := strings.Count(text[:file.Offset(pos)], "\n")
			for i := range strings.Count(lit, "\n") {
				raw[first+1+i] = true
			}
		}
	}
}

// unfold splits a body on one line into several lines, formatted as by gofmt,
// so that lines can be added. Comments between statements stay in place.
func (f *File) unfold(body *ast.BlockStmt) []splice {
	eol := edit.LineEnd(f.src)
	outer := eol + f.indent(f.offset(body.Lbrace))
	inner := outer + "\t"
	var list []splice
	last := f.offset(body.Lbrace) + 1
	for _, s := range body.List {
		if start := f.offset(s.Pos()); len(bytes.Trim(f.src[last:start], "; \t")) == 0 {
			list = append(list, splice{last, start, inner})
		}
		last = f.offset(s.End())
	}
	end := f.offset(body.Rbrace)
	content := bytes.TrimRight(f.src[last:end], " \t")
	if len(body.List) == 0 && len(content) > 0 {
		blank := len(content) - len(bytes.TrimLeft(content, " \t"))
		list = append(list, splice{last, last + blank, inner})
	}
	return append(list, splice{last + len(content), end, outer})
}
