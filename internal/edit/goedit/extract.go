package goedit

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"strings"

	"github.com/operon-dev/operon/internal/edit"
)

// callStmt is a statement that assigns the result of a call.
type callStmt struct {
	body *ast.BlockStmt
	stmt *ast.AssignStmt
	call *ast.CallExpr
}

// callStmt finds the first top-level statement of func fn that assigns the
// result of one of the calls.
func (f *File) callStmt(fn string, calls []Symbol) (callStmt, bool) {
	for _, body := range f.bodies(fn) {
		for _, s := range body.List {
			a, ok := s.(*ast.AssignStmt)
			if !ok || len(a.Rhs) != 1 {
				continue
			}
			if call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr); ok && f.is(call.Fun, calls) {
				return callStmt{body, a, call}, true
			}
		}
	}
	return callStmt{}, false
}

// ExtractArgument assigns an argument of a call to a new variable called name,
// and adds lines before and after the assignment; %s in after stands for the
// variable. The call is in the first statement of func fn that assigns the
// result of one of the calls. An argument that is already a variable is kept.
func (f *File) ExtractArgument(fn string, calls []Symbol, index int, name, before, after string) error {
	if f.err != nil {
		return f.err
	}
	c, ok := f.callStmt(fn, calls)
	if !ok || index >= len(c.call.Args) || !f.startsLine(f.offset(c.stmt.Pos())) {
		f.err = fmt.Errorf("%s: found no call of %s on a line of func %s", f.path, calls[0].Name, fn)
		return f.err
	}
	arg := c.call.Args[index]
	start, eol := f.offset(c.stmt.Pos()), edit.LineEnd(f.src)
	indent := f.indent(start)
	lines := func(text string) string { return strings.TrimPrefix(indented(text, indent, eol), indent) }
	if id, ok := arg.(*ast.Ident); ok {
		return f.replace(splice{start, start, lines(before+"\n"+strings.ReplaceAll(after, "%s", id.Name)) + eol + eol + indent})
	}
	name = f.free(name)
	head, rest := string(f.src[start:f.offset(arg.Pos())]), string(f.src[f.offset(arg.End()):f.offset(c.stmt.End())])
	moved := eol + indent + lines(strings.ReplaceAll(after, "%s", name)) + eol + eol + indent + head + name + rest
	return f.replace(
		splice{start, f.offset(arg.Pos()), lines(before) + eol + indent + name + " := "},
		splice{f.offset(arg.End()), f.offset(c.stmt.End()), moved},
	)
}

// InlineArgument reverts ExtractArgument if the variable called name exists and
// has no other use. The caller must have removed the lines before and after.
func (f *File) InlineArgument(fn string, calls []Symbol, index int, name string) error {
	if f.err != nil {
		return f.err
	}
	c, ok := f.callStmt(fn, calls)
	if !ok || index >= len(c.call.Args) {
		return nil
	}
	arg, ok := c.call.Args[index].(*ast.Ident)
	if !ok || arg.Name != name || f.count(c.body, name) != 2 {
		return nil
	}
	for i, s := range c.body.List {
		a, ok := s.(*ast.AssignStmt)
		if !ok || a.Tok != token.DEFINE || len(a.Lhs) != 1 || i+1 >= len(c.body.List) || c.body.List[i+1] != c.stmt {
			continue
		}
		if id, ok := a.Lhs[0].(*ast.Ident); !ok || id.Name != name {
			continue
		}
		start, end := f.offset(c.stmt.Pos()), f.offset(c.stmt.End())
		head, rest := string(f.src[start:f.offset(arg.Pos())]), string(f.src[f.offset(arg.End()):end])
		if len(bytes.TrimSpace(f.src[f.offset(a.End()):start])) > 0 {
			return nil // keep a comment of the user between the two
		}
		return f.replace(
			splice{f.offset(a.Pos()), f.offset(a.Rhs[0].Pos()), head},
			splice{f.offset(a.End()), end, rest},
		)
	}
	return nil
}

func (f *File) count(n ast.Node, name string) int {
	count := 0
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name == name {
			count++
		}
		return true
	})
	return count
}

// DropAssign removes the statements of func fn that assign to a selector that
// ends in path, on any variable: "Cache.DefaultNamespaces".
func (f *File) DropAssign(fn, path string) error {
	if f.err != nil {
		return f.err
	}
	for _, body := range f.bodies(fn) {
		for _, s := range body.List {
			a, ok := s.(*ast.AssignStmt)
			if !ok || len(a.Lhs) != 1 || !strings.HasSuffix(chain(a.Lhs[0]), "."+path) {
				continue
			}
			start, end := f.offset(s.Pos()), f.endOfLine(s)
			if f.startsLine(start) && len(bytes.TrimSpace(f.src[end:f.nextLine(end)])) == 0 {
				_ = f.replace(splice{f.lineStart(start), f.nextLine(end), ""}) // kept in f.err
				return f.DropAssign(fn, path)
			}
		}
	}
	return nil
}

// DropFunc removes the function name and its doc comment if its code equals
// the code in text, and reports whether it did. The doc comments may differ. A
// function that the user changed stays.
func (f *File) DropFunc(name, text string) (bool, error) {
	if f.err != nil {
		return false, f.err
	}
	for _, d := range f.file.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Recv != nil || fn.Name.Name != name || fn.Doc == nil {
			continue
		}
		start, end := f.offset(fn.Doc.Pos()), f.nextLine(f.offset(fn.End()))
		if funcCode(string(f.src[start:end])) != funcCode(text) {
			return false, nil
		}
		if above := f.lineStart(max(start-1, 0)); len(bytes.TrimSpace(f.src[above:start])) == 0 {
			start = above
		}
		return true, f.replace(splice{start, end, ""})
	}
	return false, nil
}

// funcCode returns the text of a function without its doc comment.
func funcCode(text string) string {
	text = "\n" + strings.ReplaceAll(text, "\r\n", "\n")
	_, code, _ := strings.Cut(text, "\nfunc ")
	return strings.TrimSpace(code)
}

// DropImport removes the import of a package that the file no longer uses. An
// import with a comment on its line stays.
func (f *File) DropImport(path string) error {
	if f.err != nil {
		return f.err
	}
	for i, spec := range f.file.Imports {
		unnamed := spec.Name != nil && (spec.Name.Name == "_" || spec.Name.Name == ".")
		if importPath(spec) != path || unnamed || len(f.selections(f.localName(spec))) > 0 {
			continue
		}
		if line, ok := f.importLine(i); ok {
			above, below := f.lineStart(max(line.start-1, 0)), bytes.TrimSpace(f.src[line.end:f.nextLine(line.end)])
			ends := len(below) == 0 || below[0] == ')' || bytes.HasPrefix(below, []byte("//"))
			if ends && len(bytes.TrimSpace(f.src[above:line.start])) == 0 {
				line.start = above // it was a separate group
			}
			return f.replace(line)
		}
	}
	return nil
}

// Comments replaces each line comment with the result of change.
func (f *File) Comments(change func(string) string) error {
	if f.err != nil {
		return f.err
	}
	var splices []splice
	for _, g := range f.file.Comments {
		for _, c := range g.List {
			start, end := f.offset(c.Pos()), f.commentEnd(c)
			old := strings.TrimSuffix(string(f.src[start:end]), "\r")
			if next := change(old); strings.HasPrefix(old, "//") && next != old {
				splices = append(splices, splice{start, start + len(old), next})
			}
		}
	}
	return f.replace(splices...)
}
