package fields

import (
	"slices"
	"strings"
	"unicode"

	"github.com/operon-dev/operon/internal/fault"
)

// Object is a struct type with fields: the spec, the status, or an object in one of them.
type Object struct {
	Name    string // of the Go type
	Doc     string // what it is, for its comment
	Members []Member
}

// Member is a field of an object.
type Member struct {
	Name   string  // in JSON
	Object *Object // the object of the field; nil for a single value
	field  Field   // the description, or the first one that names the object
	list   bool    // a list of objects
	key    string  // the field that identifies an object in the list, or ""

	optional bool
}

// Kind has the fields of a kind.
type Kind struct {
	Name         string
	Spec, Status *Object
}

// IsEmpty reports whether the kind has no fields.
func (k *Kind) IsEmpty() bool { return len(k.Spec.Members)+len(k.Status.Members) == 0 }

// Objects returns the spec and the status.
func (k *Kind) Objects() []*Object { return []*Object{k.Spec, k.Status} }

// newKind returns the fields of a kind as objects. An error names the descriptions that contradict each
// other.
func newKind(kind string, all []Field) (*Kind, error) {
	k := &Kind{Name: kind,
		Spec:   &Object{Name: kind + "Spec", Doc: "the desired state of the " + kind},
		Status: &Object{Name: kind + "Status", Doc: "the observed state of the " + kind}}
	for _, f := range all {
		if err := k.add(f); err != nil {
			return nil, err
		}
	}
	for _, o := range k.Objects() {
		o.relax(o == k.Status)
	}
	return k, k.checkNames()
}

// add adds a field at its path.
func (k *Kind) add(f Field) error {
	o := k.Spec
	if f.Status {
		o = k.Status
	}
	for i, s := range f.path {
		last := i == len(f.path)-1
		m := o.member(s.name)
		if m == nil {
			o.Members = append(o.Members, Member{Name: s.name, field: f, list: s.list})
			m = &o.Members[len(o.Members)-1]
			if !last {
				m.Object = &Object{Name: k.typeName(f, i), Doc: "one of the " + s.name}
				if !s.list {
					m.Object.Doc = "the " + s.name
				}
				m.Object.Doc += " of the " + k.Name
			}
		} else if last || m.Object == nil || m.list != s.list {
			return errorAt(f.Text, s.at, "give each field once; to change a field, edit the types",
				"the field %s exists already, from --%s %q", s.name, Option, m.field.Text)
		}
		m.optional = m.optional || s.optional
		if last {
			break
		}
		if f.key && i == len(f.path)-2 {
			if m.key != "" {
				return errorAt(f.Text, s.at, "remove one of the options key", "the objects of the list %s already have the key %s", s.name, m.key)
			}
			m.key = f.path[i+1].name
		}
		o = m.Object
	}
	return nil
}

func (o *Object) member(name string) *Member {
	if i := slices.IndexFunc(o.Members, func(m Member) bool { return m.Name == name }); i >= 0 {
		return &o.Members[i]
	}
	return nil
}

// typeName returns the name of the Go type of the object at an element of the path: the kind, "Status" for
// objects of the status, and the names of the path. Objects in a list have the singular.
func (k *Kind) typeName(f Field, at int) string {
	words := []string{k.Name}
	if f.Status {
		words = append(words, "Status")
	}
	for _, s := range f.path[:at+1] {
		word := goName(s.name)
		if s.list {
			word = singular(word)
		}
		words = append(words, word)
	}
	return strings.Join(words, "")
}

func singular(word string) string {
	for _, ending := range [][2]string{{"ies", "y"}, {"sses", "ss"}, {"ches", "ch"}, {"shes", "sh"}, {"xes", "x"}} {
		if stem, ok := strings.CutSuffix(word, ending[0]); ok {
			return stem + ending[1]
		}
	}
	if strings.HasSuffix(word, "ss") || strings.HasSuffix(word, "us") {
		return word
	}
	return strings.TrimSuffix(word, "s")
}

// relax makes an object optional if all of its fields are: then it adds nothing to leave it out. All
// objects and lists of a status are optional, because a controller fills in the status step by step.
func (o *Object) relax(status bool) (optional bool) {
	optional = true
	for i := range o.Members {
		m := &o.Members[i]
		if m.Object != nil {
			m.optional = m.Object.relax(status) && !m.list || m.optional || status
		} else {
			m.optional = m.field.optional || m.field.rule("default") != nil
		}
		optional = optional && m.optional
	}
	return optional
}

// checkNames returns an error if two types or two fields would have one name.
func (k *Kind) checkNames() error {
	types := map[string]bool{k.Name: true, k.Name + "List": true, k.Spec.Name: true, k.Status.Name: true}
	var check func(o *Object) error
	check = func(o *Object) error {
		names := map[string]string{}
		for _, m := range o.Members {
			if other, ok := names[goName(m.Name)]; ok {
				return fault.Usage("rename one of them", "--%s %q: the fields %s and %s have the same name in Go", Option, m.field.Text, other, m.Name)
			}
			names[goName(m.Name)] = m.Name
			if slices.Contains([]string{"DeepCopy", "DeepCopyInto"}, goName(m.Name)) {
				return fault.Usage("rename the field", "--%s %q: controller-gen writes a method %s", Option, m.field.Text, goName(m.Name))
			}
			if o == k.Status && goName(m.Name) == "Conditions" {
				return fault.Usage("remove the field", "--%s %q: each status has conditions already", Option, m.field.Text)
			}
			if m.Object == nil {
				continue
			}
			if types[m.Object.Name] {
				return fault.Usage("rename the field", "--%s %q: the type of %s would be a second %s", Option, m.field.Text, m.Name, m.Object.Name)
			}
			types[m.Object.Name] = true
			if err := check(m.Object); err != nil {
				return err
			}
		}
		return nil
	}
	for _, o := range k.Objects() {
		if err := check(o); err != nil {
			return err
		}
	}
	return nil
}

// initialisms are the words that Go names write in capitals (go.dev/wiki/CodeReviewComments#initialisms),
// as far as they are common in Kubernetes.
var initialisms = []string{
	"api", "cidr", "cpu", "dns", "fqdn", "http", "https", "id", "ip", "json", "tcp", "tls", "ttl", "udp", "uid", "uri", "url", "uuid", "vm",
}

// goName returns the name of a field in Go.
func goName(name string) string {
	word := name
	if i := strings.IndexFunc(name, unicode.IsUpper); i >= 0 {
		word = name[:i]
	}
	if slices.Contains(initialisms, word) {
		return strings.ToUpper(word) + name[len(word):]
	}
	return strings.ToUpper(name[:1]) + name[1:]
}
