package gen

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"regexp"
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
		Context:    ctx,
		Dir:        src.dir,
		Env:        goEnv(os.Environ()),
		Fset:       token.NewFileSet(),
		BuildFlags: append(flags, "-compiled=false"),
	}
	roots, err := loader.LoadRootsWithConfig(cfg, patterns...)
	if err != nil {
		return nil, loadError(ctx, src, err)
	}
	set := &packageSet{fset: cfg.Fset, roots: sortRoots(roots, together)}
	set.presetSyntax(src)
	return set, nil
}

// goEnv is the environment of the go command: no network, no other toolchain,
// and no -mod=mod, with which a mere listing rewrites go.mod.
func goEnv(env []string) []string {
	res := append([]string{}, env...)
	for i, kv := range res {
		if flags, ok := strings.CutPrefix(kv, "GOFLAGS="); ok {
			res[i] = "GOFLAGS=" + strings.Join(strings.Fields(modMod.ReplaceAllString(flags, " ")), " ")
		}
	}
	return append(res, "GOPROXY=off", "GOTOOLCHAIN=local")
}

var modMod = regexp.MustCompile(`(?:^|\s)--?mod=mod(?:\s|$)`)

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
