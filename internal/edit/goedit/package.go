package goedit

import (
	"go/ast"
	"path"
	"slices"
	"strconv"
	"strings"
)

// SetPackage changes the package clause of the file. An external test package
// (frigate_test) stays one. A package comment that starts with "Package" and
// the old name gets the new name.
func (f *File) SetPackage(name string) error {
	if f.err != nil {
		return f.err
	}
	old, outside := strings.CutSuffix(f.Package(), "_test")
	if !strings.HasSuffix(f.path, "_test.go") {
		old, outside = f.Package(), false
	}
	if old == name {
		return nil
	}
	var splices []splice
	if doc := f.file.Doc; doc != nil {
		for _, lead := range []string{"// Package " + old + " ", "/*\nPackage " + old + " "} {
			start := f.offset(doc.Pos())
			if strings.HasPrefix(string(f.src[start:]), lead) {
				end := start + len(lead) - 1
				splices = append(splices, splice{end - len(old), end, name})
			}
		}
	}
	if outside {
		name += "_test"
	}
	return f.replace(append(splices, splice{f.offset(f.file.Name.Pos()), f.offset(f.file.Name.End()), name})...)
}

// Free returns the names that the file uses but does not declare or import:
// names from other files of the package, and predeclared ones.
func (f *File) Free() map[string]bool {
	scope := f.scope()
	free, skip := map[string]bool{}, map[*ast.Ident]bool{}
	declared(f.file, func(id *ast.Ident) { skip[id] = true })
	ast.Inspect(f.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			skip[n.Sel] = true
		case *ast.Field:
			idents(func(id *ast.Ident) { skip[id] = true }, n.Names...)
		case *ast.FuncDecl:
			skip[n.Name] = true
		case *ast.BranchStmt:
			skip[n.Label] = true
		case *ast.LabeledStmt:
			skip[n.Label] = true
		case *ast.CompositeLit:
			skipFields(n, skip)
		case *ast.Ident:
			if !skip[n] && n.Name != "_" && lookup(scope, n) == nil {
				free[n.Name] = true
			}
		}
		return true
	})
	delete(free, f.Package())
	return free
}

// skipFields skips the keys of a struct literal. Keys of maps and lists can be
// constants.
func skipFields(lit *ast.CompositeLit, skip map[*ast.Ident]bool) {
	switch lit.Type.(type) {
	case *ast.MapType, *ast.ArrayType:
		return
	}
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if id, ok := kv.Key.(*ast.Ident); ok {
				skip[id] = true
			}
		}
	}
}

// RewritePaths updates relative paths in the file after it moved to another
// folder: the string literals that are arguments of filepath.Join and
// path.Join, if their path starts with "..", and other string literals that start with
// "../" or "./../". move receives such a path, with slashes, and whether it was joined,
// and returns the new path.
func (f *File) RewritePaths(move func(path string, joined bool) string) error {
	if f.err != nil {
		return f.err
	}
	clean := formatted(f.src)
	var splices []splice
	inside := map[ast.Node]bool{}
	ast.Inspect(f.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.CallExpr:
			if !f.is(n.Fun, []Symbol{{"path/filepath", "Join"}, {"path", "Join"}}) {
				break
			}
			texts := leadingTexts(n.Args)
			for _, t := range texts {
				inside[t.lit] = true
			}
			splices = append(splices, f.rejoin(texts, move)...)
		case *ast.BasicLit:
			old, ok := text(n)
			if inside[n] || !ok || !strings.HasPrefix(strings.TrimPrefix(old, "./"), "../") {
				break
			}
			if next := move(old, false); next != old {
				splices = append(splices, splice{f.offset(n.Pos()), f.offset(n.End()), strconv.Quote(next)})
			}
		}
		return true
	})
	slices.SortFunc(splices, func(a, b splice) int { return a.start - b.start })
	if err := f.replace(splices...); err != nil {
		return err
	}
	f.reformat(clean)
	return f.err
}

// literal is an argument that is a string literal.
type literal struct {
	lit  *ast.BasicLit
	text string
}

func leadingTexts(args []ast.Expr) []literal {
	var list []literal
	for _, a := range args {
		s, ok := text(a)
		if !ok {
			break
		}
		list = append(list, literal{a.(*ast.BasicLit), s})
	}
	return list
}

func text(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok {
		return "", false
	}
	s, err := strconv.Unquote(lit.Value)
	return s, err == nil && strings.ContainsAny(lit.Value[:1], "\"`")
}

// rejoin adds or removes leading ".." arguments or, if the first argument has several
// elements, leading elements of it. If the path changes in another way, rejoin replaces the
// arguments.
func (f *File) rejoin(args []literal, move func(string, bool) string) []splice {
	var elems []string
	for _, a := range args {
		elems = append(elems, a.text)
	}
	old := path.Join(elems...)
	if climbs(old) == 0 {
		return nil
	}
	next := move(old, true)
	if next == old {
		return nil
	}
	start := f.offset(args[0].lit.Pos())
	more := climbs(next) - climbs(old)
	fewer := strings.Repeat("../", max(0, -more))
	written := climbsIn(elems)
	switch {
	case strings.TrimLeft(next, "./") != strings.TrimLeft(old, "./"):
	case strings.HasPrefix(elems[0], "../") && strings.HasPrefix(elems[0], fewer):
		first := strings.Repeat("../", max(0, more)) + strings.TrimPrefix(elems[0], fewer)
		return []splice{{start, f.offset(args[0].lit.End()), strconv.Quote(first)}}
	case written != climbs(old):
	case more > 0:
		return []splice{{start, start, strings.Repeat(`"..", `, more)}}
	case -more < len(args) && -more <= written:
		return []splice{{start, f.offset(args[-more].lit.Pos()), ""}}
	}
	var quoted []string
	for e := range strings.SplitSeq(next, "/") {
		quoted = append(quoted, strconv.Quote(e))
	}
	return []splice{{start, f.offset(args[len(args)-1].lit.End()), strings.Join(quoted, ", ")}}
}

// climbs counts the leading ".." elements of a clean path.
func climbs(p string) int { return climbsIn(strings.Split(p, "/")) }

func climbsIn(elems []string) int {
	for i, e := range elems {
		if e != ".." {
			return i
		}
	}
	return len(elems)
}

// Calls reports whether the file calls call, named as in BeforeCall, with the
// string literal first as its first argument.
func (f *File) Calls(call, first string) bool {
	return len(f.textArguments(call, "", first)) > 0
}

// ReplaceString replaces a string literal that is the first argument of a call,
// named as in BeforeCall, or, if key is not empty, the argument after the
// string literal key.
func (f *File) ReplaceString(call, key, old, next string) error {
	if f.err != nil {
		return f.err
	}
	var splices []splice
	for _, lit := range f.textArguments(call, key, old) {
		splices = append(splices, splice{f.offset(lit.Pos()), f.offset(lit.End()), strconv.Quote(next)})
	}
	return f.replace(splices...)
}

func (f *File) textArguments(call, key, value string) []*ast.BasicLit {
	var list []*ast.BasicLit
	ast.Inspect(f.file, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if !ok || !calls(c, call) {
			return true
		}
		for i, arg := range c.Args {
			if s, ok := text(arg); !ok || s != value || key == "" && i > 0 {
				continue
			}
			if key != "" {
				if before, ok := text(c.Args[max(i-1, 0)]); i == 0 || !ok || before != key {
					continue
				}
			}
			list = append(list, arg.(*ast.BasicLit))
		}
		return true
	})
	slices.SortFunc(list, func(a, b *ast.BasicLit) int { return int(a.Pos() - b.Pos()) })
	return list
}
