package finding

import (
	"fmt"
	"path"
	"strings"
)

// Annotation is a workflow command of GitHub Actions. GitHub shows its message next to the
// changed lines.
// https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands
type Annotation struct {
	Severity     Severity
	File         string // relative to the root of the repository, or empty
	Line, Column int    // from 1; 0 if unknown
	Title        string
	Message      string
}

// Escaping as in the package @actions/core.
var (
	escapeMessage  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	escapeProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// String returns the command as one line, including the line end.
func (a Annotation) String() string {
	var properties []string
	add := func(name, value string) {
		properties = append(properties, name+"="+escapeProperty.Replace(value))
	}
	if a.File != "" {
		add("file", a.File)
	}
	if a.Line > 0 {
		add("line", fmt.Sprint(a.Line))
	}
	if a.Column > 0 {
		add("col", fmt.Sprint(a.Column))
	}
	add("title", a.Title)
	return "::" + a.Severity.String() + " " + strings.Join(properties, ",") + "::" + escapeMessage.Replace(a.Message) + "\n"
}

// Annotation returns the finding as an annotation. folder is the base folder of the
// finding's file, relative to the root of the repository. The log of a workflow shows
// messages without positions, so the message includes the file.
func (f Finding) Annotation(folder string) Annotation {
	return Annotation{f.Severity, path.Join(folder, f.File), max(1, f.Line), f.Column, f.Rule, f.File + ": " + f.Message}
}
