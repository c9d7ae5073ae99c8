package bundlecmd

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"slices"

	"github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/cli/command/images"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/input"
	"github.com/operon-dev/operon/internal/olm/bundle"
	"github.com/operon-dev/operon/internal/olm/bundlecheck"
	"github.com/operon-dev/operon/internal/olm/scorecard"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
)

// formatXUnit is the format of reports that CI systems read.
const formatXUnit = "xunit"

// scorecardOptions holds the flags of operon scorecard.
type scorecardOptions struct {
	images.RegistryFlags

	pods     podFlags
	config   string
	selector string
	list     bool
	output   string
}

// NewScorecard returns the command scorecard.
func NewScorecard(a *command.App) *cobra.Command {
	o := &scorecardOptions{}
	cmd := &cobra.Command{
		Use:   "scorecard [BUNDLE]",
		Short: "Run the tests of a bundle",
		Long: `Run the tests that a bundle lists in tests/scorecard/config.yaml. BUNDLE is a
folder (default: bundle), an OCI layout, a tarball of docker save, or an image.

The tests in operator-sdk's image scorecard-test run in this process: they need
neither a cluster nor the image. Tests in other images run as pods in the
cluster of the kubeconfig; what the command created is deleted at the end.
Results and formats are the same as in operator-sdk scorecard; docs/scorecard.md
describes the tests.

The exit code is 1 if a test does not pass, and 2 if the bundle cannot be read.`,
		Example: `  operon scorecard
  operon scorecard --list --selector suite=olm
  operon scorecard ghcr.io/acme/fleet-bundle:v0.1.0 --output xunit`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), a, args) },
	}
	f := cmd.Flags()
	f.StringVarP(&o.config, "config", "c", "", "configuration of the tests; by default the one in the bundle")
	f.StringVarP(&o.selector, "selector", "l", "", "select tests by their labels, as in suite=olm")
	f.BoolVarP(&o.list, "list", "L", false, "list the selected tests without running them")
	f.StringVarP(&o.output, "output", "o", command.FormatText, "output format: text, json or xunit")
	command.CompleteValues(cmd, "output", command.FormatText, command.FormatJSON, formatXUnit)
	o.Bind(cmd)
	o.pods.bind(a, cmd)
	command.CompleteValues(cmd, "selector", "suite=basic", "suite=olm")
	cmd.ValidArgsFunction = command.PlaceArgument
	return cmd
}

func (o *scorecardOptions) run(ctx context.Context, a *command.App, args []string) error {
	if len(args) > 1 {
		return fault.Usage("name one bundle", "operon scorecard accepts one bundle, got %d", len(args))
	}
	if err := command.CheckOutput(o.output, formatXUnit); err != nil {
		return err
	}
	if err := o.pods.check(); err != nil {
		return err
	}
	selector, err := labels.Parse(o.selector)
	if err != nil {
		return fault.Usage("write it as for kubectl, as in suite=olm", "--selector %s: %v", o.selector, err)
	}
	place := a.ProjectFolder("bundle")
	if len(args) > 0 {
		place = args[0]
	} else if _, err := os.Stat(a.Path(place)); err != nil {
		return fault.Usage("run operon bundle generate, or name a bundle", "the folder %s does not exist", place)
	}
	files, b, err := images.OpenBundleFiles(ctx, a, place, o.Registry)
	if err != nil {
		return err
	}
	config, err := o.configuration(a, place, files, b)
	if err != nil {
		return err
	}
	stages := scorecard.Select(config, selector)
	if o.selector != "" && len(scorecard.List(stages).Items) == 0 && !o.list {
		return fault.Failed("operon scorecard --list lists the tests", "--selector %s selects no test", o.selector)
	}
	if o.list {
		return o.print(a, scorecard.List(stages))
	}
	builtin := scorecard.Builtin{Bundle: b, Validate: func() (errors, warnings []string) { return validateForOLM(files) }}
	results, failed := o.pods.run(ctx, a, config.ServiceAccount, files, stages, builtin)
	if len(results.Items) > 0 || failed == nil {
		err = o.print(a, results)
	}
	if err := cmp.Or(failed, err); err != nil {
		return err
	}
	if tests, failed := scorecard.Counts(results); failed > 0 {
		return fmt.Errorf("%d of %s failed", failed, command.Plural(tests, "test"))
	}
	return nil
}

// configuration reads the configuration of the tests.
func (o *scorecardOptions) configuration(
	a *command.App, place string, files map[string][]byte, b *bundle.Bundle,
) (v1alpha3.Configuration, error) {
	name := o.config
	var src []byte
	if name != "" {
		var err error
		if src, err = input.ReadFile(a.Path(name), input.Text); err != nil {
			return v1alpha3.Configuration{}, fault.Usage("name the configuration of a scorecard", "--config %s: %v", name, fault.Reason(err))
		}
	} else {
		name = b.ScorecardFile()
		var ok bool
		if src, ok = files[name]; !ok {
			return v1alpha3.Configuration{}, fault.Usage("run operon edit --plugins olm and operon bundle generate, or name a configuration with --config",
				"%s has no tests: it lacks %s", place, name)
		}
		name = path.Join(place, name)
	}
	return scorecard.ReadConfiguration(name, src)
}

// print prints tests and their results on stdout.
func (o *scorecardOptions) print(a *command.App, list v1alpha3.TestList) error {
	text, err := scorecard.Text(list), error(nil)
	switch o.output {
	case command.FormatJSON:
		text, err = scorecard.JSON(list)
	case formatXUnit:
		text, err = scorecard.XUnit(list)
	}
	if err == nil {
		err = a.Print(text)
	}
	return err
}

// validateForOLM returns the errors and warnings of operon bundle validate. Those that
// operator-sdk's scorecard does not have are warnings, so that verdicts agree.
func validateForOLM(files map[string][]byte) (errors, warnings []string) {
	only := []string{bundlecheck.RuleObjectKind.Name, bundlecheck.RuleObjectMetadata.Name, bundlecheck.RuleScorecardConfig.Name}
	for _, f := range bundlecheck.Check(files, bundlecheck.Options{}) {
		text := f.Position() + ": " + f.Message + " (" + f.Rule + ")"
		if f.IsError() && !slices.Contains(only, f.Rule) {
			errors = append(errors, text)
		} else {
			warnings = append(warnings, text)
		}
	}
	return errors, warnings
}
