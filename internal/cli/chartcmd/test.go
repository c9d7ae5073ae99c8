package chartcmd

import (
	"context"
	"os"
	"path/filepath"

	"github.com/operon-dev/operon/internal/chart"
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/cli/command/testplane"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/helm/charttest"
	"github.com/operon-dev/operon/internal/helm/rbac"
	"github.com/operon-dev/operon/internal/helm/watches"
	"github.com/operon-dev/operon/internal/hooks/hookproject"
	"github.com/operon-dev/operon/internal/hooks/objects"
	"github.com/operon-dev/operon/internal/hooks/testcluster"
	"github.com/operon-dev/operon/internal/hooks/testfile"
	"github.com/operon-dev/operon/internal/project"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// testOptions holds the flags of operon chart test.
type testOptions struct {
	pattern      string
	output       string
	controlPlane testplane.Flags
}

func newTest(a *command.App) *cobra.Command {
	o := &testOptions{}
	cmd := &cobra.Command{
		Use:   "test [files]",
		Short: "Run chart tests",
		Long: `Run the tests in YAML files, or in all files below the folders that are named
(default: ` + charttest.Dir + `). A test lists custom resources, what happens to them,
and the expected objects or error:

    kind: Galley
    tests:
    - name: the Deployment has the replicas of the Galley
      given:
      - apiVersion: ship.example.org/v1alpha1
        kind: Galley
        metadata: {name: a}
        spec: {replicas: 3}
      expect:
        objects:
        - {apiVersion: apps/v1, kind: Deployment, spec: {replicas: 3}}

docs/chart-tests.md describes all keys.

The tests run on a real API server with the CRDs in config/crd/bases, one at a
time. The operator has the RBAC rules in ` + rbac.Path + `, and installs,
upgrades and uninstalls releases as helm-operator does, with the options in
watches.yaml.

` + testplane.Help,
		Example: `  operon chart test
  operon chart test test/charts/galley.yaml --run replicas`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), a, args) },
	}
	cmd.Flags().StringVar(&o.pattern, "run", "", "run only the tests whose kind/name matches this regular expression")
	o.controlPlane.Bind(a, cmd)
	command.BindOutput(cmd, &o.output)
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
	}
	command.CompleteFlag(cmd, "run", func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return charttest.Patterns(testFiles(a, args), a.Path), cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}

// RunTests runs the tests of a project's charts that match a pattern, for operon test.
func RunTests(ctx context.Context, a *command.App, pattern string) error {
	return (&testOptions{pattern: pattern, output: command.FormatText}).run(ctx, a, nil)
}

// testFiles returns the files and folders that the user names, or the default.
func testFiles(a *command.App, args []string) []string {
	if len(args) > 0 {
		return args
	}
	return []string{a.ProjectFolder(charttest.Dir)}
}

func (o *testOptions) checkFlags() error {
	if err := o.controlPlane.Check(); err != nil {
		return err
	}
	return command.CheckOutput(o.output)
}

func (o *testOptions) run(ctx context.Context, a *command.App, args []string) error {
	if err := o.checkFlags(); err != nil {
		return err
	}
	if file := a.ProjectFolder(watches.File); !exists(a.Path(file)) {
		config, err := readConfig(filepath.Dir(a.Path(file)))
		if err != nil {
			return err
		}
		hint := forHelmOperators
		if a.HasGo(config) {
			hint = "operon chart validate validates the chart of an operator in Go, and operon test runs its tests"
		}
		return fault.Usage(hint, "there is no %s", file)
	}
	s, err := (&inputs{}).load(a, nil)
	if err != nil {
		return err
	}
	operator, err := s.operator()
	if err != nil {
		return err
	}
	if len(operator.Charts) == 0 {
		a.Notef("%s has no kinds yet, so there is nothing to test", watches.File)
		return o.print(a, nil)
	}
	files, err := charttest.Find(testFiles(a, args), a.Path)
	if err != nil {
		return err
	}
	if err := operator.Check(files); err != nil {
		return err
	}
	tests, err := testfile.Match(charttest.Tests(files), (*charttest.Test).FullName, o.pattern, "KIND/NAME")
	if err != nil {
		return err
	}
	backend, release, err := o.open(ctx, a, s)
	if err != nil {
		return err
	}
	defer release()
	var outcomes []charttest.Outcome
	for _, t := range tests {
		outcome, err := operator.Run(ctx, t, backend)
		if err != nil {
			return err
		}
		outcomes = append(outcomes, outcome)
	}
	return o.print(a, outcomes)
}

