package generatecmd

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/helm/charttest"
	"github.com/operon-dev/operon/internal/hooks/hooktest"
	"github.com/operon-dev/operon/internal/term"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// test holds the flags of `operon test`.
type test struct {
	command.WriteFlags
	pattern string // --run
	build   bool

	cmd                         *cobra.Command
	runHookTests, runChartTests RunTests
}

// RunTests runs the tests in the files of a project that match a pattern.
type RunTests func(ctx context.Context, a *command.App, pattern string) error

// NewTest returns the command test.
func NewTest(a *command.App, runHookTests, runChartTests RunTests) *cobra.Command {
	o := &test{runHookTests: runHookTests, runChartTests: runChartTests}
	o.cmd = &cobra.Command{
		Use:   "test [packages] [flags] [-- flags of go test]",
		Short: "Run the tests of the project, on an API server if installed",
		Long: `Generate files from the sources, vet the code, and run go test with
KUBEBUILDER_ASSETS set to a control plane that matches the project's client-go
(or ENVTEST_K8S_VERSION). By default, all packages except test/e2e are tested.
If no control plane is installed, suites that need one are skipped with a
warning; --build installs it. stdout and the exit code come from go test.

In a hook or module project, generate the roles and run operon hooks test;
in a Helm project, generate CRDs, samples and roles and run operon chart test.
These tests need a control plane, and use "default" if it runs.`,
		Example: `  operon test
  operon test ./internal/... --run TestControllers --build
  operon test -- -count 1 -coverprofile cover.out`,
		RunE: func(_ *cobra.Command, args []string) error { return o.test(a, args) },
	}
	o.cmd.Flags().StringVar(&o.pattern, "run", "", "run only tests that match this regular expression")
	o.cmd.Flags().BoolVar(&o.build, "build", false, "build the control plane first if it is not installed")
	o.BindDryRun(o.cmd, "show the files that would be generated, and run no tests")
	command.CompleteFrom(o.cmd, "run", func() []string {
		return append(hooktest.Patterns(a.Dir, nil), charttest.Patterns([]string{a.ProjectFolder(charttest.Dir)}, a.Path)...)
	})
	o.cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		unknown, ok := errors.AsType[*pflag.NotExistError](err)
		if ok && command.NearestFlag(unknown.GetSpecifiedName(), cmd)+command.PeerFlag(cmd, unknown.GetSpecifiedName()) == "" {
			return fault.Usage("put go test flags after --, as in: operon test -- -v", "%s", err)
		}
		return command.FlagError(cmd, err)
	})
	return o.cmd
}

func (o *test) test(a *command.App, args []string) error {
	if _, err := regexp.Compile(o.pattern); err != nil {
		return fault.Usage("write a regular expression, as for go test -run", "--run %s: %v", o.pattern, err)
	}
	p, err := a.OpenProject()
	if err != nil {
		return err
	}
	switch {
	case a.HasCharts(p.Config):
		return o.testFiles(a, p, args, "chart", o.runChartTests)
	case a.HasHooks(p.Config) || a.HasModules(p.Config):
		return o.testFiles(a, p, args, "hook", o.runHookTests)
	}
	return o.testGo(a, p, args)
}

// testGo tests a Go project.
func (o *test) testGo(a *command.App, p command.Project, args []string) error {
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
	if o.pattern != "" {
		t.flags = append([]string{"-run", o.pattern}, t.flags...)
	}
	if o.DryRun {
		return o.generate(a, p)
	}
	t.share(a)
	ctx := o.cmd.Context()
	var err error
	if t.env, t.missing, err = controlPlane(ctx, a, p.Root, o.build); err != nil {
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

// testFiles tests a hook or Helm project, which has test files instead of Go packages.
func (o *test) testFiles(a *command.App, p command.Project, args []string, kind string, run RunTests) error {
	if len(args) > 0 {
		group := map[string]string{"hook": "hooks", "chart": "chart"}[kind]
		return fault.Usage("pass "+kind+" test files to operon "+group+" test", "packages and go test flags apply to Go projects, and this is a %s project", kind)
	}
	at := a.At(p.Root)
	if o.DryRun {
		return o.generate(at, p)
	}
	if err := step(at, "generate", func() error { return o.generate(at, p) }); err != nil {
		return err
	}
	if o.build {
		if _, _, err := controlPlane(o.cmd.Context(), at, p.Root, true); err != nil {
			return err
		}
	}
	return step(at, "test", func() error { return run(o.cmd.Context(), at, o.pattern) })
}

// step runs one step and, on a terminal, prints how long it took.
func step(a *command.App, name string, do func() error) error {
	start := time.Now()
	err := do()
	if err == nil && term.IsTerminal(a.Err) {
		a.Notef("%s", command.Painter(a.Err, a.Getenv)(term.Faint, fmt.Sprintf("%-8s %s", name, time.Since(start).Round(10*time.Millisecond))))
	}
	return err
}

// generate runs `operon generate`. Unless this is a dry run, it reports changes on stderr,
// because stdout has only the output of the tests.
func (o *test) generate(a *command.App, p command.Project) error {
	if o.DryRun {
		return planAll(o.cmd, a, p, o.WriteFlags)
	}
	return (&generator{o.cmd, a, o.WriteFlags, nil}).generate(p)
}
