// Package adopt infers the PROJECT file of an operator that operon did not start. It reads sources and other
// files of the repository: the syntax of Go, without types. It runs nothing and writes nothing.
//
// What it does not read: tests, examples and tools, dependencies, the output of generators of client-go, and
// hidden folders (files.go). What follows from a declaration is certain, what follows from a convention is
// likely. What nothing says stays open: then the user decides.
package adopt

import (
	"cmp"
	"io/fs"
	"path"
	"slices"

	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gen/calls"
	"github.com/operon-dev/operon/internal/project"
	"golang.org/x/mod/modfile"
)

// Options are what the user knows better than the repository says. Empty values are inferred.
type Options struct {
	Folder string // name of the folder of the repository
	Main   string // Go file that creates the manager, or "none"
	Domain string
	Name   string
	Calls  []calls.Call // the controller-gen calls that make prints; nil: those in the files of the repository
}

// Report is what adopt found.
type Report struct {
	Config   *project.Config // of the existing PROJECT file, completed and corrected; or a new one
	Findings []Finding
}

// repository is a repository while it is read.
type repository struct {
	fsys     fs.FS
	options  Options
	listing  listing
	src      *sources
	module   module   // in the root
	requires []string // paths of the modules that it requires
	kinds    []*kind
	broken   []error // of files that do not parse
	report   *Report
}

// Find reads the repository in fsys, whose root has a go.mod. existing is its PROJECT file, or nil, and migrated
// is the same in the schema version 3.
func Find(fsys fs.FS, existing, migrated []byte, o Options) (*Report, error) {
	r := &repository{fsys: fsys, options: o, report: &Report{Config: &project.Config{Version: project.SchemaVersion}}}
	if existing != nil {
		cfg, err := project.Parse(migrated)
		if err != nil {
			return nil, err
		}
		r.report.Config = cfg
	}
	if err := r.read(); err != nil {
		return nil, err
	}
	m, confidence, hasManager, err := r.chooseManager(cmp.Or(o.Main, r.report.Config.Places().Main))
	if err != nil {
		return nil, err
	}
	rec := recorder{repository: r, cfg: r.report.Config}
	if existing != nil {
		if rec.doc, err = yamledit.Decode(existing); err != nil {
			return nil, err
		}
	}
	return r.report, rec.record(m, confidence, hasManager)
}

// HasManager reports whether the Go module in fsys has a program that creates a manager, and where. ok is false
// for a folder without a module.
func HasManager(fsys fs.FS) (where string, ok bool) {
	r := &repository{fsys: fsys, report: &Report{Config: &project.Config{}}}
	if _, err := fs.Stat(fsys, "go.mod"); err != nil || r.read() != nil {
		return "", false
	}
	all := r.managersIn(r.module)
	if len(all) == 0 {
		return "", false
	}
	return all[0].at.String(), true
}

// KindFolders returns the folders with kinds that have a CRD, in the Go module in fsys and in modules below it. Code
// that cannot be read has none, and other projects below do not count.
func KindFolders(fsys fs.FS) []string {
	r := &repository{fsys: fsys, report: &Report{Config: &project.Config{}}}
	if r.read() != nil {
		return nil
	}
	var folders []string
	for _, k := range r.kinds {
		if k.served && !slices.Contains(folders, k.dir) && !inOtherProject(fsys, k.dir) {
			folders = append(folders, k.dir)
		}
	}
	slices.Sort(folders)
	return folders
}

// inOtherProject reports whether a folder between the root and dir has a PROJECT file.
func inOtherProject(fsys fs.FS, dir string) bool {
	for ; dir != "."; dir = path.Dir(dir) {
		if _, err := fs.Stat(fsys, path.Join(dir, project.File)); err == nil {
			return true
		}
	}
	return false
}

// read reads the sources.
func (r *repository) read() error {
	var err error
	if r.listing, err = list(r.fsys); err != nil {
		return err
	}
	modules := readModules(r.fsys, r.listing.modules)
	i := slices.IndexFunc(modules, func(m module) bool { return m.dir == "." })
	if i < 0 {
		return r.noModule(modules)
	}
	r.module = modules[i]
	if src, err := fs.ReadFile(r.fsys, "go.mod"); err == nil {
		if f, err := modfile.ParseLax("go.mod", src, nil); err == nil {
			for _, require := range f.Require {
				r.requires = append(r.requires, require.Mod.Path)
			}
		}
	}
	files, broken := readAll(r.fsys, r.listing.sources)
	r.src, r.broken = newSources(modules, files), broken
	r.kinds = r.src.kinds()
	r.listing.readScopes(r.fsys, r.kinds)
	r.listing.withoutCRDs(r.kinds)
	return nil
}

// noModule returns the error of a folder without go.mod.
func (r *repository) noModule(nested []module) error {
	if _, err := fs.Stat(r.fsys, "go.mod"); err == nil {
		return fault.Usage("add the line: module example.com/name", "go.mod has no module line")
	}
	files, _ := readAll(r.fsys, r.listing.sources)
	r.src = newSources(nested, files)
	var operators []string
	for _, m := range nested {
		if len(r.managersIn(m)) > 0 {
			operators = append(operators, m.dir)
		}
	}
	slices.Sort(operators)
	switch {
	case len(operators) == 1:
		return fault.Usage("run operon adopt in "+operators[0], "this folder has no go.mod; the operator is the module in %s", operators[0])
	case len(operators) > 1:
		return fault.Usage("run operon adopt in one of them", "this folder has no go.mod, and several modules below it create a manager: %s", join(operators))
	case len(nested) > 0:
		return fault.Usage("change to the folder of the operator's module", "this folder has no go.mod, and no module below it creates a manager")
	}
	return fault.Usage("change to the folder of an operator in Go, or start one with operon init", "this folder has no Go module")
}
