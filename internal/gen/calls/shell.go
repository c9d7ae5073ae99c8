package calls

import (
	"io"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/lazyregexp"
	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

var (
	// startFolder matches a command that runs in a folder below the folder of the file.
	startFolder = lazyregexp.New(`^\(?cd ([\w./-]+) && `)
	otherFolder = lazyregexp.New(`(?m)^[^#\n]*?\b((?:cd|pushd) [^;&|\n]*)`)
)

// run adds the calls in a text for a shell, which starts in a folder. own are the variables of a script, or nil.
func (f *finder) run(c command, dir string, own *variables) {
	rest := c.text
	if m := startFolder().FindStringSubmatch(c.text); m != nil {
		if rest, dir = c.text[len(m[0]):], path.Join(dir, m[1]); path.IsAbs(m[1]) {
			dir = m[1]
		}
	}
	changed := otherFolder().FindStringSubmatch(rest)
	parsed, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(c.text), "")
	if err != nil {
		if hasArgument(c.text) {
			f.add(Call{File: c.file, Line: c.line, Dir: Root, Unclear: "the syntax of the command"})
		}
		return
	}
	syntax.Walk(parsed, func(node syntax.Node) bool {
		cmd, is := node.(*syntax.CallExpr)
		if !is {
			return true
		}
		words := f.words(cmd.Args, own)
		call, is := f.callIn(words)
		if !is {
			if text := inText(words); text != "" {
				why := "what " + path.Base(words[0]) + " does with a text that has it"
				f.add(Call{File: c.file, Line: c.line, Dir: Root, Args: strings.Fields(text), Unclear: why})
			}
			return false
		}
		call.File, call.Line, call.Dir = c.file, c.line+int(cmd.Pos().Line())-1, dir //nolint:gosec // a line number
		if changed != nil {
			call.Dir, call.Unclear = Root, strings.TrimSpace(changed[1])
		} else if isUnknown(dir) {
			call.Dir, call.Unclear = Root, f.reason(dir)
		}
		f.add(call)
		return false
	})
}

// inText returns the arguments of the controller-gen call in a word with several words, which the command may run. It
// returns "" if there is none.
func inText(words []string) string {
	if len(words) == 0 || slices.Contains(printers, words[0]) {
		return ""
	}
	for _, word := range words[1:] {
		if _, args, ok := strings.Cut(word, program+" "); ok && hasArgument(args) {
			return args
		}
	}
	return ""
}

// words returns the words of a command after all expansions. It reads no folders and runs no commands.
func (f *finder) words(args []*syntax.Word, own *variables) []string {
	variable := func(name string) string {
		switch {
		case name == "IFS":
			return " \t\n"
		case strings.HasPrefix(name, unknownName):
			return name
		case own != nil && !own.uncertain[name] && own.values[name] != "":
			return own.expand(own.values[name])
		}
		return f.unknown("$" + name)
	}
	config := &expand.Config{Env: expand.FuncEnviron(variable),
		ProcSubst: func(p *syntax.ProcSubst) (string, error) { return f.unknown(printed(p)), nil },
		CmdSubst: func(w io.Writer, c *syntax.CmdSubst) error {
			_, err := io.WriteString(w, f.unknown(printed(c)))
			return err
		}}
	const limit = 1000 // for {1..999999}
	var all []string
	for _, arg := range args {
		before := len(all)
		for field, err := range expand.FieldsSeq(config, arg) {
			if err != nil || len(all) > limit {
				all = append(all[:before], f.unknown(printed(arg)))
				break
			}
			all = append(all, field)
		}
	}
	return all
}

// printed returns the text of a node.
func printed(node syntax.Node) string {
	var text strings.Builder
	if err := syntax.NewPrinter(syntax.SingleLine(true)).Print(&text, node); err != nil {
		return "a command"
	}
	return strings.TrimSpace(strings.ReplaceAll(text.String(), Root, "$(CURDIR)"))
}
