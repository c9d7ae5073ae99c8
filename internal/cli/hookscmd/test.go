package hookscmd

import (
	"context"
	"time"

	"github.com/operon-dev/operon/internal/atomicfile"
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/cli/command/testplane"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/engine"
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
	markers      bool
	dryRun       bool
	diff         bool
	output       string
	timeout      time.Duration
	controlPlane testplane.Flags
	record       bool          // allow all requests
	added        []updateFrame // hooks with new markers
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
in modules are installed. The hook gets events as from the engine, and has
the permissions of its bindings and of its RBAC markers, and no others.

A test also fails if a run of the hook fails, the hook keeps triggering itself,
repeating its last run changes anything, a conversion loses fields, or no RBAC
rule allows a request of the hook. --update-markers adds the missing markers:
it runs the tests with all permissions first. If all tests pass, the command
warns of markers that no test needs.

` + testplane.Help,
		Example: `  operon hooks test
  operon hooks test test/hooks/copy.yaml --run 'a new namespace'
  operon hooks test --junit report.xml`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return o.start(cmd, a, args) },
	}
	f := cmd.Flags()
	f.StringVar(&o.pattern, "run", "", "run only the tests whose hook/name matches this regular expression")
	f.BoolVar(&o.update, "update", false, "update expectations with the actual results")
	f.BoolVar(&o.markers, "update-markers", false, "add markers for the requests that no RBAC rule allows")
	f.BoolVar(&o.dryRun, "dry-run", false, "with --update or --update-markers: show the changes without writing them")
	f.BoolVar(&o.diff, "diff", false, "with --update or --update-markers: show each change as a unified diff, without writing it")
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
	if err := o.enter(a, nil); err != nil {
		return err
	}
	return o.test(ctx, a, nil)
}

func (o *testOptions) checkFlags() error {
	if err := command.CheckOutput(o.output); err != nil {
		return err
	}
	if err := checkTimeout(o.timeout, "1m"); err != nil {
		return err
	}
	updates := o.update || o.markers
	switch {
	case o.update && o.markers:
		return fault.Usage("use --update-markers first", "--update and --update-markers cannot be combined")
	case o.diff && !updates:
		return fault.Usage("add --update or --update-markers", "--diff needs --update or --update-markers")
	case o.dryRun && !updates:
		return fault.Usage("add --update or --update-markers", "--dry-run needs --update or --update-markers: otherwise the command writes nothing")
	case o.dryRun && o.junit != "":
		return fault.Usage("omit --junit", "--junit writes a file, so it cannot be combined with --dry-run or --diff")
	}
	return o.controlPlane.Check()
}

// start adds markers if the user asks for it, and runs the tests.
func (o *testOptions) start(cmd *cobra.Command, a *command.App, names []string) error {
	if err := o.enter(a, names); err != nil {
		return err
	}
	if o.markers {
		if _, err := shellHooksFolder(a, o.folder, "add the rules to "+rbac.Path); err != nil {
			return err
		}
		changes, err := o.recordMarkers(cmd, a, names, command.WriteFlags{Output: o.output, DryRun: o.dryRun, Diff: o.diff})
		if err != nil {
			return err
		}
		o.added = markerFrames(changes)
		if len(changes) > 0 && o.dryRun {
			return o.endMarkers(a)
		}
	}
	return o.test(cmd.Context(), a, names)
}

// enter checks the flags and changes into the project.
func (o *testOptions) enter(a *command.App, names []string) error {
	if err := o.checkFlags(); err != nil || o.folder != defaultFolder {
		return err
	}
	return enterProject(a, append(pointers(names), &o.junit)...)
}

func (o *testOptions) test(ctx context.Context, a *command.App, names []string) error {
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
	if err := o.print(a, outcomes, changes); err != nil || o.pattern != "" || len(names) > 0 {
		return err
	}
	return o.warnUnused(a, outcomes)
}

// project returns the runner of the tests.
func (o *testOptions) project(a *command.App) hooktest.Project {
	p := hooktest.Project{WorkDir: a.Dir, Hooks: o.folder, Loader: loader(a, 10*time.Second), Timeout: o.timeout, Record: o.record}
	p.Open = func(
		ctx context.Context, hooksDir string, hooks []engine.Hook, crds []*unstructured.Unstructured,
	) (hooktest.Backend, func(), error) {
		return o.openCluster(ctx, a, hooksDir, hooks, crds)
	}
	return p
}

// openCluster prepares an API server for tests of hooks in a folder.
func (o *testOptions) openCluster(
	ctx context.Context, a *command.App, hooksDir string, hooks []engine.Hook, crds []*unstructured.Unstructured,
) (hooktest.Backend, func(), error) {
	cfg, webhooks, err := projectAround(a, hookproject.Root(hooksDir))
	if err != nil {
		return nil, nil, err
	}
	options := o.controlPlane.Options(a)
	options.Config, options.Record = cfg, o.record
	options.Roles = hookproject.RoleOptions{WorkDir: a.Dir, Webhooks: webhooks}
	return testcluster.Start(ctx, options, hooksDir, hooks, crds)
}

// runTests reads the test files, and runs the tests that match --run.
func (o *testOptions) runTests(
	ctx context.Context, a *command.App, p hooktest.Project, names []string,
) ([]*hooktest.File, []hooktest.Outcome, error) {
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
