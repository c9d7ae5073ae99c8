package hooks

import (
	"regexp"
	"strconv"
	"strings"
)

var (
	// pythonHook is how a hook with the library in Python begins, by the name it has.
	pythonHook = regexp.MustCompile(`(?m)^(\w+)[ \t]*=[ \t]*operon\.Hook\(`)
	// pythonTexts are arguments that are texts, and nothing else.
	pythonTexts = regexp.MustCompile(`^\(\s*(?:"[^"\\\n]*"|'[^'\\\n]*')(?:\s*,\s*(?:"[^"\\\n]*"|'[^'\\\n]*'))*\s*,?\s*\)$`)
	pythonText  = regexp.MustCompile(`"([^"]*)"|'([^']*)'`)
)

// pythonHandling is handlingOf for a script in Python. Its handlers are those with a
// decorator of the library; they have the names of the functions in shell that do the
// same.
func pythonHandling(script string) (said handling, runs bool) {
	m := pythonHook.FindStringSubmatch(script)
	if m == nil || !strings.Contains(script, m[1]+".run(") {
		return said, false
	}
	name := regexp.QuoteMeta(m[1])
	said = handling{functions: map[string]place{}, spelled: inPython(m[1])}
	decorators := regexp.MustCompile(`(?m)^@`+name+`\.on_(\w+)(\([^)]*\))?`).FindAllStringSubmatchIndex(script, -1)
	for _, d := range decorators {
		arguments := ""
		if d[4] >= 0 {
			arguments = script[d[4]:d[5]]
		}
		pos := place{strings.Count(script[:d[0]], "\n") + 1, 1}
		functions := inShell(script[d[2]:d[3]], arguments)
		for _, f := range functions {
			said.functions[f] = pos
		}
		said.unclear = said.unclear || len(functions) == 0
	}
	uses := regexp.MustCompile(`\b`+name+`\.on_`).FindAllString(script, -1)
	handedOn := regexp.MustCompile(`[(,]\s*` + name + `\s*[,)]`).MatchString(script)
	said.unclear = said.unclear || len(uses) > len(decorators) || handedOn
	return said, true
}

// inShell are the functions in shell for a decorator with arguments; none when these
// are not all written out.
func inShell(decorator, arguments string) []string {
	switch decorator {
	case "startup":
		return []string{"__on_startup"}
	case "anything_else":
		return []string{anyHandler}
	}
	if !pythonTexts.MatchString(arguments) {
		return nil
	}
	var texts []string
	for _, m := range pythonText.FindAllStringSubmatch(arguments, -1) {
		texts = append(texts, m[1]+m[2])
	}
	base := "__on_" + decorator + "::" + texts[0]
	switch {
	case decorator == "conversion" && len(texts) == 3:
		return []string{dotted(base, texts[1], texts[2])}
	case decorator == "kubernetes" && len(texts) > 1:
		var each []string
		for _, event := range texts[1:] {
			each = append(each, base+"::"+event)
		}
		return each
	}
	return []string{base}
}

// inPython spells the decorator of a hook that stands for a function in shell, or "" when
// there is none.
func inPython(hook string) func(function string) string {
	return func(function string) string {
		if function == anyHandler {
			return "@" + hook + ".on_anything_else"
		}
		decorator, rest, bound := strings.Cut(strings.TrimPrefix(function, "__"), "::")
		if !bound {
			return "@" + hook + "." + decorator
		}
		parts := strings.Split(rest, "::")
		for i, part := range parts {
			if part == "added_or_modified" {
				return ""
			}
			if i > 0 && decorator == "on_conversion" {
				part = slashed(part)
			}
			parts[i] = strconv.Quote(part)
		}
		return "@" + hook + "." + decorator + "(" + strings.Join(parts, ", ") + ")"
	}
}

// slashed is what dotted made a version of, where a group has no version in its end.
func slashed(version string) string {
	if i := strings.LastIndex(version, "."); i >= 0 {
		return version[:i] + "/" + version[i+1:]
	}
	return version
}
