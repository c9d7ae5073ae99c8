package hooks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks/config"
)

// place is where something stands in a script, from 1.
type place struct{ line, column int }

// handling is what a script says of the functions that handle its contexts.
type handling struct {
	functions map[string]place // by the names that calls has for them
	spelled   func(name string) string
	sources   []string // what else it reads: the ends of names of files, as far as they are written out
	unclear   bool     // there may be more of them
}

// handlers compares the functions of a script that calls hook::run, or that of the
// library in Python, with the bindings of its configuration.
func (s *Sandbox) handlers(h Hook, script []byte, c *config.Config) []finding.Finding {
	said, runs := handlingOf(script)
	if !runs {
		return nil
	}
	called := calls(c)
	findings := dead(h, said, called)
	var missing []binding
	for _, b := range called {
		if !b.handled(said.functions) {
			missing = append(missing, b)
		}
	}
	if len(missing) == 0 || !s.follow(&said) {
		return findings
	}
	for _, b := range missing {
		if !b.handled(said.functions) {
			findings = append(findings, finding.Finding{File: h.Name, Rule: ruleNoHandler,
				Message: fmt.Sprintf("no function handles %s: it needs %s", b.what, b.needs(said.spelled))})
		}
	}
	return findings
}

// dead finds the functions that look like handlers, and that nothing calls.
func dead(h Hook, said handling, called []binding) []finding.Finding {
	var findings []finding.Finding
	for name, pos := range said.functions {
		if !strings.HasPrefix(name, "__on_") || slices.ContainsFunc(called, func(b binding) bool { return slices.Contains(b.handlers, name) }) {
			continue
		}
		var known []string
		for _, b := range called {
			known = append(known, b.handlers...)
		}
		f := finding.Finding{File: h.Name, Line: pos.line, Column: pos.column, Rule: ruleDeadHandler,
			Message: fmt.Sprintf("nothing calls %s: no binding of the configuration asks for that", said.spelled(name))}
		if near := fault.Nearest(name, known); near != "" {
			f.Message += "; did you mean " + said.spelled(near) + "?"
		}
		findings = append(findings, f)
	}
	return findings
}

// binding is a source of contexts, with the functions that may handle them.
type binding struct {
	what     string
	handlers []string
}

// handled reports whether there is a function for the contexts of the binding.
func (b binding) handled(functions map[string]place) bool {
	return slices.ContainsFunc(append(b.handlers[:len(b.handlers):len(b.handlers)], anyHandler), func(name string) bool {
		_, there := functions[name]
		return there
	})
}

// anyHandler is the function for what no other one handles.
const anyHandler = "__main__"

// needs says which functions would do, as the script's language writes them.
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

// calls lists the functions that contexts of a configuration call, by source.
// Where a kind of context comes from several bindings, as in a group, it is
// listed once.
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
		add(step) // the library has no functions of its own for these
	}
	for _, v := range c.Conversion {
		base := "__on_conversion::" + v.Name
		for _, r := range v.Conversions {
			add(fmt.Sprintf("the conversion %s from %s to %s", v.Name, r.FromVersion, r.ToVersion), dotted(base, r.FromVersion, r.ToVersion), base)
		}
	}
	return all
}

// dotted is the function for a step of a conversion: a function has no slash in its name.
func dotted(base, from, to string) string {
	return base + "::" + strings.Replace(from, "/", ".", 1) + "::" + strings.Replace(to, "/", ".", 1)
}
