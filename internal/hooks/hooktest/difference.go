package hooktest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// missing represents an absent key.
type missing struct{}

// difference is a value that differs from the expected one.
type difference struct {
	path      string
	want, got any
}

func (d difference) String() string {
	path := d.path
	if path != "" {
		path += " "
	}
	want, got := d.texts()
	switch {
	case d.want == nil:
		return fmt.Sprintf("%sis %s, want none", path, got)
	case d.got == missing{}:
		return fmt.Sprintf("%sis missing, want %s", path, want)
	}
	return fmt.Sprintf("%sis %s, want %s", path, got, want)
}

// texts returns both values as JSON. If the texts first differ beyond the limit of what
// is shown, texts shortens them at the start.
func (d difference) texts() (want, got string) {
	want, got = whole(d.want), whole(d.got)
	same := 0
	for same < min(len(want), len(got)) && want[same] == got[same] {
		same++
	}
	if same < longest {
		return shortened(want), shortened(got)
	}
	const before = 20 // context before the first difference
	from := same - before
	return "..." + shortened(want[from:]), "..." + shortened(got[from:])
}

// differences returns the fields of want that got lacks or has with another value. If
// exact is set, it also returns the fields that only got has.
func differences(want, got any, path string, exact bool) []difference {
	switch w := want.(type) {
	case map[string]any:
		g, isObject := got.(map[string]any)
		if !isObject {
			return []difference{{path, want, got}}
		}
		return objectDifferences(w, g, path, exact)
	case []any:
		g, isList := got.([]any)
		if !isList || len(g) != len(w) {
			return []difference{{path, want, got}}
		}
		var all []difference
		for i := range w {
			all = append(all, differences(w[i], g[i], fmt.Sprintf("%s[%d]", path, i), exact)...)
		}
		return all
	}
	if whole(want) != whole(got) {
		return []difference{{path, want, got}}
	}
	return nil
}

func objectDifferences(want, got map[string]any, path string, exact bool) []difference {
	var all []difference
	for _, k := range sortedKeys(want) {
		below := k
		if path != "" {
			below = path + "." + k
		}
		g, found := got[k]
		switch {
		case want[k] == nil && (!found || g == nil):
		case !found:
			all = append(all, difference{below, want[k], missing{}})
		default:
			all = append(all, differences(want[k], g, below, exact)...)
		}
	}
	for _, k := range sortedKeys(got) {
		if _, expected := want[k]; exact && !expected {
			all = append(all, difference{strings.TrimPrefix(path+"."+k, "."), missing{}, got[k]})
		}
	}
	return all
}

// longest is the number of bytes of a value that messages show.
const longest = 300

// shown returns a value as one line of JSON, shortened for messages.
func shown(v any) string { return shortened(whole(v)) }

func shortened(text string) string {
	if len(text) > longest {
		text = text[:longest] + "..."
	}
	return strings.ToValidUTF8(text, "") // the cut may split a rune
}

// whole returns a value as one line of JSON. Equal values have equal texts, also numbers
// of different types.
func whole(v any) string {
	if v == (missing{}) {
		return "nothing"
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}

func lines(items []any) string {
	var all []string
	for _, item := range items {
		all = append(all, "- "+shown(item))
	}
	return strings.Join(all, "\n")
}

func lastLines(text string, n int) []string {
	var all []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all[max(0, len(all)-n):]
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
