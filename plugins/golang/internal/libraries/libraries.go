// Package libraries knows which generated code needs newer libraries than a project may have.
package libraries

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/modules"
	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// need is what the code in templates/golang uses and older versions of a module lack.
type need struct {
	module, version string // the first version that has it
	pkg             string // the import path of its package
	name            string // in the package; "" for the package itself
	field           string // of a struct literal of the type; "": any use counts
	args            int    // the arguments of a call that has fewer in older versions; 0: any use counts
	generic         bool   // only a use with type arguments counts
}

const (
	apimachinery      = "k8s.io/apimachinery"
	controllerRuntime = "sigs.k8s.io/controller-runtime"
)

// needs are all names in templates/golang that are newer than controller-runtime v0.20 and
// apimachinery v0.32. TestNeeds finds those that are missing here.
var needs = []need{
	{module: apimachinery, version: "v0.33.0", pkg: apimachinery + "/pkg/api/apitesting/fuzzer", name: "FuzzerFor"},
	{module: apimachinery, version: "v0.35.0", pkg: apimachinery + "/pkg/util/resourceversion"},
	{module: controllerRuntime, version: "v0.21.0", pkg: controllerRuntime + "/pkg/config", name: "Controller", field: "EnableWarmup"},
	{module: controllerRuntime, version: "v0.23.0", pkg: controllerRuntime, name: "NewWebhookManagedBy", args: 2},
	{module: controllerRuntime, version: "v0.23.0", pkg: controllerRuntime + "/pkg/webhook/admission", name: "Defaulter", generic: true},
	{module: controllerRuntime, version: "v0.23.0", pkg: controllerRuntime + "/pkg/webhook/admission", name: "Validator", generic: true},
}

// Check returns an error if the plan adds code that does not compile with the
// versions of the libraries in the project's go.mod.
func Check(p *scaffold.Plan) error {
	src, err := p.Read(modules.GoMod)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	f, err := modfile.Parse(modules.GoMod, src, nil)
	if err != nil {
		return nil //nolint:nilerr // the go command reports it better
	}
	missing := slices.DeleteFunc(slices.Clone(needs), func(n need) bool { return !n.isMissingIn(f) })
	if len(missing) == 0 {
		return nil
	}
	for _, c := range p.Changes() {
		if path.Ext(c.Path) != ".go" || c.After == nil || c.Op == scaffold.Keep {
			continue
		}
		before := usedNeeds(c.Before, missing)
		added := slices.DeleteFunc(usedNeeds(c.After, missing), func(n need) bool { return slices.Contains(before, n) })
		if len(added) > 0 {
			return errTooOld(c.Path, added, f)
		}
	}
	return nil
}

// isMissingIn reports whether go.mod requires an older version of the module. A folder that
// replaces a module has no version, so it counts as new enough.
func (n need) isMissingIn(f *modfile.File) bool {
	have := requiredVersion(f, n.module)
	return have != "" && semver.Compare(have, n.version) < 0
}

// requiredVersion returns the version of a module in go.mod, or "" if it is unknown.
func requiredVersion(f *modfile.File, module string) string {
	for _, r := range f.Replace {
		if r.Old.Path == module {
			return r.New.Version
		}
	}
	for _, r := range f.Require {
		if r.Mod.Path == module {
			return r.Mod.Version
		}
	}
	return ""
}

// errTooOld returns the error for a file that needs newer libraries.
func errTooOld(name string, added []need, f *modfile.File) error {
	var texts, commands []string
	for _, n := range added {
		what := path.Base(n.pkg)
		if n.name != "" {
			what += "." + n.name
		}
		if n.field != "" {
			what += "." + n.field
		}
		texts = append(texts, fmt.Sprintf("%s needs %s %s (go.mod has %s)", what, n.module, n.version, requiredVersion(f, n.module)))
		if get := n.module + "@" + n.version; !slices.Contains(commands, get) {
			commands = append(commands, get)
		}
	}
	return fault.Usage("run `go get "+strings.Join(commands, " ")+" && go mod tidy`, or later versions, and repeat the command",
		"%s would not compile: %s", name, strings.Join(texts, ", "))
}

// usedNeeds returns those of all that a Go file uses.
func usedNeeds(src []byte, all []need) []need {
	f, err := parser.ParseFile(token.NewFileSet(), "", src, parser.SkipObjectResolution)
	if src == nil || err != nil {
		return nil
	}
	packages := map[string]string{} // import paths by local name
	var used []need
	for _, spec := range f.Imports {
		importPath, _ := strconv.Unquote(spec.Path.Value) // the parser checked it
		local := path.Base(importPath)
		if spec.Name != nil {
			local = spec.Name.Name
		}
		packages[local] = importPath
		if i := slices.IndexFunc(all, func(n need) bool { return n.pkg == importPath && n.name == "" }); i >= 0 {
			used = append(used, all[i])
		}
	}
	find := func(e ast.Expr, args int, generic bool, field string) {
		s, ok := e.(*ast.SelectorExpr)
		if !ok {
			return
		}
		x, ok := s.X.(*ast.Ident)
		if !ok {
			return
		}
		for _, n := range all {
			if n.name == s.Sel.Name && n.pkg == packages[x.Name] && n.args <= args && (generic || !n.generic) && n.field == field && !slices.Contains(used, n) {
				used = append(used, n)
			}
		}
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
