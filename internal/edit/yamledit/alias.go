package yamledit

import (
	"cmp"
	"reflect"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Rewrite edits src so that all of it decodes to want, like Reconcile. List
// items that change are matched with the items at their place. An alias stays
// if its value remains the value of its anchor. Other aliases are replaced with
// their values, of which the first becomes the new anchor for further aliases
// with the same value.
func Rewrite(src []byte, want map[string]any) ([]byte, error) {
	y, err := Decode(src)
	if err != nil {
		return nil, err
	}
	was, next := plain(y.Value), plain(want)
	if reflect.DeepEqual(was, next) {
		return src, nil
	}
	same := func(any, any) bool { return true }
	out := y.doc.expandAliases(was, next, same)
	d, err := parseYAML(out)
	if err != nil {
		return nil, err
	}
	c := changes{same: same, follow: true}
	c.value(d.root, nil, was, next)
	for i, op := range c.ops {
		if i > 0 {
			if d, err = parseYAML(out); err != nil {
				return nil, err
			}
		}
		if out, err = op.edit(d); err != nil {
			return nil, err
		}
	}
	if got, err := Decode(out); err != nil || !equalYAML(got.Value, next) {
		return nil, d.errorAt(d.root, "simplify the YAML (no merge keys, no values over several lines), or edit the file by hand",
			"this is written in a form that cannot be edited in place")
	}
	return out, nil
}

// use is an occurrence of an anchored value: the anchor itself or an alias.
type use struct {
	node      *yaml.Node
	was, want any
	gone      bool // want does not contain this value
}

// expandAliases replaces aliases whose values will differ from the value of the anchor
// with their values. The result decodes to the same data.
func (d *yamlDoc) expandAliases(was, want any, same func(a, b any) bool) []byte {
	uses := map[string][]use{}
	collectUses(d.root, use{was: was, want: want}, same, uses)
	var edits []byteEdit
	for name, list := range uses {
		edits = append(edits, d.expandUses(name, list)...)
	}
	slices.SortFunc(edits, func(a, b byteEdit) int { return cmp.Compare(a.from, b.from) })
	return d.apply(edits...)
}

// expandUses handles the uses of one name, in document order.
func (d *yamlDoc) expandUses(name string, uses []use) []byteEdit {
	var edits []byteEdit
	var anchor use // the current anchor of the name
	for i, u := range uses {
		switch {
		case u.node.Kind != yaml.AliasNode:
			anchor = u
			continue
		case u.gone || !anchor.gone && reflect.DeepEqual(anchor.want, u.want):
			continue
		}
		text := flow(u.was)
		repeated := slices.ContainsFunc(following(uses[i+1:]), func(next use) bool {
			return !next.gone && reflect.DeepEqual(next.want, u.want)
		})
		if repeated && !stays(anchor, uses[i+1:]) {
			text = "&" + name + " " + text
			anchor = u
		}
		from := d.start(u.node)
		edits = append(edits, byteEdit{from, d.word(from), text})
	}
	return edits
}

// following returns the aliases before the name is defined again.
func following(uses []use) []use {
	if i := slices.IndexFunc(uses, func(u use) bool { return u.node.Kind != yaml.AliasNode }); i >= 0 {
		return uses[:i]
	}
	return uses
}

// stays reports whether a later alias still needs the anchor.
func stays(anchor use, behind []use) bool {
	return !anchor.gone && slices.ContainsFunc(following(behind), func(u use) bool {
		return !u.gone && reflect.DeepEqual(u.want, anchor.want)
	})
}

// collectUses collects the uses of each name below a value.
func collectUses(n *yaml.Node, at use, same func(a, b any) bool, uses map[string][]use) {
	at.node = n
	if n.Kind == yaml.AliasNode {
		uses[n.Value] = append(uses[n.Value], at)
		return
	}
	if n.Anchor != "" {
		uses[n.Anchor] = append(uses[n.Anchor], at)
	}
	switch n.Kind {
	case yaml.MappingNode:
		was, _ := at.was.(map[string]any)
		want, _ := at.want.(map[string]any)
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i].Value
			if n.Content[i].Tag == "!!merge" {
				continue
			}
			next, there := want[key]
			collectUses(n.Content[i+1], use{was: was[key], want: next, gone: at.gone || !there}, same, uses)
		}
	case yaml.SequenceNode:
		was, _ := at.was.([]any)
		want, _ := at.want.([]any)
		kept := map[int]int{}
		for j, i := range align(was, want, same) {
			kept[i] = j
		}
		for i, c := range n.Content {
			item := use{gone: true}
			if i < len(was) {
				item.was = was[i]
			}
			if j, is := kept[i]; is {
				item.want, item.gone = want[j], at.gone
			}
			collectUses(c, item, same, uses)
		}
	}
}
