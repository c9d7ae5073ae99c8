package modules

import (
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"golang.org/x/mod/modfile"
)

// OfFolder returns the folder and the path of the module that has the package in dir, if it is
// another one than the project's: API types can have a module of their own.
func OfFolder(dir string, p *scaffold.Plan) (at, module string, ok bool) {
	for ; dir != "." && dir != "/"; dir = path.Dir(dir) {
		if src, err := p.Read(dir + "/" + GoMod); err == nil {
			module := modfile.ModulePath(src)
			return dir, module, module != ""
		}
	}
	return "", "", false
}

// CheckAPI checks types in a module of their own. PROJECT must record their import path, and the
// project must use the module from its folder: a released version lacks the new types.
func CheckAPI(c *project.Config, r project.Resource, p *scaffold.Plan) error {
	if r.API == nil || r.HasExternalTypes() {
		return nil
	}
	dir := c.APIDir(r)
	at, module, ok := OfFolder(dir, p)
	if !ok {
		return nil
	}
	if want := path.Join(module, strings.TrimPrefix(dir, at)); c.APIPath(r) != want {
		return fault.Usage("write path: "+want+" for the resource in "+project.File,
			"%s records kind %s with the path %s, but %s/%s is the module %s", project.File, r.Kind, c.APIPath(r), at, GoMod, module)
	}
	used, required := usesModule(at, module, p)
	switch {
	case used:
		return nil
	case !required:
		return fault.Failed("delete it; or run `go mod edit -require "+module+"@v0.0.0 -replace "+module+"=./"+at+"`, and repeat the command",
			"%s/%s: it makes %s another module, which %s does not require", at, GoMod, at, GoMod)
	}
	return fault.Failed("run `go mod edit -replace "+module+"=./"+at+"`, or `go work init . ./"+at+"`, and repeat the command",
		"the manager would not see new types in %s: it is the module %s, and %s requires a released version of that", at, module, GoMod)
}

// usesModule reports whether the project uses the module from its folder: by go.work, or because go.mod
// replaces it; and otherwise, whether go.mod requires it. The go command and other code report files that
// cannot be read.
func usesModule(at, module string, p *scaffold.Plan) (used, required bool) {
	if src, err := p.Read("go.work"); err == nil {
		work, err := modfile.ParseWork("go.work", src, nil)
		if err != nil {
			return true, true
		}
		for _, use := range work.Use {
			if path.Clean(use.Path) == at {
				return true, true
			}
		}
	}
	src, err := p.Read(GoMod)
	if err != nil {
		return true, true
	}
	f, err := parse(src)
	if err != nil {
		return true, true
	}
	for _, replace := range f.Replace {
		if replace.Old.Path == module && path.Clean(replace.New.Path) == at {
			return true, true
		}
	}
	return false, slices.ContainsFunc(f.Require, func(r *modfile.Require) bool { return r.Mod.Path == module })
}
