package chartcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/helm/rbac"
	"github.com/operon-dev/operon/internal/hooks/objects"
	"github.com/operon-dev/operon/internal/roles"
	"github.com/operon-dev/operon/internal/term"
	"github.com/spf13/cobra"
)

// formatYAML is the output format of the roles as a file.
const formatYAML = "yaml"

// rbacOptions holds the flags of operon chart rbac.
type rbacOptions struct {
	inputs
	check  bool
	output string
}

func newRBAC(a *command.App) *cobra.Command {
	o := &rbacOptions{}
	cmd := &cobra.Command{
		Use:   "rbac [folder]",
		Short: "Derive least-privilege RBAC from charts",
		Long: `Derive the RBAC rules that a Helm operator needs to install, upgrade, repair and
uninstall its charts, and print each rule with the templates that need it. The
folder has a chart, or the watches.yaml of an operator (default: the project).

The command renders the templates with their defaults, each boolean flipped,
ci/*values.yaml and the files of --values. It does not contact a cluster. What
templates could render and no set of values shows is a warning.

--check compares the rules with ` + rbac.Path + ` of the project, and exits
with 3 if rules are missing there or are not needed.`,
		Example: `  operon chart rbac
  operon chart rbac --check
  operon chart rbac charts/web --values production.yaml --output yaml`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), a, args) },
	}
	o.bind(cmd)
	cmd.Flags().BoolVar(&o.check, "check", false, "exit with 3 if "+rbac.Path+" has other rules")
	command.BindOutput(cmd, &o.output, formatYAML)
	return cmd
}

func (o *rbacOptions) run(ctx context.Context, a *command.App, args []string) error {
	if err := command.CheckOutput(o.output, formatYAML); err != nil {
		return err
	}
	if o.check && o.output == formatYAML {
		return fault.Usage("use only one of them", "--output yaml prints the roles instead of checking them")
	}
	s, err := o.load(a, args)
	if err != nil {
		return err
	}
	if i := finding.FirstError(s.findings); i >= 0 {
		f := s.findings[i]
		return fault.Usage(f.Fix, "%s: %s", f.Position(), f.Message)
	}
	if o.check && s.root == "" {
		return fault.Usage("print the rules without --check", "%s is not a project, so there is no file with roles", s.place)
	}
	shown, done := a.ShowProgress(ctx)
	reports, err := s.derive(shown)
	done()
	if err != nil {
		return err
	}
	list := rbac.Roles(o.namespaced || s.config.Namespaced, reports...)
	if o.check {
		return o.compare(a, s, list)
	}
	return o.print(a, list, reports)
}

// derive returns the permissions that each chart needs.
func (s subjects) derive(ctx context.Context) ([]*rbac.Report, error) {
	var reports []*rbac.Report
	for _, one := range s.charts {
		if one.err != nil {
			return nil, one.located(one.err)
		}
		r, err := rbac.Derive(ctx, one.chart, one.options)
		if err != nil && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			return nil, one.located(err)
		}
		reports = append(reports, r)
	}
	return reports, nil
}

// rbacFrame is the JSON report.
type rbacFrame struct {
	command.Frame
	Sets     []rbac.Set         `json:"sets"`
	Findings []finding.Finding  `json:"findings"`
	Items    []roles.RoleReport `json:"items"`
}

func (o *rbacOptions) print(a *command.App, list roles.List, reports []*rbac.Report) error {
	frame := rbacFrame{command.NewFrame("chart rbac", "ChartRoles"), []rbac.Set{}, []finding.Finding{}, list.Report(roles.Scaffolded)}
	failed := 0
	for _, r := range reports {
		frame.Sets = append(frame.Sets, r.Sets...)
		frame.Findings = append(frame.Findings, r.Findings...)
		failed += len(r.Failed())
	}
	if o.output == command.FormatJSON {
		return command.PrintJSON(a.Out, frame)
	}
	text := list.Text(roles.Scaffolded, func(origin string) string { return command.Painter(a.Out, a.Getenv)(term.Faint, origin) })
	if o.output == formatYAML {
		content, err := list.File(roles.Scaffolded)
		if err != nil {
			return err
		}
		text = string(content)
	}
	if err := a.Print(text); err != nil {
		return err
	}
	for _, f := range frame.Findings {
		a.Notef("%s", f.Text(command.Painter(a.Err, a.Getenv)))
	}
	if failed > 0 {
		a.Notef("note: the charts do not render with %s of %d; --output json has the reasons", command.Plural(failed, "set of values"), len(frame.Sets))
	}
	return nil
}

// checkFrame is the JSON report of --check.
type checkFrame struct {
	command.Frame
	Missing  []string `json:"missing"`
	Unneeded []string `json:"unneeded"`
}

// compare compares the derived roles with the project's.
func (o *rbacOptions) compare(a *command.App, s subjects, list roles.List) error {
	file := filepath.Join(s.root, rbac.Path)
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return fault.Differences(s.remedy(), "%s does not exist", rbac.Path)
	}
	existing, err := objects.Read(file, rbac.Path)
	if err != nil {
		return fault.Usage(s.remedy(), "%v", err)
	}
	missing, unneeded, err := rbac.Compare(list, existing)
	if err != nil {
		return fault.Usage(s.remedy(), "%s: %v", rbac.Path, err)
	}
	if o.output == command.FormatJSON {
		frame := command.NewFrame("chart rbac", "ChartRoleCheck")
		err := command.PrintJSON(a.Out, checkFrame{frame, append([]string{}, missing...), append([]string{}, unneeded...)})
		if err != nil {
			return err
		}
	} else {
		for _, m := range joinVerbs(missing) {
			_ = a.Print(fmt.Sprintf("missing: %s\n", m))
		}
		for _, u := range joinVerbs(unneeded) {
			_ = a.Print(fmt.Sprintf("not needed: %s\n", u))
		}
	}
	if len(missing)+len(unneeded) == 0 {
		a.Notef("%s is up to date", rbac.Path)
		return nil
	}
	return fault.Differences(s.remedy(), "%s: %s missing, %s not needed", rbac.Path,
		command.Plural(len(missing), "permission"), command.Plural(len(unneeded), "permission"))
}

// remedy says how to correct the file with the roles.
func (s subjects) remedy() string {
	if s.config.Version == "" {
		return "write it with operon chart rbac --output yaml"
	}
	return "run operon generate, or edit the file; if another tool wrote it, delete it first"
}
