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
	Is        string // selects the body in the templates
	About     string // the comment, one sentence
	Function  string // the function's name in bash
	Decorator string // the decorator in Python
	Method    string // the function's name in Python
	Binding   string
	Filtered  bool     // contexts contain filterResult but no object
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
		add(handler{Is: "startup", About: "The engine starts.", Function: "__on_startup", Decorator: "on_startup", Method: "startup", Binding: h.Name})
	}
	groups := map[string]bool{}
	group := func(name string) bool {
		if name != "" && !groups[name] {
			groups[name] = true
			add(handler{Is: "group", About: fmt.Sprintf("Something of the group %s changed, or the engine starts: snapshots say what there is.", name),
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
			add(handler{Is: "schedule", About: "It is time: " + s.Crontab + ".", Function: "__on_schedule::" + s.Name,
				Decorator: fmt.Sprintf("on_schedule(%q)", s.Name), Method: "at_" + s.Name, Binding: s.Name})
		}
	}
	if len(h.Steps) > 0 {
		add(handler{Is: "step", About: "A step of addon-operator's work, as the name of the binding says.",
			Function: "__main__", Decorator: "on_anything_else", Method: "step", Binding: h.Name})
	}
	for _, w := range []struct {
		is   string
		list []Admission
	}{{"validating", h.Validate}, {"mutating", h.Mutate}} {
		for _, a := range w.list {
			verb := map[string]string{"validating": "validate", "mutating": "mutate"}[w.is]
			add(handler{Is: w.is, About: fmt.Sprintf("The API server is about to store %s %s.", article(a.Kind.Kind), a.Kind.Kind),
				Function: "__on_" + w.is + "::" + a.Name, Decorator: fmt.Sprintf("on_%s(%q)", w.is, a.Name), Method: verb + "_" + a.Resource, Binding: a.Name})
		}
	}
	for _, c := range h.Convert {
		for _, s := range c.Steps {
			from, to := c.Group+"/"+s.From, c.Group+"/"+s.To
			dotted := strings.NewReplacer("/", ".")
			add(handler{Is: "conversion", About: fmt.Sprintf("Convert each %s from %s to %s: carry every field.", c.Kind, s.From, s.To),
				Function:  "__on_conversion::" + c.Name + "::" + dotted.Replace(from) + "::" + dotted.Replace(to),
				Decorator: fmt.Sprintf("on_conversion(%q, %q, %q)", c.Name, from, to), Method: s.From + "_to_" + s.To, Binding: c.Name, To: to,
				Fields: s.differing(known.of(c, s))})
		}
	}
	return all
}

// objects adds the handlers of one binding.
func (h Hook) objects(o Objects, add func(handler)) {
	base, kind := "__on_kubernetes::"+o.Name, o.Kind.Kind
	x := handler{Binding: o.Name, Filtered: o.filter() != ""}
	x.Is, x.About, x.Function = "synchronization", fmt.Sprintf("These are the objects of %s when the engine starts.", kind), base+"::synchronization"
	x.Decorator, x.Method = fmt.Sprintf("on_kubernetes(%q, \"synchronization\")", o.Name), o.Name+"_at_the_start"
	add(x)
	x.Is = "event"
	added, modified := o.triggersOn("Added"), o.triggersOn("Modified")
	switch {
	case added && modified:
		x.About, x.Function = upper(article(kind)+" "+kind+" is new, or changed."), base+"::added_or_modified"
		x.Decorator, x.Method = fmt.Sprintf("on_kubernetes(%q, \"added\", \"modified\")", o.Name), o.Name+"_changed"
		add(x)
	case added:
		x.About, x.Function = upper(article(kind)+" "+kind+" is new."), base+"::added"
		x.Decorator, x.Method = fmt.Sprintf("on_kubernetes(%q, \"added\")", o.Name), o.Name+"_added"
		add(x)
	case modified:
		x.About, x.Function = upper(article(kind)+" "+kind+" changed."), base+"::modified"
		x.Decorator, x.Method = fmt.Sprintf("on_kubernetes(%q, \"modified\")", o.Name), o.Name+"_modified"
		add(x)
	}
	if o.triggersOn("Deleted") {
		x.About, x.Function = upper(article(kind)+" "+kind+" is gone."), base+"::deleted"
		x.Decorator, x.Method = fmt.Sprintf("on_kubernetes(%q, \"deleted\")", o.Name), o.Name+"_deleted"
		add(x)
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
	if word != "" && strings.ContainsRune("AEIO", rune(word[0])) {
		return "an"
	}
	return "a"
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
