package hook

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hook/config"
	"mvdan.cc/sh/v3/syntax"
)

// handlers compares the functions of a script that calls hook::run with the
// bindings of its configuration.
func (h Hook) handlers(script []byte, c *config.Config) []Finding {
	functions, runs := functionsOf(script)
	if !runs {
		return nil
	}
	called := calls(c)
	var findings []Finding
	for name, pos := range functions {
		if !strings.HasPrefix(name, "__on_") || slices.ContainsFunc(called, func(b binding) bool { return b.calls(name) }) {
			continue
		}
		var known []string
		for _, b := range called {
			known = append(known, b.handlers...)
		}
		f := Finding{File: h.Name, Line: int(pos.Line()), Column: int(pos.Col()), Rule: ruleDeadHandler,
			Message: fmt.Sprintf("nothing calls %s: the configuration has no such binding", name)}
		if near := fault.Nearest(name, known); near != "" {
			f.Message += "; did you mean " + near + "?"
		}
		findings = append(findings, f)
	}
	if _, catches := functions["__main__"]; catches {
		return findings
	}
	for _, b := range called {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(functions)), b.calls) {
			findings = append(findings, Finding{File: h.Name, Rule: ruleNoHandler,
				Message: fmt.Sprintf("no function handles %s: it needs %s", b.what, b.needs())})
		}
	}
	return findings
}

// binding is a source of contexts, with the functions that may handle them.
type binding struct {
	what     string
	handlers []string
}

func (b binding) calls(function string) bool { return slices.Contains(b.handlers, function) }

func (b binding) needs() string {
	if len(b.handlers) == 0 {
		return "__main__"
	}
	return strings.Join(b.handlers, " or ") + ", or __main__"
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
			from, to := strings.Replace(r.FromVersion, "/", ".", 1), strings.Replace(r.ToVersion, "/", ".", 1)
			add(fmt.Sprintf("the conversion %s from %s to %s", v.Name, r.FromVersion, r.ToVersion), base+"::"+from+"::"+to, base)
		}
	}
	return all
}

// functionsOf returns the functions of a shell script with their places, and
// whether it calls hook::run. What is no shell script has neither.
func functionsOf(script []byte) (functions map[string]syntax.Pos, runs bool) {
	first, _, _ := bytes.Cut(script, []byte("\n"))
	if !bytes.HasPrefix(first, []byte("#!")) || !bytes.Contains(first, []byte("sh")) {
		return nil, false
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(bytes.NewReader(script), "")
	if err != nil {
		return nil, false // bash itself may take it, and it was run
	}
	functions = map[string]syntax.Pos{}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch x := n.(type) {
		case *syntax.FuncDecl:
			functions[x.Name.Value] = x.Name.Pos()
		case *syntax.CallExpr:
			runs = runs || len(x.Args) > 0 && x.Args[0].Lit() == "hook::run"
		}
		return true
	})
	return functions, runs
}
