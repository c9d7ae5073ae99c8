package rbac

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// input returns the texts that a command may read, and whether they are known.
func (p *program) input(c invocation) (texts []string, known bool) {
	if c.node == nil {
		return nil, false
	}
	for n := c.in.parents[c.node]; n != nil; n = c.in.parents[n] {
		switch x := n.(type) {
		case *syntax.Stmt:
			for _, r := range x.Redirs {
				switch r.Op {
				case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
					return p.hereDocument(r, c.f), true
				case syntax.RdrIn:
					return nil, false
				}
			}
		case *syntax.BinaryCmd:
			if (x.Op == syntax.Pipe || x.Op == syntax.PipeAll) && contains(x.Y, c.node) {
				return p.output(x.X, c.in, c.f)
			}
		case *syntax.FuncDecl, *syntax.File, *syntax.CmdSubst:
			return nil, false
		}
	}
	return nil, false
}

func contains(outer, n syntax.Node) bool {
	return outer.Pos().Offset() <= n.Pos().Offset() && n.End().Offset() <= outer.End().Offset()
}

// hereDocument returns what a here-document or a here-string may be.
func (p *program) hereDocument(r *syntax.Redirect, f *frame) []string {
	switch {
	case r.Op == syntax.WordHdoc:
		return p.expandText(r.Word, f)
	case r.Hdoc == nil:
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

// substituted returns what $(...) may be: kubectl get -o name prints kinds with names,
// and other commands what output knows of them.
func (p *program) substituted(s *syntax.CmdSubst, f *frame) values {
	if len(s.Stmts) != 1 {
		return unknownText
	}
	for _, in := range p.scripts {
		if in.parents[s] == nil {
			continue
		}
		texts, known := p.output(s.Stmts[0], in, f)
		if !known {
			return unknownText
		}
		var all values
		for _, text := range texts {
			all = append(all, []string{strings.TrimRight(text, "\n")})
		}
		return all.limited(unknownText)
	}
	return unknownText
}

// output returns what a statement may print, and whether that is known.
func (p *program) output(s *syntax.Stmt, in *script, f *frame) (texts []string, known bool) {
	c, is := s.Cmd.(*syntax.CallExpr)
	if !is || len(c.Args) == 0 {
		return nil, false
	}
	switch name := c.Args[0].Lit(); name {
	case "kubectl", "oc":
		for _, args := range p.forms(c, f) {
			text, known := p.printedByKubectl(args)
			if !known {
				return nil, false
			}
			texts = append(texts, text)
		}
		return texts, true
	case "cat":
		if len(c.Args) == 1 || c.Args[1].Lit() == "-" {
			return p.input(invocation{node: c, in: in, f: f})
		}
	case "echo", "printf":
		for _, args := range p.forms(c, f) {
			texts = append(texts, printedText(name, args[min(1, len(args)):]))
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
	return strings.NewReplacer(`\n`, "\n", "%s", unknown, "%d", unknown).Replace(format)
}

// printedByKubectl is what kubectl prints, as far as it identifies objects: get -o name,
// or create and run with --dry-run=client and -o.
func (p *program) printedByKubectl(args []string) (text string, known bool) {
	r := parseKubectl(args)
	if r.problem != "" || len(r.files) > 0 || len(r.words) == 0 || !isKnown(r.words[0]) {
		return "", false
	}
	words, name := r.words, 1
	switch format := r.options["output"]; {
	case r.command == "get" && format == "name":
		kind, err := p.Kinds.Argument(words[0])
		return kind.String() + "/" + unknown, err == nil
	case !r.onClient() || format != "yaml" && format != "json":
		return "", false
	case r.command == "run":
		words = append([]string{"pod"}, words...)
	case r.command != "create":
		return "", false
	case isOneOf(words[0], "secret", "service", "svc"): // create secret generic NAME
		name = 2
	}
	kind, err := p.Kinds.Argument(words[0])
	if err != nil {
		return "", false
	}
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: \"%s\", namespace: \"%s\"}\n",
		kind.APIVersion(), kind.Kind, wordAt(words, name), r.options["namespace"]), true
}
