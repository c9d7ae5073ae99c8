package hooks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks/config"
)

// position is a position in a script. Lines and columns start at 1.
type position struct{ line, column int }

// handlerSet has the functions of a script that handle binding contexts. Handlers have the
// names that the shell library gives them, also in Python scripts.
type handlerSet struct {
	functions  map[string]position      // by handler name
	nativeName func(name string) string // returns a handler name in the language of the script, or ""
	sources    []string                 // the literal suffixes of the paths of sourced files
	incomplete bool                     // there may be other handlers
}

// checkHandlers compares the handlers of a script with the bindings of its configuration. It
// reports nothing for a script that does not let the library call its handlers.
func (s *Sandbox) checkHandlers(h Hook, script []byte, c *config.Config) []finding.Finding {
	found, usesLibrary := findHandlers(script)
	if !usesLibrary {
		return nil
	}
	sources := contextSources(c)
	findings := unusedHandlers(h, found, sources)
	var missing []contextSource
	for _, source := range sources {
		if !source.isHandled(found.functions) {
			missing = append(missing, source)
		}
	}
	if len(missing) == 0 || !s.followSources(&found) {
		return findings
	}
	for _, source := range missing {
		if !source.isHandled(found.functions) {
			names := source.handlerNames(found.nativeName)
			findings = append(findings, ruleNoHandler.At(h.Name, 0, 0, "no function handles %s: define %s", source.description, names))
		}
	}
	return findings
}

// unusedHandlers reports functions that have the name of a handler, but that no binding
// calls.
func unusedHandlers(h Hook, found handlerSet, sources []contextSource) []finding.Finding {
	var findings []finding.Finding
	for name, pos := range found.functions {
		isCalled := func(s contextSource) bool { return slices.Contains(s.handlers, name) }
		if !strings.HasPrefix(name, "__on_") || slices.ContainsFunc(sources, isCalled) {
			continue
		}
		var known []string
		for _, s := range sources {
			known = append(known, s.handlers...)
		}
		hint := ""
		if near := fault.Nearest(name, known); near != "" {
			hint = "; did you mean " + found.nativeName(near) + "?"
		}
		findings = append(findings, ruleDeadHandler.At(h.Name, pos.line, pos.column,
			"nothing calls %s: no binding in the configuration matches it%s", found.nativeName(name), hint))
	}
	return findings
}

// contextSource is a source of binding contexts, with the names of the handlers that the
// library looks for.
type contextSource struct {
	description string
	handlers    []string
}

// fallbackHandler is the name of the handler of contexts that no other function handles.
const fallbackHandler = "__main__"

// isHandled reports whether one of the functions handles the contexts of the source.
func (s contextSource) isHandled(functions map[string]position) bool {
	return slices.ContainsFunc(append(slices.Clone(s.handlers), fallbackHandler), func(name string) bool {
		_, exists := functions[name]
		return exists
	})
}

// handlerNames lists the possible handlers in the language of the script.
func (s contextSource) handlerNames(nativeName func(string) string) string {
	var names []string
	for _, name := range s.handlers {
		if name = nativeName(name); name != "" {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nativeName(fallbackHandler)
	}
	return strings.Join(names, " or ") + ", or " + nativeName(fallbackHandler)
}

// contextSources returns the sources of contexts in a configuration. Sources with the same
// contexts, such as the bindings of a group, occur once.
func contextSources(c *config.Config) []contextSource {
	var all []contextSource
	add := func(description string, handlers ...string) {
		if !slices.ContainsFunc(all, func(s contextSource) bool { return s.description == description }) {
			all = append(all, contextSource{description, handlers})
		}
	}
	group := func(name string) { add("the group "+name, "__on_group::"+name) }
	if c.OnStartup != nil {
		add("onStartup", "__on_startup")
	}
	for _, k := range c.Kubernetes {
		if k.Group != "" {
			group(k.Group)
			continue
		}
		base := "__on_kubernetes::" + k.BindingName()
		if k.Synchronizes() {
			add("the synchronization of "+k.BindingName(), base+"::synchronization", base)
		}
		for _, e := range k.Events() {
			names := []string{base + "::" + strings.ToLower(e), base}
			if e != "Deleted" {
				names = slices.Insert(names, 1, base+"::added_or_modified")
			}
			add(e+" events of "+k.BindingName(), names...)
		}
	}
	for _, s := range c.Schedule {
		if s.Group != "" {
			group(s.Group)
		} else {
			add("the schedule "+s.BindingName(), "__on_schedule::"+s.BindingName())
		}
	}
	for _, a := range c.Validating {
		add("the webhook "+a.Name, "__on_validating::"+a.Name)
	}
	for _, a := range c.Mutating {
		add("the webhook "+a.Name, "__on_mutating::"+a.Name)
	}
	for _, step := range c.StepNames() {
		add(step) // the library has no specific handler names for steps
	}
	for _, v := range c.Conversion {
		base := "__on_conversion::" + v.Name
		for _, r := range v.Conversions {
			description := fmt.Sprintf("the conversion %s from %s to %s", v.Name, r.FromVersion, r.ToVersion)
			add(description, conversionHandler(base, r.FromVersion, r.ToVersion), base)
		}
	}
	return all
}

// conversionHandler returns the name of the handler of a conversion step. Function names
// cannot contain slashes, so dots replace them.
func conversionHandler(base, from, to string) string {
	return base + "::" + strings.Replace(from, "/", ".", 1) + "::" + strings.Replace(to, "/", ".", 1)
}
