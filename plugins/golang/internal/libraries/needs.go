package libraries

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"

	"golang.org/x/mod/semver"

	"github.com/operon-dev/operon/internal/edit/goedit"
)

// need is what the code in templates/golang uses and older versions of a module lack.
type need struct {
	module, version string // the first version that has it

	// What shows it in Go code: a package, a name in it, a field of a literal of that type, or a method
	// of any type. For the language, Check does not look for it.
	pkg, name, field, method string

	compiles bool // code may compile with older versions, but does not work

	args    int  // the arguments of a call that has fewer in older versions; 0: any use counts
	generic bool // only a use with type arguments counts

	fact string // the name in templates, which have other code for older versions; "" if there is none
}

// Facts that Go code uses, too.
const (
	GenericWebhooks = "GenericWebhooks"
	Go124           = "Go124"
	Go126           = "Go126"
)

// needs are all names in templates/golang that are newer than controller-runtime v0.17 and
// Kubernetes v0.29, and what is newer than Go 1.21. TestNeeds finds those that are missing here.
var needs = []need{
	{module: controllerRuntime, version: "v0.16.0", pkg: controllerRuntime + "/pkg/cache", name: "Config"},
	{module: controllerRuntime, version: "v0.19.0", pkg: controllerRuntime + "/pkg/config", name: "Controller",
		field: "SkipNameValidation", fact: "NameValidation"},
	{module: controllerRuntime, version: "v0.19.0", pkg: controllerRuntime + "/pkg/client", name: "FieldValidation", fact: "FieldValidation"},
	{module: controllerRuntime, version: "v0.21.0", method: "WithDefaulterCustomPath"},
	{module: controllerRuntime, version: "v0.21.0", method: "WithValidatorCustomPath"},
	{module: controllerRuntime, version: "v0.22.0", pkg: controllerRuntime + "/pkg/config", name: "Controller", field: "EnableWarmup"},
	{module: controllerRuntime, version: "v0.22.0", method: "WithTypeConverters"},
	{module: controllerRuntime, version: "v0.23.0", pkg: controllerRuntime + "/pkg/client", name: "SubResourceApplyOption"},
	{module: controllerRuntime, version: "v0.24.0", method: "Apply", compiles: true, fact: "Apply"}, // older ones do not read the answer
	{module: controllerRuntime, version: "v0.23.0", method: "GetEventRecorder", fact: "EventRecorder"},
	{module: controllerRuntime, version: "v0.23.0", pkg: controllerRuntime, name: "NewWebhookManagedBy", args: 2, fact: GenericWebhooks},
	{module: controllerRuntime, version: "v0.23.0", pkg: admission, name: "Defaulter", generic: true, fact: GenericWebhooks},
	{module: controllerRuntime, version: "v0.23.0", pkg: admission, name: "Validator", generic: true, fact: GenericWebhooks},
	{module: apimachinery, version: "v0.33.0", pkg: "sigs.k8s.io/randfill", fact: "Randfill"},
	{module: apimachinery, version: "v0.34.0", pkg: apimachinery + "/pkg/util/diff", name: "Diff", fact: "Diff"},
	{module: apimachinery, version: "v0.34.0", pkg: apimachinery + "/pkg/runtime", name: "ApplyConfiguration"},
	{module: apimachinery, version: "v0.35.0", pkg: apimachinery + "/pkg/util/resourceversion", fact: "ResourceVersionCompare"},
	{module: goLanguage, version: "v1.22", name: "a loop variable for each iteration, range over integers, slices.Concat", fact: "Go122"},
	{module: goLanguage, version: "v1.24", name: "T.Context, strings.SplitSeq", fact: Go124},
	{module: goLanguage, version: "v1.26", name: "new with a value", fact: Go126},
}

// isMissingIn reports whether the project has an older version of the module.
func (n need) isMissingIn(have versions) bool {
	version := have[n.module]
	return version != "" && semver.Compare(version, n.version) < 0
}

// String returns the name that shows the need, as in Go code.
func (n need) String() string {
	if n.module == goLanguage {
		return n.name
	}
	text := n.method
	if n.pkg != "" {
		text = path.Base(n.pkg)
	}
	for _, part := range []string{n.name, n.field} {
		if part != "" {
			text += "." + part
		}
	}
	return text
}

// usedNeeds returns the needs among all that a Go file uses.
func usedNeeds(src []byte, all []need) []need {
	f, err := parser.ParseFile(token.NewFileSet(), "", src, parser.SkipObjectResolution)
	if src == nil || err != nil {
		return nil
	}
	packages := goedit.ImportPaths(f)
	var used []need
	use := func(match func(need) bool) {
		for _, n := range all {
			if n.module != goLanguage && match(n) && !slices.Contains(used, n) {
				used = append(used, n)
			}
		}
	}
	for _, spec := range f.Imports {
		importPath, _ := strconv.Unquote(spec.Path.Value) // the parser checked it
		use(func(n need) bool { return n.pkg == importPath && n.name == "" })
	}
	find := func(e ast.Expr, args int, generic bool, field string) {
		s, ok := e.(*ast.SelectorExpr)
		if !ok {
			return
		}
		if x, ok := s.X.(*ast.Ident); ok {
			use(func(n need) bool {
				return n.pkg == packages[x.Name] && n.name == s.Sel.Name && n.method == "" && n.field == field &&
					n.args <= args && (generic || !n.generic)
			})
		}
		if x, ok := s.X.(*ast.Ident); ok && packages[x.Name] != "" {
			return // a name of a package
		}
		use(func(n need) bool { return n.method == s.Sel.Name })
	}
	ast.Inspect(f, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.CallExpr:
			find(node.Fun, len(node.Args), false, "")
		case *ast.IndexExpr:
			find(node.X, 0, true, "")
		case *ast.SelectorExpr:
			find(node, 0, false, "")
		case *ast.CompositeLit:
			for _, element := range node.Elts {
				if pair, ok := element.(*ast.KeyValueExpr); ok {
					if key, ok := pair.Key.(*ast.Ident); ok {
						find(node.Type, 0, false, key.Name)
					}
				}
			}
		}
		return true
	})
	return used
}
