package makefile

import (
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/lazyregexp"
	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

var (
	// binary matches the file name of controller-gen, and the last element of its package.
	binary = lazyregexp.New(`^controller-gen(\.exe|[-@]v?[\w.$-]*)?$`)
	// argLike matches the arguments that make controller-gen generate.
	argLike = lazyregexp.New(`^\+?(crd|object|rbac|webhook|schemapatch|applyconfiguration|paths|output)([:=]|$)`)
	// clockYear matches the year of a header that is not in the Makefile.
	clockYear = lazyregexp.New(`,year=\x00+|\byear=\x00+,?`)
)

// addCalls adds the calls of controller-gen in a command, after its expansion by make.
func addCalls(calls []Call, c command, text string) []Call {
	if !strings.Contains(text, program) {
		return calls
	}
	text = strings.TrimLeft(text, "@+- \t")
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		if words := strings.Fields(text); slices.ContainsFunc(words, argLike().MatchString) {
			calls = add(calls, Call{File: c.file, Line: c.line})
		}
		return calls
	}
	var simple []*syntax.CallExpr
	syntax.Walk(file, func(node syntax.Node) bool {
		if call, ok := node.(*syntax.CallExpr); ok && len(call.Args) > 0 {
			simple = append(simple, call)
		}
		return true
	})
	moved := false // the shell changed the folder from which paths start
	for _, call := range simple {
		words := wordsOf(call.Args)
		moved = moved || slices.Contains([]string{"cd", "pushd"}, words[0])
		if args, ok := argsOf(words); ok {
			if moved {
				args = nil
			}
			calls = add(calls, Call{File: c.file, Line: c.line, Args: args})
		}
	}
	return calls
}

// add adds a call, unless it is known. Calls that are not understood are known by their line.
func add(calls []Call, call Call) []Call {
	if slices.ContainsFunc(calls, func(c Call) bool {
		return slices.Equal(c.Args, call.Args) && (c.Args != nil || c.File == call.File && c.Line == call.Line)
	}) {
		return calls
	}
	return append(calls, call)
}

// wordsOf returns the words of a command after the expansion of braces. A NUL stands for an
// expansion of which only the shell knows the result.
func wordsOf(args []*syntax.Word) []string {
	var words []string
	for _, arg := range args {
		syntax.SplitBraces(arg)
		for word, err := range expand.BracesSeq(nil, arg) {
			if err != nil {
				return append(words, "\x00") // too many words
			}
			words = append(words, textOf(word.Parts))
		}
	}
	return words
}

func textOf(parts []syntax.WordPart) string {
	var text strings.Builder
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			text.WriteString(strings.ReplaceAll(part.Value, `\`, ""))
		case *syntax.SglQuoted:
			text.WriteString(strings.ReplaceAll(part.Value, unknown, "\x00"))
		case *syntax.DblQuoted:
			text.WriteString(textOf(part.Parts))
		default:
			text.WriteByte(0)
		}
	}
	return text.String()
}

// argsOf returns the arguments of controller-gen in the words of a command; nil if some are
// unknown. ok is false if the command does not generate.
func argsOf(words []string) (args []string, ok bool) {
	i := slices.IndexFunc(words, func(word string) bool { return binary().MatchString(path.Base(strings.ReplaceAll(word, "\x00", "$"))) })
	if i < 0 {
		return nil, false
	}
	args = words[i+1:]
	generates, computed := false, false
	for i, arg := range args {
		args[i] = strings.TrimSuffix(clockYear().ReplaceAllString(arg, ""), ":")
		generates = generates || argLike().MatchString(arg)
		computed = computed || strings.Contains(args[i], "\x00")
	}
	switch {
	case !computed:
		return args, generates
	case generates, i == 0, slices.Contains([]string{"run", "tool", "exec"}, words[i-1]):
		return nil, true
	}
	return nil, false // such as a command that installs it
}
