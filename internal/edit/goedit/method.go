package goedit

import (
	"bytes"
	"go/ast"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit"
	"github.com/operon-dev/operon/internal/fault"
)

// method reports whether d is the method "Type.Name", with a value or pointer
// receiver.
func method(d *ast.FuncDecl, name string) bool {
	typ, name, dotted := strings.Cut(name, ".")
	if !dotted || d.Recv == nil || d.Name.Name != name || len(d.Recv.List) != 1 {
		return false
	}
	recv := ast.Unparen(d.Recv.List[0].Type)
	if star, ok := recv.(*ast.StarExpr); ok {
		recv = ast.Unparen(star.X)
	}
	return chain(recv) == typ
}

// HasFunc reports whether the file declares func fn with a body. A method is
// named with its type: "FrigateReconciler.Reconcile".
func (f *File) HasFunc(fn string) bool { return len(f.bodies(fn)) > 0 }

// MentionedIn reports whether the body of func fn contains the identifier name.
func (f *File) MentionedIn(fn, name string) bool {
	return slices.ContainsFunc(f.bodies(fn), func(body *ast.BlockStmt) bool { return mentions(body, name) })
}

// AfterMention is the place after the first statement in the body of func fn
// that mentions all the names, and after statements on the next lines that
// check what it assigned.
func AfterMention(fn string, names ...string) Anchor {
	return Anchor{
		what: "a statement with " + strings.Join(names, " and ") + " in func " + fn,
		find: func(f *File) (place, bool) {
			for _, body := range f.bodies(fn) {
				if i := slices.IndexFunc(body.List, func(s ast.Stmt) bool { return mentions(s, names...) }); i >= 0 {
					return f.afterStmt(body, body.List, i), true
				}
			}
			return place{}, false
		},
	}
}

// AfterNext is the place after the statement that follows the first one with
// name in the body of func fn, if the following statement mentions next.
func AfterNext(fn, name, next string) Anchor {
	return Anchor{
		what: "a statement with " + next + " next to one with " + name + " in func " + fn,
		find: func(f *File) (place, bool) {
			for _, body := range f.bodies(fn) {
				i := slices.IndexFunc(body.List, func(s ast.Stmt) bool { return mentions(s, name) }) + 1
				if i > 0 && i < len(body.List) && mentions(body.List[i], next) {
					return f.afterStmt(body, body.List, i), true
				}
			}
			return place{}, false
		},
	}
}

// StartOfFunc is the place after the opening brace of func fn. A blank line
// separates the new lines from a comment that follows.
func StartOfFunc(fn string) Anchor {
	return Anchor{
		what: "the function " + fn,
		find: func(f *File) (place, bool) {
			bodies := f.bodies(fn)
			if len(bodies) == 0 {
				return place{}, false
			}
			brace, eol := f.offset(bodies[0].Lbrace), edit.LineEnd(f.src)
			p := place{off: f.nextLine(brace), tail: eol, indent: f.indent(brace) + "\t", folded: f.folded(bodies[0])}
			rest := f.src[p.off:]
			if line, _, _ := bytes.Cut(rest, []byte("\n")); bytes.HasPrefix(bytes.TrimSpace(line), []byte("//")) {
				p.tail += eol
			}
			return p, true
		},
	}
}

func mentions(n ast.Node, names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool {
		found := false
		ast.Inspect(n, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			found = found || ok && id.Name == name
			return !found
		})
		return !found
	})
}

// ArgumentsIn returns the arguments, as text, of the first call of call in func
// fn that has an argument with the name, or nil. The call is named as in
// BeforeCall.
func (f *File) ArgumentsIn(fn, call, name string) []string {
	for _, body := range f.bodies(fn) {
		for _, c := range findCalls(body, call) {
			if !slices.ContainsFunc(c.Args, func(arg ast.Expr) bool { return mentions(arg, name) }) {
				continue
			}
			var args []string
			for _, arg := range c.Args {
				args = append(args, string(f.src[f.offset(arg.Pos()):f.offset(arg.End())]))
			}
			return args
		}
	}
	return nil
}

