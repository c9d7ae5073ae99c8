// Package foreign protects what operon did not write in generated files: license lines, what yq or sed changed
// after controller-gen, manifests that a person wrote.
//
// It reads no scripts to find out. It compares files with the output of the generators, for the sources of the last
// commit if there is one, because people commit sources and generated files together.
package foreign

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gen/controllertools"
)

// File is a generated file with content that operon did not write.
type File struct {
	Path  string
	Line  int    // the first line that differs, from 1
	Text  string // that line in the file, or if Lacks is true, in the output
	Lines int    // how many lines differ
	Lacks bool   // the file has no line that the output lacks
	// Advice says what the project's own make does with the file, or is empty.
	Advice string
}

// Compare returns how a file differs from the output of the generators. differs is false if only the version of
// controller-tools does.
func Compare(path string, disk, output []byte) (f File, differs bool) {
	if _, _, onlyVersion := controllertools.DifferOnlyInVersion(disk, output); onlyVersion || bytes.Equal(disk, output) {
		return File{}, false
	}
	f.Path = path
	diff, err := udiff.ToUnifiedDiff("", "", string(output), udiff.Lines(string(output), string(disk)), 0)
	if err != nil { // udiff rejects its own edits
		panic(err)
	}
	lacks := File{Path: path, Lacks: true}
	for _, h := range diff.Hunks {
		line := h.ToLine
		for _, l := range h.Lines {
			switch {
			case strings.HasPrefix(l.Content, strings.TrimPrefix(controllertools.AnnotationLine, "\n")):
			case l.Kind == udiff.Insert:
				f.add(line, l.Content)
			case l.Kind == udiff.Delete:
				lacks.add(line, l.Content)
			}
			if l.Kind != udiff.Delete {
				line++
			}
		}
	}
	if f.Lines == 0 {
		f = lacks
	}
	return f, true
}

// add counts a line that differs, and remembers the first one with a text.
func (f *File) add(line int, text string) {
	f.Lines++
	if text = strings.TrimSpace(text); f.Text == "" {
		f.Line, f.Text = max(line, 1), text
	}
}

// Differs says how the file differs.
func (f File) Differs() string {
	lines, are := "1 line", "is"
	if f.Lines != 1 {
		lines, are = fmt.Sprintf("%d lines", f.Lines), "are"
	}
	what := lines + " that operon did not write"
	if f.Lacks {
		what = lines + " " + are + " missing"
	}
	if f.Text != "" {
		what += fmt.Sprintf(": %.60q", f.Text)
	}
	if f.Advice != "" {
		what += "; " + f.Advice
	}
	return what
}

// String returns the place of the first difference, and Differs.
func (f File) String() string { return fmt.Sprintf("%s:%d: %s", f.Path, f.Line, f.Differs()) }

// Undecided is the error for foreign files about which PROJECT says nothing.
type Undecided struct{ Files []File }

func (u *Undecided) Error() string { return u.Unwrap().Error() }

// Unwrap returns the error with its exit code and hint.
func (u *Undecided) Unwrap() error {
	what := u.Files[0].Path + " has"
	if n := len(u.Files); n > 1 {
		what = fmt.Sprintf("%d generated files have", n)
	}
	hint := "decide for each file or folder: operon generate --replace FILE (it is out of date), --keep FILE (operon never writes it), " +
		"or --after FILE=COMMAND (the command changes it)"
	lines := []string{hint}
	for _, f := range u.Files[:min(len(u.Files), maxListed)] {
		lines = append(lines, f.String())
	}
	if more := len(u.Files) - maxListed; more > 0 {
		lines = append(lines, fmt.Sprintf("... and %d more", more))
	}
	return fault.Differences(strings.Join(lines, "\n"), "%s changes that operon did not make; nothing was written", what)
}

// maxListed limits how many files an error lists.
const maxListed = 20
