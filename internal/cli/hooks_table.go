package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks"
	"github.com/operon-dev/operon/internal/hooks/engine"
	"github.com/operon-dev/operon/internal/hooks/hooktest"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// hooksTest holds the flags of `operon hooks test`.
type hooksTest struct {
	dir     string
	run     string
	junit   string
	update  bool
	output  string
	timeout time.Duration
	stage   hooksStage
}

func newHooksTest(a *command.App) *cobra.Command {
	o := &hooksTest{}
	cmd := &cobra.Command{
		Use:   "test [files]",
		Short: "Test hooks: what they do about objects and events",
		Long: `Run the tests in YAML files, or in all of the folders that are named
(test/hooks).

The cluster is one in memory with the rules of an API server, and what is
between it and the hook behaves as shell-operator does: selectors, filters,
groups, queues, synchronization, schedules, patches. No time passes there. Hooks
are run as they are, with an empty home, no kubeconfig, and a kubectl of the
cluster's before all others. CRDs in config/crd/bases are known, and those of
modules.

A file of tests, with all that it may say:

    hook: copy.sh                # from the folder of hooks
    tests:
    - name: a new namespace gets a copy
      given: [objects/, {apiVersion: v1, kind: Secret, metadata: {...}}]
      env: {LEVEL: debug}        # of the hook
      path: [bin]                # stand-ins of programs, from the file's folder
      events:                    # the start comes before them
      - apply: {apiVersion: v1, kind: Namespace, metadata: {name: a}}
      - patch: {apiVersion: v1, kind: Namespace, metadata: {name: a, labels: {}}}
      - delete: {apiVersion: v1, kind: Namespace, metadata: {name: a}}
      - schedule: tick           # its time has come
      - retry: true              # so has that of what failed
      - validate: {operation: UPDATE, object: {...}, oldObject: {...},
                   binding: NAME}
        expect: {response: {allowed: false}}   # any event may have its own
      - mutate: {object: {...}}
      - convert: {to: example.com/v2, objects: [{...}]}
      expect:                    # what is left out is not compared
        runs: 2                  # the start included
        exitCode: 0              # of the last run
        error: already exists    # in why a run failed
        output: [a text]
        patches: [{operation: CreateOrUpdate, object: {...}}]
        objects: [{apiVersion: v1, kind: Secret, metadata: {...},
                   data: {gone: null}}]
        absent: [{apiVersion: v1, kind: Secret, metadata: {...}}]
        metrics: [{name: copies, value: 1}]
        contexts: [{binding: tick}]
        response: {allowed: true, object: {...}}
        converted: [{...}]
      idempotent: false          # the last run may change something if repeated
      roundTrip: false           # a conversion there and back may lose something

In a project of modules the hook is named from there, as in
modules/010-cert-issuer/hooks/count.sh. Its tests may have values before the
start, and expect them, by the key of the module and global. A file with module:
NAME instead of hook tests the chart, and the script enabled when something is
expected of it; it runs no hook.

      values: {certIssuer: {internal: {...}}}   # of static values, other hooks
      configValues: {certIssuer: {...}}         # of the ConfigMap
      events:
      - beforeHelm: true         # afterHelm, beforeDeleteHelm, afterDeleteHelm;
                                 # of global hooks beforeAll, afterAll
      expect:
        values: {certIssuer: {...}}
        configValues: {certIssuer: {...}}
        valuesPatches: [{op: add, path: /certIssuer/internal/nodes, value: 1}]
        configValuesPatches: []
        rendered: [{apiVersion: apps/v1, kind: Deployment, spec: {...}}]
        enabled: false           # what the script says; the modules before it
        reason: no replicas      # are in values, global.enabledModules

A test fails, too, when a run of the hook fails, when the hook does not come to
rest, or when its last run, repeated, changes anything: the engine repeats a run
that fails half way. A conversion fails when it loses something: fields that the
schema of the version does not have, or what is not there any more once the hook
has converted the object back.` + aboutCluster,
		Example: `  operon hooks test
  operon hooks test test/hooks/copy.yaml --run 'a new namespace'
  operon hooks test --junit report.xml`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return o.test(cmd.Context(), a, args) },
	}
	f := cmd.Flags()
	f.StringVar(&o.run, "run", "", "run only the tests whose hook/name matches this regular expression")
	f.BoolVar(&o.update, "update", false, "write into the files what is the case where it is not what they expect")
	o.stage.bind(cmd)
	bindHooks(cmd, &o.dir)
	f.DurationVar(&o.timeout, "timeout", time.Minute, "how long a test may take")
	f.StringVar(&o.junit, "junit", "", "write a report for CI systems into this `file`, in JUnit's XML")
	command.BindOutput(cmd, &o.output)
	completeTests(a, cmd)
	return cmd
}

