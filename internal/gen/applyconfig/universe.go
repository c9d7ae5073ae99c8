package applyconfig

import (
	"go/ast"
	"go/parser"
	"go/token"
	gotypes "go/types"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gen/overlay"
	"k8s.io/gengo/v2/types"
	"sigs.k8s.io/controller-tools/pkg/loader"
)

// universe collects the types of a package and those that they refer to, as the library describes them. The
// library's own parser type-checks all dependencies from their sources, which takes seconds. That parser also
// collects functions, variables and constants, which do not change apply configurations, and methods, which the
// library writes only for interfaces without a name.
type universe struct {
	types.Universe
	project  *overlay.Project
	root     *loader.Package
	comments map[string]map[int]*ast.CommentGroup // of each file, by the line on which they end
}

// newUniverse returns the types of a package that is type-checked. It reports fields whose type is unknown, because
// the packages that it depends on are not type-checked.
func newUniverse(project *overlay.Project, root *loader.Package) (types.Universe, error) {
	u := &universe{types.Universe{}, project, root, map[string]map[int]*ast.CommentGroup{}}
	pkg := u.Package(root.PkgPath)
	pkg.Path, pkg.Name, pkg.Dir = root.PkgPath, root.Name, root.Dir
	for _, file := range root.Syntax {
		name := root.Fset.Position(file.FileStart).Filename
		u.comments[name] = byLine(root.Fset, file)
		if filepath.Base(name) == "doc.go" { // the library reads markers of the package only there
			pkg.Comments = nil
			for _, c := range file.Comments {
				pkg.Comments = append(pkg.Comments, lines(c)...)
			}
			pkg.DocComments = lines(file.Doc)
		}
	}
	scope := root.Types.Scope()
	for _, name := range scope.Names() {
		if o, ok := scope.Lookup(name).(*gotypes.TypeName); ok {
			u.declare(o)
		}
	}
	for _, t := range pkg.Types {
		for _, m := range t.Members {
			if tag := reflect.StructTag(m.Tags).Get("json"); tag != "" && tag != "-" && isUnknown(m.Type) {
				return nil, fault.Failed("use a type that does not depend on constants of other packages",
					"the type of field %s of %s is unknown", m.Name, t.Name.Name)
			}
		}
	}
	return u.Universe, nil
}

// isUnknown reports whether a type, or that of its elements, has no description.
func isUnknown(t *types.Type) bool {
	for t.Elem != nil {
		t = t.Elem
	}
	return t.Kind == types.Unsupported
}

// declare adds the type of a declaration, with the comment before it and the one before that.
func (u *universe) declare(o *gotypes.TypeName) {
	t := u.add(o.Type())
	if t.Name.Package != u.root.PkgPath {
		return // an alias of a type that has no apply configuration
	}
	_, isAlias := o.Type().(*gotypes.Alias) // its comments do not replace those of the type itself
	set := func(to *[]string, c *ast.CommentGroup) {
		if text := lines(c); len(text) > 0 && (len(*to) == 0 || !isAlias) {
			*to = text
		}
	}
	near, far := u.comment(o.Pos(), 1), u.comment(o.Pos(), 2)
	if near != nil {
		far = u.comment(near.Pos(), 2)
	}
	set(&t.CommentLines, near)
	set(&t.SecondClosestCommentLines, far)
}

// add adds a type and those that it refers to.
func (u *universe) add(in gotypes.Type) *types.Type {
	switch t := in.(type) {
	case *gotypes.Alias:
		return u.add(gotypes.Unalias(t))
	case *gotypes.TypeParam: // each has a type of its own: other types have parameters of the same name
		return &types.Type{Name: types.Name{Name: t.String()}, Kind: types.TypeParam}
	case *gotypes.Named:
		return u.addNamed(t)
	case *gotypes.Basic:
		return u.addAs(types.Name{Name: t.Name()}, in)
	}
	return u.addAs(types.Name{Name: in.String()}, in)
}

