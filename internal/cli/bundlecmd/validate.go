package bundlecmd

import (
	"context"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/cli/command/images"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/image"
	"github.com/operon-dev/operon/internal/olm/bundlecheck"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
)

// formatAlpha is the JSON format of operator-sdk.
const formatAlpha = "json-alpha1"

// validate holds the flags of operon bundle validate.
type validate struct {
	images.RegistryFlags

	suites   []string
	selector string
	values   map[string]string
	list     bool
	previous string
	catalog  string
	external string
	output   string
	failOn   command.FailOn
}

func newValidate(a *command.App) *cobra.Command {
	o := &validate{}
	cmd := &cobra.Command{
		Use:   "validate [BUNDLE]",
		Short: "Validate a bundle by the rules of OLM",
		Long: `Validate a bundle by the rules of OLM, and of the suites that are selected.
BUNDLE is a folder (default: bundle), an OCI layout, a tarball of docker save,
or an image. The suite olmv1 has the rules of OLM v1; --list-optional lists all.

With the previous bundle, or with a catalog that has it, the command also
reports changes of CRDs that make the upgrade unsafe, as OLM v1 does.

Each finding has a rule and a file; docs/bundle-rules.md lists the rules. Most
rules are validators of the library that operator-sdk uses. The exit code is 3
if there are errors, or with --fail-on warning also warnings.`,
		Example: `  operon bundle validate
  operon bundle validate --suite operatorframework,olmv1 --fail-on warning
  operon bundle validate --previous ghcr.io/acme/fleet-bundle:v0.1.0
  operon bundle validate --catalog catalog --output sarif`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), a, args) },
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.suites, "suite", nil, "`suites` of rules to add: "+strings.Join(bundlecheck.SuiteNames(), ", "))
	f.StringVar(&o.previous, "previous", "", "bundle that is upgraded to this one: a folder, an OCI layout, a tarball or an image")
	f.StringVar(&o.catalog, "catalog", "", "`folder` of a catalog that has the bundle that is upgraded to this one")
	o.failOn.Bind(cmd)
	f.StringVarP(&o.output, "output", "o", command.FormatText, "output format: text, json, sarif, junit, github or json-alpha1")
	f.StringVar(&o.selector, "select-optional", "", "select suites as operator-sdk does, as in suite=operatorframework or name=multiarch")
	f.BoolVar(&o.list, "list-optional", false, "list the suites and validate nothing")
	f.StringToStringVar(&o.values, "optional-values", nil, "settings of suites, as `KEY=VALUE`, such as k8s-version=1.25")
	f.Lookup("optional-values").DefValue = "" // instead of []
	f.StringVar(&o.external, "alpha-select-external", "", "`programs` that validate the bundle, separated by "+string(os.PathListSeparator))
	o.Bind(cmd)
	command.CompleteValues(cmd, "suite", bundlecheck.SuiteNames()...)
	command.CompleteValues(cmd, "output", command.FormatText, command.FormatJSON, command.FormatSARIF,
		command.FormatJUnit, command.FormatGitHub, formatAlpha)
	command.CompleteValues(cmd, "select-optional", selectors()...)
	command.CompleteFlag(cmd, "optional-values", cobra.FixedCompletions([]string{"k8s-version=", "container-tools="},
		cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace))
	command.CompleteFolder(cmd, "previous")
	command.CompleteFolder(cmd, "catalog")
	cmd.ValidArgsFunction = command.PlaceArgument
	f.SortFlags = false
	return cmd
}

func (o *validate) run(ctx context.Context, a *command.App, args []string) error {
	if o.list {
		return listSuites(a)
	}
	suites, err := o.check(args)
	if err != nil {
		return err
	}
	place := a.ProjectFolder("bundle")
	if len(args) > 0 {
		place = args[0]
	} else if _, err := os.Stat(a.Path(place)); err != nil {
		return fault.Usage("run operon bundle generate, or name a bundle", "the folder %s does not exist", place)
	}
	files, err := images.BundleFiles(ctx, a, place, o.Registry)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fault.Usage("name a folder or image with manifests and metadata, as operon bundle generate writes it", "%s is not a bundle", place)
	}
	previous, err := o.findPrevious(ctx, a, files)
	if err != nil {
		return err
	}
	found, err := images.Await(ctx, func() ([]finding.Finding, error) {
		return bundlecheck.Check(files, bundlecheck.Options{Suites: suites, Values: o.values, Previous: previous}), nil
	})
	if err != nil {
		return err
	}
	if o.external != "" {
		more, err := runExternal(ctx, a, strings.Split(o.external, string(os.PathListSeparator)), place, files)
		if err != nil {
			return err
		}
		found = finding.Sort(append(found, more...))
	}
	if info, err := os.Stat(a.Path(place)); err == nil && info.IsDir() && !image.IsLayout(a.Path(place)) {
		found = finding.InFolder(place, found)
	}
	if err := o.print(a, place, suites, found); err != nil {
		return err
	}
	return o.failOn.Verdict(found, place+" is invalid")
}

