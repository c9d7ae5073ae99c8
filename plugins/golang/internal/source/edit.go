package source

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/scaffold"
)

// change edits a Go file of the user.
func Edit(p *scaffold.Plan, name string, f func(*goedit.File) error) error {
	err := p.Edit(name, EditFunc(name, f))
	if errors.Is(err, fs.ErrNotExist) {
		return fault.Failed("restore it from version control, then repeat the command", "%s is missing", name)
	}
	return err
}

// edited is f as an edit of the bytes of the Go file at name.
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

// changeMoved edits a file that has what operon wrote to the file own. Where the
// user moved it from there, the pristine content of own is edited too, or the next
// command would take the edit for one that is missing.
func EditMoved(p *scaffold.Plan, file, own string, f func(*goedit.File) error) error {
	if err := Edit(p, file, f); err != nil || file == own {
		return err
	}
	return p.EditBase(own, EditFunc(own, f))
}

// goFiles lists the Go files of the module: not those of modules inside it, and
// none that the go command leaves out.
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
		left := slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(dir string) bool {
			return dir == "vendor" || dir == "testdata" || dir != "." && strings.HasPrefix(dir, ".") || strings.HasPrefix(dir, "_")
		})
		return left || !strings.HasSuffix(name, ".go") || !p.Exists(name) ||
			slices.ContainsFunc(inner, func(dir string) bool { return strings.HasPrefix(name, dir) })
	}), nil
}
