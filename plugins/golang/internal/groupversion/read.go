package groupversion

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
)

// groupVersionNames are the usual names of the variable, the preferred one first.
var groupVersionNames = []string{"GroupVersion", "SchemeGroupVersion", "GroupVersionInfo", "GV"}

// Read determines how the package in the folder of r's types registers them. ok is false if
// the folder has no declarations about it.
func Read(c *project.Config, r project.Resource, p *scaffold.Plan) (f Form, ok bool, err error) {
	files, err := source.Files(c.APIDir(r), p)
	if err != nil {
		return Form{}, false, err
	}
	x := formReader{group: r.QualifiedGroup(), version: r.Version, vars: map[string]packageVar{}}
	for _, s := range files {
		file, err := parser.ParseFile(token.NewFileSet(), s.Name, s.Src, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil || file.Name.Name == "main" {
			continue // the generators report syntax errors
		}
		x.read(s.Name, file)
	}
	for _, name := range x.names {
		x.isGroupVersion(x.vars[name], false)
	}
	if x.matches {
		x.OtherVersion, x.OtherGroup = "", ""
	}
	x.name()
	return x.Form, x.GroupVersion != "" || x.Builder != "" || x.List != "" || x.Call != "", nil
}

// formReader collects the declarations of a package.
type formReader struct {
	Form
	group, version string
	vars           map[string]packageVar
	names          []string // of vars, in order
	known          []knownTypes
	matches        bool // a variable has the group and version
}

// packageVar is a package-level variable. Value or Type can be nil.
type packageVar struct {
	file        string
	value, typ  ast.Expr
	imports     map[string]string // paths by local name
	isGenerated bool
}

// knownTypes is a call of AddKnownTypes in a function that gets the scheme.
type knownTypes struct {
	file, groupVersion string
	list               string // the variable with the types; "" if the call lists them
	function, scheme   string
}

func (x *formReader) read(name string, file *ast.File) {
	x.Package = file.Name.Name
	imports := goedit.ImportPaths(file)
	if file.Doc != nil {
		for _, comment := range file.Doc.List {
			marker := strings.TrimSpace(strings.TrimPrefix(comment.Text, "//"))
			if strings.HasPrefix(marker, "+") && !strings.HasPrefix(marker, "+build") {
				x.Markers = append(x.Markers, marker)
			}
		}
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.GenDecl:
			x.readVars(name, d, imports, ast.IsGenerated(file))
		case *ast.FuncDecl:
			x.ResourceFunc = x.ResourceFunc || d.Recv == nil && d.Name.Name == "Resource"
			if !ast.IsGenerated(file) {
				x.readFunc(name, d, imports)
			}
		}
	}
}

func (x *formReader) readVars(name string, d *ast.GenDecl, imports map[string]string, generated bool) {
	if d.Tok != token.VAR {
		return
	}
	for _, s := range d.Specs {
		spec := s.(*ast.ValueSpec)
		for i, id := range spec.Names {
			v := packageVar{file: name, typ: spec.Type, imports: imports, isGenerated: generated}
			if len(spec.Values) == len(spec.Names) {
				v.value = spec.Values[i]
			}
			x.vars[id.Name] = v
			x.names = append(x.names, id.Name)
		}
	}
}

// readFunc finds the calls of AddKnownTypes on a parameter of the function, or in func init on any scheme.
func (x *formReader) readFunc(name string, d *ast.FuncDecl, imports map[string]string) {
	params, isInit := map[string]bool{}, d.Recv == nil && d.Name.Name == "init"
	for _, field := range d.Type.Params.List {
		for _, id := range field.Names {
			params[id.Name] = true
		}
	}
	ast.Inspect(d, func(n ast.Node) bool {
		if _, isLiteral := n.(*ast.FuncLit); isLiteral && isInit {
			return false // it gets a scheme later
		}
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || sel.Sel.Name != "AddKnownTypes" {
			return true
		}
		scheme := types.ExprString(sel.X)
		gv, _ := call.Args[0].(*ast.Ident)
		if gv == nil || !params[scheme] && !isInit {
			return true
		}
		if local := assignedIn(d, gv.Name); local != nil && !x.isGroupVersion(packageVar{file: name, value: local, imports: imports}, true) {
			return true
		}
		k := knownTypes{file: name, groupVersion: gv.Name, function: d.Name.Name, scheme: scheme}
		if list, ok := call.Args[len(call.Args)-1].(*ast.Ident); ok && call.Ellipsis.IsValid() {
			k.list = list.Name
		}
		if k.list != "" || !call.Ellipsis.IsValid() {
			x.known = append(x.known, k)
		}
		return true
	})
}

