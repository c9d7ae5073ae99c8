package generatecmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/controlplane/assets"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/hooktest"
	"github.com/operon-dev/operon/internal/process"
	"github.com/operon-dev/operon/internal/term"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/mod/modfile"
)

// test holds the flags of `operon test`.
type test struct {
	run   string
	build bool

	cmd          *cobra.Command
	runHookTests RunHookTests
}

// RunHookTests runs the tests of a project's hooks that match a pattern.
type RunHookTests func(ctx context.Context, a *command.App, pattern string) error

// NewTest returns the command test.
func NewTest(a *command.App, runHookTests RunHookTests) *cobra.Command {
	o := &test{runHookTests: runHookTests}
	o.cmd = &cobra.Command{
		Use:   "test [packages] [-- flags of go test]",
		Short: "Run the tests of the project, on a real API server if installed",
		Long: `Generate files from the sources, vet the code, and run go test with
KUBEBUILDER_ASSETS set to a control plane that matches the project's client-go
(or ENVTEST_K8S_VERSION). By default, all packages except test/e2e are tested.
If no control plane is installed, suites that need one are skipped with a
warning; --build installs it. stdout and the exit code are those of go test.

In a project of hooks or modules, generate the roles and run operon hooks test.`,
		Example: `  operon test
  operon test ./internal/... --run TestControllers --build
  operon test -- -count 1 -coverprofile cover.out`,
		RunE: func(_ *cobra.Command, args []string) error { return o.test(a, args) },
	}
	o.cmd.Flags().StringVar(&o.run, "run", "", "run only tests that match this regular expression")
	o.cmd.Flags().BoolVar(&o.build, "build", false, "build the control plane first if it is not installed")
	command.CompleteFrom(o.cmd, "run", func() []string { return hooktest.Patterns(a.Dir, nil) })
	o.cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		unknown, ok := errors.AsType[*pflag.NotExistError](err)
		if ok && command.NearestFlag(unknown.GetSpecifiedName(), cmd) == "" {
			return fault.Usage("put go test flags after --, as in: operon test -- -v", "%s", err)
		}
		return command.FlagError(nil)(cmd, err)
	})
	return o.cmd
}

// goTest holds the settings of one run of `operon test`.
type goTest struct {
	root     string   // the project's folder
	packages []string // from the command line; none means all except test/e2e
	flags    []string // of go test
	env      []string // of go test
	missing  error    // why there is no control plane, or nil
}

func (o *test) test(a *command.App, args []string) error {
	if _, err := regexp.Compile(o.run); err != nil {
		return fault.Usage("", "--run %s: %v", o.run, err)
	}
	p, err := a.OpenProject()
	if err != nil {
		return err
	}
	if a.HasHooks(p.Config) || a.HasModules(p.Config) {
		return o.hooks(a, p, args)
	}
	t := goTest{root: p.Root, packages: args}
	if dash := o.cmd.ArgsLenAtDash(); dash >= 0 {
		t.packages, t.flags = args[:dash], args[dash:]
	}
	if len(t.flags) == 0 { // flags could select other files
		t.flags = []string{"-vet=off"} // the vet step has already run more checks
	}
	for _, p := range t.packages {
		if err := checkFolder(a.Dir, p); err != nil {
			return err
		}
	}
	if o.run != "" {
		t.flags = append([]string{"-run", o.run}, t.flags...)
	}
	ctx := o.cmd.Context()
	if t.env, t.missing, err = o.controlPlane(ctx, a, p.Root); err != nil {
		return err
	}
	if err := step(a, "generate", func() error { return o.generate(a, p) }); err != nil {
		return err
	}
	if err := step(a, "vet", func() error { return t.vet(ctx, a) }); err != nil {
		return err
	}
	return step(a, "test", func() error { return t.test(ctx, a) })
}

// hooks tests a project of hooks or modules, which has no Go packages.
func (o *test) hooks(a *command.App, p command.Project, args []string) error {
	switch {
	case len(args) > 0:
		return fault.Usage("pass hook test files to operon hooks test", "packages and go test flags apply to Go projects, and this is a hook project")
	case o.build:
		return fault.Usage("remove the flag", "--build applies to Go projects: hook tests need no control plane")
	}
	at := a.At(p.Root)
	if err := step(at, "generate", func() error { return o.generate(at, p) }); err != nil {
		return err
	}
	return step(at, "test", func() error { return o.runHookTests(o.cmd.Context(), at, o.run) })
}

