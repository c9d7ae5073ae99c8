package goedit

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/scanner"
	"go/token"
	"strings"

	"github.com/operon-dev/operon/internal/edit/conflict"
	"github.com/operon-dev/operon/internal/fault"
)

// File is a Go source file under edit. Each edit is applied immediately and the
// result is parsed, so later edits see earlier ones. After a failed edit, all
// further calls, including Bytes, return the same error.
type File struct {
	*syntax
	added []string        // import lines added by edits, for the hint of Insert
	avoid map[string]bool // names that new imports must not use
	err   error
}

// Parse parses src; path is used only in messages. A syntax error is returned
// as a fault with file:line:col.
func Parse(path string, src []byte) (*File, error) {
	s, err := parseSource(path, bytes.Clone(src)) // the caller may change src
	if err != nil {
		return nil, err
	}
	return &File{syntax: s}, nil
}

// parseSource parses src, which must not change.
func parseSource(path string, src []byte) (*syntax, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		if line := conflict.Line(src); line > 0 {
			return nil, conflict.Error(fmt.Sprintf("%s:%d:1", path, line))
		}
		// Report only the first error: the others often follow from it.
		var list scanner.ErrorList
		if errors.As(err, &list) && len(list) > 0 {
			err = list[0]
		}
		return nil, fault.Failed("fix the syntax error, then repeat the command", "%s", err)
	}
	return newSyntax(path, src, file, fset.File(file.FileStart)), nil
}

// Bytes returns the edited source, which always parses.
func (f *File) Bytes() ([]byte, error) {
	if f.err != nil {
		return nil, f.err
	}
	return bytes.Clone(f.src), nil
}

// splice replaces src[start:end] with text.
type splice struct {
	start, end int
	text       string
}

// apply applies the splices, which must be in order and must not overlap.
func (f *File) apply(splices []splice) (*File, error) {
	var b bytes.Buffer
	last := 0
	for _, s := range splices {
		b.Write(f.src[last:s.start])
		b.WriteString(s.text)
		last = s.end
	}
	b.Write(f.src[last:])
	g, err := Parse(f.path, b.Bytes())
	if err != nil {
		return nil, err
	}
	g.added, g.avoid = f.added, f.avoid
	return g, nil
}

// edit applies the first candidate that parses, keeps and adds all intended
// code, and passes ok. It prefers one that keeps a gofmt-clean file clean. It
// reports whether a candidate succeeded. Checking the result prevents an
// insertion inside a comment or a raw string, without analyzing every place.
func (f *File) edit(ok func(*File) bool, candidates ...[]splice) bool {
	var best *File
	have := f.codeSize()
	for _, c := range candidates {
		want := have
		for _, s := range c {
			want += countCode(tokens([]byte(s.text)))
		}
		g, err := f.apply(c)
		if err != nil || g.codeSize() != want || !ok(g) {
			continue
		}
		if g.formatted() || !f.formatted() {
			best = g
			break
		}
		if best == nil {
			best = g
		}
	}
	if best == nil {
		return false
	}
	*f = *best
	return true
}

func formatted(src []byte) bool {
	out, err := format.Source(src)
	return err == nil && bytes.Equal(out, src)
}

// tokens returns the tokens of src as text, without comments and without the
// commas and semicolons that depend on line breaks. The result does not depend
// on formatting.
func tokens(src []byte) []string {
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", -1, len(src)), src, nil, 0)
	var list []string
	for {
		_, tok, lit := s.Scan()
		switch tok {
		case token.EOF, token.RPAREN, token.RBRACE, token.RBRACK:
			if n := len(list); n > 0 && (list[n-1] == "," || list[n-1] == ";") {
				list = list[:n-1]
			}
		}
		if tok == token.EOF {
			return list
		}
		if tok.IsOperator() {
			lit = tok.String()
		}
		list = append(list, lit)
	}
}

// countCode counts tokens, except semicolons: an edit between two lines may need
// an additional one.
func countCode(all []string) int {
	n := 0
	for _, t := range all {
		if t != ";" {
			n++
		}
	}
	return n
}

// offset returns the byte offset of pos. It ignores //line directives.
func (f *File) offset(pos token.Pos) int { return f.tok.Offset(pos) }

// line returns the line number of pos. It ignores //line directives.
func (f *File) line(pos token.Pos) int { return f.tok.PositionFor(pos, false).Line }

// lineStart returns the offset of the start of the line that contains off.
func (f *File) lineStart(off int) int { return bytes.LastIndexByte(f.src[:off], '\n') + 1 }

// nextLine returns the offset of the line after the one that contains off. It
// returns the length of the file for the last line, which may lack a newline.
func (f *File) nextLine(off int) int {
	if i := bytes.IndexByte(f.src[off:], '\n'); i >= 0 {
		return off + i + 1
	}
	return len(f.src)
}

// indent returns the leading white space of the line that contains off.
func (f *File) indent(off int) string {
	line := f.src[f.lineStart(off):off]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// startsLine reports whether only white space precedes off on its line.
func (f *File) startsLine(off int) bool {
	return len(bytes.TrimLeft(f.src[f.lineStart(off):off], " \t")) == 0
}

// endOfLine returns the offset after n and after the comments that start on its
// last line.
func (f *File) endOfLine(n ast.Node) int {
	end := f.offset(n.End())
	for _, g := range f.file.Comments {
		for _, c := range g.List {
			if f.line(c.Pos()) == f.line(n.End()) && f.offset(c.Pos()) >= end {
				end = f.commentEnd(c)
			}
		}
	}
	return end
}

// commentEnd returns the offset after c. The parser removes carriage returns
// from the text of a comment, so c.End is too small in a file with CRLF.
func (f *File) commentEnd(c *ast.Comment) int {
	start := f.offset(c.Pos())
	if strings.HasPrefix(c.Text, "/*") {
		return start + 2 + bytes.Index(f.src[start+2:], []byte("*/")) + 2
	}
	if i := bytes.IndexByte(f.src[start:], '\n'); i >= 0 {
		return start + i
	}
	return len(f.src)
}
