package hookscmd

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks"
	"github.com/operon-dev/operon/internal/hooks/hookproject"
	"github.com/spf13/cobra"
)

// validateOptions holds the flags of operon hooks validate.
type validateOptions struct {
	output  string
	disable []string
	timeout time.Duration
	written hookproject.Output
}

func newValidate(a *command.App) *cobra.Command {
	o := &validateOptions{}
	cmd := &cobra.Command{
		Use:   "validate [folder]",
		Short: "Validate hooks and their configuration",
		Long: `Run each hook in a folder (default: hooks) with --config, and validate what it
prints by the rules of shell-operator, which does not start if one hook is
invalid. The command does not contact a cluster. A hook runs with an empty home,
without a kubeconfig and without input; /shell_lib.sh is available as in the
engine's image. A hook is still a program: validate only hooks that you would
run.

If the working folder has modules or global-hooks, the command validates those
by the rules of addon-operator: the bindings of hooks, names, the values of each
module against its schemas, and its chart rendered with these values. The folder
can be the folder of all modules or of one module.

--patches, --metrics, --admission and --conversion validate files that a hook
wrote. With them, hooks are validated only if a folder is named.

An error is something that the engine rejects; a warning is something that it
accepts but that is probably a mistake. Disable a warning by its rule. The exit
code is 3 if there are errors or warnings. docs/hook-rules.md lists all rules.`,
		Example: `  operon hooks validate
  operon hooks validate modules/010-registry
  operon hooks validate images/hooks --disable legacy-version --output sarif
  operon hooks validate --patches patch.json --metrics metrics.json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return o.validate(a, cmd, args) },
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.disable, "disable", nil, "`rules` whose warnings are not reported")
	f.StringArrayVar(&o.written.Patches, "patches", nil, "`file` that a hook wrote to $KUBERNETES_PATCH_PATH; may be repeated")
	f.StringArrayVar(&o.written.Metrics, "metrics", nil, "`file` that a hook wrote to $METRICS_PATH; may be repeated")
	f.StringArrayVar(&o.written.Admission, "admission", nil, "`file` that a hook wrote to $ADMISSION_RESPONSE_PATH or $VALIDATING_RESPONSE_PATH; may be repeated")
	f.StringArrayVar(&o.written.Conversion, "conversion", nil, "`file` that a hook wrote to $CONVERSION_RESPONSE_PATH; may be repeated")
	bindConfigTimeout(cmd, &o.timeout)
	command.BindFindingsOutput(cmd, &o.output)
	cmd.ValidArgsFunction = command.FolderArgument
	command.CompleteList(cmd, "disable", ruleNames(finding.Warning)...)
	return cmd
}

// ruleNames returns the names of all rules of a severity.
func ruleNames(s finding.Severity) []string {
	var names []string
	for _, r := range hookproject.Rules() {
		if r.Severity == s {
			names = append(names, r.Name)
		}
	}
	return names
}

func (o *validateOptions) checkFlags(args []string) error {
	if len(args) > 1 {
		return fault.Usage("validate one folder at a time", "one folder at most, got %d", len(args))
	}
	for _, name := range o.disable {
		if slices.Contains(ruleNames(finding.Error), name) {
			return fault.Usage("fix the error", "--disable %s: the engine rejects this, so it cannot be disabled", name)
		}
		if names := ruleNames(finding.Warning); !slices.Contains(names, name) {
			hint := "rules: " + strings.Join(names, ", ")
			if near := fault.Nearest(name, names); near != "" {
				hint = "did you mean " + near + "?"
			}
			return fault.Usage(hint, "--disable %s: there is no such rule", name)
		}
	}
	if err := checkTimeout(o.timeout, "10s"); err != nil {
		return err
	}
	return command.CheckFindingsOutput(o.output)
}

func (o *validateOptions) validate(a *command.App, cmd *cobra.Command, args []string) error {
	if err := o.checkFlags(args); err != nil {
		return err
	}
	written, err := o.written.Validate(a.Dir)
	if err != nil {
		return err
	}
	var v hookproject.Validation
	if o.written.Count() == 0 || len(args) > 0 {
		folder := strings.Join(args, "") // at most one
		if folder == "" {
			if err := enterProject(a); err != nil {
				return err
			}
		}
		gone := goneHooks(a, cmp.Or(folder, defaultFolder))
		v, err = loader(a, o.timeout).Validate(cmd.Context(), a.Dir, folder)
		if _, none := errors.AsType[*hookproject.NoHooksError](err); err != nil && (!none || len(gone) == 0) {
			return explainNoHooks(a, err)
		}
		v.Findings = append(v.Findings, gone...)
	}
	v.Files = o.written.Count()
	v.Findings = slices.DeleteFunc(append(v.Findings, written...), func(f finding.Finding) bool { return slices.Contains(o.disable, f.Rule) })
	if err := printValidation(a, o.output, v); err != nil {
		return err
	}
	return verdict(v)
}

// goneHooks returns findings about hooks that PROJECT records and that are missing in a folder.
func goneHooks(a *command.App, folder string) []finding.Finding {
	p, err := a.OpenProject()
	if err != nil {
		return nil // hooks need no project
	}
	files := slices.DeleteFunc(a.Catalogue.RecordedHooks(p.Config), func(file string) bool {
		below, err := filepath.Rel(hookproject.Abs(a.Dir, folder), filepath.Join(p.Root, file))
		return err != nil || !filepath.IsLocal(below)
	})
	root, err := filepath.Rel(a.Dir, p.Root)
	if err != nil {
		root = p.Root
	}
	return finding.InFolder(filepath.ToSlash(root), hookproject.Gone(files, func(file string) bool {
		_, err := os.Stat(filepath.Join(p.Root, file))
		return err == nil
	}))
}

// validationFrame is the JSON report.
type validationFrame struct {
	command.Frame
	Hooks   int               `json:"hooks"`
	Modules int               `json:"modules,omitempty"`
	Files   int               `json:"files,omitempty"`
	Items   []finding.Finding `json:"items"`
}

func printValidation(a *command.App, format string, v hookproject.Validation) error {
	findings := append([]finding.Finding{}, v.Findings...)
	return a.PrintFindings(format, command.Findings{
		Command: "operon hooks validate", Rules: hookproject.Rules(), Findings: findings, Clean: subjects(v) + ": no problems found",
		JSON: validationFrame{command.NewFrame("hooks validate", "HookFindings"), v.Hooks, v.Modules, v.Files, findings},
	})
}

// subjects returns what was validated, such as "2 modules, 3 hooks".
func subjects(v hookproject.Validation) string {
	var parts []string
	if v.Modules > 0 {
		parts = append(parts, command.Plural(v.Modules, "module"))
	}
	if v.Hooks > 0 || v.Modules > 0 || v.Files == 0 {
		parts = append(parts, command.Plural(v.Hooks, "hook"))
	}
	if v.Files > 0 {
		parts = append(parts, command.Plural(v.Files, "file"))
	}
	return strings.Join(parts, ", ")
}

// verdict returns the error for findings, or nil if there are none.
func verdict(v hookproject.Validation) error {
	consequence := "the engine would not start"
	switch {
	case v.Modules > 0:
		consequence = "addon-operator would not start, or would not run a module"
	case v.Hooks == 0 && v.Files > 0:
		consequence = "the run of the hook would fail"
	}
	found := finding.Errors(v.Findings)
	areAll := func(r finding.Rule) bool {
		return !slices.ContainsFunc(found, func(f finding.Finding) bool { return f.Rule != r.Name })
	}
	switch {
	case areAll(hooks.RuleNoInterpreter):
		consequence = "hooks cannot run on this machine"
	case areAll(hooks.RuleMarker):
		consequence = "the roles would lack rules"
	case areAll(hookproject.RuleInvalidCRD):
		consequence = "an API server would reject the CRDs"
	}
	errs := len(found)
	warnings := len(v.Findings) - errs
	switch {
	case len(v.Findings) == 0:
		return nil
	case errs == 0:
		them := "them"
		if warnings == 1 {
			them = "it"
		}
		return fault.Differences("fix "+them+", or disable a rule with --disable", "%s", command.Plural(warnings, "warning"))
	default:
		return command.FindingsError(consequence, errs, warnings)
	}
}
