package adopt

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"path"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/goenv"
	"github.com/operon-dev/operon/internal/lazyregexp"
	"sigs.k8s.io/controller-tools/pkg/rbac"
)

// goFile is what a Go file declares, as far as adopt uses it.
type goFile struct {
	name    string // slash-separated, relative to the root
	pkg     string // name of the package
	imports []importSpec
	hasMain bool // func main of package main
	tagged  bool // only built with tags

	values        map[string]expr // package-level constants and variables that are strings
	groupVersions []groupVersionVar
	markers       []marker // of the package
	types         []goType
	methods       map[string][]method // by receiver
	registered    map[string]bool     // types that are added to a scheme
	builders      []builder
	webhookMarks  []webhookMarker
	rbac          []rbac.Rule
	managers      []int // lines that create a manager
	setups        int   // calls that add controllers or webhooks to a manager
	starts        bool  // a call of a function Start, such as the manager's
}

func (f *goFile) dir() string { return path.Dir(f.name) }

type importSpec struct{ name, path string }

// expr is a string in Go source: a literal, a reference, or the concatenation of others.
type expr struct {
	text string
	ref  ref
	sum  []expr
}

// ref names something of a package, which has the name pkg in the file; empty: its own package.
type ref struct{ pkg, name string }

// place is a line of a file.
type place struct {
	file string
	line int
}

func (p place) String() string {
	if p.line == 0 {
		return p.file
	}
	return fmt.Sprintf("%s:%d", p.file, p.line)
}

func (f *goFile) at(line int) place { return place{f.name, line} }

// parsing is a file while it is read.
type parsing struct {
	*goFile
	fset     *token.FileSet
	comments map[int]*ast.CommentGroup // by the line on which a comment ends
}

func (p *parsing) line(pos token.Pos) int { return p.fset.Position(pos).Line }

var mainFunc = lazyregexp.New(`(?m)^func main\(\)`)

// parseGo parses a Go file. Errors start with file:line:column.
func parseGo(name string, src []byte) (*goFile, error) {
	p := parsing{goFile: &goFile{name: name}, fset: token.NewFileSet()}
	file, err := parser.ParseFile(p.fset, name, src, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		if list, ok := errors.AsType[scanner.ErrorList](err); ok && len(list) > 0 {
			err = list[0] // the rest follows from it
		}
		return nil, err
	}
	p.pkg = file.Name.Name
	p.hasMain = p.pkg == "main" && mainFunc().Match(src)
	p.tagged = !goenv.Builds(name, src)
	for _, s := range file.Imports {
		spec := importSpec{}
		spec.path, _ = strconv.Unquote(s.Path.Value) // the parser has checked it
		if s.Name != nil {
			spec.name = s.Name.Name
		}
		p.imports = append(p.imports, spec)
	}
	p.file(file)
	return p.goFile, nil
}

// file reads the declarations of a file.
func (p *parsing) file(file *ast.File) {
	p.values, p.methods, p.registered = map[string]expr{}, map[string][]method{}, map[string]bool{}
	p.comments = map[int]*ast.CommentGroup{}
	for _, g := range file.Comments {
		p.comments[p.line(g.End())] = g
	}
	ofTypes := map[*ast.CommentGroup]bool{}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			p.function(d)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.ValueSpec:
					p.valueSpec(spec)
				case *ast.TypeSpec:
					p.typeSpec(d, spec, ofTypes)
				}
			}
		}
	}
	for _, g := range file.Comments {
		p.looseMarkers(g, ofTypes[g])
	}
}

// looseMarkers reads the markers that do not belong to a type.
func (p *parsing) looseMarkers(g *ast.CommentGroup, ofType bool) {
	for _, m := range p.markersIn(g) {
		switch m.name {
		case "kubebuilder:webhook":
			p.webhookMarks = append(p.webhookMarks, newWebhookMarker(m))
		case "kubebuilder:rbac":
			p.rbac = append(p.rbac, newRBACMarker(m))
		case "groupName", "versionName":
			p.markers = append(p.markers, m)
		case "kubebuilder:skip", applyMarker:
			if !ofType {
				p.markers = append(p.markers, m)
			}
		}
	}
}

// valueSpec reads constants and variables: strings, group versions and lists of types.
func (p *parsing) valueSpec(spec *ast.ValueSpec) {
	for i, name := range spec.Names {
		if i >= len(spec.Values) {
			return
		}
		v := spec.Values[i]
		if gv, ok := p.groupVersion(v); ok {
			gv.name, gv.line = name.Name, p.line(name.Pos())
			p.groupVersions = append(p.groupVersions, gv)
			continue
		}
		if e, ok := stringExpr(v); ok {
			p.values[name.Name] = e
		}
		if strings.Contains(strings.ToLower(name.Name), "types") {
			p.registerLiterals(v)
		}
		p.body(v, "")
	}
}

// stringExpr returns a string in Go source.
func stringExpr(v ast.Expr) (expr, bool) {
	switch v := v.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(v.Value)
		return expr{text: text}, v.Kind == token.STRING && err == nil
	case *ast.Ident:
		return expr{ref: ref{"", v.Name}}, true
	case *ast.SelectorExpr:
		x, ok := v.X.(*ast.Ident)
		if !ok {
			return expr{}, false
		}
		return expr{ref: ref{x.Name, v.Sel.Name}}, true
	case *ast.ParenExpr:
		return stringExpr(v.X)
	case *ast.BinaryExpr:
		left, ok := stringExpr(v.X)
		right, ok2 := stringExpr(v.Y)
		return expr{sum: []expr{left, right}}, ok && ok2 && v.Op == token.ADD
	}
	return expr{}, false
}
