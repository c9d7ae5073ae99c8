package hookscaffold

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

func sorted(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

// handler is a function of a hook, with the data that the templates print.
type handler struct {
	Is        string // the kind of event, which selects the body in the templates
	About     string // the comment
	Function  string // the function's name in bash
	Decorator string // the decorator in Python
	Method    string // the function's name in Python
	Binding   string
	Filtered  bool     // contexts contain filterResult but no object
	Deletes   bool     // the webhook gets requests to delete objects
	To        string   // of a conversion: the version with its group
	Fields    []string // of a conversion: instructions for fields
}

// handlers returns the functions that the bindings of a hook call, in order.
func (h Hook) handlers(known schemas) []handler {
	var all []handler
	add := func(x handler) {
		x.Method = method(x.Method, all)
		all = append(all, x)
	}
	if h.Startup != nil {
		add(handler{Is: "startup", About: "Runs when the engine starts.",
			Function: "__on_startup", Decorator: "on_startup", Method: "startup", Binding: h.Name})
	}
	groups := map[string]bool{}
	group := func(name string) bool {
		if name != "" && !groups[name] {
			groups[name] = true
			add(handler{Is: "group", About: fmt.Sprintf("Runs for each binding of the group %s, with the snapshots of all of them.", name),
				Function: "__on_group::" + name, Decorator: fmt.Sprintf("on_group(%q)", name), Method: name + "_changed", Binding: name})
		}
		return name != ""
	}
	for _, o := range h.Kubernetes {
		if !o.snapshotOnly() && !group(o.Group) {
			h.objects(o, add)
		}
	}
	for _, s := range h.Schedule {
		if !group(s.Group) {
			add(handler{Is: "schedule", About: "Runs on the schedule " + s.Crontab + ".", Function: "__on_schedule::" + s.Name,
				Decorator: fmt.Sprintf("on_schedule(%q)", s.Name), Method: "at_" + s.Name, Binding: s.Name})
		}
	}
	if len(h.Steps) > 0 {
		add(handler{Is: "step", About: "Runs at steps of addon-operator. The name of the binding is the step.",
			Function: "__main__", Decorator: "on_anything_else", Method: "step", Binding: h.Name})
	}
	h.admissions(add)
	h.conversions(known, add)
	return all
}

// objects adds the handlers of one binding.
func (h Hook) objects(o Objects, add func(handler)) {
	base, kind := "__on_kubernetes::"+o.Name, o.Kind.Kind
	x := handler{Binding: o.Name, Filtered: o.filter() != ""}
	x.Is, x.About, x.Function = "synchronization", fmt.Sprintf("Runs when the engine starts, with the existing %s objects.", kind), base+"::synchronization"
	x.Decorator, x.Method = fmt.Sprintf("on_kubernetes(%q, \"synchronization\")", o.Name), o.Name+"_at_the_start"
	add(x)
	x.Is = "event"
	added, modified := o.triggersOn("Added"), o.triggersOn("Modified")
	switch {
	case added && modified:
		x.About, x.Function = "Runs when "+article(kind)+" "+kind+" is added or modified.", base+"::added_or_modified"
		x.Decorator, x.Method = fmt.Sprintf("on_kubernetes(%q, \"added\", \"modified\")", o.Name), o.Name+"_changed"
		add(x)
	case added:
		x.About, x.Function = "Runs when "+article(kind)+" "+kind+" is added.", base+"::added"
		x.Decorator, x.Method = fmt.Sprintf("on_kubernetes(%q, \"added\")", o.Name), o.Name+"_added"
		add(x)
	case modified:
		x.About, x.Function = "Runs when "+article(kind)+" "+kind+" is modified.", base+"::modified"
		x.Decorator, x.Method = fmt.Sprintf("on_kubernetes(%q, \"modified\")", o.Name), o.Name+"_modified"
		add(x)
	}
	if o.triggersOn("Deleted") {
		x.About, x.Function = "Runs when "+article(kind)+" "+kind+" is deleted.", base+"::deleted"
		x.Decorator, x.Method = fmt.Sprintf("on_kubernetes(%q, \"deleted\")", o.Name), o.Name+"_deleted"
		add(x)
	}
}

// admissions adds the handlers of admission webhooks.
func (h Hook) admissions(add func(handler)) {
	for _, webhook := range []struct {
		is, verb string
		list     []Admission
	}{{"validating", "validate", h.Validate}, {"mutating", "mutate", h.Mutate}} {
		for _, a := range webhook.list {
			add(handler{Is: webhook.is, About: fmt.Sprintf("Runs before the API server %s %s %s.", a.effect(), article(a.Kind.Kind), a.Kind.Kind),
				Function: "__on_" + webhook.is + "::" + a.Name, Decorator: fmt.Sprintf("on_%s(%q)", webhook.is, a.Name),
				Method: webhook.verb + "_" + a.Resource, Binding: a.Name, Deletes: slices.Contains(a.Operations, "DELETE")})
		}
	}
}

// effect returns what the API server does after the webhook has allowed a request.
func (a Admission) effect() string {
	operations := a.operations()
	switch {
	case !slices.Contains(operations, "DELETE"):
		return "stores"
	case len(operations) == 1:
		return "deletes"
	}
	return "stores or deletes"
}

// conversions adds the handlers of conversion webhooks.
func (h Hook) conversions(known schemas, add func(handler)) {
	dotted := strings.NewReplacer("/", ".")
	for _, c := range h.Convert {
		for _, s := range c.Steps {
			from, to := c.Group+"/"+s.From, c.Group+"/"+s.To
			add(handler{Is: "conversion", About: fmt.Sprintf("Converts %s objects from %s to %s. Preserve every field.", c.Kind, s.From, s.To),
				Function:  "__on_conversion::" + c.Name + "::" + dotted.Replace(from) + "::" + dotted.Replace(to),
				Decorator: fmt.Sprintf("on_conversion(%q, %q, %q)", c.Name, from, to), Method: s.From + "_to_" + s.To, Binding: c.Name, To: to,
				Fields: s.differing(known.of(c, s))})
		}
	}
}

// method returns an unused name for a Python function.
func method(name string, taken []handler) string {
	name = strings.ReplaceAll(name, "-", "_")
	for slices.ContainsFunc(taken, func(h handler) bool { return h.Method == name }) {
		name += "_"
	}
	return name
}

func article(word string) string {
	if word != "" && strings.ContainsRune("AEIOaeio", rune(word[0])) {
		return "an"
	}
	return "a"
}
