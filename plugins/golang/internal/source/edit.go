package source

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/goenv"
	"github.com/operon-dev/operon/internal/scaffold"
)

// Edit edits a Go file of the user. A missing file is an error. If the
// user deleted it, the error says how to restore it.
func Edit(p *scaffold.Plan, name string, f func(*goedit.File) error) error {
	err := p.Edit(name, EditFunc(name, f))
	if errors.Is(err, fs.ErrNotExist) && !p.HasBase(name) {
		return fault.Failed("restore it from version control, then repeat the command", "%s is missing", name)
	}
	return err
}

// EditFunc turns f into an edit of the content of the Go file name.
func EditFunc(name string, f func(*goedit.File) error) func([]byte) ([]byte, error) {
	return func(src []byte) ([]byte, error) {
		file, err := goedit.Parse(name, src)
		if err != nil {
			return nil, err
		}
		if err := f(file); err != nil {
			return nil, err
		}
		return file.Bytes()
	}
}

// EditMoved edits file, which contains the code that operon wrote to own. If the user moved
// the code, it also edits the base of own. Otherwise the next command would report the edit as
// missing.
func EditMoved(p *scaffold.Plan, file, own string, f func(*goedit.File) error) error {
	if err := Edit(p, file, f); err != nil || file == own {
		return err
	}
	return p.EditBase(own, EditFunc(own, f))
}

// ModuleFiles lists the Go files of the module. It omits nested modules and the folders that
// the go command ignores.
func ModuleFiles(p *scaffold.Plan) ([]string, error) {
	all, err := p.Below(".")
	if err != nil {
		return nil, err
	}
	var inner []string
	for _, name := range all {
		if path.Base(name) == "go.mod" && name != "go.mod" {
			inner = append(inner, path.Dir(name)+"/")
		}
	}
	return slices.DeleteFunc(all, func(name string) bool {
		dir, _ := path.Split(name)
		return slices.ContainsFunc(strings.Split(dir, "/"), goenv.Ignores) || !strings.HasSuffix(name, ".go") || !p.Exists(name) ||
			slices.ContainsFunc(inner, func(dir string) bool { return strings.HasPrefix(name, dir) })
	}), nil
}
