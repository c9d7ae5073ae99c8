package calls

import (
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// function returns the value of a function of make with expanded arguments. ok is false for those that depend on
// something other than their arguments and files, and for those that are rare.
func (m *makefile) function(name string, args []string) (value string, ok bool) {
	if name == "shell" {
		return m.shell(strings.TrimSpace(strings.Join(args, ",")))
	}
	f, ok := builtins[name]
	if !ok || len(args) < f.args {
		return "", false
	}
	args = append(slices.Clone(args[:f.args-1]), strings.Join(args[f.args-1:], ","))
	if !f.loose && slices.ContainsFunc(args, isUnknown) {
		return "", false
	}
	return f.value(m, args), true
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
		inner.values[name] = []string{fixed(value)}
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