// check validates the command line, and returns the selected suites.
func (o *validate) check(args []string) ([]string, error) {
	if len(args) > 1 {
		return nil, fault.Usage("name one bundle", "operon bundle validate accepts one bundle, got %d", len(args))
	}
	if err := o.failOn.Check(); err != nil {
		return nil, err
	}
	if o.previous != "" && o.catalog != "" {
		return nil, fault.Usage("use one of them", "--previous and --catalog both name the previous bundle")
	}
	if err := command.CheckFindingsOutput(o.output, formatAlpha); err != nil {
		return nil, err
	}
	if version, ok := o.values["k8s-version"]; ok {
		if _, err := semver.ParseTolerant(version); err != nil {
			return nil, fault.Usage("use a version such as 1.25", "k8s-version %q is not a version", version)
		}
	}
	if tool, ok := o.values["container-tools"]; ok && !slices.Contains([]string{"docker", "podman", "none"}, tool) {
		return nil, fault.Usage("valid values: docker, podman, none", "unknown container-tools %q", tool)
	}
	suites, err := o.selected()
	if err != nil {
		return nil, err
	}
	return suites, o.checkValues(suites)
}

// readers are the suites that read a setting.
var readers = map[string][]string{
	"container-tools": {"multiarch"},
	"index-path":      {"community"},
	"k8s-version":     {"alpha-deprecated-apis", "operatorhub", "operatorhubv2"},
}

// checkValues refuses settings that no selected suite reads.
func (o *validate) checkValues(suites []string) error {
	for _, key := range slices.Sorted(maps.Keys(o.values)) {
		of, known := readers[key]
		if !known {
			return fault.Usage("valid keys: "+strings.Join(slices.Sorted(maps.Keys(readers)), ", "), "unknown key %q in --optional-values", key)
		}
		if !slices.ContainsFunc(suites, func(name string) bool { return slices.Contains(of, name) }) {
			return fault.Usage("add --suite "+of[0], "no selected suite uses %s in --optional-values", key)
		}
	}
	return nil
}

// selected returns the names of the selected suites.
func (o *validate) selected() ([]string, error) {
	var names []string
	for _, name := range o.suites {
		suites := bundlecheck.SuitesOf(name)
		if suites == nil {
			return nil, fault.Usage("suites: "+strings.Join(bundlecheck.SuiteNames(), ", "), "unknown suite %q", name)
		}
		names = append(names, suites...)
	}
	if o.selector == "" {
		return names, nil
	}
	selector, err := labels.Parse(o.selector)
	if err != nil {
		return nil, fault.Usage("write it as for kubectl, as in suite=operatorframework", "--select-optional %s: %v", o.selector, err)
	}
	found := false
	for _, s := range bundlecheck.Suites {
		set := labels.Set{"name": s.Name}
		if s.Group != "" {
			set["suite"] = s.Group
		}
		if selector.Matches(set) {
			found = true
			names = append(names, s.Name)
		}
	}
	if !found {
		return nil, fault.Usage("operon bundle validate --list-optional lists all", "--select-optional %s selects no suite", o.selector)
	}
	return names, nil
}

// listSuites prints the suites.
func listSuites(a *command.App) error {
	rows := [][]string{{"NAME", "SUITE", "DESCRIPTION"}}
	for _, s := range bundlecheck.Suites {
		summary := s.Summary
		if s.Deprecated {
			summary += " (deprecated)"
		}
		rows = append(rows, []string{s.Name, s.Group, summary})
	}
	return a.PrintTable(rows)
}

// bundleFrame is the JSON report.
type bundleFrame struct {
	command.Frame
	Bundle string            `json:"bundle"`
	Suites []string          `json:"suites"`
	Items  []finding.Finding `json:"items"`
}

// alphaResult is the JSON report of operator-sdk.
type alphaResult struct {
	Passed  bool          `json:"passed"`
	Outputs []alphaOutput `json:"outputs"`
}

type alphaOutput struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

func (o *validate) print(a *command.App, place string, suites []string, found []finding.Finding) error {
	if o.output == formatAlpha {
		result := alphaResult{!finding.HasErrors(found), []alphaOutput{}}
		for _, f := range found {
			result.Outputs = append(result.Outputs, alphaOutput{f.Severity.String(), f.Position() + ": " + f.Message})
		}
		return command.PrintJSON(a.Out, result)
	}
	rules := bundlecheck.Rules()
	described := make([]finding.Rule, len(rules))
	for i, r := range rules {
		described[i] = r.Rule
	}
	return a.PrintFindings(o.output, command.Findings{
		Command: "operon bundle validate", FailOn: o.failOn.Severity(), Rules: described, Findings: found,
		JSON: bundleFrame{command.NewFrame("bundle validate", "BundleFindings"), place,
			append([]string{}, suites...), append([]finding.Finding{}, found...)},
		Clean: place + ": no problems found",
	})
}

// selectors returns the labels of suites as --select-optional selects them.
func selectors() []string {
	var all []string
	for _, name := range bundlecheck.SuiteNames() {
		all = append(all, "name="+name)
	}
	return append(all, "suite=operatorframework")
}
