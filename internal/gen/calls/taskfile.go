package calls

import (
	"path"
	"strings"

	"github.com/operon-dev/operon/internal/lazyregexp"
	"go.yaml.in/yaml/v3"
)

// taskfile has the parts of a Taskfile that operon reads.
type taskfile struct {
	Vars  map[string]yaml.Node `yaml:"vars"`
	Tasks map[string]yaml.Node `yaml:"tasks"`
}

// taskNode is a task that is a mapping.
type taskNode struct {
	Dir  string               `yaml:"dir"`
	Vars map[string]yaml.Node `yaml:"vars"`
	Cmd  yaml.Node            `yaml:"cmd"`
	Cmds []yaml.Node          `yaml:"cmds"`
}

// taskfile adds the calls in the commands of a Taskfile.
func (f *finder) taskfile() {
	for _, name := range []string{"Taskfile.yml", "taskfile.yml", "Taskfile.yaml", "taskfile.yaml"} {
		text, ok := f.read(path.Join(Root, name))
		if !ok {
			continue
		}
		for i, line := range strings.Split(text, "\n") {
			f.pinned(command{file: name, line: i + 1, text: line})
		}
		var t taskfile
		var doc yaml.Node
		if yaml.Unmarshal([]byte(text), &doc) != nil || doc.Decode(&t) != nil || len(doc.Content) == 0 {
			return // task itself would fail
		}
		for _, task := range inOrder(doc.Content[0], "tasks") {
			f.task(name, t.Vars, task)
		}
		return
	}
}

// inOrder returns the values of a mapping below a key, in the order of the file.
func inOrder(m *yaml.Node, key string) []*yaml.Node {
	var values []*yaml.Node
	for i := 0; m.Kind == yaml.MappingNode && i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value != key {
			continue
		}
		for j := 1; j < len(m.Content[i+1].Content); j += 2 {
			values = append(values, m.Content[i+1].Content[j])
		}
	}
	return values
}

// task adds the calls of one task, which is a mapping, a list of commands or a command.
func (f *finder) task(file string, global map[string]yaml.Node, node *yaml.Node) {
	var t taskNode
	switch node.Kind {
	case yaml.MappingNode:
		if node.Decode(&t) != nil {
			return
		}
		if t.Cmd.Kind != 0 {
			t.Cmds = append(t.Cmds, t.Cmd)
		}
	case yaml.SequenceNode:
		if node.Decode(&t.Cmds) != nil {
			return
		}
	default:
		t.Cmds = []yaml.Node{*node}
	}
	values := func(name string) (string, bool) { return taskVariable(name, t.Vars, global) }
	dir := path.Join(Root, f.interpolate(t.Dir, values))
	if abs := f.interpolate(t.Dir, values); path.IsAbs(abs) {
		dir = abs
	}
	u := &unit{finder: f}
	for _, cmd := range t.Cmds {
		text := &cmd
		if cmd.Kind == yaml.MappingNode {
			var m struct {
				Cmd yaml.Node `yaml:"cmd"`
			}
			if cmd.Decode(&m) != nil {
				continue
			}
			text = &m.Cmd
		}
		if text.Kind == yaml.ScalarNode {
			line := text.Line
			if text.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
				line++
			}
			u.run(f.interpolate(text.Value, values), file, line, dir)
		}
	}
}

// taskVariable returns the value of a variable that is a text. Others depend on commands.
func taskVariable(name string, scopes ...map[string]yaml.Node) (string, bool) {
	switch name {
	case "ROOT_DIR", "TASKFILE_DIR", "USER_WORKING_DIR":
		return Root, true
	}
	for _, scope := range scopes {
		if node, ok := scope[name]; ok {
			return node.Value, node.Kind == yaml.ScalarNode
		}
	}
	return "", false
}

var interpolation = lazyregexp.New(`\{\{-?\s*\.?(\w+)\s*-?\}\}|\{\{[^}]*\}\}`)

// interpolate replaces {{.NAME}} and {{NAME}}. Everything else between such brackets is unknown.
func (f *finder) interpolate(text string, value func(string) (string, bool)) string {
	for range maxDepth {
		if !strings.Contains(text, "{{") {
			return text
		}
		text = interpolation().ReplaceAllStringFunc(text, func(found string) string {
			name := interpolation().FindStringSubmatch(found)[1]
			if v, ok := value(name); ok && name != "" {
				return v
			}
			if programName().MatchString(name) {
				return program
			}
			return "${" + f.unknown(found) + "}"
		})
	}
	return text
}
