package calls

import (
	"path"
	"strings"

	"github.com/operon-dev/operon/internal/lazyregexp"
	"go.yaml.in/yaml/v3"
)

// interpolation matches {{.NAME}} of task, {{NAME}} of just, and other templates.
var interpolation = lazyregexp.New(`\{\{-?\s*\.?(\w+)\s*-?\}\}|\{\{[^}]*\}\}`)

// taskFolder matches the folder of a task.
var taskFolder = lazyregexp.New(`(?m)^\s+dir:`)

// taskfile adds the calls in the commands of a Taskfile. It does not follow the key dir.
func (f *finder) taskfile() {
	for _, name := range []string{"Taskfile.yml", "taskfile.yml", "Taskfile.yaml", "taskfile.yaml"} {
		content, err := f.project.Read(name)
		var doc yaml.Node
		if err != nil || yaml.Unmarshal(content, &doc) != nil {
			continue // task itself would fail
		}
		f.open(name)
		v := f.newVariables(interpolation)
		var commands []command
		var walk func(node *yaml.Node, key string)
		walk = func(node *yaml.Node, key string) {
			if node.Kind == yaml.ScalarNode {
				if node.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
					node.Line++
				}
				commands = append(commands, command{name, node.Line, node.Value})
			}
			for i, child := range node.Content {
				if node.Kind != yaml.MappingNode {
					walk(child, key)
				} else if i%2 == 1 {
					of := node.Content[i-1].Value
					if key == "vars" {
						v.set(of, child.Value, child.Kind == yaml.ScalarNode)
					}
					walk(child, of)
				}
			}
		}
		walk(&doc, "")
		for _, c := range commands {
			if !v.names(c.text) {
				continue
			}
			dir := Root
			if taskFolder().Match(content) {
				dir = f.unknown("the key dir")
			}
			c.text = v.expand(c.text)
			f.run(c, dir, nil)
		}
	}
}

var justVariable = lazyregexp.New(`^(?:export\s+)?([\w-]+)\s*:=\s*(?:"([^"\\]*)"|'([^']*)'|(.*))$`)

// justfile adds the calls in the recipes of a justfile. Each line runs in a shell of its own.
func (f *finder) justfile() {
	for _, name := range []string{"justfile", "Justfile", ".justfile"} {
		lines, _ := f.open(name)
		v := f.newVariables(interpolation)
		for _, c := range lines {
			if a := justVariable().FindStringSubmatch(c.text); a != nil {
				v.set(a[1], a[2]+a[3], a[4] == "")
			}
		}
		for _, c := range lines {
			if strings.HasPrefix(c.text, " ") && v.names(c.text) || strings.HasPrefix(c.text, "\t") && v.names(c.text) {
				c.text = v.expand(strings.TrimLeft(c.text, "@- \t"))
				f.run(c, Root, nil)
			}
		}
	}
}

var (
	shellVariable  = lazyregexp.New(`^(\s*)(?:(?:export|readonly|declare|local) )?(\w+)=(?:"([^"` + "`" + `()]*)"|'([^'$]*)'|([^"'` + "`" + `()\s;]*))\s*$`)
	shellReference = lazyregexp.New(`\$(\w+)|\$\{(\w+)\}`)
	shellChange    = lazyregexp.New(`\b(\w+)\+?=|\b(?:for|read) (\w+)\b`)
)

// script adds the calls in a script. Its variables are those that a line sets which is not indented.
func (f *finder) script(name string) {
	lines, _ := f.open(name)
	v := f.newVariables(shellReference)
	for _, c := range lines {
		if a := shellVariable().FindStringSubmatch(c.text); a != nil && a[1] == "" {
			v.set(a[2], a[3]+a[4]+a[5], true)
			continue
		}
		for _, changed := range shellChange().FindAllStringSubmatch(c.text, -1) {
			v.set(changed[1]+changed[2], "", false)
		}
	}
	if content, err := f.project.Read(name); err == nil && strings.Contains(string(content), program) {
		f.run(command{name, 1, strings.ReplaceAll(string(content), "\r\n", "\n")}, Root, v)
	}
}

// directive begins a line with a command that go generate runs. A space or a tab follows.
const directive = "//go:generate"

// goGenerate adds the calls in go:generate comments. They run in the folder of their file.
func (f *finder) goGenerate() {
	names, _ := f.project.Containing(".go", directive)
	for _, name := range names {
		if strings.HasPrefix(name, "vendor/") || strings.Contains("/"+name, "/testdata/") {
			continue
		}
		lines, _ := f.open(name)
		for _, c := range lines {
			after, is := strings.CutPrefix(c.text, directive)
			if text := strings.TrimLeft(after, " \t"); is && text != after && strings.Contains(text, program) {
				f.run(command{name, c.line, text}, path.Join(Root, path.Dir(name)), nil)
			}
		}
	}
}
