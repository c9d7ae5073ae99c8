package load

import (
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/environ"
	"github.com/operon-dev/operon/internal/gen/overlay"
	"golang.org/x/tools/go/packages"
	"sigs.k8s.io/controller-tools/pkg/loader"
)

// maxInputs limits the number of inputs. Checking more takes longer than a listing by the
// go command.
const maxInputs = 50_000

// inputs collects the paths that a run depends on: files and folders whose change affects
// the answer of the go command or the sources, and paths at which a new file does so. It
// may contain more paths than necessary.
type inputs struct {
	project *overlay.Project
	paths   map[string]bool
	modules map[string]bool     // folders of modules whose sources may change; true once walked
	walked  map[string][]string // the folders in such modules, with their files
	failed  bool                // an input is unknown
}

// Inputs returns the absolute paths that the answer to the query and the sources depend
// on. folders are the folders of all packages in the answer, and files are other files that
// generators read. ok is false if the inputs are unknown, for example because the go
// command is a script, or because GOFLAGS names other files.
func (q *Query) Inputs(folders, files []string) (paths []string, ok bool) {
	if len(q.Project.Changed) > 0 {
		return nil, false // the answer is about other folders than the disk has
	}
	in := &inputs{project: q.Project, paths: map[string]bool{}, modules: map[string]bool{}, walked: map[string][]string{}}
	in.failed = !plainFlags(q.goFlags) || q.Settings.Root == "" || q.Settings.ModCache == ""
	in.add(files...)
	in.goCommand(q.Settings, q.Env)
	in.add(Words()...)
	in.workspace(q.Dir, q.Settings.work)
	for _, dir := range q.modules {
		in.module(dir)
	}
	for _, dir := range folders {
		in.source(dir, q.Settings)
	}
	return slices.Sorted(maps.Keys(in.paths)), !in.failed && len(in.paths) <= maxInputs
}

// Words returns the absolute paths of the files with words of the user, which may not exist. The library that forms
// plurals, flect, reads them when the program starts, as in controller-gen.
func Words() []string {
	var files []string
	for _, v := range []struct{ variable, file string }{{"INFLECT_PATH", "inflections.json"}, {"ACRONYMS_PATH", "acronyms.json"}} {
		file, ok := os.LookupEnv(v.variable)
		if !ok {
			file = v.file
		}
		if abs, err := filepath.Abs(file); err == nil {
			files = append(files, abs)
		}
	}
	return files
}

// InputsOf is Inputs for packages of several modules, which the loader loaded. They are unknown if
// the paths name other things than folders of the project, if packages have errors, or if the C
// compiler reads files of the project.
func (q *Query) InputsOf(set *Set, files []string) (paths []string, ok bool) {
	if q.modules == nil || q.several == "" {
		return nil, false
	}
	var folders []string
	seen, unknown := map[*loader.Package]bool{}, false
	var visit func(p *loader.Package)
	visit = func(p *loader.Package) {
		if seen[p] {
			return
		}
		seen[p] = true
		for _, name := range p.GoFiles[:min(1, len(p.GoFiles))] {
			folders = append(folders, filepath.Dir(name))
		}
		external := isBelow(q.Settings.Root, p.Dir) || isBelow(q.Settings.ModCache, p.Dir)
		// Type errors are usual: only what the generators need is checked.
		unknown = unknown || slices.ContainsFunc(p.Errors, func(e packages.Error) bool { return e.Kind != packages.TypeError }) ||
			!external && !slices.Equal(p.GoFiles, p.CompiledGoFiles)
		for _, imported := range p.Imports() {
			visit(imported)
		}
	}
	for _, root := range set.Roots {
		visit(root)
	}
	if unknown {
		return nil, false
	}
	return q.Inputs(folders, files)
}

// Settings are the settings of the go command that name files.
type Settings struct {
	Root, ModCache string // GOROOT and GOMODCACHE
	env            string // GOENV: the file with further settings
	work           string // GOWORK: a file, "off", or "" for none
	compiler       string // CC
	cache, temp    string // GOCACHE and GOTMPDIR; unknown in a recorded query
}

func (in *inputs) add(paths ...string) {
	for _, p := range paths {
		in.failed = in.failed || !filepath.IsAbs(p)
		in.paths[p] = true
	}
}

// plainFlags reports whether GOFLAGS names no files that a listing reads.
func plainFlags(goFlags string) bool {
	plain := []string{"mod", "modcacherw", "tags", "trimpath", "buildvcs", "race", "v", "p", "ldflags", "gcflags", "asmflags"}
	for flag := range strings.FieldsSeq(goFlags) {
		name, _, _ := strings.Cut(strings.TrimLeft(flag, "-"), "=")
		if !slices.Contains(plain, name) {
			return false
		}
	}
	return true
}

// goCommand adds the go command, its settings, and the programs that are looked up in
// PATH. By default, cgo is enabled if there is a C compiler.
func (in *inputs) goCommand(s Settings, env []string) {
	suffix := ""
	suffixes := []string{""}
	if runtime.GOOS == "windows" {
		suffix = ".exe"
		suffixes = strings.Split(strings.ToLower(environ.Get(env, "PATHEXT")), ";")
	}
	program := filepath.Join(s.Root, "bin", "go"+suffix)
	found, err := environ.LookPath(env, "go")
	if err != nil || !sameFile(found, program) {
		in.failed = true // go may be a script that reads any file
	}
	in.add(program, filepath.Join(s.Root, "VERSION"), filepath.Join(s.Root, "go.env"))
	if s.env != "off" && s.env != "" {
		in.add(s.env)
	}
	programs := []string{"go", "gopackagesdriver"}
	compiler, _, _ := strings.Cut(strings.TrimSpace(s.compiler), " ")
	if filepath.Base(compiler) == compiler {
		programs = append(programs, compiler)
	} else {
		in.add(compiler)
	}
	for _, dir := range filepath.SplitList(environ.Get(env, "PATH")) {
		for _, name := range programs {
			for _, suffix := range suffixes {
				in.add(filepath.Join(dir, name+suffix))
			}
		}
	}
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
