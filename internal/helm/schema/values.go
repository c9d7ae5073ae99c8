package schema

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/jsonvalue"
	"github.com/operon-dev/operon/internal/lazyregexp"
	"go.yaml.in/yaml/v3"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	kyaml "sigs.k8s.io/yaml"
)

// value is a value in values.yaml. A nil value has no position and no keys.
type value struct {
	data         any // as an API server decodes it
	isFloat      bool
	path         []string // the keys that lead to it; an item of a list has the path of the list
	line, column int      // of its key or, in lists, of itself
	keys         []string // of a mapping, in the order of the file
	fields       map[string]*value
	items        []*value
	doc          doc
}

// name returns the path of the value for messages.
func (v *value) name() string {
	if len(v.path) == 0 {
		return "the values"
	}
	return strings.Join(v.path, ".")
}

// field returns the value of a key, or nil.
func (v *value) field(key string) *value {
	if v == nil {
		return nil
	}
	return v.fields[key]
}

// isSet reports whether Helm merges the value into what a custom resource leaves out.
func (v *value) isSet() bool { return v != nil && v.data != nil }

// readValues reads values.yaml. Types are those that Helm and kubectl see, which read YAML 1.1;
// positions and comments come from a parser that has them.
func readValues(file string, content []byte) (*value, error) {
	content = normalized(content)
	root := &value{data: map[string]any{}, line: 1, column: 1}
	if err := yamledit.CheckSyntax(file, content); err != nil {
		return nil, err
	}
	node, hasRoot, err := onlyDocument(file, content)
	if err != nil || !hasRoot {
		return root, err
	}
	if err := checkNumbers(file, node); err != nil {
		return nil, err
	}
	data, err := decodeValues(file, content)
	if err != nil {
		return nil, err
	}
	if data == nil {
		return root, nil
	}
	if _, isObject := data.(map[string]any); !isObject {
		return nil, errorAt("write key: value lines: Helm reads a mapping", file, node.Line, node.Column, "the values are %s, not a mapping", jsonvalue.WithArticle(jsonvalue.Type(data)))
	}
	r := reader{comments: newComments(content)}
	r.read(root, node, data)
	return root, nil
}

// normalized removes a byte order mark and carriage returns.
func normalized(content []byte) []byte {
	content = bytes.TrimPrefix(content, []byte("\ufeff"))
	return bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n"))
}

// onlyDocument returns the root of the document. An empty one has none.
func onlyDocument(file string, content []byte) (root *yaml.Node, hasRoot bool, err error) {
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	var first, second yaml.Node
	if err := decoder.Decode(&first); errors.Is(err, io.EOF) {
		return nil, false, nil
	} else if err != nil {
		return nil, false, fault.In(file, yamledit.SyntaxError(content, err))
	}
	if err := decoder.Decode(&second); err == nil {
		return nil, false, errorAt("keep one document: Helm ignores the others", file, second.Line, second.Column, "the values have several documents")
	}
	return first.Content[0], true, nil
}

// checkNumbers reports numbers that JSON cannot hold.
func checkNumbers(file string, n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!float" && notANumber().MatchString(n.Value) {
		return errorAt("quote it, or write a number", file, n.Line, n.Column, "%s is not a number in JSON, which the API server reads", n.Value)
	}
	for _, inner := range n.Content {
		if err := checkNumbers(file, inner); err != nil {
			return err
		}
	}
	return nil
}

var (
	notANumber = lazyregexp.New(`(?i)^[-+]?\.(inf|nan)$`)
	errorLine  = lazyregexp.New(`(?s)line (\d+): ([^\n]*)`)
)

func decodeValues(file string, content []byte) (any, error) {
	asJSON, err := kyaml.YAMLToJSONStrict(content)
	if err != nil {
		line, text := 1, strings.TrimPrefix(strings.TrimPrefix(err.Error(), "error converting YAML to JSON: "), "yaml: ")
		if m := errorLine().FindStringSubmatch(err.Error()); m != nil {
			line, _ = strconv.Atoi(m[1])
			text = m[2]
		}
		return nil, errorAt("correct the values first", file, line, 0, "%s", strings.ReplaceAll(text, "already set in map", "occurs twice"))
	}
	var data any
	if err := utiljson.Unmarshal(asJSON, &data); err != nil {
		return nil, errorAt("correct the values first", file, 1, 0, "%v", err)
	}
	return data, nil
}

// reader adds positions and comments to data.
type reader struct{ comments comments }

func (r reader) read(v *value, n *yaml.Node, data any) {
	if n != nil && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	v.data = data
	_, isFloat := data.(float64)
	v.isFloat = isFloat || n != nil && n.Tag == "!!float" && jsonvalue.Type(data) == "integer"
	switch data := data.(type) {
	case map[string]any:
		v.fields = map[string]*value{}
		r.readFields(v, n, data)
	case []any:
		for i, item := range data {
			inner := &value{path: v.path, line: v.line, column: v.column}
			var itemNode *yaml.Node
			if n != nil && i < len(n.Content) {
				itemNode = n.Content[i]
				inner.line, inner.column = itemNode.Line, itemNode.Column
			}
			r.read(inner, itemNode, item)
			v.items = append(v.items, inner)
		}
	}
}

// readFields reads the keys of a mapping in the order of the file, and the keys of merged mappings last.
func (r reader) readFields(v *value, n *yaml.Node, data map[string]any) {
	if n == nil {
		return
	}
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, item := n.Content[i], n.Content[i+1]
		if key.Tag == "!!merge" {
			merged = append(merged, mergedMappings(item)...)
			continue
		}
		name := keyName(key, data)
		inner, exists := data[name]
		if _, twice := v.fields[name]; !exists || twice {
			continue
		}
		field := &value{path: append(v.path[:len(v.path):len(v.path)], name), line: key.Line, column: key.Column}
		field.doc = r.comments.of(field.path, key, item)
		r.read(field, item, inner)
		v.keys = append(v.keys, name)
		v.fields[name] = field
	}
	for _, m := range merged {
		r.readFields(v, m, data)
	}
}

// mergedMappings returns the mappings of the value of a merge key (<<).
func mergedMappings(n *yaml.Node) []*yaml.Node {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.SequenceNode {
		return []*yaml.Node{n}
	}
	var all []*yaml.Node
	for _, item := range n.Content {
		all = append(all, mergedMappings(item)...)
	}
	return all
}

// keyName returns the name that a key has in JSON. The key 0x10 is "16", and yes is "true".
func keyName(key *yaml.Node, data map[string]any) string {
	if key.Kind == yaml.AliasNode {
		key = key.Alias
	}
	if _, exists := data[key.Value]; exists || key.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
		return key.Value
	}
	if asJSON, err := kyaml.YAMLToJSON([]byte(key.Value)); err == nil {
		return cmp.Or(strings.TrimSpace(string(asJSON)), key.Value)
	}
	return key.Value
}
