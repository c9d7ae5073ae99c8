package golang

import (
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/scaffold"
)

// unwiredHint is the start of a hint with lines that operon cannot add. They name packages that do not
// exist before the command has run.
const unwiredHint = "repeat the command with --wire=false, which creates the files, and add these lines by hand where they belong:\n"

// isWired reports whether a command edits existing code, so that it uses what the command adds.
func isWired(e plugin.Event) bool {
	on, given := e.Options[wireOption].(bool)
	return on || !given
}

// wireOption is the name of the flag for isWired.
const wireOption = "wire"

// warnUnwired warns about lines that a command does not add to a file, because the user asked for that.
func warnUnwired(file, lines string, p *scaffold.Plan) {
	p.Warn(scaffold.Warning{File: file, Rule: "not-wired", Message: "this file is not edited; add these lines where they belong", Lines: lines})
}
