package chartcmd

import (
	"context"
	"errors"
	"slices"

	"github.com/operon-dev/operon/internal/chart"
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/helm/rbac"
	"github.com/operon-dev/operon/internal/helm/schema"
	"github.com/operon-dev/operon/internal/helm/watches"
	"github.com/spf13/cobra"
)

// ruleChart is the rule of charts that cannot be loaded.
var ruleChart = finding.Rule{Name: "chart-load", Severity: finding.Error, Summary: "Helm can load the chart and its dependencies"}

// validate holds the flags of operon chart validate.
type validate struct {
	inputs
	failOn command.FailOn
	output string
}

func newValidate(a *command.App) *cobra.Command {
	o := &validate{}
	cmd := &cobra.Command{
		Use:   "validate [folder]",
		Short: "Validate charts and the watches.yaml of an operator",
		Long: `Validate the chart in the folder, or the watches.yaml there and all charts that
it names. The default is the project or, in Go, the chart of its plugin helm.
The command renders the templates with many sets of values, as chart rbac does,
and does not contact a cluster. It reports

    watches.yaml  unknown keys, invalid values, kinds that occur twice, kinds
                  that no CRD of the project serves
    charts        files that Helm cannot load or its linter refuses, missing or
                  circular dependencies, values in values.yaml, samples,
                  overrideValues and --values that values.schema.json refuses
    templates     values that they do not render with, invalid objects, and
                  immutable fields that the next version would change
    permissions   objects outside of the operator's namespace, and roles that
                  grant more than an operator should have

The exit code is 3 if there are errors, or with --fail-on warning also warnings.`,
		Example: `  operon chart validate
  operon chart validate charts/web --namespaced --output sarif`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), a, args) },
	}
	o.bind(cmd)
	o.failOn.Bind(cmd)
	command.BindFindingsOutput(cmd, &o.output)
	return cmd
}

// validateFrame is the JSON report.
type validateFrame struct {
	command.Frame
	Items []finding.Finding `json:"items"`
}

func (o *validate) run(ctx context.Context, a *command.App, args []string) error {
	if err := o.failOn.Check(); err != nil {
		return err
	}
	if err := command.CheckFindingsOutput(o.output); err != nil {
		return err
	}
	s, err := o.load(a, args)
	if err != nil {
		return err
	}
	if err := s.readSamples(a); err != nil {
		return err
	}
	shown, done := a.ShowProgress(ctx)
	found, err := s.validate(shown)
	done()
	if err != nil {
		return err
	}
	err = a.PrintFindings(o.output, command.Findings{
		Command: "operon chart validate", FailOn: o.failOn.Severity(), Findings: found,
		Rules: slices.Concat(watches.Rules(), []finding.Rule{
			ruleWatchCRD, ruleUnwatched, ruleChart, ruleSchema, ruleValues, ruleUnknown,
		}, rbac.Rules, schema.Rules()),
		JSON:  validateFrame{command.NewFrame("chart validate", "ChartFindings"), append([]finding.Finding{}, found...)},
		Clean: s.name() + ": no problems found",
	})
	if err != nil {
		return err
	}
	return o.failOn.Verdict(found, s.name()+" is invalid")
}

// aboutReleases are the rules of charts that an operator installs for objects: the permissions that the operator
// needs for them, and the CRDs made of their values.
var aboutReleases = append([]finding.Rule{rbac.RuleClusterScope, rbac.RuleEscalation}, schema.Rules()...)

// validate returns the findings about all charts.
func (s *subjects) validate(ctx context.Context) ([]finding.Finding, error) {
	found := slices.Clone(s.findings)
	if !s.own {
		found = append(found, s.checkKinds()...)
	}
	for _, one := range s.charts {
		more, err := one.validate(ctx)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	if s.own {
		found = slices.DeleteFunc(found, func(f finding.Finding) bool {
			return slices.ContainsFunc(aboutReleases, func(r finding.Rule) bool { return r.Name == f.Rule })
		})
	}
	return finding.Sort(found), nil
}

// validate returns the findings about a chart.
func (s subject) validate(ctx context.Context) ([]finding.Finding, error) {
	err := s.err
	if err == nil {
		err = chart.CheckInstallable(s.chart)
	}
	rule := ruleChart
	var r *rbac.Report
	if err == nil {
		rule = rbac.RuleRender
		r, err = rbac.Derive(ctx, s.chart, s.options)
	}
	if f, isChart := findingOf(rule, err); isChart {
		return finding.InFolder(s.options.Folder, []finding.Finding{f}), nil
	} else if err != nil {
		return nil, err
	}
	return slices.Concat(r.Findings, finding.InFolder(s.options.Folder, rbac.Lint(s.chart, s.options)), s.values(ctx)), nil
}

// findingOf returns an error of a chart as a finding. Other errors are none: then isChart is false.
func findingOf(rule finding.Rule, err error) (f finding.Finding, isChart bool) {
	var e *chart.Error
	if !errors.As(err, &e) {
		return f, false
	}
	f = rule.At(e.File, e.Line, e.Column, "%s", e.Msg)
	f.Fix = fault.HintOf(err)
	return f, true
}
