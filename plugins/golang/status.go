package golang

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
)

// statusFile returns the name, without .go, of the file in which a controller reports its
// result. Each controller of the project's own kinds has one, so that the user can delete it.
func statusFile(controller string) string {
	name := project.ControllerFile(controller)
	if name == "patch" { // patch_status.go is the file of patchStatus
		return "patch_controller_status"
	}
	return name + "_status"
}

// planOwnController plans a controller of one of the project's own kinds, with its status
// reporting, the tests of both, and the helpers that they share with others in dir.
func planOwnController(dir string, controller part, p *scaffold.Plan, data apiValues) error {
	vars := map[string]string{"controllerdir": dir, "controller": data.ControllerFile, "status": data.StatusFile}
	if err := tree(p, "controller", vars, data, controller.seed(p)); err != nil {
		return err
	}
	if controller.suite.Why == "" && p.Seeded(dir+"/"+data.ControllerFile+"_controller_test.go") {
		if err := tree(p, "specs", vars, data, part{name: "runController", recorded: true}.seed(p)); err != nil {
			return err
		}
	}
	if ok, err := reportsInStatusFile(dir, p, data); !ok || err != nil {
		return err
	}
	if err := tree(p, "status", vars, data, controller.seed(p)); err != nil {
		return err
	}
	if data.Apply != nil {
		return tree(p, "applystatus", vars, data, controller.seed(p))
	}
	return tree(p, "patchstatus", vars, data, part{name: "patchStatus", recorded: true, hint: renameHint, suite: controller.suite}.seed(p))
}

// reports reports whether a controller of r reports its result in the status. What operon wrote
// decides, or for a new controller, the type.
func reports(c *project.Config, r project.Resource, controller string, p *scaffold.Plan) (bool, error) {
	_, base, err := p.Before(c.ReconcilerFile(r, controller))
	if base != nil || err != nil {
		return bytes.Contains(base, []byte(reportMethod+"(")), err
	}
	return hasConditions(c.APIDir(r), r.Kind, p)
}

// hasConditions reports whether the status of a kind in a folder has conditions. A kind of another tool
// may have none. Types of other packages count as if they had them.
func hasConditions(dir, kind string, p *scaffold.Plan) (bool, error) {
	files, err := source.Files(dir, p)
	if err != nil {
		return false, err
	}
	structs := map[string]*ast.StructType{}
	for _, s := range files {
		f, err := parser.ParseFile(token.NewFileSet(), s.Name, s.Src, parser.SkipObjectResolution)
		if err != nil {
			return false, err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				structs[spec.Name.Name], _ = spec.Type.(*ast.StructType)
			}
			return true
		})
	}
	if structs[kind] == nil {
		return true, nil
	}
	status := structs[fieldType(structs[kind], "Status")]
	if status == nil {
		return fieldType(structs[kind], "Status") != "", nil
	}
	return strings.HasSuffix(fieldType(status, "Conditions"), ".Condition"), nil
}

// fieldType returns the type of a field as written, or "" if there is no such field.
func fieldType(s *ast.StructType, name string) string {
	for _, field := range s.Fields.List {
		if slices.ContainsFunc(field.Names, func(id *ast.Ident) bool { return id.Name == name }) {
			return types.ExprString(field.Type)
		}
	}
	return ""
}

// reportsInStatusFile reports whether the controller calls reportMethod of its status file.
// Controllers of other tools do not, nor do those whose user reports the result in another way.
func reportsInStatusFile(dir string, p *scaffold.Plan, data apiValues) (bool, error) {
	name := dir + "/" + data.ControllerFile + "_controller.go"
	if !p.Seeded(name) {
		return false, nil
	}
	src, err := p.Read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil || !strings.Contains(string(src), reportMethod+"(") {
		return false, err
	}
	moved, err := source.Declaring(dir, data.Reconciler+"."+reportMethod, p)
	return moved == "" || moved == dir+"/"+data.StatusFile+".go", err
}