// addNamed adds a declared type. A basic type, map or slice is an Alias. Others have the kind of their underlying
// type.
func (u *universe) addNamed(t *gotypes.Named) *types.Type {
	name := types.Name{Name: t.String()}
	if pkg := t.Obj().Pkg(); pkg != nil {
		name = types.Name{Package: pkg.Path(), Name: strings.TrimPrefix(t.String(), pkg.Path()+".")}
	}
	switch t.Underlying().(type) {
	case *gotypes.Basic, *gotypes.Map, *gotypes.Slice:
		out := u.Type(name)
		if out.Kind == types.Unknown {
			out.Kind = types.Alias
			out.Underlying = u.add(t.Underlying())
		}
		return out
	case *gotypes.Struct, *gotypes.Interface:
		parameters := map[string]*types.Type{}
		if list := t.TypeParams(); list.Len() > 0 { // Name[T], without constraints or arguments
			var names []string
			for p := range list.TypeParams() {
				names = append(names, p.Obj().Name())
				parameters[p.Obj().Name()] = u.add(p.Constraint())
			}
			name.Name = t.Obj().Name() + "[" + strings.Join(names, ",") + "]"
		}
		out := u.addAs(name, t.Underlying())
		out.TypeParams = parameters
		return out
	}
	return u.addAs(name, t.Underlying())
}

// addAs adds a type that is not declared, or the underlying type of a declared one, with a name.
func (u *universe) addAs(name types.Name, in gotypes.Type) *types.Type {
	out := u.Type(name)
	if out.Kind != types.Unknown {
		return out
	}
	switch t := in.(type) { // the kind is set first, because types can refer to themselves
	case *gotypes.Struct:
		out.Kind = types.Struct
		for i := range t.NumFields() {
			f := t.Field(i)
			m := types.Member{Name: f.Name(), Embedded: f.Anonymous(), Tags: t.Tag(i), Type: u.add(f.Type())}
			if name.Package == u.root.PkgPath { // the library writes no comments of other types
				m.CommentLines = lines(u.comment(f.Pos(), 1))
			}
			out.Members = append(out.Members, m)
		}
	case *gotypes.Map:
		out.Kind = types.Map
		out.Elem, out.Key = u.add(t.Elem()), u.add(t.Key())
	case *gotypes.Pointer:
		out.Kind = types.Pointer
		out.Elem = u.add(t.Elem())
	case *gotypes.Slice:
		out.Kind = types.Slice
		out.Elem = u.add(t.Elem())
	case *gotypes.Array:
		out.Kind = types.Array
		out.Elem, out.Len = u.add(t.Elem()), t.Len()
	case *gotypes.Chan:
		out.Kind = types.Chan
		out.Elem = u.add(t.Elem())
	case *gotypes.Signature:
		out.Kind = types.Func
		out.Signature = &types.Signature{Parameters: u.parameters(t.Params()), Results: u.parameters(t.Results()), Variadic: t.Variadic()}
	case *gotypes.Interface:
		out.Kind = types.Interface
	default:
		out.Kind = types.Unsupported
	}
	return out
}

func (u *universe) parameters(list *gotypes.Tuple) (all []*types.ParamResult) {
	for v := range list.Variables() {
		all = append(all, &types.ParamResult{Name: v.Name(), Type: u.add(v.Type())})
	}
	return all
}

// comment returns the comment that ends some lines before a position. That of a declaration ends one line before
// it. The position is in another package if the package declares a type of it again.
func (u *universe) comment(pos token.Pos, before int) *ast.CommentGroup {
	at := u.root.Fset.Position(pos)
	file, read := u.comments[at.Filename]
	if !read && at.IsValid() {
		if content, err := u.project.Read(at.Filename); err == nil {
			fset := token.NewFileSet()
			syntax, _ := parser.ParseFile(fset, at.Filename, content, parser.ParseComments|parser.SkipObjectResolution) // loading has reported errors
			file = byLine(fset, syntax)
		}
		u.comments[at.Filename] = file
	}
	return file[at.Line-before]
}

// byLine returns the comments in a file by the line on which they end.
func byLine(fset *token.FileSet, file *ast.File) map[int]*ast.CommentGroup {
	comments := map[int]*ast.CommentGroup{}
	for _, c := range file.Comments {
		comments[fset.Position(c.End()).Line] = c
	}
	return comments
}

// lines returns the lines of a comment, which may be nil, without those at its end that are empty.
func lines(c *ast.CommentGroup) []string {
	text := strings.TrimRight(c.Text(), "\n")
	if text == "" {
		return nil
	}
	return slices.Collect(strings.SplitSeq(text, "\n"))
}
