package rbac

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// input returns the texts that a command may read, and whether they are known.
func (p *program) input(c syntax.Node, in *script, f *frame) (texts []string, known bool) {
	f = f.around()
	for n := in.parents[c]; n != nil; n = in.parents[n] {
		switch x := n.(type) {
		case *syntax.Stmt:
			for _, r := range x.Redirs {
				switch r.Op {
				case syntax.Hdoc, syntax.DashHdoc:
					return p.hereDocument(r, f), true
				case syntax.WordHdoc:
					return p.expandText(r.Word, f), true
				case syntax.RdrIn:
					return nil, false
				}
			}
		case *syntax.BinaryCmd:
			if (x.Op == syntax.Pipe || x.Op == syntax.PipeAll) && within(c, x.Y) {
				return p.output(x.X, in, f)
			}
		case *syntax.FuncDecl, *syntax.File, *syntax.CmdSubst:
			return nil, false
		}
	}
	return nil, false
}

func within(n, outer syntax.Node) bool {
	return outer.Pos().Offset() <= n.Pos().Offset() && n.End().Offset() <= outer.End().Offset()
}

// hereDocument returns what a here-document may be.
func (p *program) hereDocument(r *syntax.Redirect, f *frame) []string {
	if r.Hdoc == nil {
		return []string{""}
	}
	texts := p.expandText(r.Hdoc, f)
	if r.Op == syntax.DashHdoc {
		for i, t := range texts {
			var b strings.Builder
			for line := range strings.Lines(t) {
				b.WriteString(strings.TrimLeft(line, "\t"))
			}
			texts[i] = b.String()
		}
	}
	return texts
}

// output returns what a statement may print, if that is known.
func (p *program) output(s *syntax.Stmt, in *script, f *frame) (texts []string, known bool) {
	c, is := s.Cmd.(*syntax.CallExpr)
	if !is || len(c.Args) == 0 {
		return nil, false
	}
	switch c.Args[0].Lit() {
	case "kubectl", "oc":
		for _, call := range p.forms(c, f) {
			text, known := p.printedObject(call)
			if !known {
				return nil, false
			}
			texts = append(texts, text)
		}
		return texts, true
	case "cat":
		if len(c.Args) > 1 && c.Args[1].Lit() != "-" {
			return nil, false
		}
		return p.input(c, in, f)
	case "echo", "printf":
		forms := values{nil}
		for _, w := range c.Args[1:] {
			forms = product(forms, p.expand(w, f))
		}
		for _, args := range forms {
			texts = append(texts, printedText(c.Args[0].Lit(), args))
		}
		return texts, true
	}
	return nil, false
}

// printedText is what echo and printf print.
func printedText(name string, args []string) string {
	for len(args) > 0 && isOneOf(args[0], "-e", "-n", "-en", "-ne", "--") {
		args = args[1:]
	}
	if name == "echo" || len(args) == 0 {
		return strings.Join(args, " ")
	}
	format := args[0]
	for _, a := range args[1:] {
		format = strings.Replace(format, "%s", a, 1)
	}
	return strings.NewReplacer(`\n`, "\n", "%s", hole, "%d", hole).Replace(format)
}

// printedObject is what kubectl create --dry-run=client prints, as far as it matters
// here.
func (p *program) printedObject(call []string) (text string, known bool) {
	r := parseKubectl(call)
	if r.unknown != "" || !r.onClient() || len(r.files) > 0 || !isOneOf(r.options["output"], "yaml", "json") {
		return "", false
	}
	words := r.words
	switch {
	case r.command == "run":
		words = append([]string{"pod"}, words...)
	case r.command != "create":
		return "", false
	}
	at := 1
	if len(words) > 0 && isOneOf(words[0], "secret", "service", "svc") { // create secret generic NAME
		at = 2
	}
	if len(words) == 0 || !isKnown(words[0]) {
		return "", false
	}
	kind, err := p.Kinds.Argument(words[0])
	if err != nil {
		return "", false
	}
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: \"%s\", namespace: \"%s\"}\n",
		kind.APIVersion(), kind.Kind, nameIn(words, at), r.options["namespace"]), true
}
