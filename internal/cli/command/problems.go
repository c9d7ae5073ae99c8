package command

import (
	"errors"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gen"
)

// printProblems prints errors in the sources in the form that was asked for, if err
// is that. As text it is told on stderr, as every error is.
func (a *App) printProblems(root, command, output string, err error) {
	var found gen.Problems
	if !errors.As(err, &found) {
		return
	}
	switch output {
	case FormatGitHub:
		a.annotateProblems(root, command, found)
	case "json":
		frame := problemsFrame{APIVersion, "Problems", command, []problemFrame{}, fault.HintOf(err)}
		for _, p := range found {
			frame.Problems = append(frame.Problems, problemFrame{p.File, p.Line, p.Column, p.Message})
		}
		_ = PrintJSON(a.Out, frame) // the error itself follows on stderr
	}
}
