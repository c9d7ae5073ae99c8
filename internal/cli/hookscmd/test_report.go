package hookscmd

import (
	"slices"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/hooktest"
)

// testsFrame is the JSON report.
type testsFrame struct {
	command.Frame
	Tests   []hooktest.Report `json:"tests"`
	Items   []hooktest.Report `json:"items"`
	Updates []updateFrame     `json:"updates,omitempty"`
	DryRun  bool              `json:"dryRun,omitempty"`
}

func (o *testOptions) printJSON(a *command.App, outcomes []hooktest.Outcome, changes []hooktest.Rewrite) error {
	reports := hooktest.Reports(outcomes)
	return command.PrintJSON(a.Out, testsFrame{command.NewFrame("hooks test", "HookTests"), reports, reports, updateFrames(changes), o.dryRun})
}

// print prints the report. Failed tests are an error.
func (o *testOptions) print(a *command.App, files []*hooktest.File, outcomes []hooktest.Outcome, changes []hooktest.Rewrite) error {
	var err error
	if o.output == command.FormatJSON {
		err = o.printJSON(a, outcomes, changes)
	} else {
		err = hooktest.WriteText(a.Out, files, outcomes, command.Painter(a.Out, a.Getenv))
	}
	if err != nil {
		return err
	}
	failed := 0
	for _, outcome := range outcomes {
		if !outcome.Passed() {
			failed++
		}
	}
	return testsError(failed, len(outcomes))
}

// endDryRun ends a dry run that has changes. Most tests fail until the changes are written,
// so the text report and the exit code are about those that fail even then.
func (o *testOptions) endDryRun(a *command.App, outcomes []hooktest.Outcome, changes []hooktest.Rewrite) error {
	failed := slices.DeleteFunc(slices.Clone(outcomes), hooktest.Outcome.Updatable)
	var err error
	if o.output == command.FormatJSON {
		err = o.printJSON(a, outcomes, changes)
	} else {
		err = hooktest.WriteFailures(a.Out, failed, command.Painter(a.Out, a.Getenv))
		a.Notef("dry run: nothing was written")
	}
	if err != nil {
		return err
	}
	return testsError(len(failed), len(outcomes))
}

// testsError returns the error for failed tests, or nil if there are none.
func testsError(failed, all int) error {
	if failed == 0 {
		return nil
	}
	return fault.Failed("", "%d of %s failed", failed, command.Plural(all, "test"))
}
