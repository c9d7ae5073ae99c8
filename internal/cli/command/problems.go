package command

import (
	"errors"
	"path"
	"path/filepath"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/gen"
)

// problemsFrame is the JSON form of errors in the sources. It takes the place of the
// plan or the check, which cannot be made.
type problemsFrame struct {
	Frame
	Hint  string         `json:"hint,omitempty"`
	Items []problemFrame `json:"items"`
}

type problemFrame struct {
	File    string `json:"file"` // empty if the problem has no place
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Message string `json:"message"`
}

// printProblems prints errors in the sources on stdout as JSON or annotations, if err
// holds any and that format was chosen. The error itself follows on stderr.
func (a *App) printProblems(root, command, output string, err error) {
	var found gen.Problems
	if !errors.As(err, &found) {
		return
	}
	switch output {
	case FormatGitHub:
		a.annotateProblems(root, command, found)
	case FormatJSON:
		frame := problemsFrame{Frame: NewFrame(command, "Problems"), Hint: fault.HintOf(err), Items: []problemFrame{}}
		for _, p := range found {
			frame.Items = append(frame.Items, problemFrame{p.File, p.Line, p.Column, p.Message})
		}
		_ = PrintJSON(a.Out, frame) // the command fails in any case
	}
}

// annotateProblems prints errors in the sources as annotations.
func (a *App) annotateProblems(root, command string, found gen.Problems) {
	within := folderInRepository(root)
	var out strings.Builder
	for _, p := range found {
		n := finding.Annotation{Severity: finding.Error, Title: "operon " + command, Message: p.String()}
		if p.File != "" && !filepath.IsAbs(p.File) {
			n.File, n.Line, n.Column = path.Join(within, p.File), p.Line, p.Column
		}
		out.WriteString(n.String())
	}
	_ = a.Print(out.String()) // the command fails in any case
}
