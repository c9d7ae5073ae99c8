package manager

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
)

// WatchVariable is the environment variable with the namespaces that a namespaced
// manager watches. All tools of this layout use it.
const WatchVariable = "WATCH_NAMESPACE"

// Code in main.go of a namespaced project, as in the template. The argument is what the code does
// about an error.
const (
	readNamespaces = `namespaces, err := watchedNamespaces()
if err != nil {
%s
}`
	limitCache = "%s.Cache.DefaultNamespaces = namespaces"
)

// LimitNamespaces limits the manager's cache to objects in the watched namespaces, or removes
// this limit. The reader is the function watchedNamespaces, which reads the variable.
func LimitNamespaces(c *project.Config, reader string, p *scaffold.Plan) error {
	limiting, err := ReadsNamespaces(c, p)
	if err != nil || (limiting != "") == c.Namespaced {
		return err
	}
	m, err := readPackage(c, p)
	if err != nil {
		return err
	}
	if len(m.files) == 0 {
		return missing(c, "limit the manager to namespaces", "", p)
	}
	i := slices.IndexFunc(m.files, func(s source.File) bool { fn, _ := s.Parsed.Assigned(source.MakeManager...); return fn != "" })
	if i < 0 {
		return fault.Failed("in the manager's options, set Cache.DefaultNamespaces to the namespaces in "+WatchVariable+
			" by hand, or remove it, then repeat the command", "%s: found no call that creates the manager", m.name)
	}
	name := m.files[i].Name
	if c.Namespaced {
		return source.Edit(p, name, func(f *goedit.File) error { return m.addLimit(f, reader) })
	}
	if err := source.Edit(p, name, func(f *goedit.File) error { return removeLimit(f, reader) }); err != nil {
		return err
	}
	limiting, err = ReadsNamespaces(c, p)
	if err == nil && limiting != "" {
		return fault.Failed("in the manager's options, remove Cache.DefaultNamespaces by hand, then repeat the command",
			"%s reads %s in a way that operon did not write", limiting, WatchVariable)
	}
	return err
}

// ReadsNamespaces returns the file of the manager that reads the watched namespaces, or "".
func ReadsNamespaces(c *project.Config, p *scaffold.Plan) (string, error) {
	manager, err := source.NewReader(p).Program(c.Repo, path.Dir(c.MainFile()))
	for _, s := range manager {
		if strings.Contains(string(s.Src), WatchVariable) {
			return s.Name, err
		}
	}
	return "", err
}

// addLimit adds the code of a namespaced manager to the file that creates the manager.
func (m managerPackage) addLimit(f *goedit.File, reader string) error {
	fn, _ := f.Assigned(source.MakeManager...)
	names, err := m.setupNames(f, builderAnchors(f))
	if err != nil {
		return err
	}
	reader = withImportNames(f, reader)
	read := fmt.Sprintf(readNamespaces, indentLines(names.fails("cannot determine the namespaces to watch")))
	if err := f.ExtractArgument(fn, source.MakeManager, 1, "managerOptions", read, limitCache); err != nil {
		return err
	}
	return f.InsertDecls(reader, "")
}

// removeLimit removes the code that addLimit adds.
func removeLimit(f *goedit.File, reader string) error {
	fn, _ := f.Assigned(source.MakeManager...)
	dropped, err := f.DropFunc("watchedNamespaces", withImportNames(f, reader))
	if err != nil || !dropped {
		return err
	}
	for _, undo := range []func() error{
		func() error { return f.DropCall(fn, "watchedNamespaces") },
		func() error { return f.DropAssign(fn, "Cache.DefaultNamespaces") },
		func() error { return f.InlineArgument(fn, source.MakeManager, 1, "managerOptions") },
	} {
		if err := undo(); err != nil {
			return err
		}
	}
	for _, imported := range readerImports {
		if err := f.DropImport(imported); err != nil {
			return err
		}
	}
	return nil
}

// readerImports are the packages that watchedNamespaces uses.
var readerImports = []string{"fmt", "os", "strings", source.ControllerRuntime + "/pkg/cache"}

// withImportNames returns reader with the names by which f imports the packages. It adds
// missing imports to f.
func withImportNames(f *goedit.File, reader string) string {
	var names []string
	for _, at := range readerImports {
		names = append(names, path.Base(at)+".", f.Import("", at)+".")
	}
	return strings.NewReplacer(names...).Replace(reader)
}
