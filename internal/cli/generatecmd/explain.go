package generatecmd

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
)

// explainFrame is the JSON report of --explain.
type explainFrame struct {
	command.Frame
	plugin.Explanation
}

// checkExplain validates the combination of --explain with other flags.
func (o *generate) checkExplain() error {
	if !o.explain {
		return nil
	}
	for _, name := range []string{"check", "watch", "diff", "dry-run"} {
		if o.cmd.Flags().Changed(name) {
			return fault.Usage("remove --"+name, "--explain writes nothing, and prints no changes")
		}
	}
	o.DryRun = true
	return nil
}

// explainProject prints what the command would run, and how. It writes nothing in the project.
func (o *generate) explainProject(a *command.App, args []string) error {
	e := plugin.Explanation{Calls: []plugin.ExplainedCall{}, Ignored: []plugin.IgnoredCall{}, Unclear: []plugin.IgnoredCall{},
		Foreign: []plugin.ForeignFile{}}
	o.explanation = &e
	plan := o.plan(a, args)
	o.Report = func(command.PlanReport) error { return o.printExplanation(a, e) }
	return a.InProject(o.cmd, o.WriteFlags, func(ctx context.Context, s command.Project) error {
		err := plan(ctx, s)
		if err != nil && len(e.Calls) > 0 {
			return cmp.Or(o.printExplanation(a, e), err)
		}
		return err
	})
}

func (o *generate) printExplanation(a *command.App, e plugin.Explanation) error {
	if o.Output == command.FormatJSON {
		return command.PrintJSON(a.Out, explainFrame{command.NewFrame(o.cmd.Name(), "Explanation"), e})
	}
	var out strings.Builder
	line := func(name, format string, values ...any) {
		fmt.Fprintf(&out, "%-16s  %s\n", name, fmt.Sprintf(format, values...))
	}
	for _, c := range e.Calls {
		line("call", "%s", strings.Join(c.From, ", "))
		line("arguments", "%s", strings.Join(c.Args, " "))
		if c.Way != "" {
			line("outputs", "%s in %s", command.Files(c.Files), cmp.Or(strings.Join(c.Outputs, ", "), "no folder"))
			line("packages", "%s", cmp.Or(waysInText[c.Way], c.Way))
		}
		for _, d := range c.Declined {
			line("", "not %s: %s", waysInText[d.Way], d.Reason)
		}
		if c.Unrecorded != "" {
			line("", "the next run has no record: %s", c.Unrecorded)
		}
		out.WriteByte('\n')
	}
	for _, c := range e.Unclear {
		line("not understood", "%s: %s", c.From, c.Reason)
	}
	for _, c := range e.Ignored {
		line("ignored", "%s: %s", c.From, c.Reason)
	}
	for _, f := range e.Foreign {
		line("changed", "%s:%d: %s", f.Path, f.Line, f.Differs)
	}
	tools := e.ControllerTools
	text := tools.Runs
	if tools.Choice != "" {
		text += ", as PROJECT says"
	}
	if tools.Pinned != "" {
		text += fmt.Sprintf("; %s pins %s", tools.From, tools.Pinned)
	}
	line("controller-tools", "%s", text)
	return a.Print(out.String())
}

// waysInText describes the ways to load packages.
var waysInText = map[string]string{
	"folders": "from the folders of the project and an earlier listing of its dependencies",
	"listing": "from one listing by the go command",
	"loader":  "from the loader of controller-tools, the slowest way",
}
