package goedit

import (
	"bytes"
	"go/ast"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit"
	"github.com/operon-dev/operon/internal/fault"
)

// method reports whether d is the method that "Type.Name" names, by value or by
// pointer.
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

// HasFunc reports whether the file declares func fn, with a body. A method is
// named with its type: "FrigateReconciler.Reconcile".
func (f *File) HasFunc(fn string) bool { return len(f.bodies(fn)) > 0 }

// MentionedIn reports whether func fn mentions the name.
func (f *File) MentionedIn(fn, name string) bool {
	return slices.ContainsFunc(f.bodies(fn), func(body *ast.BlockStmt) bool { return mentions(body, name) })
}

// AfterMention is the place after the first statement in the body of func fn that
// mentions all the names, and after the statements on the next lines that look at
// what it assigned.
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

// AfterNext is the place after the statement that comes next after the first one
// in the body of func fn with that name, if the next one mentions the other.
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

// StartOfFunc is the place behind the opening brace of func fn. Comments that
// come next stay a paragraph of their own.
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
// fn one of which mentions the name; nil when there is none. The call is named
// as in BeforeCall.
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

// Receiver is the name of the receiver in method fn, "" when it has none.
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

// Signature tells how the parameters of method fn are called, those that have
// names, and how many results it has.
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

// AddCall adds a call to the chain of calls in func fn that has one of links in
// it: behind the last of them, on a line of its own where the chain has such.
// fn without those calls is an error whose hint prints the call.
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
	if !f.edit(func(*File) bool { return true }, f.behindLink(last, call)) {
		f.err = fault.Failed(f.byHand(call), "%s: found no place behind the call of %s in func %s", f.path, links[0], fn)
	}
	return f.err
}

// behindLink puts call behind the call c of a chain, whose dots end its lines.
func (f *File) behindLink(c *ast.CallExpr, call string) []splice {
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

// selected returns the selector of which c is the left side: the next link of
// its chain, or nil.
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

// AddOption adds to the first call of call in func fn the argument option(arg).
// When it has an argument that calls option already, that one gets arg too. fn
// without the call is an error whose hint prints the argument.
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
