package cli

import (
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

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hook"
	"github.com/spf13/cobra"
)

// hooksValidate holds the flags of `operon hooks validate`.
type hooksValidate struct {
	output  string
	disable []string
	timeout time.Duration
}

func newHooksValidate(a *App) *cobra.Command {
	o := &hooksValidate{}
	cmd := &cobra.Command{
		Use:   "validate [folder]",
		Short: "Judge hooks and their configuration as the engine would, and more",
		Long: `Run each hook below the folder (hooks) with --config, and judge what it prints as
shell-operator does when it starts, where one bad hook stops the whole operator.
No cluster is asked. A hook runs with an empty home, no kubeconfig and no input;
/shell_lib.sh of the engine's image is at hand. It is still a program: validate
what you would run.

An error is what the engine refuses. A warning is what it takes without a word;
--disable switches one off by its name. The exit code is 3 when there is either.

Errors
` + ruleTable(true) + `
Warnings
` + strings.TrimSuffix(ruleTable(false), "\n"),
		Example: `  operon hooks validate
  operon hooks validate images/hooks --disable legacy-version --output sarif`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(a, cmd, args) },
	}
	bindOutput(cmd, &o.output, sarif, github)
	cmd.Flags().StringSliceVar(&o.disable, "disable", nil, "`rules` whose warnings are left out")
	cmd.Flags().DurationVar(&o.timeout, "timeout", 10*time.Second, "how long a hook may take to print its configuration")
	completeList(cmd, "disable", ruleNames(false)...)
	return cmd
}

func ruleTable(refuses bool) string {
	var out strings.Builder
	for _, r := range hook.Rules() {
		if r.Refuses == refuses {
			fmt.Fprintf(&out, "  %-20s  %s\n", r.Name, r.About)
		}
	}
	return out.String()
}

func ruleNames(refuses bool) []string {
	var names []string
	for _, r := range hook.Rules() {
		if r.Refuses == refuses {
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
			hint := "rules: " + strings.Join(names, ", ")
			if near := fault.Nearest(name, names); near != "" {
				hint = "did you mean " + near + "?"
			}
			return fault.Usage(hint, "--disable %s: there is no such rule", name)
		}
	}
	if o.timeout <= 0 {
		return fault.Usage("such as 10s", "--timeout must be longer than nothing")
	}
	return checkOutput(o.output, sarif, github)
}

func (o *hooksValidate) run(a *App, cmd *cobra.Command, args []string) error {
	if err := o.validate(args); err != nil {
		return err
	}
	folder := "hooks"
	if len(args) == 1 {
		folder = args[0]
	}
	dir := folder
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(a.Dir, dir)
	}
	switch info, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return fault.Usage("name the folder that becomes /hooks in the image", "there is no folder %s", folder)
	case err != nil:
		return fault.Failed("", "%v", err)
	case !info.IsDir():
		return fault.Usage("name the folder that becomes /hooks in the image", "%s is no folder", folder)
	}
	hooks, findings, err := hook.Discover(dir)
	if err != nil {
		return fault.Failed("", "look for hooks: %v", err)
	}
	if len(hooks)+len(findings) == 0 {
		return fault.Usage("hooks are executable files, of any name but those of data and prose, and not below lib", "there are no hooks in %s", folder)
	}
	sandbox, err := hook.NewSandbox(dir, a.getenv("PATH"), o.timeout)
	if err != nil {
		return fault.Failed("", "make a folder for hooks to run in: %v", err)
	}
	defer sandbox.Close()
	more, err := hook.Validate(cmd.Context(), sandbox, hooks)
	if err != nil {
		return err
	}
	findings = slices.DeleteFunc(hook.Sorted(append(findings, more...)), func(f hook.Finding) bool { return slices.Contains(o.disable, f.Rule) })
	for i := range findings {
		findings[i].File = path.Join(filepath.ToSlash(folder), findings[i].File)
	}
	if err := a.printFindings(o.output, len(hooks), findings); err != nil {
		return err
	}
	return findingsVerdict(findings)
}

// findingsFrame is the JSON form.
type findingsFrame struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Hooks      int            `json:"hooks"`
	Findings   []findingFrame `json:"findings"`
}

type findingFrame struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Level   string `json:"level"` // error or warning
	Rule    string `json:"rule"`
	Message string `json:"message"`
}

func level(f hook.Finding) string {
	if f.Refused {
		return "error"
	}
	return "warning"
}

func (a *App) printFindings(form string, hooks int, findings []hook.Finding) error {
	switch form {
	case "json":
		frames := []findingFrame{}
		for _, f := range findings {
			frames = append(frames, findingFrame{f.File, f.Line, f.Column, level(f), f.Rule, f.Message})
		}
		return printJSON(a.Out, findingsFrame{apiVersion, "HookFindings", hooks, frames})
	case sarif:
		return printJSON(a.Out, sarifLog(findings))
	case github:
		var out strings.Builder
		within := folderInRepository(a.Dir)
		for _, f := range findings {
			n := annotation{level: level(f), file: path.Join(within, f.File), line: max(1, f.Line), column: f.Column, title: f.Rule, message: f.File + ": " + f.Message}
			out.WriteString(n.String())
		}
		_, err := io.WriteString(a.Out, out.String())
		return err
	}
	paint := painter(a.Out, a.getenv)
	var out strings.Builder
	for _, f := range findings {
		colour := yellow
		if f.Refused {
			colour = red
		}
		fmt.Fprintf(&out, "%s: %s %s (%s)\n", findingPlace(f), paint(colour, level(f)+":"), f.Message, f.Rule)
	}
	if len(findings) == 0 {
		fmt.Fprintf(&out, "%s, and nothing to say about %s\n", plural(hooks, "hook"), them(hooks))
	}
	_, err := io.WriteString(a.Out, out.String())
	return err
}

func findingPlace(f hook.Finding) string {
	switch {
	case f.Line == 0:
		return f.File
	case f.Column == 0:
		return fmt.Sprintf("%s:%d", f.File, f.Line)
	}
	return fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func them(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

func findingsVerdict(findings []hook.Finding) error {
	errs := 0
	for _, f := range findings {
		if f.Refused {
			errs++
		}
	}
	switch warnings := len(findings) - errs; {
	case len(findings) == 0:
		return nil
	case errs == 0:
		return fault.Differences("mend them, or leave one out with --disable and its name", "%s", plural(warnings, "warning"))
	case warnings == 0:
		return fault.Differences("", "the engine would not start: %s", plural(errs, "error"))
	default:
		return fault.Differences("", "the engine would not start: %s, and %s", plural(errs, "error"), plural(warnings, "warning"))
	}
}
