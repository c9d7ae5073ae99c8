package rbac

import (
	"encoding/json"
	"maps"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/itchyny/gojq"
	"github.com/operon-dev/operon/internal/lazyregexp"
)

// jq allows the operations that a jq program writes out as objects.
func (c invocation) jq() {
	for _, text := range c.args[1:] {
		if !hasOperation(text) {
			continue
		}
		query, err := gojq.Parse(text)
		if err != nil {
			c.reportUnknown("the jq program is known only at run time: %v", err)
			continue
		}
		given := c.jqArguments(text)
		given.program = query
		for _, doc := range given.objectsIn(reflect.ValueOf(query), unknown, nil) {
			c.operationIn(doc)
		}
		if given.exceeded {
			c.reportUnknown("the jq program has too many possible outputs")
		}
	}
}

// isJQ reports whether the command is jq, or a function for it in the library of shell hooks.
func (c invocation) isJQ() bool {
	fn, isFunction := c.functions[c.args[0]]
	return strings.HasSuffix(path.Base(c.args[0]), "jq") && (!isFunction || fn.in.isEngineLibrary())
}

// printedByJQ returns the objects that jq prints, as far as its program writes them out. known
// is false if it may print others.
func (c invocation) printedByJQ() (texts []string, known bool) {
	program, known := jqProgram(c.args[1:])
	query, err := gojq.Parse(program)
	if !known || err != nil {
		return nil, false
	}
	for _, output := range c.jqArguments(program).values(query, unknown) {
		doc, isObject := output.(map[string]any)
		text, err := json.Marshal(doc)
		if !isObject || err != nil {
			known = false
			continue
		}
		texts = append(texts, string(text))
	}
	return texts, known
}

// jqProgram returns the program among the arguments of jq: the first that is no option.
func jqProgram(args []string) (program string, known bool) {
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case isOneOf(a, "--arg", "--argjson", "--slurpfile", "--rawfile"):
			i += 2
		case isOneOf(a, "--indent", "-L"):
			i++
		case strings.HasPrefix(a, "--") && a != "--from-file":
		case strings.HasPrefix(a, "-") && !strings.Contains(a, "f"):
		default:
			return a, isKnown(a) && a[:min(1, len(a))] != "-"
		}
	}
	return "", false
}

// jqValues computes the values in a jq program, as far as the program writes them out.
type jqValues struct {
	program   *gojq.Query
	functions map[string]bool   // that the program defines
	variables map[string]string // those that are known
	changes   map[*gojq.Query][]change
	steps     int  // so far
	exceeded  bool // a limit was reached, so objects may be missing
}

const (
	// maxOutputs limits the outputs of a jq query that are computed, and maxSteps the queries.
	// Beyond them, values are unknown, which is reported.
	maxOutputs = 64
	maxSteps   = 10000
)

// jqArguments returns the values that --arg gives to variables which the program does
// not bind itself.
func (c invocation) jqArguments(program string) *jqValues {
	given := map[string]string{}
	for i, a := range c.args {
		if a != "--arg" || i+2 >= len(c.args) || slices.Contains(c.args[:i], wildcard) {
			continue
		}
		name := "$" + c.args[i+1]
		if _, twice := given[name]; twice || bound(program, name) {
			given[name] = unknown
		} else {
			given[name] = c.args[i+2]
		}
	}
	functions := map[string]bool{}
	for _, m := range definitions().FindAllStringSubmatch(program, -1) {
		functions[m[1]] = true
	}
	return &jqValues{variables: given, functions: functions, changes: map[*gojq.Query][]change{}}
}

var definitions = lazyregexp.New(`\bdef\s+(\w+)`)

// bound reports whether a jq program may bind a variable: as $name, as [$name], or
// def f($name).
func bound(program, name string) bool {
	return regexp.MustCompile(`\b(?:as\b[^|(]*|def\b[^:]*)` + regexp.QuoteMeta(name) + `\b`).MatchString(program)
}

// objectsIn returns the objects that a query constructs, outer ones first. input is the value
// of the dot, as far as it is written out. changed is what the query around this one may change
// in these objects.
func (given *jqValues) objectsIn(v reflect.Value, input any, changed []change) (found []map[string]any) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		switch x := v.Interface().(type) {
		case *gojq.Query:
			return given.objectsInQuery(x, input, changed)
		case *gojq.Object:
			for _, doc := range given.objects(x, input) {
				found = append(found, given.changedIn(doc, changed)...)
			}
		case *gojq.Func:
			if input = unknown; given.functions[x.Name] {
				changed = append(changed, given.changesIn(reflect.ValueOf(given.program))...)
			}
			changed = append(changed, given.changesIn(v)...)
		case *gojq.Reduce, *gojq.Foreach: // they have another dot
			input, changed = unknown, append(changed, given.changesIn(v)...)
		}
		return append(found, given.objectsIn(v.Elem(), input, changed)...)
	case reflect.Struct, reflect.Slice:
		for _, inner := range inside(v) {
			found = append(found, given.objectsIn(inner, input, changed)...)
		}
	}
	return found
}

