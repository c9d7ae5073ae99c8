package hooks

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/lazyregexp"
)

var (
	// pythonHook matches the creation of the library's Hook, with the name of the variable.
	pythonHook = lazyregexp.New(`(?m)^(\w+)[ \t]*=[ \t]*operon\.Hook\(`)
	// pythonTexts matches an argument list of string literals only.
	pythonTexts = lazyregexp.New(`^\(\s*(?:"[^"\\\n]*"|'[^'\\\n]*')(?:\s*,\s*(?:"[^"\\\n]*"|'[^'\\\n]*'))*\s*,?\s*\)$`)
	pythonText  = lazyregexp.New(`"([^"]*)"|'([^']*)'`)
)

// findPythonHandlers is findHandlers for a Python script. Handlers have a decorator of
// the library and get the name of the equivalent shell function.
func findPythonHandlers(script string) (found scriptHandlers, runs bool) {
	m := pythonHook().FindStringSubmatch(script)
	if m == nil || !strings.Contains(script, m[1]+".run(") {
		return found, false
	}
	name := regexp.QuoteMeta(m[1])
	found = scriptHandlers{functions: map[string]place{}, spelled: pythonName(m[1])}
	decorators := regexp.MustCompile(`(?m)^@`+name+`\.on_(\w+)(\([^)]*\))?`).FindAllStringSubmatchIndex(script, -1)
	for _, d := range decorators {
		arguments := ""
		if d[4] >= 0 {
			arguments = script[d[4]:d[5]]
		}
		pos := place{strings.Count(script[:d[0]], "\n") + 1, 1}
		functions := shellNames(script[d[2]:d[3]], arguments)
		for _, f := range functions {
			found.functions[f] = pos
		}
		found.unclear = found.unclear || len(functions) == 0
	}
	uses := regexp.MustCompile(`\b`+name+`\.on_`).FindAllString(script, -1)
	handedOn := regexp.MustCompile(`[(,]\s*` + name + `\s*[,)]`).MatchString(script)
	found.unclear = found.unclear || len(uses) > len(decorators) || handedOn
	return found, true
}

// shellNames returns the shell functions that are equivalent to a decorator. It returns
// nil if the arguments are not all string literals.
func shellNames(decorator, arguments string) []string {
	switch decorator {
	case "startup":
		return []string{"__on_startup"}
	case "anything_else":
		return []string{anyHandler}
	}
	if !pythonTexts().MatchString(arguments) {
		return nil
	}
	var texts []string
	for _, m := range pythonText().FindAllStringSubmatch(arguments, -1) {
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

// pythonName returns a function that converts a shell function name to the equivalent
// decorator of a hook, or to "".
func pythonName(hook string) func(function string) string {
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

// slashed reverses dotted for a version. It assumes that only the group contains dots.
func slashed(version string) string {
	if i := strings.LastIndex(version, "."); i >= 0 {
		return version[:i] + "/" + version[i+1:]
	}
	return version
}