// assignedIn returns the value that a function assigns to a variable of its own, or nil.
func assignedIn(d *ast.FuncDecl, name string) (value ast.Expr) {
	ast.Inspect(d, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && a.Tok == token.DEFINE && len(a.Lhs) == 1 && len(a.Rhs) == 1 {
			if id, ok := a.Lhs[0].(*ast.Ident); ok && id.Name == name {
				value = a.Rhs[0]
			}
		}
		return value == nil
	})
	return value
}

// name chooses the declarations that register types.
func (x *formReader) name() {
	for _, preferred := range []string{"SchemeBuilder", "schemeBuilder", ""} {
		for _, name := range x.names {
			if objects, at, ok := x.vars[name].builder(); ok && x.Builder == "" && (preferred == "" || preferred == name) {
				x.Builder, x.objects, x.BuilderPath, x.File = name, objects, at, x.vars[name].file
			}
		}
	}
	x.GroupVersion = x.groupVersion()
	for _, k := range x.known {
		switch {
		case k.list != "":
			if _, ok := x.vars[k.list]; ok && x.List == "" {
				x.List, x.GroupVersion, x.File = k.list, k.groupVersion, k.file
			}
		case x.Call == "" && !x.objects:
			x.Call, x.GroupVersion, x.File, x.Func, x.Scheme = k.file, k.groupVersion, k.file, k.function, k.scheme
		}
	}
	if x.List != "" {
		x.Call = ""
	}
	if v, ok := x.vars[x.GroupVersion]; ok && x.File == "" {
		x.File = v.file
	}
	for _, name := range x.names {
		if id, ok := x.vars[name].value.(*ast.Ident); ok && name != x.GroupVersion && id.Name == x.GroupVersion {
			x.Aliases = append(x.Aliases, name)
		}
	}
}

// groupVersion returns the variable with the group and version, or "".
func (x *formReader) groupVersion() string {
	for _, name := range groupVersionNames {
		v, ok := x.vars[name]
		if ok && x.isGroupVersion(v, true) {
			return name
		}
	}
	for _, name := range x.names {
		if x.isGroupVersion(x.vars[name], false) {
			return name
		}
	}
	return ""
}

// isGroupVersion reports whether a variable can be the group and version of the package. With
// usual, it has a usual name, and any value is accepted that is not known to be wrong.
func (x *formReader) isGroupVersion(v packageVar, usual bool) bool {
	lit, ok := v.value.(*ast.CompositeLit)
	if !ok {
		return usual
	}
	sel, ok := lit.Type.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "GroupVersion" {
		return false
	}
	if pkg, ok := sel.X.(*ast.Ident); !ok || v.imports[pkg.Name] == "k8s.io/apimachinery/pkg/apis/meta/v1" {
		return false // another type, for the generators of clients
	}
	for _, e := range lit.Elts {
		pair, ok := e.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		key, _ := pair.Key.(*ast.Ident)
		value, isText := pair.Value.(*ast.BasicLit)
		if key == nil || !isText {
			continue
		}
		text, _ := strconv.Unquote(value.Value)
		if key.Name == "Version" && text != x.version {
			if !x.matches {
				x.OtherVersion = text
			}
			return false
		}
		if key.Name == "Group" && text != x.group {
			x.OtherGroup = text
			return usual
		}
	}
	x.matches = true
	return true
}

// builder reports whether a variable collects types, and whether it takes objects. at is the
// package of its type.
func (v packageVar) builder() (objects bool, at string, ok bool) {
	value := v.value
	if address, isAddress := value.(*ast.UnaryExpr); isAddress {
		value = address.X
	}
	typ := v.typ
	switch value := value.(type) {
	case *ast.CompositeLit:
		typ = value.Type
	case *ast.CallExpr:
		if sel, isSel := value.Fun.(*ast.SelectorExpr); isSel && sel.Sel.Name == "NewSchemeBuilder" {
			return false, "", true
		}
		return false, "", false
	}
	sel, isSel := typ.(*ast.SelectorExpr)
	if !isSel {
		return false, "", false
	}
	pkg, _ := sel.X.(*ast.Ident)
	switch {
	case pkg == nil:
		return false, "", false
	case sel.Sel.Name == "Builder":
		return true, v.imports[pkg.Name], true
	}
	return false, "", sel.Sel.Name == "SchemeBuilder"
}
