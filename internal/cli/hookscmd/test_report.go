package hookscmd

import (
	"bytes"
	"slices"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/hooks/hooktest"
	"github.com/operon-dev/operon/internal/hooks/testfile"
	"github.com/operon-dev/operon/internal/scaffold"
)

// testsFrame is the JSON report.
type testsFrame struct {
	command.Frame
	Items   []hooktest.Report `json:"items"`
	Updates []updateFrame     `json:"updates,omitempty"`
	DryRun  bool              `json:"dryRun,omitempty"`
}

func (o *testOptions) printJSON(a *command.App, outcomes []hooktest.Outcome, changes []hooktest.Rewrite) error {
	frame, reports := command.NewFrame("hooks test", "HookTests"), hooktest.Reports(outcomes)
	return command.PrintJSON(a.Out, testsFrame{frame, reports, append(o.added, updateFrames(changes)...), o.dryRun})
}

// markerFrames returns the JSON form of hooks with new markers.
func markerFrames(changes []scaffold.Change) []updateFrame {
	var all []updateFrame
	for _, c := range changes {
		all = append(all, updateFrame{c.Path, bytes.Count(c.After, []byte("\n")) - bytes.Count(c.Before, []byte("\n")), c.Diff()})
	}
	return all
}

// endMarkers ends a dry run that has markers to add.
func (o *testOptions) endMarkers(a *command.App) error {
	if o.output == command.FormatJSON {
		return o.printJSON(a, nil, nil)
	}
	return nil
}

// print prints the report. Failed tests are an error.
func (o *testOptions) print(a *command.App, outcomes []hooktest.Outcome, changes []hooktest.Rewrite) error {
	var err error
	if o.output == command.FormatJSON {
		err = o.printJSON(a, outcomes, changes)
	} else {
		err = a.Print(testfile.Text(hooktest.Results(outcomes, command.Painter(a.Out, a.Getenv))))
	}
	if err != nil {
		return err
	}
	failed := slices.DeleteFunc(slices.Clone(outcomes), hooktest.Outcome.Passed)
	return testfile.Verdict(len(failed), len(outcomes))
}

// endDryRun ends a dry run that has changes. Most tests fail until the changes are written,
// so the text report and the exit code are about those that fail even then.
func (o *testOptions) endDryRun(a *command.App, outcomes []hooktest.Outcome, changes []hooktest.Rewrite) error {
	failed := slices.DeleteFunc(slices.Clone(outcomes), hooktest.Outcome.Updatable)
	var err error
	if o.output == command.FormatJSON {
		err = o.printJSON(a, outcomes, changes)
	} else {
		err = a.Print(testfile.FailuresText(hooktest.Results(failed, command.Painter(a.Out, a.Getenv))))
		a.Notef("dry run: nothing was written")
	}
	if err != nil {
		return err
	}
	return testfile.Verdict(len(failed), len(outcomes))
}
