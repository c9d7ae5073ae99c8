package hooks

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/lazyregexp"
)

var (
	// pythonHook matches the statement that creates the Hook of the library. The submatch is
	// the variable.
	pythonHook = lazyregexp.New(`(?m)^(\w+)[ \t]*=[ \t]*operon\.Hook\(`)
	// pythonStrings matches an argument list that has only string literals.
	pythonStrings = lazyregexp.New(`^\(\s*(?:"[^"\\\n]*"|'[^'\\\n]*')(?:\s*,\s*(?:"[^"\\\n]*"|'[^'\\\n]*'))*\s*,?\s*\)$`)
	pythonString  = lazyregexp.New(`"([^"]*)"|'([^']*)'`)
)

// findPythonHandlers is findHandlers for a Python script. Handlers have a decorator of the
// library; they get the name of the equivalent shell function.
func findPythonHandlers(script string) (found handlerSet, usesLibrary bool) {
	m := pythonHook().FindStringSubmatch(script)
	if m == nil || !strings.Contains(script, m[1]+".run(") {
		return found, false
	}
	name := regexp.QuoteMeta(m[1])
	found = handlerSet{functions: map[string]position{}, nativeName: pythonName(m[1])}
	decorators := regexp.MustCompile(`(?m)^@`+name+`\.on_(\w+)(\([^)]*\))?`).FindAllStringSubmatchIndex(script, -1)
	for _, d := range decorators {
		arguments := ""
		if d[4] >= 0 {
			arguments = script[d[4]:d[5]]
		}
		pos := position{strings.Count(script[:d[0]], "\n") + 1, 1}
		functions, ok := shellNames(script[d[2]:d[3]], arguments)
		for _, f := range functions {
			found.functions[f] = pos
		}
		found.incomplete = found.incomplete || !ok
	}
	uses := regexp.MustCompile(`\b`+name+`\.on_`).FindAllString(script, -1)
	isArgument := regexp.MustCompile(`[(,]\s*` + name + `\s*[,)]`).MatchString(script)
	found.incomplete = found.incomplete || len(uses) > len(decorators) || isArgument
	return found, true
}

// shellNames returns the shell functions that are equivalent to a decorator. ok is false if
// an argument is not a string literal.
func shellNames(decorator, arguments string) (names []string, ok bool) {
	switch decorator {
	case "startup":
		return []string{"__on_startup"}, true
	case "anything_else":
		return []string{fallbackHandler}, true
	}
	if !pythonStrings().MatchString(arguments) {
		return nil, false
	}
	var values []string
	for _, m := range pythonString().FindAllStringSubmatch(arguments, -1) {
		values = append(values, m[1]+m[2])
	}
	base := "__on_" + decorator + "::" + values[0]
	switch {
	case decorator == "conversion" && len(values) == 3:
		return []string{conversionHandler(base, values[1], values[2])}, true
	case decorator == "kubernetes" && len(values) > 1:
		for _, event := range values[1:] {
			names = append(names, base+"::"+event)
		}
		return names, true
	}
	return []string{base}, true
}

// pythonName returns a function that converts the name of a shell function to the
// equivalent decorator, or to "" if there is none. hook is the variable of the Hook.
func pythonName(hook string) func(function string) string {
	return func(function string) string {
		if function == fallbackHandler {
			return "@" + hook + ".on_anything_else"
		}
		decorator, rest, hasArguments := strings.Cut(strings.TrimPrefix(function, "__"), "::")
		if !hasArguments {
			return "@" + hook + "." + decorator
		}
		parts := strings.Split(rest, "::")
		for i, part := range parts {
			if part == "added_or_modified" {
				return ""
			}
			if i > 0 && decorator == "on_conversion" {
				part = withSlash(part)
			}
			parts[i] = strconv.Quote(part)
		}
		return "@" + hook + "." + decorator + "(" + strings.Join(parts, ", ") + ")"
	}
}

// withSlash restores the slash that conversionHandler replaces in a version. It assumes that
// only the group contains dots.
func withSlash(version string) string {
	if i := strings.LastIndex(version, "."); i >= 0 {
		return version[:i] + "/" + version[i+1:]
	}
	return version
}
