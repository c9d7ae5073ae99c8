package goedit

import (
	"bytes"
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit"
)

// run is a group of imports that gofmt sorts: lines without an empty line or a
// comment line between them.
type run []*ast.ImportSpec

// importPlaces lists the candidate places for line, an import of path with
// name. The best one is first; correct but less readable ones are last.
func (f *File) importPlaces(name, path, line string) [][]splice {
	eol := edit.LineEnd(f.src)
	var places [][]splice
	add := func(off int, text string) { places = append(places, []splice{{off, off, text}}) }
	blocks, last := f.importBlocks()
	best := bestRun(f.allRuns(blocks), path)
	own := best != nil && (best.standard() && isStandard(path) || best.score(path) >= 4)
	if !own {
		// The marker is in a group of module packages. Packages of the standard
		// library, and of modules that already have a group, go there only if
		// they have no group.
		places = f.markerPlaces(blocks, name, path, line)
	}
	if best != nil {
		text := f.indent(f.offset(best[0].Pos())) + line + eol
		if before := best.greater(name, path); before != nil {
			add(f.specStart(before), text)
		} else {
			add(f.nextLine(f.endOfLine(best[len(best)-1])), text)
		}
	}
	for _, b := range slices.Backward(blocks) {
		top, bottom := f.nextLine(f.offset(b.Lparen)), f.lineStart(f.offset(b.Rparen))
		if isStandard(path) {
			add(top, "\t"+line+eol+eol)
		}
		add(bottom, eol+"\t"+line+eol)
		add(bottom, "\t"+line+eol)
	}
	return append(places, f.newBlocks(last, line)...)
}

// newBlocks lists the candidates for a new import block: after the import
// declaration last, or after the package clause if there is none.
func (f *File) newBlocks(last *ast.GenDecl, line string) [][]splice {
	var head ast.Node = f.file.Name
	if last != nil {
		head = last
	}
	eol, end, off := edit.LineEnd(f.src), f.offset(head.End()), f.nextLine(f.endOfLine(head))
	block := eol + "import (" + eol + "\t" + line + eol + ")" + eol
	if !bytes.HasSuffix(f.src[:off], []byte("\n")) {
		block = eol + strings.TrimSuffix(block, eol)
	}
	if rest := f.src[off:]; len(rest) > 0 && !bytes.HasPrefix(rest, []byte(eol)) {
		block += eol
	}
	return [][]splice{
		{{off, off, block}},
		{{end, end, "; import " + line}}, // all on one line
	}
}

// markerPlaces lists the candidate places above the marker of an import block:
// sorted into the group that ends there, directly above the marker, and in a
// new group above the marker. The new group comes first if the group above
// contains only unrelated packages, which should not be mixed with the
// project's own.
func (f *File) markerPlaces(blocks []*ast.GenDecl, name, path, line string) [][]splice {
	eol := edit.LineEnd(f.src)
	var places [][]splice
	for _, b := range blocks {
		m := f.marker("imports", b.Lparen, b.Rparen)
		if m == nil {
			continue
		}
		at := f.offset(m.Pos())
		own := f.indent(at) + line + eol
		at = f.lineStart(at)
		apart := []splice{{at, at, eol + own}}
		for _, r := range f.runs(b) {
			if f.line(r[len(r)-1].End()) != f.line(m.Pos())-1 {
				continue
			}
			if !r.related(path) {
				places = append(places, apart)
			}
			if before := r.greater(name, path); before != nil {
				off := f.specStart(before)
				places = append(places, []splice{{off, off, own}})
			}
		}
		places = append(places, []splice{{at, at, own}}, apart)
	}
	return places
}

// importBlocks returns the import declarations with parentheses to which lines
// can be added, and the last import declaration of any form. It excludes the
// declaration of the pseudo-package C.
func (f *File) importBlocks() (blocks []*ast.GenDecl, last *ast.GenDecl) {
	for _, d := range f.file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.IMPORT {
			continue
		}
		last = g
		if !g.Lparen.IsValid() || !f.startsLine(f.offset(g.Rparen)) {
			continue
		}
		if len(g.Specs) == 1 && importPath(g.Specs[0].(*ast.ImportSpec)) == "C" {
			continue
		}
		blocks = append(blocks, g)
	}
	return blocks, last
}

