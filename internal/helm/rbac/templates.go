package rbac

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"text/template/parse"

	"github.com/operon-dev/operon/internal/chart"
	"github.com/operon-dev/operon/internal/lazyregexp"
	helmchart "helm.sh/helm/v3/pkg/chart"
)

// template is a file in the folder templates of a chart or of a dependency.
type template struct {
	file     string   // the path in the chart, with the names of the folders
	rendered []string // the paths that errors and results have: with the aliases of dependencies
	text     string

	kinds    []kindLine
	lookups  []lookup
	apis     []string   // literal arguments of .Capabilities.APIVersions.Has
	compared []toggle   // values and what they are compared with, or contain
	required [][]string // paths of the values in conditions
	includes []string   // literal names of included templates
}

// isPartial reports whether Helm does not render a template by itself.
func (t template) isPartial() bool {
	return strings.HasPrefix(path.Base(t.file), "_") || path.Base(t.file) == "NOTES.txt"
}

// lookup is a use of the function lookup.
type lookup struct {
	line             int
	apiVersion, kind string // "" if they are not literals
	list             bool   // whether the name is empty
}

// readTemplates reads the templates of a chart and its dependencies. The error is a *chart.Error.
func readTemplates(c *helmchart.Chart) ([]template, error) {
	byFile := map[string]*template{}
	var order []string
	var walk func(c *helmchart.Chart, folder, rendered string, values []string) error
	walk = func(c *helmchart.Chart, folder, rendered string, values []string) error {
		for _, f := range c.Templates {
			file := folder + f.Name
			t := byFile[file]
			if t == nil {
				t = &template{file: file, text: string(f.Data)}
				byFile[file] = t
				order = append(order, file)
			}
			t.rendered = append(t.rendered, rendered+f.Name)
			if err := t.read(values); err != nil {
				return err
			}
		}
		for _, d := range dependenciesOf(c) {
			err := walk(d.chart, folder+"charts/"+d.chart.Name()+"/", rendered+"charts/"+d.name+"/", append(slices.Clone(values), d.name))
			if err != nil {
				return err
			}
		}
		return nil
	}
	if err := walk(c, "", "", nil); err != nil {
		return nil, err
	}
	slices.Sort(order)
	var all []template
	for _, file := range order {
		all = append(all, *byFile[file])
	}
	return all, nil
}

// read parses a template. values is the path of the values of its chart.
func (t *template) read(values []string) error {
	tree := parse.New(t.file)
	tree.Mode = parse.SkipFuncCheck
	trees := map[string]*parse.Tree{}
	if _, err := tree.Parse(t.text, "", "", trees); err != nil {
		return parseError(t.file, err)
	}
	t.lookups, t.apis, t.includes = nil, nil, nil // of the same file under another alias
	for _, tree := range trees {
		if tree.Root != nil {
			t.walk(tree.Root, values)
		}
	}
	t.kinds = kindLines(t.text)
	return nil
}

var parsePosition = lazyregexp.New(`^template: .*?:(\d+): `)

func parseError(file string, err error) error {
	e := &chart.Error{File: file, Msg: err.Error()}
	if m := parsePosition().FindStringSubmatch(e.Msg); m != nil {
		e.Line, _ = strconv.Atoi(m[1])
		e.Msg = strings.TrimPrefix(e.Msg, m[0])
	}
	return e
}

// walk reads the commands in a node of a template.
func (t *template) walk(n parse.Node, values []string) {
	branch := func(b parse.BranchNode) {
		t.require(b.Pipe, values)
		t.walk(b.Pipe, values)
		t.walk(b.List, values)
		if b.ElseList != nil {
			t.walk(b.ElseList, values)
		}
	}
	switch n := n.(type) {
	case *parse.ListNode:
		for _, inner := range n.Nodes {
			t.walk(inner, values)
		}
	case *parse.ActionNode:
		t.walk(n.Pipe, values)
	case *parse.IfNode:
		branch(n.BranchNode)
	case *parse.RangeNode:
		branch(n.BranchNode)
	case *parse.WithNode:
		branch(n.BranchNode)
	case *parse.TemplateNode:
		t.includes = append(t.includes, n.Name)
		if n.Pipe != nil {
			t.walk(n.Pipe, values)
		}
	case *parse.PipeNode:
		for _, cmd := range n.Cmds {
			t.command(cmd, values)
			for _, arg := range cmd.Args {
				t.walk(arg, values)
			}
		}
	case *parse.ChainNode:
		t.walk(n.Node, values)
	}
}