func (given *jqValues) objectsInQuery(q *gojq.Query, input any, changed []change) (found []map[string]any) {
	changed = slices.Clip(changed)
	in := func(part any, input any, more ...change) []map[string]any {
		return given.objectsIn(reflect.ValueOf(part), input, append(changed, more...))
	}
	found = append(in(q.FuncDefs, unknown, given.changesIn(reflect.ValueOf(given.program))...), in(q.Term, input)...)
	switch c, is := given.changeOf(q); {
	case q.Op == gojq.OpPipe:
		found = append(found, in(q.Left, input, given.changesIn(reflect.ValueOf(q.Right))...)...)
		for _, output := range given.values(q.Left, input) {
			found = append(found, in(q.Right, output)...)
		}
		return found
	case is && isOneOf(q.Op, gojq.OpAssign, gojq.OpModify):
		return append(append(found, in(q.Left, input, c)...), in(q.Right, input)...)
	case is:
		return append(append(found, in(q.Left, input, c)...), in(q.Right, input, c)...)
	}
	return append(append(found, in(q.Left, input)...), in(q.Right, input)...)
}

// objects returns what an object may be, as far as it is written out.
func (given *jqValues) objects(o *gojq.Object, input any) []map[string]any {
	all := []map[string]any{{}}
	for _, kv := range o.KeyVals {
		key := kv.Key
		if kv.KeyString != nil && len(kv.KeyString.Queries) == 0 {
			key = kv.KeyString.Str
		}
		var values []any
		if kv.Val == nil { // {$name} or {name}
			values = []any{given.variable(key)}
			if object, is := input.(map[string]any); is && !strings.HasPrefix(key, "$") {
				values = []any{object[key]}
			}
			key = strings.TrimPrefix(key, "$")
		} else if values = given.values(kv.Val, input); len(values)*len(all) > maxOutputs {
			values = given.exceed()
		}
		var next []map[string]any
		for _, doc := range all {
			for _, value := range values {
				doc = maps.Clone(doc)
				doc[key] = value
				next = append(next, doc)
			}
		}
		all = next
	}
	return all
}

func (given *jqValues) variable(name string) string {
	if value, is := given.variables[name]; is {
		return value
	}
	return unknown
}

// values returns what a query may emit: texts, lists and objects that are written out, and
// unknown for all that is computed.
func (given *jqValues) values(q *gojq.Query, input any) (all []any) {
	switch given.steps++; {
	case given.steps > maxSteps:
		return given.exceed()
	case len(q.FuncDefs) > 0:
		return []any{unknown}
	case q.Term != nil:
		all = given.term(q.Term, input)
	case q.Op == gojq.OpComma:
		all = append(given.values(q.Left, input), given.values(q.Right, input)...)
	case q.Op == gojq.OpPipe:
		for _, output := range given.values(q.Left, input) {
			all = append(all, given.values(q.Right, output)...)
		}
	default:
		return []any{unknown}
	}
	if len(all) > maxOutputs {
		return given.exceed()
	}
	return all
}

// exceed returns the values of a query beyond a limit.
func (given *jqValues) exceed() []any {
	given.exceeded = true
	return []any{unknown}
}

func (given *jqValues) term(t *gojq.Term, input any) (all []any) {
	switch {
	case t.Type == gojq.TermTypeIdentity:
		all = []any{input}
	case t.Type == gojq.TermTypeObject:
		for _, doc := range given.objects(t.Object, input) {
			all = append(all, doc)
		}
	case t.Type == gojq.TermTypeArray && t.Array.Query != nil:
		all = []any{given.values(t.Array.Query, input)}
	case t.Type == gojq.TermTypeString && len(t.Str.Queries) == 0:
		all = []any{t.Str.Str}
	case t.Type == gojq.TermTypeQuery:
		all = given.values(t.Query, input)
	case t.Type == gojq.TermTypeIf && t.If.Else != nil:
		all = append(given.values(t.If.Then, input), given.values(t.If.Else, input)...)
		for _, branch := range t.If.Elif {
			all = append(all, given.values(branch.Then, input)...)
		}
	case t.Type == gojq.TermTypeFunc && len(t.Func.Args) == 0:
		all = []any{given.variable(t.Func.Name)}
	default:
		return []any{unknown}
	}
	for _, s := range t.SuffixList {
		if !s.Iter || s.Optional {
			return []any{unknown}
		}
		var elements []any
		for _, value := range all {
			list, is := value.([]any)
			if !is {
				return []any{unknown}
			}
			elements = append(elements, list...)
		}
		all = elements
	}
	return all
}
