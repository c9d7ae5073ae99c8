package generatecmd

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/goenv"
	"github.com/operon-dev/operon/internal/input"
	"github.com/operon-dev/operon/internal/process"
	"github.com/operon-dev/operon/internal/term"
)

// goTest holds the settings of one run of `operon test` in a Go project.
type goTest struct {
	root     string   // the project's folder
	packages []string // from the command line; none means all except test/e2e
	flags    []string // of go test
	env      []string // of go test
	missing  error    // why there is no control plane, or nil

	sharedFlags, sharedEnv []string // as operon run compiles; see share
}

// checkFolder returns an error if the pattern is a folder without ./ in front, which go would
// look for in the standard library, or a folder that does not exist.
func checkFolder(dir, pattern string) error {
	if term.Line(pattern, false) != pattern { // go prints it as it is
		return fault.Usage("rename it", "%s has characters that a Go package cannot have in its path", pattern)
	}
	folder := strings.TrimSuffix(pattern, "/...")
	if !filepath.IsAbs(folder) {
		folder = filepath.Join(dir, folder)
	}
	info, err := os.Stat(folder)
	if strings.HasPrefix(pattern, ".") || filepath.IsAbs(pattern) {
		if errors.Is(err, fs.ErrNotExist) {
			return fault.Usage("name a folder with Go files", "%s does not exist", pattern)
		}
		return nil
	}
	if err != nil || !info.IsDir() {
		return nil
	}
	return fault.Usage("did you mean ./"+pattern+"?", "%s names a package, not a folder", pattern)
}

func (t goTest) vet(ctx context.Context, a *command.App) error {
	dir, packages := a.Dir, t.packages
	if len(packages) == 0 {
		dir, packages = t.root, []string{"./..."}
	}
	defer a.NoteSlow()()
	return goStep(a, ctx, dir, slices.Concat(a.Environ, t.sharedEnv), a.Err, slices.Concat([]string{"vet"}, t.sharedFlags, packages)...)
}

func (t goTest) test(ctx context.Context, a *command.App) error {
	all, suites, err := t.list(ctx, a)
	if err != nil {
		return err
	}
	packages := t.packages
	if len(packages) == 0 {
		packages = all
	}
	if len(packages) == 0 {
		return fault.Failed("name the packages to test", "no packages to test other than %s", e2eDir)
	}
	env, killStrays := process.Mark(slices.Concat(t.env, t.sharedEnv))
	args := slices.Concat([]string{"test"}, t.sharedFlags, packages, t.flags)
	// Run in the working folder: paths such as the value of -coverprofile are relative to it.
	err = goStep(a, ctx, a.Dir, env, a.Out, args...)
	if err != nil {
		killStrays()
	}
	if t.missing != nil && len(suites) > 0 && ctx.Err() == nil {
		paint := command.Painter(a.Err, a.Getenv)
		a.Notef("%s %v: tests that need an API server were skipped in %s", paint(term.Yellow, "warning:"), t.missing, strings.Join(suites, ", "))
		a.Notef("%s %s", paint(term.Yellow, "hint:   "), fault.HintOf(t.missing))
	}
	return err
}

// sanitizers are the flags of the go command that need cgo.
var sanitizers = []string{"-race", "-msan", "-asan"}

// share sets the flags and variables with which operon run and operon image compile the project, so that all three
// compile the dependencies once: without cgo if the Dockerfile does so, and with -trimpath. Sanitizers need cgo, and code
// that finds files by its own path needs the paths.
func (t *goTest) share(a *command.App) {
	given := append(strings.Fields(a.Getenv("GOFLAGS")), t.flags...)
	sanitized := slices.ContainsFunc(given, func(flag string) bool {
		return slices.Contains(sanitizers, strings.TrimSuffix(strings.Replace(flag, "--", "-", 1), "=true"))
	})
	if a.Getenv("CGO_ENABLED") == "" && !sanitized {
		t.sharedEnv = command.ImageEnviron(t.root)
	}
	found := errors.New("found")
	if filepath.WalkDir(t.root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != t.root && (goenv.Ignores(d.Name()) || d.Name() == "node_modules"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go"):
			return nil
		}
		src, err := input.ReadFile(name, input.Text)
		if bytes.Contains(src, []byte("runtime.Caller")) || bytes.Contains(src, []byte("runtime.GOROOT")) {
			return found
		}
		return err
	}) == nil {
		t.sharedFlags = []string{"-trimpath"}
	}
}

// e2eDir holds the end-to-end tests, which deploy to a cluster.
const e2eDir = "test/e2e"

// list returns the import paths of the packages to test and, relative to the project
// root, the folders of those that start an API server. It ignores packages that do not
// load, which vet and test report.
func (t goTest) list(ctx context.Context, a *command.App) (packages, suites []string, err error) {
	dir, patterns := a.Dir, t.packages
	if len(patterns) == 0 {
		dir, patterns = t.root, []string{"./..."}
	}
	const format = `{{.ImportPath}}{{"\t"}}{{.Dir}}{{"\t"}}{{join .TestImports " "}} {{join .XTestImports " "}}`
	var out bytes.Buffer
	args := append([]string{"list", "-e", "-f", format}, patterns...)
	if err := goStep(a, ctx, dir, a.Environ, &out, args...); err != nil {
		return nil, nil, err
	}
	for line := range strings.Lines(out.String()) {
		path, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		folder, imports, _ := strings.Cut(rest, "\t")
		if rel, err := filepath.Rel(t.root, folder); err == nil {
			folder = filepath.ToSlash(rel)
		}
		if len(t.packages) == 0 && (folder == e2eDir || strings.HasPrefix(folder, e2eDir+"/")) {
			continue
		}
		packages = append(packages, path)
		if slices.Contains(strings.Fields(imports), "sigs.k8s.io/controller-runtime/pkg/envtest") {
			suites = append(suites, folder)
		}
	}
	return packages, suites, nil
}

// goStep runs the go command, whose exit code becomes operon's.
func goStep(a *command.App, ctx context.Context, dir string, env []string, out io.Writer, args ...string) error {
	err := a.RunGo(ctx, dir, env, out, args...)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() > 0 {
		return &fault.Error{Code: exit.ExitCode(), Msg: "go " + args[0], Err: err}
	}
	return fault.In("go "+args[0], err)
}
