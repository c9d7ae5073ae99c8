package hookscaffold

import (
	"bytes"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/project"
	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
)

// testFormat is the page that describes test files.
const testFormat = "https://github.com/operon-dev/operon/blob/main/docs/hook-tests.md"

// test is one test in the file that `operon hooks test` reads.
type test struct {
	Name   string   `yaml:"name"`
	Given  []object `yaml:"given,omitempty"`
	Events []event  `yaml:"events,omitempty"`
	Expect *expect  `yaml:"expect,omitempty"`
}

type object = map[string]any

type event struct {
	Apply    object          `yaml:"apply,omitempty"`
	Delete   object          `yaml:"delete,omitempty"`
	Schedule string          `yaml:"schedule,omitempty"`
	Step     map[string]bool `yaml:",inline"` // of addon-operator
	Validate object          `yaml:"validate,omitempty"`
	Mutate   object          `yaml:"mutate,omitempty"`
	Convert  object          `yaml:"convert,omitempty"`
	Expect   *expect         `yaml:"expect,omitempty"`
}

type expect struct {
	Response  object   `yaml:"response,omitempty"`
	Converted []object `yaml:"converted,omitempty"`
	Output    []string `yaml:"output,omitempty"`
}

// testFile returns the content of the file with the hook's tests.
func (h Hook) testFile(at Place, known schemas) ([]byte, error) {
	var out bytes.Buffer
	out.WriteString("# Tests for `operon hooks test`; see " + testFormat + "\n")
	if at.Values != "" {
		out.WriteString("# A test can set values and configValues, and check them and the rendered chart.\n")
	}
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	enc.CompactSeqIndent()
	if err := enc.Encode(struct {
		Hook  string `yaml:"hook"`
		Tests []test `yaml:"tests"`
	}{strings.TrimPrefix(h.Path(at), at.Folder), h.tests(at, known)}); err != nil {
		return nil, err
	}
	return out.Bytes(), enc.Close()
}

// tests returns one test for each handler of the hook.
func (h Hook) tests(at Place, known schemas) []test {
	var all []test
	if h.Startup != nil {
		all = append(all, test{Name: "it starts", Expect: says(h.Name + ": started")})
	}
	groups := map[string]bool{}
	group := func(name string, with test) bool {
		if name != "" && !groups[name] {
			groups[name] = true
			with.Name, with.Expect = "the group "+name, says(name+": ")
			all = append(all, with)
		}
		return name != ""
	}
	for _, o := range h.Kubernetes {
		if !o.snapshotOnly() && !group(o.Group, test{Given: append(o.around(), o.example())}) {
			all = append(all, named(o.tests(), o.Name, all)...)
		}
	}
	for _, s := range h.Schedule {
		if !group(s.Group, test{Events: []event{{Schedule: s.Name}}}) { // tests cannot trigger a group that has only schedules
			all = append(all, test{Name: s.Name + " is due", Events: []event{{Schedule: s.Name}}, Expect: says(s.Name + ": ")})
		}
	}
	for _, step := range at.Owner.Steps() {
		if _, bound := h.Steps[step]; bound {
			run := []event{{Step: map[string]bool{step: true}}}
			all = append(all, test{Name: "it runs at " + step, Events: run, Expect: says(h.Name + ": " + step)})
		}
	}
	allowed := &expect{Response: object{"allowed": true}}
	for _, a := range h.Validate {
		request, name := a.request(), "a valid "+a.Kind.Kind+" is allowed"
		if request["operation"] == "DELETE" {
			name = article(a.Kind.Kind) + " " + a.Kind.Kind + " can be deleted"
		}
		all = append(all, test{Name: name, Events: []event{{Validate: request, Expect: allowed}}})
	}
	for _, a := range h.Mutate {
		name := article(a.Kind.Kind) + " " + a.Kind.Kind + " gets its defaults"
		all = append(all, test{Name: name, Events: []event{{Mutate: a.request(), Expect: allowed}}})
	}
	for _, cv := range h.Convert {
		for _, s := range cv.Steps {
			all = append(all, cv.test(s, known))
		}
	}
	return all
}

// request returns a request with the first operation of the webhook.
func (a Admission) request() object {
	request := object{"operation": a.operations()[0], "binding": a.Name}
	if request["operation"] != "DELETE" {
		request["object"] = a.example()
	}
	if request["operation"] != "CREATE" {
		request["oldObject"] = a.example()
	}
	return request
}

// named returns the tests of a binding with unique names. It adds the binding's name as a
// prefix if another binding of the same kind has tests of the same name.
func named(tests []test, binding string, others []test) []test {
	same := func(t test) bool {
		return slices.ContainsFunc(others, func(o test) bool { return o.Name == t.Name })
	}
	if !slices.ContainsFunc(tests, same) {
		return tests
	}
	for i := 1; i < len(tests); i++ { // the first name already starts with the binding
		tests[i].Name = binding + ": " + tests[i].Name
	}
	return tests
}

