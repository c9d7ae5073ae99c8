package testfile

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Missing represents an absent key.
type Missing struct{}

// Difference is a value that differs from the expected one.
type Difference struct {
	Path      string
	Want, Got any
}

func (d Difference) String() string {
	path := d.Path
	if path != "" {
		path += " "
	}
	want, got := d.Texts()
	switch {
	case d.Want == nil:
		return fmt.Sprintf("%sis %s, want none", path, got)
	case d.Got == Missing{}:
		return fmt.Sprintf("%sis missing, want %s", path, want)
	}
	return fmt.Sprintf("%sis %s, want %s", path, got, want)
}

// Texts returns both values as JSON. If the texts first differ beyond the limit of what
// is shown, Texts shortens them at the start.
func (d Difference) Texts() (want, got string) {
	want, got = JSON(d.Want), JSON(d.Got)
	same := 0
	for same < min(len(want), len(got)) && want[same] == got[same] {
		same++
	}
	if same < Longest {
		return shortened(want), shortened(got)
	}
	const before = 20 // context before the first difference
	from := same - before
	return "..." + shortened(want[from:]), "..." + shortened(got[from:])
}

// Differences returns the fields of want that got lacks or has with another value. If
// exact is set, it also returns the fields that only got has.
func Differences(want, got any, path string, exact bool) []Difference {
	switch w := want.(type) {
	case map[string]any:
		g, isObject := got.(map[string]any)
		if !isObject {
			return []Difference{{path, want, got}}
		}
		return objectDifferences(w, g, path, exact)
	case []any:
		g, isList := got.([]any)
		if !isList || len(g) != len(w) {
			return []Difference{{path, want, got}}
		}
		var all []Difference
		for i := range w {
			all = append(all, Differences(w[i], g[i], fmt.Sprintf("%s[%d]", path, i), exact)...)
		}
		return all
	}
	if JSON(want) != JSON(got) {
		return []Difference{{path, want, got}}
	}
	return nil
}

func objectDifferences(want, got map[string]any, path string, exact bool) []Difference {
	var all []Difference
	for _, k := range sortedKeys(want) {
		below := k
		if path != "" {
			below = path + "." + k
		}
		g, found := got[k]
		switch {
		case want[k] == nil && (!found || g == nil):
		case !found:
			all = append(all, Difference{below, want[k], Missing{}})
		default:
			all = append(all, Differences(want[k], g, below, exact)...)
		}
	}
	for _, k := range sortedKeys(got) {
		if _, expected := want[k]; exact && !expected {
			all = append(all, Difference{strings.TrimPrefix(path+"."+k, "."), Missing{}, got[k]})
		}
	}
	return all
}

// Longest is the number of bytes of a value that messages show.
const Longest = 300

// Shown returns a value as one line of JSON, shortened for messages.
func Shown(v any) string { return shortened(JSON(v)) }

func shortened(text string) string {
	if len(text) > Longest {
		text = text[:Longest] + "..."
	}
	return strings.ToValidUTF8(text, "") // the cut may split a rune
}

// JSON returns a value as one line of JSON. Equal values have equal texts, also numbers
// of different types.
func JSON(v any) string {
	if v == (Missing{}) {
		return "nothing"
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}

// Lines returns one line for each item.
func Lines(items []any) string {
	var all []string
	for _, item := range items {
		all = append(all, "- "+Shown(item))
	}
	return strings.Join(all, "\n")
}

// Normal converts a value to the types that decoding JSON results in.
func Normal(v any) any {
	text, err := json.Marshal(v)
	if err != nil {
		return v
	}
	var n any
	if err := json.Unmarshal(text, &n); err != nil {
		return v
	}
	return n
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