// command reads one call of a function or method.
func (t *template) command(cmd *parse.CommandNode, values []string) {
	fields := fieldsOf(cmd.Args[0])
	if len(cmd.Args) == 2 && len(fields) > 0 && strings.HasSuffix(strings.Join(fields, "."), "Capabilities.APIVersions.Has") {
		if version := literal(cmd.Args[1]); version != "" {
			t.apis = append(t.apis, version)
		}
		return
	}
	function, isFunction := cmd.Args[0].(*parse.IdentifierNode)
	if !isFunction {
		return
	}
	switch args := cmd.Args[1:]; function.Ident {
	case "include":
		if len(args) > 0 {
			t.includes = append(t.includes, literal(args[0]))
		}
	case "lookup":
		if len(args) < 2 {
			return
		}
		l := lookup{line: t.lineAt(int(cmd.Position())), apiVersion: literal(args[0]), kind: literal(args[1])}
		if len(args) > 3 {
			name, isString := args[3].(*parse.StringNode)
			l.list = isString && name.Text == ""
		}
		t.lookups = append(t.lookups, l)
	case "eq", "ne", "gt", "ge", "lt", "le":
		t.compare(args, values)
	case "has":
		t.contain(args, values)
	}
}

// require reads the values in a condition.
func (t *template) require(n parse.Node, values []string) {
	if pipe, is := n.(*parse.PipeNode); is {
		for _, cmd := range pipe.Cmds {
			for _, arg := range cmd.Args {
				t.require(arg, values)
			}
		}
		return
	}
	if at := valuePath(n, values); at != nil {
		t.required = append(t.required, at)
	}
}

// valuePath returns the path of the value that an argument is, or nil.
func valuePath(n parse.Node, values []string) []string {
	fields := fieldsOf(n)
	switch {
	case len(fields) < 2 || fields[0] != "Values":
		return nil
	case fields[1] == "global":
		return fields[1:]
	}
	return append(slices.Clone(values), fields[1:]...)
}

// compare reads a comparison of a value with strings or numbers. Near each number are those for which
// the comparison has another result.
func (t *template) compare(args []parse.Node, values []string) {
	for _, arg := range args {
		at := valuePath(arg, values)
		if at == nil {
			continue
		}
		for _, other := range args {
			if text := literal(other); text != "" {
				t.compared = append(t.compared, toggle{path: at, value: text})
			}
			if n, is := other.(*parse.NumberNode); is && n.IsInt {
				for _, near := range []int64{n.Int64, n.Int64 + 1, n.Int64 - 1} {
					t.compared = append(t.compared, toggle{path: at, value: float64(near)})
				}
			}
		}
	}
}

// contain reads a function that looks for a string in a list.
func (t *template) contain(args []parse.Node, values []string) {
	if len(args) != 2 {
		return
	}
	if text, at := literal(args[0]), valuePath(args[1], values); text != "" && at != nil {
		t.compared = append(t.compared, toggle{path: at, value: []any{text}})
	}
}

// fieldsOf returns the names of a field of the data, such as Values and a, or nil. It takes the dot
// for the data of the whole template.
func fieldsOf(n parse.Node) []string {
	switch n := n.(type) {
	case *parse.FieldNode:
		return n.Ident
	case *parse.VariableNode:
		if n.Ident[0] == "$" {
			return n.Ident[1:]
		}
		return n.Ident
	case *parse.PipeNode: // a function of a value, such as (lower .Values.a)
		for _, cmd := range n.Cmds {
			for _, arg := range cmd.Args {
				if fields := fieldsOf(arg); fields != nil {
					return fields
				}
			}
		}
	}
	return nil
}

// literal returns the text of a string, or "".
func literal(n parse.Node) string {
	if s, is := n.(*parse.StringNode); is {
		return s.Text
	}
	return ""
}

func (t *template) lineAt(offset int) int { return 1 + strings.Count(t.text[:offset], "\n") }
