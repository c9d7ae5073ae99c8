package calls

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// builtin is a function of make whose value follows from its arguments and the files of the project.
type builtin struct {
	args  int  // how many it has; further commas belong to the last one
	loose bool // unknown parts of the arguments become unknown parts of the value
	value func(m *makefile, args []string) string
}

// builtins are the functions by their names. Those of texts and lists:
// https://www.gnu.org/software/make/manual/html_node/Text-Functions.html, and those of file names:
// https://www.gnu.org/software/make/manual/html_node/File-Name-Functions.html
var builtins = map[string]builtin{
	"findstring": {2, false, func(_ *makefile, args []string) string {
		if strings.Contains(args[1], args[0]) {
			return args[0]
		}
		return ""
	}},
	"filter":     {2, false, filter(true)},
	"filter-out": {2, false, filter(false)},
	"firstword":  {1, true, list(func(words []string) []string { return words[:min(len(words), 1)] })},
	"lastword":   {1, true, list(func(words []string) []string { return words[max(len(words)-1, 0):] })},
	"patsubst": {3, false, func(_ *makefile, args []string) string {
		return onEach(args[2], func(word string) string { return patsubst(args[0], args[1], word) })
	}},
	"sort":  {1, false, list(func(words []string) []string { return slices.Compact(slices.Sorted(slices.Values(words))) })},
	"strip": {1, true, list(func(words []string) []string { return words })},
	"subst": {3, false, func(_ *makefile, args []string) string {
		if args[0] == "" {
			return args[2] + args[1]
		}
		return strings.ReplaceAll(args[2], args[0], args[1])
	}},
	"word":     {2, false, func(_ *makefile, args []string) string { return part(args[0], args[0], args[1]) }},
	"wordlist": {3, false, func(_ *makefile, args []string) string { return part(args[0], args[1], args[2]) }},
	"words":    {1, false, func(_ *makefile, args []string) string { return strconv.Itoa(len(strings.Fields(args[0]))) }},

	"abspath": {1, false, func(m *makefile, args []string) string { return onEach(args[0], m.abs) }},
	"addprefix": {2, true, func(_ *makefile, args []string) string {
		return onEach(args[1], func(w string) string { return args[0] + w })
	}},
	"addsuffix": {2, true, func(_ *makefile, args []string) string {
		return onEach(args[1], func(w string) string { return w + args[0] })
	}},
	"basename": {1, false, each(func(name string) string { return strings.TrimSuffix(name, path.Ext(name)) })},
	"dir":      {1, false, each(func(name string) string { return cmp.Or(name[:strings.LastIndexByte(name, '/')+1], "./") })},
	"join":     {2, false, func(_ *makefile, args []string) string { return join(strings.Fields(args[0]), strings.Fields(args[1])) }},
	"notdir":   {1, false, each(func(name string) string { return name[strings.LastIndexByte(name, '/')+1:] })},
	"realpath": {1, false, func(m *makefile, args []string) string {
		return onEach(args[0], func(name string) string {
			if name = m.abs(name); !m.exists(name) {
				return ""
			}
			return name
		})
	}},
	"suffix": {1, false, each(path.Ext)},
	"wildcard": {1, false, func(m *makefile, args []string) string {
		var all []string
		for pattern := range strings.FieldsSeq(args[0]) {
			all = append(all, m.glob(pattern)...)
		}
		return strings.Join(all, " ")
	}},

	"info":    {1, true, func(*makefile, []string) string { return "" }},
	"warning": {1, true, func(*makefile, []string) string { return "" }},
}

// list makes a function of one list.
func list(f func(words []string) []string) func(*makefile, []string) string {
	return func(_ *makefile, args []string) string { return strings.Join(f(strings.Fields(args[0])), " ") }
}

// each makes a function that changes each word of a list.
func each(f func(word string) string) func(*makefile, []string) string {
	return func(_ *makefile, args []string) string { return onEach(args[0], f) }
}

// onEach changes each word of a list, and omits those that become empty.
func onEach(text string, f func(word string) string) string {
	words := strings.Fields(text)
	for i, word := range words {
		words[i] = f(word)
	}
	return strings.Join(slices.DeleteFunc(words, func(word string) bool { return word == "" }), " ")
}

// filter makes a function that keeps the words that match one of the patterns, or the others.
func filter(matching bool) func(*makefile, []string) string {
	return func(_ *makefile, args []string) string {
		return onEach(args[1], func(word string) string {
			matches := slices.ContainsFunc(strings.Fields(args[0]), func(pattern string) bool {
				_, ok := stem(pattern, word)
				return ok
			})
			if matches != matching {
				return ""
			}
			return word
		})
	}
}

// stem returns what the percent sign of a pattern stands for in a word. ok is false if the word does not match.
func stem(pattern, word string) (stem string, ok bool) {
	prefix, suffix, isPattern := strings.Cut(pattern, "%")
	if !isPattern {
		return "", word == pattern
	}
	if stem, ok = strings.CutPrefix(word, prefix); ok {
		stem, ok = strings.CutSuffix(stem, suffix)
	}
	return stem, ok
}

func patsubst(pattern, to, word string) string {
	stem, ok := stem(pattern, word)
	switch {
	case !ok:
		return word
	case !strings.Contains(pattern, "%"):
		return to
	}
	return strings.Replace(to, "%", stem, 1)
}

// part returns the words of a list from a number, which starts at 1, to another.
func part(from, to, text string) string {
	words := strings.Fields(text)
	first, err := strconv.Atoi(strings.TrimSpace(from))
	last, err2 := strconv.Atoi(strings.TrimSpace(to))
	if err != nil || err2 != nil || first < 1 || first > len(words) || last < first {
		return ""
	}
	return strings.Join(words[first-1:min(last, len(words))], " ")
}

// join joins the words of two lists in pairs.
func join(a, b []string) string {
	words := make([]string, max(len(a), len(b)))
	for i := range words {
		if i < len(a) {
			words[i] = a[i]
		}
		if i < len(b) {
			words[i] += b[i]
		}
	}
	return strings.Join(words, " ")
}

// glob returns the files and folders of the project that match a pattern, named as in the pattern.
func (m *makefile) glob(pattern string) []string {
	i := strings.IndexAny(pattern, "*?[")
	if i < 0 {
		if !m.exists(m.abs(pattern)) {
			return nil
		}
		return []string{pattern}
	}
	above := pattern[:strings.LastIndexByte(pattern[:i], '/')+1]
	dir, inside := Rel(m.abs(above))
	if !inside {
		return nil
	}
	names, _ := m.project.Below(dir) // an error means that it is no folder
	found := map[string]bool{}
	for _, name := range names {
		for name = strings.TrimPrefix(name, dir+"/"); name != "."; name = path.Dir(name) {
			if matches, err := path.Match(pattern[len(above):], name); err == nil && matches && !isHidden(name) {
				found[above+name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// isHidden reports whether a path has an element that wildcards do not match.
func isHidden(name string) bool { return strings.Contains("/"+name, "/.") }

// exists reports whether the project has a file or a folder, by its absolute path.
func (m *makefile) exists(name string) bool {
	if _, ok := m.read(name); ok {
		return true
	}
	dir, inside := Rel(name)
	if !inside {
		return false
	}
	names, err := m.project.Below(dir)
	return err == nil && len(names) > 0
}
