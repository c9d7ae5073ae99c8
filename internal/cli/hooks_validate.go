package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks"
	"github.com/operon-dev/operon/internal/hooks/module"
	"github.com/operon-dev/operon/internal/hooks/output"
	"github.com/operon-dev/operon/internal/project"
	"github.com/spf13/cobra"
)

// sarifFormat is the form of output that code scanners read.
const sarifFormat = "sarif"

// hooksValidate holds the flags of `operon hooks validate`.
type hooksValidate struct {
	output  string
	disable []string
	timeout time.Duration
	written writtenFiles
}

func newHooksValidate(a *command.App) *cobra.Command {
	o := &hooksValidate{}
	cmd := &cobra.Command{
		Use:   "validate [folder]",
		Short: "Judge hooks and their configuration as the engine would, and more",
		Long: `Run each hook below the folder (hooks) with --config, and judge what it prints
as shell-operator does when it starts, where one bad hook stops the whole
operator. No cluster is asked. A hook runs with an empty home, no kubeconfig and
no input; /shell_lib.sh of the engine's image is at hand. It is still a program:
validate what you would run.

Where the working folder has modules or global-hooks, those of an addon-operator
are judged: hooks with the bindings that they can have there, the values of each
module with its schemas, its chart, which is rendered with these values, and the
names. A folder may be that of all modules, or of one. docs/modules.md tells the
rules.

The flags --patches, --metrics, --admission and --conversion, each of which may
be repeated, judge what a hook wrote while it ran, as the engine does when the
hook has ended; of hooks, then, those of a folder only that is named.

An error is what the engine refuses. A warning is what it takes without a word;
--disable switches one off by its name. The exit code is 3 when there is either.

Errors
` + ruleTable(true) + `
Warnings
` + strings.TrimSuffix(ruleTable(false), "\n"),
		Example: `  operon hooks validate
  operon hooks validate modules/010-registry
  operon hooks validate images/hooks --disable legacy-version --output sarif
  operon hooks validate --patches patch.json --metrics metrics.json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(a, cmd, args) },
	}
	cmd.Flags().StringSliceVar(&o.disable, "disable", nil, "`rules` whose warnings are left out")
	o.written.bind(cmd)
	bindConfigTime(cmd, &o.timeout)
	command.BindOutput(cmd, &o.output, sarifFormat, command.FormatGitHub)
	cmd.ValidArgsFunction = onlyFolders
	command.CompleteList(cmd, "disable", ruleNames(false)...)
	return cmd
}

// validateRules are all rules by which a finding can be named.
func validateRules() []finding.Rule {
	return slices.Concat(hooks.Rules(), module.Rules(), output.Rules())
}

func ruleTable(refuses bool) string {
	var out strings.Builder
	for _, r := range validateRules() {
		if (r.Severity == finding.Error) == refuses {
			fmt.Fprintf(&out, "  %-22s  %s\n", r.Name, command.HangingIndent(r.Summary, 26))
		}
	}
	return out.String()
}

func ruleNames(refuses bool) []string {
	var names []string
	for _, r := range validateRules() {
		if (r.Severity == finding.Error) == refuses {
			names = append(names, r.Name)
		}
	}
	return names
}

// validate checks the flags.
func (o *hooksValidate) validate(args []string) error {
	if len(args) > 1 {
		return fault.Usage("validate one folder at a time", "one folder at most, got %d", len(args))
	}
	for _, name := range o.disable {
		if slices.Contains(ruleNames(true), name) {
			return fault.Usage("mend what it finds", "--disable %s: the engine refuses it in any case", name)
		}
		if names := ruleNames(false); !slices.Contains(names, name) {
			return fault.Usage(meantOf(name, names, "rules: "), "--disable %s: there is no such rule", name)
		}
	}
	if err := checkTimeout(o.timeout, "10s"); err != nil {
		return err
	}
	return command.CheckOutput(o.output, sarifFormat, command.FormatGitHub)
}

func (o *hooksValidate) run(a *command.App, cmd *cobra.Command, args []string) error {
	if err := o.validate(args); err != nil {
		return err
	}
	written, err := o.written.judge(a)
	if err != nil {
		return err
	}
	j := judged{files: o.written.count()}
	if j.files == 0 || len(args) > 0 {
		if j, err = o.judge(cmd.Context(), a, args); err != nil {
			return err
		}
		j.files = o.written.count()
	}
	findings := append(finding.InFolder(j.folder, j.findings), written...)
	findings = slices.DeleteFunc(findings, func(f finding.Finding) bool { return slices.Contains(o.disable, f.Rule) })
	if err := printFindings(a, o.output, j, findings); err != nil {
		return err
	}
	return j.verdict(findings)
}

// judged is what validate looked at, and what it found.
type judged struct {
	folder         string // findings are named from here
	hooks, modules int
	findings       []finding.Finding
	files          int // that hooks wrote
}

// judge looks at the folder that is meant: one of hooks, or what belongs to an
// addon-operator. Without one it is what the working folder has of both.
func (o *hooksValidate) judge(ctx context.Context, a *command.App, args []string) (judged, error) {
	folder := "."
	if len(args) == 1 {
		folder = args[0]
	}
	if d, isAddon := addonAt(inDir(a, folder)); isAddon {
		j, err := d.validate(ctx, a, o)
		if err != nil || len(args) == 1 || d.part != "" || !isFolder(inDir(a, "hooks")) {
			return j, err
		}
		more, err := o.hooks(ctx, a, "hooks")
		j.hooks += more.hooks
		j.findings = finding.Sort(append(j.findings, finding.InFolder(more.folder, more.findings)...))
		return j, err
	}
	if len(args) == 0 {
		folder = "hooks"
	}
	return o.hooks(ctx, a, folder)
}

// hooks judges the hooks of a shell-operator.
func (o *hooksValidate) hooks(ctx context.Context, a *command.App, folder string) (judged, error) {
	none := judged{}
	dir, err := hooksFolder(a, folder)
	if err != nil {
		return none, err
	}
	found, findings, err := hooks.Discover(dir)
	if err != nil {
		return none, err
	}
	if len(found)+len(findings) == 0 {
		return none, noHooksIn(a, folder, nil)
	}
	known, err := projectKinds(a, aroundHooks(dir), nil)
	if err != nil {
		return none, err
	}
	sandbox, err := hooks.NewSandbox(dir, a.Getenv("PATH"), o.timeout)
	if err != nil {
		return none, err
	}
	defer sandbox.Close()
	sandbox.Kinds = known
	more, err := hooks.Validate(ctx, sandbox, found)
	return judged{folder: filepath.ToSlash(folder), hooks: len(found), findings: finding.Sort(append(findings, more...))}, err
}

// noHooksIn is the error about a folder of hooks without any; findings are about what
// lies there.
func noHooksIn(a *command.App, folder string, findings []finding.Finding) error {
	hint := "hooks are executable files, of any name but those of data and prose, and not below lib"
	if cfg, err := a.ReadConfig(); err == nil && a.HasHooks(cfg) {
		hint = "operon create hook NAME --on kubernetes:KIND writes one"
	}
	for _, f := range findings {
		if f.Rule == hooks.RuleNotExecutable {
			hint = "hooks are executable: chmod +x " + path.Join(filepath.ToSlash(folder), f.File)
		}
	}
	return fault.Usage(hint, "there are no hooks in %s", folder)
}

// hooksFolder is the absolute path of a folder of hooks.
func hooksFolder(a *command.App, name string) (string, error) {
	dir := inDir(a, name)
	switch info, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return "", fault.Usage(elsewhere(a, "name the folder that becomes /hooks in the image"), "there is no folder %s", name)
	case err != nil:
		return "", fault.Failed("", "%v", err)
	case !info.IsDir():
		return "", fault.Usage("name the folder that becomes /hooks in the image, such as "+filepath.ToSlash(filepath.Dir(name)), "%s is no folder", name)
	}
	return dir, nil
}

// shellHooks is hooksFolder for what is done with hooks of a shell-operator alone;
// instead is a hint for those of an addon-operator.
func shellHooks(a *command.App, name, instead string) (string, error) {
	cfg, err := a.ReadConfig()
	_, isAddon := addonAt(a.Dir)
	if err == nil && a.HasModules(cfg) || isAddon && !isFolder(inDir(a, name)) {
		return "", fault.Usage(instead, "this is for hooks of a shell-operator, and here are modules of an addon-operator")
	}
	return hooksFolder(a, name)
}

// elsewhere is a hint about a folder that is not there: within a project, paths are
// those from its root.
func elsewhere(a *command.App, otherwise string) string {
	root, err := project.FindRoot(a.Dir)
	if err != nil || root == a.Dir {
		return otherwise
	}
	return "change into the project's folder: cd " + root
}

// findingsFrame is the JSON form.
type findingsFrame struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Hooks      int               `json:"hooks"`
	Modules    int               `json:"modules,omitempty"`
	Files      int               `json:"files,omitempty"`
	Findings   []finding.Finding `json:"findings"`
}

func printFindings(a *command.App, form string, all judged, findings []finding.Finding) error {
	switch form {
	case "json":
		return command.PrintJSON(a.Out, findingsFrame{command.APIVersion, "HookFindings", all.hooks, all.modules, all.files, append([]finding.Finding{}, findings...)})
	case sarifFormat:
		return command.PrintJSON(a.Out, finding.SARIF(command.Version().Version, validateRules(), findings))
	case command.FormatGitHub:
		var out strings.Builder
		within := command.FolderInRepository(a.Dir)
		for _, f := range findings {
			out.WriteString(f.Annotation(within).String())
		}
		_, err := io.WriteString(a.Out, out.String())
		return err
	}
	paint := command.Painter(a.Out, a.Getenv)
	var out strings.Builder
	for _, f := range findings {
		out.WriteString(f.Text(paint) + "\n")
	}
	if len(findings) == 0 {
		what := command.Plural(all.hooks, "hook")
		if all.modules > 0 {
			what = command.Plural(all.modules, "module") + ", " + what
		}
		switch {
		case all.hooks+all.modules == 0 && all.files > 0:
			what = command.Plural(all.files, "file")
		case all.files > 0:
			what += ", " + command.Plural(all.files, "file")
		}
		fmt.Fprintf(&out, "%s, and nothing to say about %s\n", what, them(all.hooks+all.modules+all.files))
	}
	_, err := io.WriteString(a.Out, out.String())
	return err
}

func them(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

// verdict is what findings come to, as an error.
func (j judged) verdict(findings []finding.Finding) error {
	refuses := "the engine would not start"
	if j.modules > 0 {
		refuses = "addon-operator would not start, or not run a module"
	}
	if j.hooks+j.modules == 0 && j.files > 0 {
		refuses = "the run of the hook would fail"
	}
	errs := 0
	for _, f := range findings {
		if f.IsError() {
			errs++
		}
	}
	switch warnings := len(findings) - errs; {
	case len(findings) == 0:
		return nil
	case errs == 0:
		return fault.Differences("mend them, or leave one out with --disable and its name", "%s", command.Plural(warnings, "warning"))
	case warnings == 0:
		return fault.Differences("", "%s: %s", refuses, command.Plural(errs, "error"))
	default:
		return fault.Differences("", "%s: %s, and %s", refuses, command.Plural(errs, "error"), command.Plural(warnings, "warning"))
	}
}
