package hooktest

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/hooks/binding"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/testfile"
	"go.yaml.in/yaml/v3"
)

// reader reads a test file.
type reader struct {
	testfile.Reader
	file *File
}

// eventKeys are the keys that define the type of an event.
var eventKeys = append([]string{"apply", "delete", "patch", "schedule", "validate", "mutate", "convert", "retry"}, steps...)

// steps are the event types that only addon-operator has.
var steps = slices.Concat(config.Global.Steps(), config.Module.Steps())

func (r *reader) read(n *yaml.Node) {
	f := r.file
	r.Mapping(n, "the file", []testfile.Field{
		testfile.Key("hook", func(n *yaml.Node) { r.Text(n, "hook", &f.Hook) }),
		testfile.Key("module", func(n *yaml.Node) { r.Text(n, "module", &f.Module) }),
		testfile.Key("tests", func(n *yaml.Node) {
			r.List(n, "tests", func(n *yaml.Node) { f.Tests = append(f.Tests, r.test(n)) })
		}),
	})
	names := map[string]int{}
	for _, t := range f.Tests {
		if before := names[t.Name]; before > 0 {
			r.Fail(&yaml.Node{Line: t.Line}, "", "the test on line %d has the same name, %q", before, t.Name)
		}
		names[t.Name] = t.Line
	}
	switch {
	case f.Hook != "" && f.Module != "":
		r.Fail(n, "test the hooks of a module in separate files", "a test file is for a hook or a module, not both")
	case f.subject() == "":
		r.Fail(n, "such as hook: copy.sh", "the key hook is missing: it has the path of the hook in the hooks folder")
	case len(f.Tests) == 0:
		r.Fail(n, "", "there are no tests")
	}
}

