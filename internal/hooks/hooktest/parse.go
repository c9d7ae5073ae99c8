package hooktest

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/hooks/binding"
	"github.com/operon-dev/operon/internal/hooks/config"
	"go.yaml.in/yaml/v3"
)

// eventKeys are the keys that define the type of an event.
var eventKeys = append([]string{"apply", "delete", "patch", "schedule", "validate", "mutate", "convert", "retry"}, steps...)

// steps are the event types that only addon-operator has.
var steps = slices.Concat(config.Global.Steps(), config.Module.Steps())

func (r *reader) read(n *yaml.Node) {
	f := r.file
	r.mapping(n, "the file", []field{
		{"hook", func(n *yaml.Node) { r.text(n, "hook", &f.Hook) }},
		{"module", func(n *yaml.Node) { r.text(n, "module", &f.Module) }},
		{"tests", func(n *yaml.Node) {
			r.list(n, "tests", func(n *yaml.Node) { f.Tests = append(f.Tests, r.test(n)) })
		}},
	})
	names := map[string]int{}
	for _, t := range f.Tests {
		if before := names[t.Name]; before > 0 {
			r.fail(&yaml.Node{Line: t.Line}, "", "the test on line %d has the same name, %q", before, t.Name)
		}
		names[t.Name] = t.Line
	}
	switch {
	case f.Hook != "" && f.Module != "":
		r.fail(n, "test the hooks of a module in separate files", "a test file is for a hook or a module, not both")
	case f.Subject() == "":
		r.fail(n, "such as hook: copy.sh", "the key hook is missing: it has the path of the hook in the hooks folder")
	case len(f.Tests) == 0:
		r.fail(n, "", "there are no tests")
	}
}

func (r *reader) test(n *yaml.Node) *Test {
	t := &Test{File: r.file, Line: n.Line, Idempotent: true, RoundTrip: true, Env: map[string]string{}}
	r.mapping(n, "a test", []field{
		{"name", func(n *yaml.Node) { r.text(n, "name", &t.Name) }},
		{"given", func(n *yaml.Node) {
			r.list(n, "given", func(n *yaml.Node) { t.Given = append(t.Given, r.objects(n)...) })
		}},
		{"values", func(n *yaml.Node) { t.Values = r.table(n, "values") }},
		{"configValues", func(n *yaml.Node) { t.Config = r.table(n, "configValues") }},
		{"env", func(n *yaml.Node) { r.decode(n, "env", "an object of strings", &t.Env) }},
		{"path", func(n *yaml.Node) {
			r.list(n, "path", func(n *yaml.Node) {
				var folder string
				r.text(n, "an item of path", &folder)
				t.Path = append(t.Path, filepath.Join(r.file.dir, filepath.FromSlash(folder)))
			})
		}},
		{"events", func(n *yaml.Node) {
			if r.file.Module != "" {
				r.fail(n, "test hooks in a file that has the key hook", "a test of a module has no events, because no hook runs")
			}
			r.list(n, "events", func(n *yaml.Node) { t.Events = append(t.Events, r.event(n)) })
		}},
		{"expect", func(n *yaml.Node) { t.Expect = r.expect(n) }},
		{"idempotent", func(n *yaml.Node) { r.decode(n, "idempotent", "true or false", &t.Idempotent) }},
		{"roundTrip", func(n *yaml.Node) { r.decode(n, "roundTrip", "true or false", &t.RoundTrip) }},
	})
	if strings.TrimSpace(t.Name) == "" {
		r.fail(n, "", "a test needs a name")
	}
	if t.Expect == nil && !t.expects() {
		r.fail(n, "write expect: and run operon hooks test --update, which fills it in", "the test %q expects nothing", t.Name)
	}
	return t
}

func (t *Test) expects() bool {
	for _, e := range t.Events {
		if e.Expect != nil {
			return true
		}
	}
	return false
}

func (r *reader) event(n *yaml.Node) Event {
	e := Event{Line: n.Line}
	is := func(key string, read func(*yaml.Node)) field {
		return field{key, func(n *yaml.Node) {
			if e.Type != "" {
				r.fail(n, "", "an event has one type, but this one has %s and %s", e.Type, key)
			}
			e.Type = key
			read(n)
		}}
	}
	fields := []field{
		is("apply", func(n *yaml.Node) { e.Object = r.object(n) }),
		is("delete", func(n *yaml.Node) { e.Object = r.object(n) }),
		is("patch", func(n *yaml.Node) { e.Object = r.object(n) }),
		is("schedule", func(n *yaml.Node) { r.text(n, "schedule", &e.Schedule) }),
		is("validate", func(n *yaml.Node) { r.review(n, &e) }),
		is("mutate", func(n *yaml.Node) { r.review(n, &e) }),
		is("convert", func(n *yaml.Node) { r.convert(n, &e) }),
		{"expect", func(n *yaml.Node) { e.Expect = r.expect(n) }},
	}
	for _, key := range append([]string{"retry"}, steps...) { // these take no argument
		fields = append(fields, is(key, func(n *yaml.Node) {
			if n.Value != "true" {
				r.fail(n, "", "%s must be true", key)
			}
		}))
	}
	r.mapping(n, "an event", fields)
	if e.Type == "" {
		r.fail(n, "one of "+strings.Join(eventKeys, ", "), "the event has no type")
	}
	return e
}

