package helmchart

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/lazyregexp"
	"go.yaml.in/yaml/v3"
)

// text is the template of an object in the making. Actions of templates are not YAML, so the document has marks
// until it is encoded.
type text struct {
	inline []string // actions in scalars, by the number of their marks
	blocks []string // lines that replace the line of a mark
}

// action returns a mark for an action in a scalar.
func (t *text) action(format string, args ...any) string {
	t.inline = append(t.inline, "{{ "+fmt.Sprintf(format, args...)+" }}")
	return "OPERONACTION" + strconv.Itoa(len(t.inline)-1) + "END"
}

// block returns a mark for lines. "@N" in them stands for the indentation of the line plus N.
func (t *text) block(lines ...string) string {
	t.blocks = append(t.blocks, strings.Join(lines, "\n"))
	return "OPERONBLOCK" + strconv.Itoa(len(t.blocks)-1) + "END"
}

// replace replaces the value at a key of a mapping, or a new key, by lines that have the key, too.
func (t *text) replace(mapping *yaml.Node, key string, lines ...string) {
	pair := []*yaml.Node{scalar(t.block(lines...)), null()}
	if i := indexOf(mapping, key); i >= 0 {
		copy(mapping.Content[i:], pair)
		return
	}
	mapping.Style &^= yaml.FlowStyle // {} has no place for lines
	mapping.Content = append(mapping.Content, pair...)
}

// conditional makes a key of a mapping depend on a condition.
func (t *text) conditional(mapping *yaml.Node, key, condition string) {
	i := indexOf(mapping, key)
	if i < 0 || condition == "" {
		return
	}
	var content []*yaml.Node
	content = append(content, mapping.Content[:i]...)
	content = append(content, scalar(t.block("{{- if "+condition+" }}")), null())
	content = append(content, mapping.Content[i], mapping.Content[i+1], scalar(t.block("{{- end }}")), null())
	mapping.Content = append(content, mapping.Content[i+2:]...)
}

// extend adds what a value has to a mapping at a key, which may be missing. Keys that the mapping has stay: twice the
// same key is no YAML. Metadata without a key, which no API server takes, stays as it is.
func (t *text) extend(mapping *yaml.Node, key, value string) {
	if mapping == nil || len(mapping.Content) == 0 {
		return
	}
	if target := at(mapping, key); target != nil && target.Kind == yaml.MappingNode && len(target.Content) > 0 {
		var own strings.Builder
		for i := 0; i < len(target.Content); i += 2 {
			own.WriteString(" " + strconv.Quote(target.Content[i].Value))
		}
		more := t.block("{{- with omit ("+value+" | default dict)"+own.String()+" }}", "{{- toYaml . | nindent @0 }}", "{{- end }}")
		target.Content = append(target.Content, scalar(more), null())
		return
	}
	t.replace(mapping, key, "{{- with "+value+" }}", key+":", "  {{- toYaml . | nindent @2 }}", "{{- end }}")
}

// items makes the items of the list at a key depend on conditions, which may be empty. The items of the value extra
// follow, unless it is "". Without an item, the key is omitted.
func (t *text) items(mapping *yaml.Node, key, extra string, condition func(item *yaml.Node) string) {
	var content []*yaml.Node
	var alternatives []string
	always := false
	all := items(at(mapping, key))
	for _, item := range all {
		c := condition(item)
		if c == "" {
			always = true
			content = append(content, item)
			continue
		}
		content = append(content, scalar(t.block("{{- if "+c+" }}")), item, scalar(t.block("{{- end }}")))
		if !slices.Contains(alternatives, c) {
			alternatives = append(alternatives, c)
		}
	}
	if len(alternatives) == 1 && extra == "" && !always {
		content = all
	}
	if extra != "" {
		content = append(content, scalar(t.block("{{- with "+extra+" }}", "{{- toYaml . | nindent @0 }}", "{{- end }}")))
		alternatives = append(alternatives, extra)
	}
	empty := at(mapping, key) != nil && len(all) == 0
	switch {
	case empty && extra != "":
		t.replace(mapping, key, "{{- with "+extra+" }}", key+":", "  {{- toYaml . | nindent @2 }}", "{{- else }}", key+": []", "{{- end }}")
		return
	case len(content) == 0:
		return
	}
	setContent(mapping, key, content)
	switch {
	case always:
	case len(alternatives) == 1:
		t.conditional(mapping, key, alternatives[0])
	default:
		t.conditional(mapping, key, "or ("+strings.Join(alternatives, ") (")+")")
	}
}

var (
	blockLine  = lazyregexp.New(`(?m)^( *)(- )?OPERONBLOCK(\d+)END(: null)?$`)
	actionMark = lazyregexp.New(`OPERONACTION(\d+)END`)
	indentMark = lazyregexp.New(`@(\d+)`)
)

// encode returns the template. Braces in the document that would start actions are escaped.
func (t *text) encode(root *yaml.Node) (string, error) {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	e.CompactSeqIndent()
	if err := e.Encode(root); err != nil {
		return "", err
	}
	out := strings.ReplaceAll(b.String(), "{{", `{{ "{{" }}`)
	out = replaceMatches(blockLine(), out, func(m []string) string {
		n, _ := strconv.Atoi(m[3])
		return indented(t.blocks[n], len(m[1]))
	})
	return replaceMatches(actionMark(), out, func(m []string) string {
		n, _ := strconv.Atoi(m[1])
		return t.inline[n]
	}), nil
}

// indented indents the lines of a block.
func indented(block string, n int) string {
	lines := strings.Split(block, "\n")
	for i, line := range lines {
		lines[i] = strings.Repeat(" ", n) + replaceMatches(indentMark(), line, func(m []string) string {
			more, _ := strconv.Atoi(m[1])
			return strconv.Itoa(n + more)
		})
	}
	return strings.Join(lines, "\n")
}

func replaceMatches(re *regexp.Regexp, s string, f func(m []string) string) string {
	return re.ReplaceAllStringFunc(s, func(match string) string { return f(re.FindStringSubmatch(match)) })
}

func scalar(value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
}

func null() *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"} }

// indexOf returns the index of a key in the content of a mapping, or -1.
func indexOf(mapping *yaml.Node, key string) int {
	if mapping == nil || mapping.Kind != yaml.MappingNode {
		return -1
	}
	for i := 0; i < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return i
		}
	}
	return -1
}

// at returns the node at a path of keys, or nil.
func at(node *yaml.Node, path ...string) *yaml.Node {
	for _, key := range path {
		i := indexOf(node, key)
		if i < 0 {
			return nil
		}
		node = node.Content[i+1]
	}
	return node
}

// items returns the items of a list, which may be missing.
func items(list *yaml.Node) []*yaml.Node {
	if list == nil || list.Kind != yaml.SequenceNode {
		return nil
	}
	return list.Content
}

// valueAt returns the text of a scalar, or "".
func valueAt(node *yaml.Node, path ...string) string {
	if n := at(node, path...); n != nil && n.Kind == yaml.ScalarNode {
		return n.Value
	}
	return ""
}
