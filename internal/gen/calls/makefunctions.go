package calls

import (
	"maps"
	"path"
	"strconv"
	"strings"
)

// function returns the value of a function of make. ok is false for those that depend on
// something other than their arguments and files, and for those that are rare.
func (m *makefile) function(name string, args []string) (value string, ok bool) {
	words, last := strings.Fields(args[len(args)-1]), args[len(args)-1]
	each := func(f func(string) string) (string, bool) {
		all := make([]string, len(words))
		for i, word := range words {
			all[i] = f(word)
		}
		return strings.Join(all, " "), !isUnknown(last)
	}
	switch {
	case name == "strip":
		return strings.Join(words, " "), true
	case name == "shell":
		return m.shell(strings.TrimSpace(strings.Join(args, ",")))
	case name == "wildcard" && len(words) == 1 && !strings.ContainsAny(last, "*?[") && !isUnknown(last):
		if _, exists := m.read(m.abs(words[0])); !exists {
			return "", true
		}
		return words[0], true
	case name == "abspath" || name == "realpath":
		return each(m.abs)
	case name == "dir":
		return each(func(w string) string { return w[:strings.LastIndex(w, "/")+1] })
	case name == "notdir":
		return each(path.Base)
	case name == "firstword" && len(words) > 0:
		return words[0], true
	case name == "addprefix" && len(args) == 2:
		return each(func(w string) string { return args[0] + w })
	case name == "addsuffix" && len(args) == 2:
		return each(func(w string) string { return w + args[0] })
	case name == "subst" && len(args) == 3 && args[0] != "":
		return strings.ReplaceAll(last, args[0], args[1]), !isUnknown(last)
	case name == "patsubst" && len(args) == 3:
		return each(func(w string) string { return patsubst(args[0], args[1], w) })
	}
	return "", false
}

// shell returns the output of the commands that only name folders.
func (m *makefile) shell(text string) (value string, ok bool) {
	u := &unit{finder: m.finder}
	return u.output(text, m.dir)
}

// abs returns an absolute path; a relative one starts from the folder of the Makefile.
func (m *makefile) abs(name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(m.dir, name)
}

// substitution returns the value of $(NAME:pattern=replacement).
func (m *makefile) substitution(text string, depth int) string {
	name, rest, _ := strings.Cut(text, ":")
	pattern, to, _ := strings.Cut(rest, "=")
	if !strings.Contains(pattern, "%") {
		pattern, to = "%"+pattern, "%"+to
	}
	value := m.variable(m.expand(name, depth), depth)
	if value, ok := m.function("patsubst", []string{m.expand(pattern, depth), m.expand(to, depth), value}); ok {
		return value
	}
	return m.compute("$(" + text + ")")
}

func patsubst(pattern, to, word string) string {
	prefix, suffix, _ := strings.Cut(pattern, "%")
	stem, ok := strings.CutPrefix(word, prefix)
	if ok {
		stem, ok = strings.CutSuffix(stem, suffix)
	}
	if !ok {
		return word
	}
	return strings.Replace(to, "%", stem, 1)
}

// call returns the value of a variable with the parameters $(1), $(2) and so on.
func (m *makefile) call(args []string, depth int) string {
	name := strings.TrimSpace(args[0])
	values := m.values[name]
	if len(values) != 1 {
		return m.compute("$(call " + strings.Join(args, ",") + ")")
	}
	m.used[name] = true
	parameters := map[string]string{}
	for i, arg := range args[1:] {
		parameters[strconv.Itoa(i+1)] = m.expand(arg, depth)
	}
	return m.with(parameters).expand(values[0], depth)
}

// with returns m with other values of variables.
func (m *makefile) with(values map[string]string) *makefile {
	inner := *m
	inner.values = maps.Clone(m.values)
	for name, value := range values {
		if !isUnknown(value) {
			value = strings.ReplaceAll(value, "$", "$$")
		}
		inner.values[name] = []string{value}
	}
	return &inner
}

// foreach returns the text for each word of a list.
func (m *makefile) foreach(args []string, depth int) string {
	whole := "$(foreach " + strings.Join(args, ",") + ")"
	if len(args) < 3 {
		return m.compute(whole)
	}
	list := m.expand(args[1], depth)
	words := strings.Fields(list)
	if isUnknown(list) || len(words) > limit {
		return m.compute(whole)
	}
	for i, word := range words {
		words[i] = m.with(map[string]string{strings.TrimSpace(args[0]): word}).expand(strings.Join(args[2:], ","), depth)
	}
	return strings.Join(words, " ")
}
