// Package load finds the packages that the paths of a job name, and their dependencies,
// as controller-tools' loader returns them. A [Query] gets them from the loader itself,
// or with one fast listing, from which package golist parses only the necessary packages.
package load

import (
	"cmp"
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/environ"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gen/depcache"
	"github.com/operon-dev/operon/internal/gen/load/golist"
	"github.com/operon-dev/operon/internal/gen/overlay"
	"golang.org/x/tools/go/packages"
	"sigs.k8s.io/controller-tools/pkg/loader"
)

// Set has the packages over which generators run: the roots. Their syntax and types, and
// the types of their dependencies, are read on demand.
type Set struct {
	Fset  *token.FileSet
	Roots []*loader.Package
	Deps  *depcache.World // cached dependencies; may be nil
}

// Query asks which packages the paths name, and what they import, after the plan is
// applied.
type Query struct {
	Project *overlay.Project
	selection
	golist.Command
	goFlags  string // the value of GOFLAGS
	Settings Settings
	System   System
}

// NewQuery prepares a query. It asks the go command for its settings in an environment.
func NewQuery(ctx context.Context, src *overlay.Project, paths, env []string) (*Query, error) {
	if _, err := environ.LookPath(env, "go"); err != nil {
		return nil, fault.Failed("install Go (https://go.dev/dl/) and add its bin folder to PATH; operon reads Go sources with it",
			"the go command is not in PATH")
	}
	q := &Query{Project: src, Command: golist.Command{Dir: moduleOf(src.Dir, paths), Env: goEnv(env)}}
	if err := q.ask(ctx); err != nil {
		return nil, err
	}
	var err error
	if q.selection, err = selectPaths(src, paths, q.Settings.ModCache); err != nil {
		return nil, err
	}
	if q.several != "" {
		q.Dir = src.Dir
	}
	return q, nil
}

// setFlags sets the flags of the go command. It writes planned files to a temporary folder for them.
func (q *Query) setFlags() (err error) {
	if q.Flags, err = q.Project.BuildFlags(); err != nil {
		return err
	}
	if rewritesGoMod(q.goFlags) {
		q.Flags = append(q.Flags, "-mod=readonly")
	}
	return nil
}

// ask gets the settings of the go command, which are in the environment or in a file, and
// reports those with which it cannot list packages. If they are unknown, the go command fails
// again in Load, which reports the error.
func (q *Query) ask(ctx context.Context) error {
	is, known := goSettings(ctx, q.Dir, q.Env)
	switch {
	case !known:
		return nil
	case is["GO111MODULE"] == "off":
		return fault.Failed("unset GO111MODULE; if go env -w set it, run go env -u GO111MODULE", "GO111MODULE=off disables Go modules")
	case is["GOMODCACHE"] == "":
		return fault.Failed("set HOME, or GOPATH and GOCACHE", "the go command has no folder for modules, because HOME is not set")
	}
	q.goFlags, q.Arch, q.External = is["GOFLAGS"], is["GOARCH"], []string{is["GOROOT"], is["GOMODCACHE"]}
	q.Settings = Settings{
		Root: is["GOROOT"], ModCache: is["GOMODCACHE"],
		env: is["GOENV"], work: is["GOWORK"], compiler: is["CC"], cache: is["GOCACHE"], temp: is["GOTMPDIR"],
	}
	q.System = systemOf(is)
	q.Project.Workspace = is["GOWORK"]
	return nil
}

// Load loads the packages with the loader, which reads their sources on demand. It
// stores errors in the packages, and generators report them.
func (q *Query) Load(ctx context.Context) (*Set, error) {
	if err := q.setFlags(); err != nil {
		return nil, err
	}
	set := &Set{Fset: token.NewFileSet()}
	load := func(dir string, patterns ...string) error {
		cfg := &packages.Config{Context: ctx, Dir: dir, Env: q.Env, BuildFlags: q.Flags, Fset: set.Fset}
		roots, err := loader.LoadRootsWithConfig(cfg, patterns...)
		set.Roots = append(set.Roots, roots...)
		return err
	}
	err := load(q.Dir, q.patterns...)
	for _, dir := range q.apart {
		err = cmp.Or(err, load(dir, patternQuery+"./..."))
	}
	if err != nil {
		return nil, loadError(ctx, q.Project, err)
	}
	imports := func(p *loader.Package) map[string]*loader.Package { return p.Imports() }
	dir := func(p *loader.Package) string { return p.Dir }
	set.Roots = sortRoots(set.Roots, q.Folders, dir, imports)
	set.presetSyntax(q.Project)
	return set, nil
}

// goEnv returns the environment of the go command: without network access, and with the
// local toolchain.
func goEnv(env []string) []string {
	return environ.With(env, "GOPROXY=off", "GOTOOLCHAIN=local")
}

// rewritesGoMod reports whether the value of GOFLAGS contains -mod=mod, with which even
// listing packages writes go.mod. The caller then overrides it with -mod=readonly. Like
// -mod=mod, that flag ignores vendor folders and is allowed in workspaces. Otherwise, the
// default of the go command is right for each module: readonly or vendor.
func rewritesGoMod(goFlags string) bool {
	return slices.ContainsFunc(strings.Fields(goFlags), func(flag string) bool {
		return strings.TrimLeft(strings.Trim(flag, `'"`), "-") == "mod=mod"
	})
}

// presetSyntax parses the packages with planned files, because the loader reads only
// files on the disk. Any package may have planned files. For example, the package of a
// controller may import a planned API package, and is checked against it.
func (s *Set) presetSyntax(src *overlay.Project) {
	if len(src.Changed) == 0 {
		return
	}
	seen := map[*loader.Package]bool{}
	var visit func(p *loader.Package)
	visit = func(p *loader.Package) {
		if seen[p] {
			return
		}
		seen[p] = true
		for _, name := range p.CompiledGoFiles {
			if _, ok := src.Changed[name]; ok {
				s.parse(p, src)
				break
			}
		}
		for _, imported := range p.Imports() {
			visit(imported)
		}
	}
	for _, p := range s.Roots {
		visit(p)
	}
}

// parse sets the syntax of p as the loader's NeedSyntax does. If a file does not parse,
// the syntax is empty. It is never nil, because the loader would then read the disk.
func (s *Set) parse(p *loader.Package, src *overlay.Project) {
	files := make([]*ast.File, 0, len(p.CompiledGoFiles))
	failed := false
	for _, name := range p.CompiledGoFiles {
		content, err := src.Read(name)
		if err == nil {
			var f *ast.File
			if f, err = parser.ParseFile(s.Fset, name, content, parser.AllErrors|parser.ParseComments); err == nil {
				files = append(files, f)
				continue
			}
		}
		p.AddError(err)
		failed = true
	}
	if failed {
		files = []*ast.File{}
	}
	p.Syntax = files
}

// Nested returns the folders, relative to the project, of the modules that a recursive path reaches and no path names.
func (q *Query) Nested() []string {
	var folders []string
	for _, dir := range q.unnamed {
		folders = append(folders, q.Project.Rel(dir))
	}
	return folders
}
