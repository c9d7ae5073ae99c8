package golang

import (
	"path"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/modules"
	"golang.org/x/mod/modfile"
)

// apiModule returns the folder and the path of the module that has the package in dir, if it is
// another one than that of the project: API types can have a module of their own.
func apiModule(dir string, p *scaffold.Plan) (at, module string, ok bool) {
	for ; dir != "." && dir != "/"; dir = path.Dir(dir) {
		if src, err := p.Read(dir + "/" + modules.GoMod); err == nil {
			module := modfile.ModulePath(src)
			return dir, module, module != ""
		}
	}
	return "", "", false
}

// checkAPIModule checks that types in a module of their own have the import path that PROJECT
// records, and that the project uses the module from its folder, and not a released version without
// the new types.
func checkAPIModule(c *project.Config, r project.Resource, p *scaffold.Plan) error {
	if r.API == nil || r.HasExternalTypes() {
		return nil
	}
	dir := c.APIDir(r)
	at, module, ok := apiModule(dir, p)
	if !ok {
		return nil
	}
	if want := path.Join(module, strings.TrimPrefix(dir, at)); c.APIPath(r) != want {
		return fault.Usage("write path: "+want+" for the resource in "+project.File,
			"%s records kind %s with the path %s, but %s/%s is the module %s", project.File, r.Kind, c.APIPath(r), at, modules.GoMod, module)
	}
	if usesModule(at, module, p) {
		return nil
	}
	return fault.Failed("run `go mod edit -replace "+module+"=./"+at+"`, or `go work init . ./"+at+"`, and repeat the command",
		"the manager would not see new types in %s: it is the module %s, of which %s requires a released version", at, module, modules.GoMod)
}

// usesModule reports whether the project uses the module from its folder: by go.work, or because go.mod
// replaces it. The go command and other code report files that cannot be read.
func usesModule(at, module string, p *scaffold.Plan) bool {
	if src, err := p.Read("go.work"); err == nil {
		work, err := modfile.ParseWork("go.work", src, nil)
		if err != nil {
			return true
		}
		for _, use := range work.Use {
			if path.Clean(use.Path) == at {
				return true
			}
		}
	}
	src, err := p.Read(modules.GoMod)
	if err != nil {
		return true
	}
	f, err := modfile.Parse(modules.GoMod, src, nil)
	if err != nil {
		return true
	}
	for _, replace := range f.Replace {
		if replace.Old.Path == module && path.Clean(replace.New.Path) == at {
			return true
		}
	}
	return false
}
