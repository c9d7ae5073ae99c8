package hooks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks/config"
)

// place is a position in a script. Lines and columns start at 1.
type place struct{ line, column int }

// scriptHandlers are the functions of a script that handle binding contexts.
type scriptHandlers struct {
	functions map[string]place // by handler name, as returned by calls
	spelled   func(name string) string
	sources   []string // the literal ends of the paths of sourced files
	unclear   bool     // there may be further handlers
}

// handlers compares the handlers of a script with the bindings of its configuration. The
// script must call hook::run or use the Python library.
func (s *Sandbox) handlers(h Hook, script []byte, c *config.Config) []finding.Finding {
	found, runs := findHandlers(script)
	if !runs {
		return nil
	}
	called := calls(c)
	findings := unusedHandlers(h, found, called)
	var missing []binding
	for _, b := range called {
		if !b.handled(found.functions) {
			missing = append(missing, b)
		}
	}
	if len(missing) == 0 || !s.follow(&found) {
		return findings
	}
	for _, b := range missing {
		if !b.handled(found.functions) {
			findings = append(findings, finding.Finding{File: h.Name, Rule: ruleNoHandler,
				Message: fmt.Sprintf("no function handles %s: it needs %s", b.what, b.needs(found.spelled))})
		}
	}
	return findings
}

// unusedHandlers reports functions that look like handlers but that no binding calls.
func unusedHandlers(h Hook, found scriptHandlers, called []binding) []finding.Finding {
	var findings []finding.Finding
	for name, pos := range found.functions {
		if !strings.HasPrefix(name, "__on_") || slices.ContainsFunc(called, func(b binding) bool { return slices.Contains(b.handlers, name) }) {
			continue
		}
		var known []string
		for _, b := range called {
			known = append(known, b.handlers...)
		}
		f := finding.Finding{File: h.Name, Line: pos.line, Column: pos.column, Rule: ruleDeadHandler,
			Message: fmt.Sprintf("nothing calls %s: no binding of the configuration asks for that", found.spelled(name))}
		if near := fault.Nearest(name, known); near != "" {
			f.Message += "; did you mean " + found.spelled(near) + "?"
		}
		findings = append(findings, f)
	}
	return findings
}

// binding is a source of contexts, with the names of its possible handlers.
type binding struct {
	what     string
	handlers []string
}

// handled reports whether one of the functions handles the contexts of the binding.
func (b binding) handled(functions map[string]place) bool {
	return slices.ContainsFunc(append(b.handlers[:len(b.handlers):len(b.handlers)], anyHandler), func(name string) bool {
		_, there := functions[name]
		return there
	})
}

// anyHandler is the name of the fallback handler.
const anyHandler = "__main__"

// needs lists the possible handlers in the syntax of the script's language.
func (b binding) needs(spelled func(string) string) string {
	var names []string
	for _, name := range b.handlers {
		if name = spelled(name); name != "" {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return spelled(anyHandler)
	}
	return strings.Join(names, " or ") + ", or " + spelled(anyHandler)
}

// calls returns the possible handlers of a configuration by source. Sources with the same
// contexts, such as the bindings of a group, occur once.
func calls(c *config.Config) []binding {
	var all []binding
	add := func(what string, handlers ...string) {
		if !slices.ContainsFunc(all, func(b binding) bool { return b.what == what }) {
			all = append(all, binding{what, handlers})
		}
	}
	group := func(name string) { add("group "+name, "__on_group::"+name) }
	if c.OnStartup != nil {
		add("onStartup", "__on_startup")
	}
	for _, k := range c.Kubernetes {
		base := "__on_kubernetes::" + k.BindingName()
		switch events := k.Events(); {
		case k.Group != "":
			group(k.Group)
		default:
			if k.Synchronizes() {
				add("the synchronization of "+k.BindingName(), base+"::synchronization", base)
			}
			for _, e := range events {
				names := []string{base + "::" + strings.ToLower(e), base}
				if e != "Deleted" {
					names = slices.Insert(names, 1, base+"::added_or_modified")
				}
				add(e+" of "+k.BindingName(), names...)
			}
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
			add(fmt.Sprintf("the conversion %s from %s to %s", v.Name, r.FromVersion, r.ToVersion), dotted(base, r.FromVersion, r.ToVersion), base)
		}
	}
	return all
}

// dotted returns the handler of a conversion step. Function names cannot contain slashes,
// so it replaces them by dots.
func dotted(base, from, to string) string {
	return base + "::" + strings.Replace(from, "/", ".", 1) + "::" + strings.Replace(to, "/", ".", 1)
}