func (r *reader) test(n *yaml.Node) *Test {
	t := &Test{File: r.file, Line: n.Line, Idempotent: true, RoundTrip: true, Env: map[string]string{}}
	r.Mapping(n, "a test", []testfile.Field{
		testfile.Key("name", func(n *yaml.Node) { r.Text(n, "name", &t.Name) }),
		testfile.Key("given", func(n *yaml.Node) {
			r.List(n, "given", func(n *yaml.Node) { t.Given = append(t.Given, r.Objects(n)...) })
		}),
		testfile.Key("values", func(n *yaml.Node) { t.Values = r.table(n, "values") }),
		testfile.Key("configValues", func(n *yaml.Node) { t.Config = r.table(n, "configValues") }),
		testfile.Key("env", func(n *yaml.Node) { r.Decode(n, "env", "an object of strings", &t.Env) }),
		testfile.Key("path", func(n *yaml.Node) {
			r.List(n, "path", func(n *yaml.Node) {
				var folder string
				r.Text(n, "an item of path", &folder)
				t.Path = append(t.Path, filepath.Join(r.Dir, filepath.FromSlash(folder)))
			})
		}),
		testfile.Key("events", func(n *yaml.Node) {
			if r.file.Module != "" {
				r.Fail(n, "test hooks in a file that has the key hook", "a test of a module has no events, because no hook runs")
			}
			r.List(n, "events", func(n *yaml.Node) { t.Events = append(t.Events, r.event(n)) })
		}),
		testfile.Key("expect", func(n *yaml.Node) { t.Expect = r.expect(n) }),
		testfile.Key("idempotent", func(n *yaml.Node) { r.Decode(n, "idempotent", "true or false", &t.Idempotent) }),
		testfile.Key("roundTrip", func(n *yaml.Node) { r.Decode(n, "roundTrip", "true or false", &t.RoundTrip) }),
	})
	if strings.TrimSpace(t.Name) == "" {
		r.Fail(n, "", "a test needs a name")
	}
	if t.Expect == nil && !t.expects() {
		r.Fail(n, "write expect: and run operon hooks test --update, which fills it in", "the test %q expects nothing", t.Name)
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
	is := func(key string, read func(*yaml.Node)) testfile.Field {
		return testfile.Key(key, func(n *yaml.Node) {
			if e.Type != "" {
				r.Fail(n, "", "an event has one type, but this one has %s and %s", e.Type, key)
			}
			e.Type = key
			read(n)
		})
	}
	fields := []testfile.Field{
		is("apply", func(n *yaml.Node) { e.Object = r.Object(n) }),
		is("delete", func(n *yaml.Node) { e.Object = r.Object(n) }),
		is("patch", func(n *yaml.Node) { e.Object = r.Object(n) }),
		is("schedule", func(n *yaml.Node) { r.Text(n, "schedule", &e.Schedule) }),
		is("validate", func(n *yaml.Node) { r.review(n, &e) }),
		is("mutate", func(n *yaml.Node) { r.review(n, &e) }),
		is("convert", func(n *yaml.Node) { r.convert(n, &e) }),
		testfile.Key("expect", func(n *yaml.Node) { e.Expect = r.expect(n) }),
	}
	for _, key := range append([]string{"retry"}, steps...) { // these take no argument
		fields = append(fields, is(key, func(n *yaml.Node) {
			if n.Value != "true" {
				r.Fail(n, "", "%s must be true", key)
			}
		}))
	}
	r.Mapping(n, "an event", fields)
	if e.Type == "" {
		r.Fail(n, "one of "+strings.Join(eventKeys, ", "), "the event has no type")
	}
	return e
}

func (r *reader) review(n *yaml.Node, e *Event) {
	request := &e.Request
	r.Mapping(n, e.Type, []testfile.Field{
		testfile.Key("operation", func(n *yaml.Node) { r.Text(n, "operation", &request.Operation) }),
		testfile.Key("object", func(n *yaml.Node) { request.Object = r.Object(n) }),
		testfile.Key("oldObject", func(n *yaml.Node) { request.Old = r.Object(n) }),
		testfile.Key("binding", func(n *yaml.Node) { r.Text(n, "binding", &e.Binding) }),
	})
	var err error
	if *request, err = binding.NewRequest(request.Operation, request.Object, request.Old); err != nil {
		r.Fail(n, "object is the new object, oldObject the old one", "%s: %v", e.Type, err)
	}
}

func (r *reader) convert(n *yaml.Node, e *Event) {
	r.Mapping(n, "convert", []testfile.Field{
		testfile.Key("to", func(n *yaml.Node) { r.Text(n, "to", &e.To) }),
		testfile.Key("objects", func(n *yaml.Node) {
			r.List(n, "objects", func(n *yaml.Node) { e.Objects = append(e.Objects, r.Objects(n)...) })
		}),
		testfile.Key("binding", func(n *yaml.Node) { r.Text(n, "binding", &e.Binding) }),
	})
	if e.To == "" || len(e.Objects) == 0 {
		r.Fail(n, "convert: {to: example.com/v1, objects: [...]}", "convert needs the keys to and objects")
	}
}

// table reads an object of any shape.
func (r *reader) table(n *yaml.Node, what string) *expected {
	w := &expected{n, r.Value(n)}
	if _, isTable := w.value.(map[string]any); !isTable {
		r.Fail(n, "", "%s must be an object", what)
	}
	return w
}

func (r *reader) expect(n *yaml.Node) *Expect {
	x := &Expect{Line: n.Line}
	if isNull(n) {
		x.EmptyKeys = []emptyKey{{"", n.Line}}
		return x
	}
	number := func(key string, into **int) testfile.Field {
		return testfile.Key(key, func(n *yaml.Node) { r.Decode(n, key, "an integer", into) })
	}
	list := func(key string, into **expected) testfile.Field {
		return testfile.Key(key, func(n *yaml.Node) {
			if n.Kind != yaml.SequenceNode {
				r.Fail(n, "", "%s must be a list", key)
			}
			*into = &expected{n, r.Value(n)}
		})
	}
	objects := func(key string, into **expected) testfile.Field {
		return testfile.Key(key, func(n *yaml.Node) {
			r.List(n, key, func(n *yaml.Node) { r.Reference(n) })
			*into = &expected{n, r.Value(n)}
		})
	}
	fields := []testfile.Field{
		number("exitCode", &x.ExitCode), number("runs", &x.Runs),
		list("patches", &x.Patches), objects("objects", &x.Objects), objects("absent", &x.Absent), list("metrics", &x.Metrics),
		testfile.Key("output", func(n *yaml.Node) { r.Decode(n, "output", "a list of strings", &x.Output) }),
		list("contexts", &x.Contexts), list("converted", &x.Converted),
		testfile.Key("response", func(n *yaml.Node) { x.Response = r.table(n, "response") }),
		testfile.Key("values", func(n *yaml.Node) { x.Values = r.table(n, "values") }),
		testfile.Key("configValues", func(n *yaml.Node) { x.Config = r.table(n, "configValues") }),
		list("valuesPatches", &x.ValuesPatches), list("configValuesPatches", &x.ConfigPatches), objects("rendered", &x.Rendered),
		testfile.Key("enabled", func(n *yaml.Node) { r.Decode(n, "enabled", "true or false", &x.Enabled) }),
		testfile.Key("reason", func(n *yaml.Node) { r.Decode(n, "reason", "a string", &x.Reason) }),
		testfile.Key("error", func(n *yaml.Node) { r.Text(n, "error", &x.Error) }),
	}
	for i, f := range fields {
		fields[i].Read = func(n *yaml.Node) {
			if isNull(n) {
				x.EmptyKeys = append(x.EmptyKeys, emptyKey{f.Key, n.Line})
				return
			}
			f.Read(n)
		}
	}
	r.Mapping(n, "expect", fields)
	return x
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }
