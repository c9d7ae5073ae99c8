package reads

import (
	"slices"
	"strconv"
	"strings"
	"text/template/parse"
)

// Instrument returns copies of templates that call the functions of [Recorder.Wrap] with what they
// read. A statement evaluates its fields as before: the call comes before the statement.
func Instrument(trees map[string]*parse.Tree) map[string]*parse.Tree {
	all := map[string]*parse.Tree{}
	for name, tree := range trees {
		all[name] = tree.Copy()
		if all[name].Root != nil {
			instrument(all[name].Root)
		}
	}
	return all
}

// instrument adds the calls to a list of statements.
func instrument(list *parse.ListNode) {
	if list == nil {
		return
	}
	var nodes []parse.Node
	for _, n := range list.Nodes {
		var a arguments
		switch n := n.(type) {
		case *parse.ActionNode:
			a.pipe(n.Pipe, len(n.Pipe.Decl) == 0)
		case *parse.IfNode:
			a.branch(&n.BranchNode, false)
		case *parse.WithNode:
			a.branch(&n.BranchNode, false)
		case *parse.RangeNode:
			a.branch(&n.BranchNode, true)
		case *parse.TemplateNode:
			a.add(text(n.Pos, n.Name), "!")
			a.pipe(n.Pipe, false)
		}
		if len(a) > 0 {
			nodes = append(nodes, action(n.Position(), command(n.Position(), fieldsOf, a...)))
		}
		nodes = append(nodes, n)
	}
	list.Nodes = nodes
}

// arguments are those of a call of fieldsOf.
type arguments []parse.Node

func (a *arguments) add(v parse.Node, path string) { *a = append(*a, v, text(v.Position(), path)) }

func (a *arguments) branch(b *parse.BranchNode, whole bool) {
	a.pipe(b.Pipe, whole)
	instrument(b.List)
	instrument(b.ElseList)
}

// sameResult are the functions that may return one of their arguments, or a part of it.
var sameResult = strings.Fields("and coalesce default dig get index or required ternary")

// pipe adds the fields in a pipeline. whole is whether its value is printed, or read in a loop.
func (a *arguments) pipe(p *parse.PipeNode, whole bool) {
	if p == nil || len(p.Cmds) == 0 {
		return
	}
	last := p.Cmds[len(p.Cmds)-1]
	function, isFunction := last.Args[0].(*parse.IdentifierNode)
	for _, c := range p.Cmds {
		for _, arg := range c.Args {
			a.operand(arg, whole && !isFunction && c == last)
		}
	}
	if whole && isFunction && slices.Contains(sameResult, function.Ident) {
		p.Cmds = append(p.Cmds, command(p.Pos, allOf))
	}
}

// operand adds the fields in an operand of a command.
func (a *arguments) operand(n parse.Node, whole bool) {
	path := func(names []string) string {
		if whole {
			return "*" + strings.Join(names, ".")
		}
		return strings.Join(names, ".")
	}
	switch n := n.(type) {
	case *parse.DotNode:
		a.add(n, path(nil))
	case *parse.FieldNode:
		a.add(&parse.DotNode{NodeType: parse.NodeDot, Pos: n.Pos}, path(n.Ident))
	case *parse.VariableNode:
		a.add(&parse.VariableNode{NodeType: parse.NodeVariable, Pos: n.Pos, Ident: n.Ident[:1]}, path(n.Ident[1:]))
	case *parse.PipeNode:
		a.pipe(n, whole)
	case *parse.ChainNode:
		a.operand(n.Node, false)
		n.Node = &parse.PipeNode{NodeType: parse.NodePipe, Pos: n.Pos, Cmds: []*parse.CommandNode{command(n.Pos, chainOf, n.Node, text(n.Pos, path(n.Field)))}}
	}
}

func action(at parse.Pos, c *parse.CommandNode) *parse.ActionNode {
	return &parse.ActionNode{NodeType: parse.NodeAction, Pos: at, Pipe: &parse.PipeNode{NodeType: parse.NodePipe, Pos: at, Cmds: []*parse.CommandNode{c}}}
}

func command(at parse.Pos, function string, args ...parse.Node) *parse.CommandNode {
	return &parse.CommandNode{NodeType: parse.NodeCommand, Pos: at, Args: append([]parse.Node{parse.NewIdentifier(function).SetPos(at)}, args...)}
}

func text(at parse.Pos, s string) *parse.StringNode {
	return &parse.StringNode{NodeType: parse.NodeString, Pos: at, Quoted: strconv.Quote(s), Text: s}
}
