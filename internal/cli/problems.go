package cli

import (
	"errors"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gen"
)

// problemsFrame is the JSON form of errors in the sources, in place of the plan or
// the check that they kept from being made.
type problemsFrame struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Command    string         `json:"command"`
	Problems   []problemFrame `json:"problems"`
	Hint       string         `json:"hint,omitempty"`
}

type problemFrame struct {
	File    string `json:"file"` // empty where there is no place
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Message string `json:"message"`
}

// printProblems prints errors in the sources in the form that was asked for, if err
// is that. As text it is told on stderr, as every error is.
func (a *App) printProblems(root, command, output string, err error) {
	var found gen.Problems
	if !errors.As(err, &found) {
		return
	}
	switch output {
	case github:
		a.annotateProblems(root, command, found)
	case "json":
		frame := problemsFrame{apiVersion, "Problems", command, []problemFrame{}, fault.HintOf(err)}
		for _, p := range found {
			frame.Problems = append(frame.Problems, problemFrame{p.File, p.Line, p.Column, p.Message})
		}
		_ = printJSON(a.Out, frame) // the error itself follows on stderr
	}
}