func (f *File) allRuns(blocks []*ast.GenDecl) []run {
	var all []run
	for _, b := range blocks {
		all = append(all, f.runs(b)...)
	}
	return all
}

func (f *File) runs(b *ast.GenDecl) []run {
	var all []run
	end := 0
	for i, s := range b.Specs {
		spec := s.(*ast.ImportSpec)
		if i == 0 || f.line(spec.Pos()) > end+1 {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], spec)
		end = f.line(spec.End())
	}
	return all
}

// greater returns the first import of the run that gofmt sorts after the new
// one: by path, then by name.
func (r run) greater(name, path string) *ast.ImportSpec {
	for _, s := range r {
		n := ""
		if s.Name != nil {
			n = s.Name.Name
		}
		if p := importPath(s); p > path || p == path && n > name {
			return s
		}
	}
	return nil
}

// score returns the highest value of shared for path and an import of the run.
func (r run) score(path string) int {
	most := 0
	for _, s := range r {
		most = max(most, shared(importPath(s), path))
	}
	return most
}

// related reports whether an import of the run has the same first path element.
func (r run) related(path string) bool {
	return slices.ContainsFunc(r, func(s *ast.ImportSpec) bool { return shared(importPath(s), path) > 0 })
}

// specStart returns the start of the line of an import, or of its doc comment.
func (f *File) specStart(s *ast.ImportSpec) int {
	if s.Doc != nil {
		return f.lineStart(f.offset(s.Doc.Pos()))
	}
	return f.lineStart(f.offset(s.Pos()))
}

// bestRun returns the run with the import that shares the longest prefix with
// path; among equals, the last one. If no import shares a prefix, it returns a
// run of the same kind (standard library or not), or nil. It ignores runs with
// only blank or dot imports.
func bestRun(runs []run, path string) run {
	var best, kind run
	most := 0
	for _, r := range runs {
		score := r.score(path)
		named := slices.ContainsFunc(r, func(s *ast.ImportSpec) bool {
			return s.Name == nil || s.Name.Name != "_" && s.Name.Name != "."
		})
		if !named {
			continue
		}
		if score > 0 && score >= most {
			best, most = r, score
		}
		if r.standard() == isStandard(path) && (kind == nil || !isStandard(path)) {
			kind = r
		}
	}
	if best != nil {
		return best
	}
	return kind
}

func (r run) standard() bool {
	return slices.ContainsFunc(r, func(s *ast.ImportSpec) bool { return isStandard(importPath(s)) })
}

// shared measures the common prefix of a and b: two for each path element, and
// one if only the parent domain is the same, as in k8s.io and sigs.k8s.io.
func shared(a, b string) int {
	x, y := strings.Split(a, "/"), strings.Split(b, "/")
	n := 0
	for n < min(len(x), len(y)) && x[n] == y[n] {
		n++
	}
	if n == 0 && strings.Contains(x[0], ".") && strings.Contains(y[0], ".") &&
		(strings.HasSuffix(x[0], "."+y[0]) || strings.HasSuffix(y[0], "."+x[0])) {
		return 1
	}
	return 2 * n
}

// isStandard reports whether path is a package of the standard library. The
// path of a module may also have no dot ("shop/api/v1"), so this lists the
// first elements of the standard library that have packages below them.
func isStandard(path string) bool {
	first, _, below := strings.Cut(path, "/")
	if !below {
		return !strings.Contains(first, ".") && first != "C"
	}
	switch first {
	case "archive", "compress", "container", "crypto", "database", "debug", "encoding", "go", "hash", "html", "image",
		"index", "io", "log", "math", "mime", "net", "os", "path", "regexp", "runtime", "sync", "testing", "text",
		"time", "unicode":
		return true
	}
	return false
}