// Receiver returns the name of the receiver of method fn, or "".
func (f *File) Receiver(fn string) string {
	for _, d := range f.file.Decls {
		d, ok := d.(*ast.FuncDecl)
		if !ok || !method(d, fn) {
			continue
		}
		if names := d.Recv.List[0].Names; len(names) == 1 && names[0].Name != "_" {
			return names[0].Name
		}
	}
	return ""
}

// Signature returns the names of the parameters of method fn, without unnamed
// ones, and the number of its results.
func (f *File) Signature(fn string) (params []string, results int) {
	for _, d := range f.file.Decls {
		d, ok := d.(*ast.FuncDecl)
		if !ok || !method(d, fn) {
			continue
		}
		for _, field := range d.Type.Params.List {
			for _, name := range field.Names {
				params = append(params, name.Name)
			}
		}
		results = d.Type.Results.NumFields()
	}
	return params, results
}

// AddCall adds a call after the last call in func fn that links names, on a
// separate line if the chain uses separate lines. If fn has none of these
// calls, the hint of the error contains the call.
func (f *File) AddCall(fn, call string, links ...string) error {
	if f.err != nil {
		return f.err
	}
	var last *ast.CallExpr
	for _, body := range f.bodies(fn) {
		for _, link := range links {
			for _, c := range findCalls(body, link) {
				if last == nil || c.End() > last.End() {
					last = c
				}
			}
		}
	}
	if last == nil {
		f.err = fault.Failed(f.byHand(call), "%s has no call of %s in func %s", f.path, links[0], fn)
		return f.err
	}
	if !f.edit(func(*File) bool { return true }, f.afterLink(last, call)) {
		f.err = fault.Failed(f.byHand(call), "%s: found no place after the call of %s in func %s", f.path, links[0], fn)
	}
	return f.err
}

// afterLink adds call after the call c of a chain.
func (f *File) afterLink(c *ast.CallExpr, call string) []splice {
	end, eol := f.offset(c.End()), edit.LineEnd(f.src)
	next := f.selected(c)
	if next != nil && f.line(c.End()) < f.line(next.Sel.Pos()) {
		line := f.nextLine(end)
		return []splice{{line, line, indented(call+".", f.indent(f.offset(next.Sel.Pos())), eol) + eol}}
	}
	same := strings.TrimPrefix(indented(call, f.indent(end), eol), f.indent(end))
	if next == nil {
		return []splice{{end, end, "." + same}}
	}
	at := f.offset(next.Sel.Pos())
	return []splice{{at, at, same + "."}}
}

// selected returns the selector on c, which is the next link of its chain, or
// nil.
func (f *File) selected(c *ast.CallExpr) *ast.SelectorExpr {
	var found *ast.SelectorExpr
	ast.Inspect(f.file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && s.X == ast.Expr(c) {
			found = s
		}
		return found == nil
	})
	return found
}

// AddOption adds the argument option(arg) to the first call of call in func fn.
// If the call already has an argument that calls option, arg is added to that
// one. If fn does not have the call, the hint of the error contains the
// argument.
func (f *File) AddOption(fn, call, option, arg string) error {
	if f.err != nil {
		return f.err
	}
	var target *ast.CallExpr
	for _, body := range f.bodies(fn) {
		if found := findCalls(body, call); len(found) > 0 && target == nil {
			target = found[0]
		}
	}
	full := option + "(" + arg + ")"
	if target == nil {
		f.err = fault.Failed(f.byHand(full), "%s has no call of %s in func %s", f.path, call, fn)
		return f.err
	}
	text := full
	for _, a := range target.Args {
		if c, ok := a.(*ast.CallExpr); ok && calls(c, option[strings.LastIndexByte(option, '.')+1:]) {
			target, text = c, arg
			break
		}
	}
	at := f.offset(target.Lparen) + 1
	if n := len(target.Args); n > 0 {
		at, text = f.offset(target.Args[n-1].End()), ", "+text
	}
	if target.Ellipsis.IsValid() || !f.edit(func(*File) bool { return true }, []splice{{at, at, text}}) {
		f.err = fault.Failed(f.byHand(full), "%s: found no place for one more argument of %s in func %s", f.path, call, fn)
	}
	return f.err
}
