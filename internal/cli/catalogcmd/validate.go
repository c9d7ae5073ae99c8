package catalogcmd

import (
	"context"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/cli/command/images"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/olm/catalog"
	"github.com/spf13/cobra"
)

// validate holds the flags of operon catalog validate.
type validate struct {
	output string
	failOn command.FailOn
}

func newValidate(a *command.App) *cobra.Command {
	o := &validate{}
	cmd := &cobra.Command{
		Use:   "validate [DIR]",
		Short: "Validate a file-based catalog",
		Long: `Validate the catalog in a folder (default: catalog) by the rules of OLM:
packages, channels with one head and without cycles or stranded versions,
bundles, and deprecations. Each finding has a rule, a file and a line;
docs/catalogs.md lists the rules.

The exit code is 3 if there are errors, or with --fail-on warning also warnings.`,
		Example: `  operon catalog validate
  operon catalog validate ./my-catalog --fail-on warning --output sarif`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), a, cmd, args) },
	}
	o.failOn.Bind(cmd)
	command.BindFindingsOutput(cmd, &o.output)
	cmd.ValidArgsFunction = command.FolderArgument
	return cmd
}

// validateFrame is the JSON report.
type validateFrame struct {
	command.Frame
	Packages int               `json:"packages"`
	Channels int               `json:"channels"`
	Bundles  int               `json:"bundles"`
	Items    []finding.Finding `json:"items"`
}

func (o *validate) run(ctx context.Context, a *command.App, cmd *cobra.Command, args []string) error {
	if err := o.failOn.Check(); err != nil {
		return err
	}
	if err := command.CheckFindingsOutput(o.output); err != nil {
		return err
	}
	folder, err := oneFolder(a, cmd, args)
	if err != nil {
		return err
	}
	var c *catalog.Catalog
	found, err := images.Await(ctx, func() (found []finding.Finding, err error) {
		if c, found, err = read(a, folder); err != nil {
			return nil, err
		}
		return finding.Sort(append(found, finding.InFolder(folder, c.Validate())...)), nil
	})
	if err != nil {
		return err
	}
	packages, channels, bundles := len(c.Packages), len(c.Channels), len(c.Bundles)
	err = a.PrintFindings(o.output, command.Findings{
		Command: "operon catalog validate", FailOn: o.failOn.Severity(), Rules: catalog.Rules, Findings: found,
		JSON: validateFrame{command.NewFrame("catalog validate", "CatalogFindings"), packages, channels, bundles,
			append([]finding.Finding{}, found...)},
		Clean: command.Plural(packages, "package") + ", " + command.Plural(channels, "channel") + ", " +
			command.Plural(bundles, "bundle") + ": no problems found",
	})
	if err != nil {
		return err
	}
	return o.failOn.Verdict(found, "OLM would refuse the catalog")
}