func (r *reader) review(n *yaml.Node, e *Event) {
	request := &e.Request
	r.mapping(n, e.Type, []field{
		{"operation", func(n *yaml.Node) { r.text(n, "operation", &request.Operation) }},
		{"object", func(n *yaml.Node) { request.Object = r.object(n) }},
		{"oldObject", func(n *yaml.Node) { request.Old = r.object(n) }},
		{"binding", func(n *yaml.Node) { r.text(n, "binding", &e.Binding) }},
	})
	var err error
	if *request, err = binding.NewRequest(request.Operation, request.Object, request.Old); err != nil {
		r.fail(n, "object is the new object, oldObject the old one", "%s: %v", e.Type, err)
	}
}

func (r *reader) convert(n *yaml.Node, e *Event) {
	r.mapping(n, "convert", []field{
		{"to", func(n *yaml.Node) { r.text(n, "to", &e.To) }},
		{"objects", func(n *yaml.Node) {
			r.list(n, "objects", func(n *yaml.Node) { e.Objects = append(e.Objects, r.objects(n)...) })
		}},
		{"binding", func(n *yaml.Node) { r.text(n, "binding", &e.Binding) }},
	})
	if e.To == "" || len(e.Objects) == 0 {
		r.fail(n, "convert: {to: example.com/v1, objects: [...]}", "convert needs the keys to and objects")
	}
}

// table reads an object of any shape.
func (r *reader) table(n *yaml.Node, what string) *expected {
	w := &expected{n, r.value(n)}
	if _, isTable := w.value.(map[string]any); !isTable {
		r.fail(n, "", "%s must be an object", what)
	}
	return w
}

func (r *reader) expect(n *yaml.Node) *Expect {
	x := &Expect{Line: n.Line}
	if isNull(n) {
		x.EmptyKeys = []emptyKey{{"", n.Line}}
		return x
	}
	number := func(key string, into **int) field {
		return field{key, func(n *yaml.Node) { r.decode(n, key, "an integer", into) }}
	}
	list := func(key string, into **expected) field {
		return field{key, func(n *yaml.Node) {
			if n.Kind != yaml.SequenceNode {
				r.fail(n, "", "%s must be a list", key)
			}
			*into = &expected{n, r.value(n)}
		}}
	}
	objects := func(key string, into **expected) field {
		return field{key, func(n *yaml.Node) {
			r.list(n, key, func(n *yaml.Node) { r.reference(n) })
			*into = &expected{n, r.value(n)}
		}}
	}
	fields := []field{
		number("exitCode", &x.ExitCode), number("runs", &x.Runs),
		list("patches", &x.Patches), objects("objects", &x.Objects), objects("absent", &x.Absent), list("metrics", &x.Metrics),
		{"output", func(n *yaml.Node) { r.decode(n, "output", "a list of strings", &x.Output) }},
		list("contexts", &x.Contexts), list("converted", &x.Converted),
		{"response", func(n *yaml.Node) { x.Response = r.table(n, "response") }},
		{"values", func(n *yaml.Node) { x.Values = r.table(n, "values") }},
		{"configValues", func(n *yaml.Node) { x.Config = r.table(n, "configValues") }},
		list("valuesPatches", &x.ValuesPatches), list("configValuesPatches", &x.ConfigPatches), objects("rendered", &x.Rendered),
		{"enabled", func(n *yaml.Node) { r.decode(n, "enabled", "true or false", &x.Enabled) }},
		{"reason", func(n *yaml.Node) { r.decode(n, "reason", "a string", &x.Reason) }},
		{"error", func(n *yaml.Node) { r.text(n, "error", &x.Error) }},
	}
	for i, f := range fields {
		fields[i].read = func(n *yaml.Node) {
			if isNull(n) {
				x.EmptyKeys = append(x.EmptyKeys, emptyKey{f.key, n.Line})
				return
			}
			f.read(n)
		}
	}
	r.mapping(n, "expect", fields)
	return x
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }
