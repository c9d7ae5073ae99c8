package groupversion

import (
	"go/ast"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
)

// Registrar returns what other packages call to add the types of r to a scheme, such as AddToScheme or
// SchemeBuilder.AddToScheme. It is "" if the package adds them to client-go's scheme itself.
func Registrar(c *project.Config, r project.Resource, p *scaffold.Plan) (string, error) {
	const usual = "AddToScheme"
	if r.HasExternalTypes() {
		return usual, nil
	}
	files := source.NewReader(p)
	if declared, err := files.Declares(c.APIDir(r), usual); err != nil || declared {
		return usual, err
	}
	f, _, err := Read(c, r, p)
	switch {
	case err != nil || f.Func == inInit:
		return "", err
	case ast.IsExported(f.Builder):
		return f.Builder + "." + usual, nil
	case ast.IsExported(f.Func):
		return f.Func, nil
	}
	for _, name := range []string{"Install", "RegisterTypes", "AddKnownTypes"} {
		if declared, err := files.Declares(c.APIDir(r), name); err != nil || declared {
			return name, err
		}
	}
	return usual, nil
}

// inInit is the function with the call of AddKnownTypes in a package that registers its types when it is loaded.
const inInit = "init"

// RegistersItself reports whether the package of the types of r adds them to a scheme when it is loaded: its
// own one, which the manager then uses, or client-go's.
func RegistersItself(c *project.Config, r project.Resource, p *scaffold.Plan) (bool, error) {
	if r.HasExternalTypes() {
		return false, nil
	}
	types, err := source.Files(c.APIDir(r), p)
	if err != nil || source.Program(types).Any(func(f *goedit.File) bool { return f.CallsIn(inInit, "AddToScheme") }) {
		return err == nil, err
	}
	f, _, err := Read(c, r, p)
	return f.Func == inInit, err
}