// operator returns the operator of a project with watches.yaml.
func (s subjects) operator() (charttest.Operator, error) {
	var op charttest.Operator
	if i := finding.FirstError(s.findings); i >= 0 {
		f := s.findings[i]
		return op, fault.Usage(f.Fix, "%s: %s", f.Position(), f.Message)
	}
	for _, one := range s.charts {
		err := one.err
		if err == nil {
			err = chart.CheckInstallable(one.chart)
		}
		if err != nil {
			located, _ := chart.InFolder(one.options.Folder, err)
			return op, fault.Usage("correct the chart; operon chart validate lists all problems", "%v", located)
		}
		op.Charts, op.Kinds = append(op.Charts, charttest.Chart{Watch: one.watch, Chart: one.chart}), one.options.Kinds
	}
	if s.config.Namespaced {
		op.Namespace = s.config.Namespace()
	}
	runtime, err := s.config.ChartRuntime()
	op.Texts = runtime == project.ImageRuntime
	return op, err
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// open opens the API server for the tests. The caller calls release when they end.
func (o *testOptions) open(ctx context.Context, a *command.App, s subjects) (backend *testcluster.Backend, release func(), err error) {
	crds, err := hookproject.CRDs(s.root, s.root, nil)
	if err != nil {
		return nil, nil, err
	}
	var roles []*unstructured.Unstructured
	file := filepath.Join(s.root, filepath.FromSlash(rbac.Path))
	if exists(file) {
		if roles, err = objects.Read(file, rbac.Path); err != nil {
			return nil, nil, fault.Usage("correct the file, or write it again with operon chart rbac", "%v", err)
		}
	}
	if len(roles) == 0 {
		return nil, nil, fault.Usage("run operon generate", "%s does not exist: the operator has its rules in tests", rbac.Path)
	}
	return o.controlPlane.Options(a).Open(ctx, s.root, s.config.Namespace(), crds, []testcluster.Account{{Roles: roles, Strict: true}})
}

// testsFrame is the JSON report.
type testsFrame struct {
	command.Frame
	Items []testReport `json:"items"`
}

// testReport is the outcome of a test in the JSON report.
type testReport struct {
	File     string             `json:"file"`
	Line     int                `json:"line"`
	Kind     string             `json:"kind"`
	Name     string             `json:"name"`
	Passed   bool               `json:"passed"`
	Failures []testfile.Failure `json:"failures"`
}

// print prints the report. Failed tests are an error.
func (o *testOptions) print(a *command.App, outcomes []charttest.Outcome) error {
	frame := testsFrame{command.NewFrame("chart test", "ChartTests"), []testReport{}}
	var results []testfile.Result
	failed := 0
	for _, each := range outcomes {
		r := each.Result()
		results = append(results, r)
		failures := append([]testfile.Failure{}, r.Failures...)
		frame.Items = append(frame.Items, testReport{r.File, r.Line, r.Subject, r.Name, each.Passed(), failures})
		if !each.Passed() {
			failed++
		}
	}
	var err error
	if o.output == command.FormatJSON {
		err = command.PrintJSON(a.Out, frame)
	} else {
		err = a.Print(testfile.Text(results))
	}
	if err != nil {
		return err
	}
	return testfile.Verdict(failed, len(outcomes))
}
