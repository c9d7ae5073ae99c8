package hookscmd

import (
	"context"
	"path"
	"path/filepath"
	"time"

	"github.com/operon-dev/operon/internal/atomicfile"
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/cli/command/testplane"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks/hookproject"
	"github.com/operon-dev/operon/internal/hooks/hooktest"
	"github.com/operon-dev/operon/internal/hooks/rbac"
	"github.com/operon-dev/operon/internal/hooks/testcluster"
	"github.com/operon-dev/operon/internal/hooks/testfile"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// testOptions holds the flags of operon hooks test.
type testOptions struct {
	folder       string
	pattern      string
	junit        string
	update       bool
	dryRun       bool
	diff         bool
	output       string
	timeout      time.Duration
	controlPlane testplane.Flags
}

func newTest(a *command.App) *cobra.Command {
	o := &testOptions{}
	cmd := &cobra.Command{
		Use:   "test [files]",
		Short: "Run hook tests",
		Long: `Run the tests in YAML files, or in all files below folders (default:
test/hooks). A test lists the objects in the cluster, the events, and the
expected results:

    hook: copy.sh
    tests:
    - name: a new namespace gets a copy
      given: [objects/]
      events:
      - apply: {apiVersion: v1, kind: Namespace, metadata: {name: a}}
      expect:
        objects:
        - {apiVersion: v1, kind: Secret, metadata: {name: copy, namespace: a}}

docs/hook-tests.md describes all keys.

The tests run on a real API server, one at a time. CRDs in config/crd/bases and
those of modules are installed. The hook gets events as from the engine, and has
the RBAC rules in ` + rbac.Path + ` and the derived rules.

A test also fails if a run of the hook fails, the hook keeps triggering itself,
repeating its last run changes anything, a conversion loses fields, or no RBAC
rule allows a request of the hook.

` + testplane.Help,
		Example: `  operon hooks test
  operon hooks test test/hooks/copy.yaml --run 'a new namespace'
  operon hooks test --junit report.xml`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return o.test(cmd.Context(), a, args) },
	}
	f := cmd.Flags()
	f.StringVar(&o.pattern, "run", "", "run only the tests whose hook/name matches this regular expression")
	f.BoolVar(&o.update, "update", false, "update expectations with the actual results")
	f.BoolVar(&o.dryRun, "dry-run", false, "with --update: show the changes without writing them")
	f.BoolVar(&o.diff, "diff", false, "with --update: show each change as a unified diff")
	o.controlPlane.Bind(a, cmd)
	bindHooksFolder(cmd, &o.folder)
	f.DurationVar(&o.timeout, "timeout", time.Minute, "how long a test may take")
	f.StringVar(&o.junit, "junit", "", "write a report in JUnit's XML to this `file`")
	command.BindOutput(cmd, &o.output)
	completeTest(a, cmd)
	return cmd
}

// completeTest completes test files and the values of flags.
func completeTest(a *command.App, cmd *cobra.Command) {
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
	}
	command.CompleteFlag(cmd, "run", func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return hooktest.Patterns(a.Dir, args), cobra.ShellCompDirectiveNoFileComp
	})
	command.CompleteNothing(cmd, "timeout")
}

// RunTests runs the tests of a project's hooks that match a pattern, for operon test.
func RunTests(ctx context.Context, a *command.App, pattern string) error {
	o := &testOptions{folder: defaultFolder, pattern: pattern, output: command.FormatText, timeout: time.Minute}
	return o.test(ctx, a, nil)
}

func (o *testOptions) checkFlags() error {
	if err := command.CheckOutput(o.output); err != nil {
		return err
	}
	if err := checkTimeout(o.timeout, "1m"); err != nil {
		return err
	}
	switch {
	case o.dryRun && !o.update:
		return fault.Usage("add --update", "--dry-run needs --update: otherwise the command writes nothing")
	case o.dryRun && o.junit != "":
		return fault.Usage("omit --junit", "--junit writes a file, so it cannot be combined with --dry-run")
	case o.diff && !o.update:
		return fault.Usage("add --update", "--diff needs --update")
	}
	return o.controlPlane.Check()
}

func (o *testOptions) test(ctx context.Context, a *command.App, names []string) error {
	if err := o.checkFlags(); err != nil {
		return err
	}
	if o.folder == defaultFolder {
		if err := enterProject(a, append(pointers(names), &o.junit)...); err != nil {
			return err
		}
	}
	project := o.project(a)
	files, outcomes, err := o.runTests(ctx, a, project, names)
	if err != nil {
		return err
	}
	var changes []hooktest.Rewrite
	if o.update {
		if changes, err = o.updateExpectations(a, files, outcomes); err != nil {
			return err
		}
	}
	switch {
	case len(changes) > 0 && o.dryRun:
		return o.endDryRun(a, outcomes, changes)
	case len(changes) > 0: // run again, so that results that differ in each run still fail
		if _, outcomes, err = o.runTests(ctx, a, project, names); err != nil {
			return err
		}
	}
	if o.junit != "" {
		report, err := testfile.JUnit(hooktest.Results(outcomes, command.Painter(a.Out, a.Getenv)))
		if err != nil {
			return err
		}
		if err := atomicfile.WriteBytes(hookproject.Abs(a.Dir, o.junit), report); err != nil {
			return err
		}
	}
	return o.print(a, outcomes, changes)
}

// project returns the runner of the tests.
func (o *testOptions) project(a *command.App) hooktest.Project {
	p := hooktest.Project{WorkDir: a.Dir, Hooks: o.folder, Loader: loader(a, 10*time.Second), Timeout: o.timeout}
	p.Open = func(ctx context.Context, hooksDir string, crds []*unstructured.Unstructured) (hooktest.Backend, func(), error) {
		return o.openCluster(ctx, a, hooksDir, crds)
	}
	return p
}

// openCluster prepares an API server for tests of the hooks in a folder.
func (o *testOptions) openCluster(ctx context.Context, a *command.App, hooksDir string, crds []*unstructured.Unstructured) (hooktest.Backend, func(), error) {
	cfg, webhooks, err := projectAround(a, hookproject.Root(hooksDir))
	if err != nil {
		return nil, nil, err
	}
	options := o.controlPlane.Options(a)
	options.Loader, options.Config = loader(a, configTimeout), cfg
	options.Roles = hookproject.RoleOptions{WorkDir: a.Dir, Webhooks: webhooks, OnInvalid: o.warnLeftOut(a)}
	return testcluster.Start(ctx, options, hooksDir, crds)
}

// warnLeftOut returns a function that warns about a hook that the derived roles leave out.
func (o *testOptions) warnLeftOut(a *command.App) func(finding.Finding) {
	return func(f finding.Finding) {
		a.Warnf("%s: %s: the derived RBAC rules leave out this hook", path.Join(filepath.ToSlash(o.folder), f.File), f.Message)
	}
}

// runTests reads the test files, and runs the tests that match --run.
func (o *testOptions) runTests(ctx context.Context, a *command.App, p hooktest.Project, names []string) ([]*hooktest.File, []hooktest.Outcome, error) {
	files, err := hooktest.Find(a.Dir, o.folder, names)
	if err != nil {
		return nil, nil, err
	}
	tests, err := hooktest.Match(files, o.pattern)
	if err != nil {
		return nil, nil, err
	}
	outcomes, err := p.Run(ctx, tests)
	return files, outcomes, err
}