// checkFolder returns an error if the pattern is a folder without ./ in front: go would
// look for it in the standard library.
func checkFolder(dir, pattern string) error {
	folder := strings.TrimSuffix(pattern, "/...")
	if strings.HasPrefix(folder, ".") || filepath.IsAbs(folder) {
		return nil
	}
	if info, err := os.Stat(filepath.Join(dir, folder)); err != nil || !info.IsDir() {
		return nil
	}
	return fault.Usage("did you mean ./"+pattern+"?", "%s names a package, not a folder", pattern)
}

// step runs one step and, on a terminal, prints how long it took.
func step(a *command.App, name string, do func() error) error {
	start := time.Now()
	err := do()
	if err == nil && term.IsTerminal(a.Err) {
		a.Notef("%s", command.Painter(a.Err, a.Getenv)(command.Faint, fmt.Sprintf("%-8s %s", name, time.Since(start).Round(10*time.Millisecond))))
	}
	return err
}

// generate runs `operon generate`, and reports its changes on stderr: stdout has only the
// output of the tests.
func (o *test) generate(a *command.App, p command.Project) error {
	toStderr := *a
	toStderr.Out = a.Err
	w := command.WriteFlags{Output: "text", ChangesOnly: true}
	return toStderr.ChangeProject(o.cmd, p, w, func(ctx context.Context, s command.Project) error {
		inv, err := a.NewInvocation(s, nil)
		if err != nil {
			return err
		}
		return inv.Generate(ctx)
	})
}

// controlPlane returns the environment of go test, with a control plane of the version
// that the project's Makefile and suites choose. If none is installed and --build is not
// set, missing is the reason.
func (o *test) controlPlane(ctx context.Context, a *command.App, root string) (env []string, missing, err error) {
	if existing, _ := strconv.ParseBool(a.Getenv("USE_EXISTING_CLUSTER")); existing {
		return a.Environ, nil, nil
	}
	const name = "ENVTEST_K8S_VERSION"
	version := a.Getenv(name)
	if version == "" {
		if version, err = clientVersion(root); err != nil {
			return nil, nil, err
		}
	}
	dir, err := assets.Find(a.Environ, root, version)
	if err != nil && o.build {
		var store *assets.Store
		if store, err = assets.Open(assets.Options{Env: a.Environ}); err == nil {
			dir, err = store.Ensure(ctx, version, false, a.Progress)
		}
	}
	env = append(slices.Clone(a.Environ), name+"="+version)
	switch {
	case err == nil:
		return append(env, assets.Var+"="+dir), nil, nil
	case fault.Code(err) == fault.CodeUsage && a.Getenv(name) != "":
		return nil, nil, fault.In(name, err)
	case o.build || fault.Code(err) != fault.CodeFailed || a.Getenv(assets.Var) != "":
		return nil, nil, err
	}
	return env, err, nil
}

// clientVersion returns 1.N for k8s.io/client-go v0.N in go.mod, because client libraries
// have the minor version of their Kubernetes release. It returns "" if the module does not
// require client-go.
func clientVersion(root string) (string, error) {
	src, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return "", fault.In("go.mod", err)
	}
	file, err := modfile.ParseLax("go.mod", src, nil)
	if err != nil {
		return "", err
	}
	for _, r := range file.Require {
		if r.Mod.Path == "k8s.io/client-go" {
			if minor, ok := strings.CutPrefix(r.Mod.Version, "v0."); ok {
				minor, _, _ = strings.Cut(minor, ".")
				return "1." + minor, nil
			}
		}
	}
	return "", nil
}

func (t goTest) vet(ctx context.Context, a *command.App) error {
	dir, packages := a.Dir, t.packages
	if len(packages) == 0 {
		dir, packages = t.root, []string{"./..."}
	}
	return goStep(a, ctx, dir, a.Environ, a.Err, append([]string{"vet"}, packages...)...)
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
	env, killStrays := process.Mark(t.env)
	args := slices.Concat([]string{"test"}, packages, t.flags)
	// Run in the working folder: paths such as that of -coverprofile are relative to it.
	err = goStep(a, ctx, a.Dir, env, a.Out, args...)
	if err != nil {
		killStrays()
	}
	if t.missing != nil && len(suites) > 0 && ctx.Err() == nil {
		paint := command.Painter(a.Err, a.Getenv)
		a.Notef("%s %v: tests that need an API server were skipped in %s", paint(command.Yellow, "warning:"), t.missing, strings.Join(suites, ", "))
		a.Notef("%s %s", paint(command.Yellow, "hint:   "), fault.HintOf(t.missing))
	}
	return err
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
