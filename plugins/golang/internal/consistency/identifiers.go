package consistency

import (
	"bytes"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
)

// Identifiers returns an error if code that the plan adds uses a name of a package of the project that the package does
// not declare. Such code would not compile, for example because the user renamed what kubebuilder wrote.
func Identifiers(c *project.Config, p *scaffold.Plan) error {
	if len(p.Conflicts()) > 0 {
		return nil // they are reported instead
	}
	files := source.NewReader(p)
	for _, change := range p.Changes() {
		if path.Ext(change.Path) != ".go" || change.After == nil {
			continue
		}
		after, err := goedit.Parse(change.Path, change.After)
		if err != nil {
			continue // the generators report it
		}
		before, err := goedit.Parse(change.Path, change.Before)
		if err != nil {
			before = nil // the file is new
		}
		for _, imported := range after.Imports() {
			dir, ok := strings.CutPrefix(imported, c.Repo+"/")
			if !ok || imported == c.Repo {
				continue
			}
			names := after.Selected(imported)
			for _, name := range slices.Sorted(maps.Keys(names)) {
				if before != nil && before.Selected(imported)[name] > 0 {
					continue
				}
				known, err := canDeclare(files, dir, name)
				if err != nil {
					return err
				}
				if !known {
					return fault.Failed("declare it there, then repeat the command; or repeat the command with --wire=false, if the file exists",
						"%s:%d would use %s of the package in %s, which does not declare it", change.Path, names[name], name, dir)
				}
			}
		}
	}
	return nil
}

// canDeclare reports whether a package of the project can have a name. Generators may add it to a package that they
// write, or did not write yet.
func canDeclare(files *source.Reader, dir, name string) (bool, error) {
	all, err := files.Files(dir)
	generated := func(s source.File) bool {
		return bytes.Contains(s.Src, []byte("\n// Code generated")) || bytes.HasPrefix(s.Src, []byte("// Code generated"))
	}
	if err != nil || !slices.ContainsFunc(all, func(s source.File) bool { return !generated(s) }) {
		return true, err
	}
	return files.Declares(dir, name)
}
