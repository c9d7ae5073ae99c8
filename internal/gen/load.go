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
	"github.com/operon-dev/operon/internal/gen/incremental/depcache"
	"github.com/operon-dev/operon/internal/gen/load/golist"
	"golang.org/x/tools/go/packages"
	"sigs.k8s.io/controller-tools/pkg/loader"
)

// packageSet is what the generators work on: the root packages, whose graph is
// loaded and whose syntax and types are read on demand.
type packageSet struct {
	fset  *token.FileSet
	roots []*loader.Package
	deps  *depcache.World // the packages of the graph that are kept; nil without any

	// For runs over a part of the roots:
	kinds   *kinds            // what is known of the kinds, and is found out; may be nil
	groups  map[string]string // gets the API groups of the roots, by path
	marked  []*loader.Package // in place of roots, for generators that read markers alone
	settled bool              // what these generators make is known
	twice   bool              // the generators wrote one file several times
}

// query is a question for the go command: which packages do the paths name, and
// what do they import, when the plan is applied?
type query struct {
	src      *sources
	patterns []string
	together []folder // see listPatterns
	golist.Command
	goFlags  string // the value of GOFLAGS
	settings settings
}

func newQuery(ctx context.Context, src *sources, paths []string) (*query, error) {
	if _, err := exec.LookPath("go"); err != nil {
		return nil, fault.Failed("install Go (https://go.dev/dl/) and put its bin folder on PATH; operon reads Go sources with it",
			"there is no go command on PATH")
	}
	q := &query{src: src, Command: golist.Command{Dir: src.dir, Env: goEnv(os.Environ())}}
	var err error
	if q.patterns, q.together, err = listPatterns(src, paths); err != nil {
		return nil, err
	}
	if q.Flags, err = src.buildFlags(); err != nil {
		return nil, err
	}
	q.ask(ctx)
	if rewritesGoMod(q.goFlags) {
		q.Flags = append(q.Flags, "-mod=readonly")
	}
	return q, nil
}

// ask asks the go command for its settings, which a file of its own may hold as
// well as the environment. One that fails here fails again in load, and says
// more then.
func (q *query) ask(ctx context.Context) {
	cmd := exec.CommandContext(ctx, "go", "env", "GOFLAGS", "GOARCH", "GOROOT", "GOMODCACHE", "GOENV", "GOWORK", "CC")
	cmd.Dir, cmd.Env = q.Dir, q.Env
	out, _ := cmd.Output()
	values := strings.Split(strings.ReplaceAll(string(out), "\r\n", "\n"), "\n")
	if len(values) < 7 {
		return
	}
	q.goFlags, q.Arch, q.Fixed = values[0], values[1], values[2:4]
	q.settings = settings{root: values[2], modCache: values[3], env: values[4], work: values[5], compiler: values[6]}
}

// load has the loader find the packages by itself, and read them on demand.
// Errors inside a package stay with the package; generate reports them.
func (q *query) load(ctx context.Context) (*packageSet, error) {
	cfg := &packages.Config{
		Context:    ctx,
		Dir:        q.Dir,
		Env:        q.Env,
		BuildFlags: q.Flags,
		Fset:       token.NewFileSet(),
	}
	roots, err := loader.LoadRootsWithConfig(cfg, q.patterns...)
	if err != nil {
		return nil, loadError(ctx, q.src, err)
	}
	imports := func(p *loader.Package) map[string]*loader.Package { return p.Imports() }
	dir := func(p *loader.Package) string { return p.Dir }
	set := &packageSet{fset: cfg.Fset, roots: sortRoots(roots, q.together, dir, imports)}
	set.presetSyntax(q.src)
	return set, nil
}

// goEnv is the environment of the go command: no network, no other toolchain.
func goEnv(env []string) []string {
	return append(slices.Clone(env), "GOPROXY=off", "GOTOOLCHAIN=local")
}

// rewritesGoMod reports whether the value of GOFLAGS contains -mod=mod, with
// which a mere listing writes go.mod. There -mod=readonly on the command line
// beats it; it looks past vendor folders as -mod=mod does, and unlike that is
// allowed in a workspace. Elsewhere the go command's default is right, module
// by module: readonly, or vendor.
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