func (o *hooksTest) test(ctx context.Context, a *command.App, args []string) error {
	if err := command.CheckOutput(o.output); err != nil {
		return err
	}
	if err := checkTimeout(o.timeout, "1m"); err != nil {
		return err
	}
	if err := o.stage.validate(); err != nil {
		return err
	}
	files, err := o.files(a, args)
	if err != nil {
		return err
	}
	tests, err := o.tests(files)
	if err != nil {
		return err
	}
	outcomes, err := o.outcomes(ctx, a, tests)
	if err != nil {
		return err
	}
	if o.update {
		if files, outcomes, err = o.updated(ctx, a, args, files, outcomes); err != nil {
			return err
		}
	}
	if o.junit != "" {
		if err := writeJUnit(inDir(a, o.junit), outcomes); err != nil {
			return fault.Failed("", "%v", err)
		}
	}
	return printOutcomes(a, o.output, files, outcomes)
}

// updated writes into the files what is the case. What is reported then is what the
// tests, run again, say of the files as they are now: a value that is another one in
// each run shows there.
func (o *hooksTest) updated(ctx context.Context, a *command.App, args []string, files []*hooktest.File, outcomes []hooktest.Outcome) ([]*hooktest.File, []hooktest.Outcome, error) {
	wrote, err := updateTests(a, files, outcomes)
	if err != nil || !wrote {
		return files, outcomes, err
	}
	if files, err = o.files(a, args); err != nil {
		return nil, nil, err
	}
	tests, err := o.tests(files)
	if err != nil {
		return nil, nil, err
	}
	outcomes, err = o.outcomes(ctx, a, tests)
	return files, outcomes, err
}

// files reads the files of tests that are named, and those in folders.
func (o *hooksTest) files(a *command.App, args []string) ([]*hooktest.File, error) {
	if len(args) == 0 {
		args = []string{filepath.Join("test", "hooks")}
		if _, err := os.Stat(inDir(a, args[0])); errors.Is(err, fs.ErrNotExist) {
			return nil, fault.Usage(elsewhere(a, "name files of tests; operon hooks test --help tells how to write them"), "there is no folder %s", filepath.ToSlash(args[0]))
		}
	}
	var files []*hooktest.File
	for _, arg := range args {
		if err := o.isNoTest(a, arg); err != nil {
			return nil, err
		}
		read, err := hooktest.ReadAll(inDir(a, arg), filepath.ToSlash(arg))
		if err != nil {
			return nil, err
		}
		files = append(files, read...)
	}
	if len(files) == 0 {
		return nil, fault.Usage(testsOf(a, ""), "there are no tests in %s", filepath.ToSlash(args[0]))
	}
	return files, nil
}

// tests are those of the files that --run asks for.
func (o *hooksTest) tests(files []*hooktest.File) ([]*hooktest.Test, error) {
	pattern, err := regexp.Compile(o.run)
	if err != nil {
		return nil, fault.Usage("a regular expression of Go", "--run: %v", err)
	}
	var tests []*hooktest.Test
	for _, f := range files {
		for _, t := range f.Tests {
			if pattern.MatchString(f.Subject() + "/" + t.Name) {
				tests = append(tests, t)
			}
		}
	}
	if len(tests) == 0 {
		return nil, fault.Usage("it is compared with hook/name", "--run %s matches no test", o.run)
	}
	return tests, nil
}

