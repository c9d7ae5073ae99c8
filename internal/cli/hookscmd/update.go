package hookscmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/hooks/hooktest"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/term"
)

// updateFrame is the JSON form of an updated test file.
type updateFrame struct {
	Path   string `json:"path"`
	Values int    `json:"values"` // the number of updated values, or of added markers
	Diff   string `json:"diff"`
}

// updateExpectations updates the test files with the actual results, or with --dry-run only
// shows the changes. It returns the changes.
func (o *testOptions) updateExpectations(a *command.App, files []*hooktest.File, outcomes []hooktest.Outcome) ([]hooktest.Rewrite, error) {
	changes, err := hooktest.PlanUpdate(a.Dir, files, outcomes)
	if err != nil {
		return nil, err
	}
	for _, outcome := range hookFailures(outcomes) {
		a.Warnf("%s: the test %q keeps its expectations, because its hook failed", outcome.Test.File.Path, outcome.Test.Name)
	}
	if !o.dryRun {
		changes, err = hooktest.Apply(changes)
	}
	for _, r := range changes {
		if !o.dryRun {
			a.Notef("%s: updated %s", r.File.Path, command.Plural(r.Changed, "value"))
		}
		for _, test := range r.Failing {
			a.Warnf("%s: the test %q now expects a failure: keep that only if the hook is meant to fail", r.File.Path, test)
		}
	}
	if err != nil {
		return nil, err
	}
	return changes, o.printChanges(a, changes)
}

// hookFailures returns the outcomes of tests whose hook failed unexpectedly.
func hookFailures(outcomes []hooktest.Outcome) []hooktest.Outcome {
	return slices.DeleteFunc(slices.Clone(outcomes), func(o hooktest.Outcome) bool { return !o.HookFailed })
}

// printChanges prints the changes as text, in the form of commands that make a plan.
func (o *testOptions) printChanges(a *command.App, changes []hooktest.Rewrite) error {
	if o.output != command.FormatText || !o.dryRun && !o.diff {
		return nil
	}
	var out strings.Builder
	paint := command.Painter(a.Out, a.Getenv)
	for _, r := range changes {
		if o.dryRun {
			fmt.Fprintf(&out, "%s %s\n", paint(term.Yellow, fmt.Sprintf("%-8s", scaffold.Update)), r.File.Path)
		}
	}
	for _, r := range changes {
		if o.diff {
			out.WriteString("\n" + command.ColourDiff(diffOf(r), paint))
		}
	}
	if o.diff && !o.dryRun && len(changes) > 0 {
		out.WriteString("\n") // the report of the tests follows
	}
	return a.Print(out.String())
}

func diffOf(r hooktest.Rewrite) string {
	return scaffold.Change{Path: r.File.Path, Before: r.Before, After: r.Text}.Diff()
}

// updateFrames returns the JSON form of changes.
func updateFrames(changes []hooktest.Rewrite) []updateFrame {
	var all []updateFrame
	for _, r := range changes {
		all = append(all, updateFrame{r.File.Path, r.Changed, diffOf(r)})
	}
	return all
}
