package folders

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/gen/load/golist"
)

// resolve returns the imported package. own is false if it is one of another module.
func (l *Lister) resolve(p *found, written string) (imported *found, own bool, err error) {
	no := func(why string) (*found, bool, error) {
		return nil, false, golist.Inexact(p.path + " imports " + written + ", " + why)
	}
	if elements := strings.Split(written, "/"); slices.Contains(elements, "vendor") {
		return no("which has the element vendor")
	}
	rel, within := below(l.Module, written)
	i, known := l.others[written]
	parent, internal := internalTo(written)
	switch {
	case written == "C":
		return no("for cgo")
	case known && within:
		return no("which is also in another module")
	case known && l.Others[i].Name == "main":
		return no("which is a program")
	case known && internal:
		return no("which is internal")
	case known:
		return nil, false, nil
	case !within:
		return no("which the last listing does not have")
	}
	if _, may := below(parent, p.path); internal && !may {
		return no("which is internal")
	}
	q := l.found[written]
	if q == nil {
		dir := filepath.Join(l.Dir, filepath.FromSlash(rel))
		if err := l.sameModule(dir); err != nil {
			return nil, false, err
		}
		pkgs, errs := l.importAll([]string{dir})
		if q, err = l.add(dir, pkgs[0], errs[0]); err != nil {
			return nil, false, err
		}
		if q.path != written {
			return no("which is not a usual path")
		}
	}
	if q.Name == "main" {
		return no("which is a program")
	}
	return q, true, nil
}

// below returns the path of a package relative to a module. within is false if it is not in
// the module.
func below(mod, pkg string) (rel string, within bool) {
	if pkg == mod {
		return ".", true
	}
	return strings.CutPrefix(pkg, mod+"/")
}

// internalTo returns the path of the packages that may import an internal package: this one and
// those below. ok is false if all packages may import it.
func internalTo(pkg string) (parent string, ok bool) {
	i := strings.LastIndex("/"+pkg+"/", "/internal/")
	return pkg[:max(i-1, 0)], i >= 0
}

// sameModule returns a [golist.Inexact] if a folder is in another module below this one.
func (l *Lister) sameModule(dir string) error {
	for d := dir; d != l.Dir && len(d) > len(l.Dir); d = filepath.Dir(d) {
		if _, err := l.Files.Read(filepath.Join(d, "go.mod")); err == nil {
			return golist.Inexact("another module is in " + d)
		}
	}
	return nil
}
