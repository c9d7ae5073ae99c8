package hooks

import (
	"bytes"
	"errors"

	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks/rbac"
	"github.com/operon-dev/operon/internal/lazyregexp"
	"mvdan.cc/sh/v3/syntax"
)

// shellInterpreter matches the first line of a script for bash or a POSIX shell.
var shellInterpreter = lazyregexp.New(`^#!.*\b(ba|da|a)?sh\b`)

// checkShellSyntax reports a shell script that bash cannot parse. Bash parses a script while
// it runs, so such a hook may still print its configuration and fail later.
func checkShellSyntax(s rbac.Source) []finding.Finding {
	first, _, _ := bytes.Cut(s.Text, []byte("\n"))
	if !shellInterpreter().Match(first) {
		return nil
	}
	_, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(bytes.NewReader(s.Text), "")
	const message = "bash cannot parse the script: %s"
	if e, ok := errors.AsType[syntax.ParseError](err); ok {
		return []finding.Finding{ruleShellSyntax.At(s.Path, int(e.Pos.Line()), int(e.Pos.Col()), message, e.Text)}
	}
	if e, ok := errors.AsType[syntax.LangError](err); ok {
		return []finding.Finding{ruleShellSyntax.At(s.Path, int(e.Pos.Line()), int(e.Pos.Col()), message, "it uses "+e.Feature)}
	}
	return nil
}