// outcomes runs the tests on clusters in memory, or on an API server.
func (o *hooksTest) outcomes(ctx context.Context, a *command.App, tests []*hooktest.Test) ([]hooktest.Outcome, error) {
	where, err := o.find(a)
	if err != nil {
		return nil, err
	}
	sandbox, err := hooks.NewSandbox(where.dir, a.Getenv("PATH"), 10*time.Second)
	if err != nil {
		return nil, err
	}
	defer sandbox.Close()
	found, err := where.configs(ctx, sandbox, tests)
	if err != nil {
		return nil, err
	}
	suite := hooktest.Suite{Hooks: found, Env: sandbox.Env(), Timeout: o.timeout, Serial: o.stage.cluster, Addon: where.addon}
	crds, err := where.crds(a)
	if err != nil {
		return nil, err
	}
	if o.stage.cluster {
		stage, done, err := o.stage.open(ctx, a, where.dir, crds)
		if err != nil {
			return nil, err
		}
		defer done()
		suite.Backend = stage
		return suite.Run(ctx, tests)
	}
	program, err := os.Executable()
	if err != nil {
		return nil, fault.Failed("", "%v", err)
	}
	suite.Backend = hooktest.Memory{CRDs: crds, Program: program}
	return suite.Run(ctx, tests)
}

// testedHooks is where the hooks are that tests may be about.
type testedHooks struct {
	dir   string // of the hooks, or of all that an addon-operator has
	shown string
	all   []hooks.Hook
	addon *hooktest.Addon // nil for shell-operator

	installed []*unstructured.Unstructured // CRDs of modules
}

// find looks for hooks: in the folder of hooks, or among modules.
func (o *hooksTest) find(a *command.App) (testedHooks, error) {
	dir := inDir(a, o.dir)
	if d, isAddon := addonWith(a, o.dir); isAddon {
		return d.tested()
	}
	found, _, err := hooks.Discover(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return testedHooks{}, fault.Usage("name the folder with --hooks", "there is no folder %s", o.dir)
	}
	if err != nil {
		return testedHooks{}, err
	}
	return testedHooks{dir: dir, shown: o.dir, all: found}, nil
}

// crds are those that clusters of tests have.
func (w testedHooks) crds(a *command.App) ([]*unstructured.Unstructured, error) {
	if w.addon != nil {
		return w.installed, nil
	}
	return crds(a, a.Dir, nil)
}

// instead is a hint about a hook that there is not.
func (w testedHooks) instead(name string, names []string) string {
	info, err := os.Stat(filepath.Join(w.dir, filepath.FromSlash(name)))
	short := strings.TrimPrefix(name, path.Clean(filepath.ToSlash(w.shown))+"/")
	switch near := fault.Nearest(name, names); {
	case err == nil && info.Mode().IsRegular() && info.Mode()&0o111 == 0:
		return "that file is not executable: chmod +x " + path.Join(filepath.ToSlash(w.shown), name)
	case slices.Contains(names, short):
		return "did you mean " + short + "?"
	case near != "":
		return "did you mean " + near + "?"
	}
	return "an executable file in " + w.shown + ", by its path from there"
}

// configs asks the hooks of tests for their configurations; for a conversion all hooks,
// for the way to a version may lead over any that the engine does not refuse.
func (w testedHooks) configs(ctx context.Context, sandbox *hooks.Sandbox, tests []*hooktest.Test) ([]engine.Hook, error) {
	var wanted []hooks.Hook
	var names []string
	converts := w.addon == nil && slices.ContainsFunc(tests, (*hooktest.Test).Converts)
	tested := func(name string) bool {
		return slices.ContainsFunc(tests, func(t *hooktest.Test) bool { return t.File.Hook == name })
	}
	for _, h := range w.all {
		names = append(names, h.Name)
		if converts || tested(h.Name) {
			wanted = append(wanted, h)
		}
	}
	for _, t := range tests {
		if t.File.Module == "" && !slices.Contains(names, t.File.Hook) {
			return nil, fault.Usage(w.instead(t.File.Hook, names), "%s: %s has no hook %s", t.File.Path, w.shown, t.File.Hook)
		}
	}
	configs, found, err := hooks.Load(ctx, sandbox, wanted)
	if err == nil {
		err = refusal(slices.DeleteFunc(found, func(f finding.Finding) bool { return slices.Contains(names, f.File) && !tested(f.File) }))
	}
	if err != nil {
		return nil, err
	}
	var configured []engine.Hook
	for i, h := range wanted {
		if configs[i] != nil {
			configured = append(configured, engine.Hook{Hook: h, Config: configs[i]})
		}
	}
	return configured, nil
}

// runHookTests runs the tests of a project's hooks that match the pattern.
func runHookTests(ctx context.Context, a *command.App, pattern string) error {
	tests := &hooksTest{dir: "hooks", run: pattern, output: "text", timeout: time.Minute}
	return tests.test(ctx, a, nil)
}
