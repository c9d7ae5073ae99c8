package gen

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"golang.org/x/tools/go/packages"
	"sigs.k8s.io/controller-tools/pkg/loader"
)

// packageSet is what the generators work on: the root packages, whose graph is
// loaded and whose syntax and types are read on demand.
type packageSet struct {
	fset  *token.FileSet
	roots []*loader.Package
}

// load finds the packages that the paths name and all they import, as they
// will be when the plan is applied. Errors inside a package stay with the
// package, as the loader does it; generate reports them.
func load(ctx context.Context, src *sources, paths []string) (*packageSet, error) {
	if _, err := exec.LookPath("go"); err != nil {
		return nil, fault.Failed("install Go (https://go.dev/dl/) and put its bin folder on PATH; operon reads Go sources with it",
			"there is no go command on PATH")
	}
	patterns, together, err := listPatterns(src, paths)
	if err != nil {
		return nil, err
	}
	flags, err := src.buildFlags()
	if err != nil {
		return nil, err
	}
	cfg := &packages.Config{
		Context: ctx,
		Dir:     src.dir,
		Env:     goEnv(os.Environ()),
		Fset:    token.NewFileSet(),
	}
	cfg.BuildFlags = slices.Concat(flags, modFlags(cfg))
	roots, err := loader.LoadRootsWithConfig(cfg, patterns...)
	if err != nil {
		return nil, loadError(ctx, src, err)
	}
	set := &packageSet{fset: cfg.Fset, roots: sortRoots(roots, together)}
	set.presetSyntax(src)
	return set, nil
}

// goEnv is the environment of the go command: no network, no other toolchain.
func goEnv(env []string) []string {
	return append(slices.Clone(env), "GOPROXY=off", "GOTOOLCHAIN=local")
}

// modFlags returns -mod=readonly where GOFLAGS, be it from the environment or
// from the go command's own file, asks for -mod=mod, with which a mere listing
// writes go.mod. On the command line it beats GOFLAGS; it looks past vendor
// folders as -mod=mod does, and unlike that is allowed in a workspace. Elsewhere
// the go command's default is right, module by module: readonly, or vendor.
func modFlags(cfg *packages.Config) []string {
	ask := exec.CommandContext(cfg.Context, "go", "env", "GOFLAGS")
	ask.Dir, ask.Env = cfg.Dir, cfg.Env
	goFlags, err := ask.Output()
	if err != nil || !rewritesGoMod(string(goFlags)) {
		return nil // a go command that fails here fails again in load, and says more then
	}
	return []string{"-mod=readonly"}
}

// rewritesGoMod reports whether the value of GOFLAGS contains -mod=mod.
func rewritesGoMod(goFlags string) bool {
	return slices.ContainsFunc(strings.Fields(goFlags), func(flag string) bool {
		return strings.TrimLeft(strings.Trim(flag, `'"`), "-") == "mod=mod"
	})
}

// presetSyntax parses the packages that the plan changes from the planned
// bytes, for the loader reads files from the disk only. Every package of the
// graph may be one: a controller's package that imports a planned API package
// is checked against it.
func (s *packageSet) presetSyntax(src *sources) {
	if len(src.changed) == 0 {
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
			if _, ok := src.changed[name]; ok {
				s.parse(p, src)
				break
			}
		}
		for _, imported := range p.Imports() {
			visit(imported)
		}
	}
	for _, p := range s.roots {
		visit(p)
	}
}

// parse sets the syntax of p as the loader's NeedSyntax would. When a file
// does not parse, the package is left without syntax, but not nil, which would
// make the loader read the disk.
func (s *packageSet) parse(p *loader.Package, src *sources) {
	files := make([]*ast.File, 0, len(p.CompiledGoFiles))
	failed := false
	for _, name := range p.CompiledGoFiles {
		content, err := src.read(name)
		if err == nil {
			var f *ast.File
			if f, err = parser.ParseFile(s.fset, name, content, parser.AllErrors|parser.ParseComments); err == nil {
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

// loadError explains a go list that failed as a whole.
func loadError(ctx context.Context, src *sources, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	msg := err.Error()
	if _, stderr, _ := strings.Cut(msg, ": stderr: "); strings.TrimSpace(stderr) != "" {
		msg = stderr
	}
	msg = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(msg), "go: "))
	return fault.Failed(hintFor(msg), "list packages: %s", src.shorten(msg))
}
