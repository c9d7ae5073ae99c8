package adopt

import (
	"go/ast"
	"path"
	"slices"
	"strconv"
	"strings"
)

// method is a method by which a type takes part in webhooks: Default, ValidateCreate, Hub or ConvertTo.
type method struct {
	name string
	line int
}

// builder is the code that sets up a controller or webhooks for a kind.
type builder struct {
	webhook   bool
	object    ref // the kind; empty if the code does not show it
	name      string
	receiver  string // type of the method that has the code
	defaulter bool
	validator bool
	bare      bool // a call of Watch, without a builder
	line      int
}

// Import paths of packages that make managers.
const (
	controllerRuntime = "sigs.k8s.io/controller-runtime"
	managerPackage    = "sigs.k8s.io/controller-runtime/pkg/manager"
)

// function reads a function or method.
func (p *parsing) function(d *ast.FuncDecl) {
	receiver := ""
	if d.Recv != nil && len(d.Recv.List) == 1 {
		r, _ := typeRef(d.Recv.List[0].Type)
		receiver = r.name
	}
	switch name := d.Name.Name; name {
	case "Default", "ValidateCreate", "Hub", "ConvertTo":
		if receiver != "" {
			p.methods[receiver] = append(p.methods[receiver], method{name, p.line(d.Name.Pos())})
		}
	}
	if d.Body == nil {
		return
	}
	p.body(d.Body, receiver)
}

// body reads code: of a function, or of a variable with functions in it.
func (p *parsing) body(code ast.Node, receiver string) {
	f := body{parsing: p, done: map[ast.Node]bool{}}
	ast.Inspect(code, f.visit)
	for _, object := range f.objects { // of builders that are in variables
		if i := slices.IndexFunc(f.builders, func(b builder) bool { return !b.webhook && b.object == ref{} }); i >= 0 {
			f.builders[i].object = object
		}
	}
	built := slices.ContainsFunc(f.builders, func(b builder) bool { return !b.bare })
	for _, b := range f.builders {
		if b.bare && built {
			continue // Watch for a second kind
		}
		b.receiver = receiver
		p.builders = append(p.builders, b)
	}
}

// body is the body of a function while it is read.
type body struct {
	*parsing
	done     map[ast.Node]bool // builders that belong to a chain of calls
	builders []builder
	objects  []ref // of calls of For outside of a chain
}

func (b *body) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.SelectorExpr:
		if x, ok := n.X.(*ast.Ident); ok && b.makesManager(x.Name, n.Sel.Name) {
			b.managers = append(b.managers, b.line(n.Pos()))
		}
	case *ast.CallExpr:
		b.registrations(n)
		name := callee(n)
		if strings.Contains(name, "WithManager") || strings.HasPrefix(name, "SetupControllers") || strings.HasPrefix(name, "SetupWebhooks") {
			b.setups++
		}
		b.starts = b.starts || name == "Start"
		return b.call(n, name)
	}
	return true
}

// makesManager reports whether x.name is a function of controller-runtime that returns a manager.
func (b *body) makesManager(x, name string) bool {
	if name != "NewManager" && name != "New" {
		return false
	}
	for _, s := range b.imports {
		if s.name == x || s.name == "" && path.Base(s.path) == x {
			return s.path == controllerRuntime && name == "NewManager" || s.path == managerPackage && name == "New"
		}
	}
	return false
}

// call reads a chain of calls that starts with a builder, or a call of Watch for a kind.
func (b *body) call(n *ast.CallExpr, name string) bool {
	if root, links := chain(n); root != nil {
		if !b.done[root] {
			b.done[root] = true
			b.chain(root, links)
		}
		return true
	}
	switch {
	case name == "For" && len(n.Args) > 0:
		if object, ok := pointee(n.Args[0]); ok {
			b.objects = append(b.objects, object)
		}
	case name == "Watch" || name == "Kind":
		if object, ok := watched(n); ok {
			b.builders = append(b.builders, builder{object: object, bare: true, line: b.line(n.Pos())})
			return false
		}
	}
	return true
}

// roots are the functions of controller-runtime that make builders, and of wrappers around it.
// The value is true for webhooks.
var roots = map[string]bool{
	"NewControllerManagedBy": false, "ControllerManagedBy": false, "TypedControllerManagedBy": false,
	"NewWebhookManagedBy": true, "WebhookManagedBy": true,
}

// chain returns the call that makes a builder, and the calls on it, last one first. root is nil for
// another call.
func chain(n *ast.CallExpr) (root *ast.CallExpr, links []*ast.CallExpr) {
	for {
		if _, ok := roots[callee(n)]; ok {
			return n, links
		}
		sel, ok := n.Fun.(*ast.SelectorExpr)
		if !ok {
			return nil, nil
		}
		links = append(links, n)
		if n, ok = sel.X.(*ast.CallExpr); !ok {
			return nil, nil
		}
	}
}

// chain notes a builder and what the calls on it say.
func (b *body) chain(root *ast.CallExpr, links []*ast.CallExpr) {
	found := builder{webhook: roots[callee(root)], line: b.line(root.Pos())}
	if found.webhook && len(root.Args) > 1 { // since controller-runtime v0.23
		found.object, _ = pointee(root.Args[1])
	}
	for _, call := range links {
		if len(call.Args) == 0 {
			continue
		}
		switch callee(call) {
		case "For":
			found.object, _ = pointee(call.Args[0])
		case "WatchesRawSource":
			if object, ok := watched(call); ok && found.object == (ref{}) {
				found.object = object
			}
		case "Named":
			if lit, ok := call.Args[0].(*ast.BasicLit); ok {
				found.name, _ = strconv.Unquote(lit.Value)
			}
		case "WithDefaulter", "WithCustomDefaulter":
			found.defaulter = true
		case "WithValidator", "WithCustomValidator":
			found.validator = true
		}
	}
	b.builders = append(b.builders, found)
}

// pointee returns T for &T{} and new(T).
func pointee(v ast.Expr) (ref, bool) {
	if u, ok := v.(*ast.UnaryExpr); ok {
		return literal(u.X)
	}
	return literal(v)
}

// watched returns the kind of a call of Watch whose events trigger the reconciliation of the object itself.
func watched(n *ast.CallExpr) (object ref, ok bool) {
	itself := false
	ast.Inspect(n, func(n ast.Node) bool {
		r, isLiteral := literal(n)
		switch {
		case !isLiteral:
		case strings.HasSuffix(r.name, "EnqueueRequestForObject"):
			itself = true
		case object == ref{} && r.name != "Kind":
			object = r
		}
		return true
	})
	return object, itself && object != ref{}
}