func says(text ...string) *expect { return &expect{Output: text} }

// tests returns the tests of a binding whose events arrive one by one.
func (o Objects) tests() []test {
	one := o.example()
	around := o.around()
	all := []test{{Name: o.Name + " at the start", Given: append(around, one), Expect: says(o.Name + " at the start: " + o.count())}}
	name := " " + o.called(one)
	if o.filter() != "" {
		name = ""
	}
	kind := article(o.Kind.Kind) + " " + o.Kind.Kind
	// An API server drops the status of a new object, so a selector for the status
	// matches only later.
	if o.triggersOn("Added") && one["status"] == nil {
		all = append(all, test{Name: kind + " is new", Given: around, Events: []event{{Apply: one}}, Expect: says(o.Name + ": Added" + name)})
	} else if o.triggersOn("Modified") && o.filter() == "" {
		next := o.example()
		next["metadata"].(object)["annotations"] = object{"example.org/changed": "yes"}
		all = append(all, test{Name: kind + " changes", Given: append(around, one),
			Events: []event{{Apply: next}}, Expect: says(o.Name + ": Modified" + name)})
	}
	if o.triggersOn("Deleted") {
		gone := object{"apiVersion": one["apiVersion"], "kind": one["kind"], "metadata": place(one)}
		all = append(all, test{Name: kind + " is gone", Given: append(around, one),
			Events: []event{{Delete: gone}}, Expect: says(o.Name + ": Deleted" + name)})
	}
	return all
}

// count returns the number of objects that the binding sees at the start, unless every
// cluster has such objects, such as the namespace default.
func (o Objects) count() string {
	if len(o.Names) == 0 && o.Selector == "" && systemResources[o.Resource] {
		return ""
	}
	return "1"
}

// around returns the objects that the example depends on: its namespace.
func (o Objects) around() []object {
	if len(o.Namespaces) == 0 || o.Namespaces[0] == "default" {
		return nil
	}
	return []object{{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": o.Namespaces[0]}}}
}

func (o Objects) called(one object) string {
	p := place(one)
	if ns, _ := p["namespace"].(string); ns != "" {
		return ns + "/" + p["name"].(string)
	}
	return p["name"].(string)
}

// place identifies an object.
func place(one object) object {
	p := object{}
	for _, key := range []string{"namespace", "name"} {
		if v, there := one["metadata"].(object)[key]; there {
			p[key] = v
		}
	}
	return p
}

// example returns a small object of a kind.
func (k Kind) example() object {
	one := object{}
	group, version := k.groupVersion()
	for _, core := range project.CoreKinds() {
		r := core.Resource()
		if r.QualifiedGroup() == group && core.Version == version && core.Kind == k.Kind {
			_ = yaml.Unmarshal([]byte(core.Object), &one) // a test parses the table
		}
	}
	metadata, _ := one["metadata"].(object)
	if metadata == nil {
		metadata = object{}
	}
	// Some kinds restrict the names of objects. The table has valid names.
	if name, _ := metadata["name"].(string); name == "" || strings.HasSuffix(name, "-sample") {
		metadata["name"] = "example"
	}
	if !k.ClusterScoped {
		metadata["namespace"] = "default"
	}
	one["apiVersion"], one["kind"], one["metadata"] = k.APIVersion, k.Kind, metadata
	return one
}

// example returns a small object that the binding selects.
func (o Objects) example() object {
	one := o.Kind.example()
	metadata := one["metadata"].(object)
	if len(o.Names) > 0 {
		metadata["name"] = o.Names[0]
	}
	if len(o.Namespaces) > 0 {
		metadata["namespace"] = o.Namespaces[0]
	}
	if s, err := labelSelector(o.Selector); err == nil {
		labels := object{}
		for key, value := range s.MatchLabels {
			labels[key] = value
		}
		for _, e := range s.MatchExpressions {
			switch e.Operator {
			case metav1.LabelSelectorOpIn:
				labels[e.Key] = e.Values[0]
			case metav1.LabelSelectorOpExists:
				labels[e.Key] = "yes"
			}
		}
		if len(labels) > 0 {
			metadata["labels"] = labels
		}
	}
	if s, err := fields.ParseSelector(o.FieldSelector); err == nil {
		for _, r := range s.Requirements() {
			if r.Operator != "!=" {
				set(one, strings.Split(r.Field, "."), r.Value)
			}
		}
	}
	return one
}

func set(in object, path []string, value string) {
	if len(path) == 1 {
		in[path[0]] = value
		return
	}
	next, _ := in[path[0]].(object)
	if next == nil {
		next = object{}
		in[path[0]] = next
	}
	set(next, path[1:], value)
}
