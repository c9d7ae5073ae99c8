// Package namespacedroles grants the manager the Roles of other namespaces, which markers with namespace= generate.
// kustomize would move them all into the namespace of the manager, and nothing would bind them.
//
// A component gives each Role a name of its own before kustomize moves it, and binds it. Transformers then move it back, and
// copy the account to the bindings.
package namespacedroles

import (
	"bytes"
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/jsonvalue"
	"github.com/operon-dev/operon/internal/kustomize"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
	"github.com/operon-dev/operon/plugins/internal/kustomizefile"
	"github.com/operon-dev/operon/templates"
	"go.yaml.in/yaml/v3"
)

const (
	config      = "config"
	rbac        = config + "/rbac"
	roleFile    = rbac + "/role.yaml"
	bindingFile = rbac + "/role_binding.yaml"
	defaultFile = config + "/default/kustomization.yaml"

	generator = "namespaced-roles" // in the records of generated files
	rule      = "roles-unbound"    // Roles that nothing binds
)

// items are the lines that install the generated files.
var items = []kustomizefile.Item{
	{File: defaultFile, Key: "components", Text: "../rbac/namespaced"},
	{File: defaultFile, Key: "transformers", Text: "role_namespaces.yaml"},
}

// data are the values of the templates.
type data struct {
	Roles     []role
	Dangling  string // the kind of the scaffolded binding whose role has no rules any more, or ""
	Binding   string // its name
	Account   string // of the manager
	Namespace string // of the account, after kustomize moved it
	Declared  string // the namespace of the account in config/rbac, or "" if the account is elsewhere
}

// Bindings returns the names of the generated bindings.
func (d data) Bindings() []string {
	var all []string
	for _, r := range d.Roles {
		if r.Binding != "" {
			all = append(all, r.Binding)
		}
	}
	return all
}

// Fields returns the fields of the account in the subject of a binding.
func (data) Fields() []string { return []string{"name", "namespace"} }

// role is a Role of another namespace.
type role struct {
	Name, Namespace string
	NewName         string
	Binding         string // the name of the generated binding, or "" if the user binds the account
}

// Namespaces returns the namespaces to which Roles move back, sorted. kustomize has moved all into that of the account.
func (d data) Namespaces() []string {
	var all []string
	for _, r := range d.Roles {
		if r.Namespace != d.Namespace {
			all = append(all, r.Namespace)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Plan plans the files that keep the Roles of config/rbac/role.yaml in their namespaces and bind them, or removes
// them if no such Role is left. Projects with other manifests stay as they are.
func Plan(c *project.Config, p *scaffold.Plan) error {
	planned := slices.ContainsFunc(p.Recorded(), func(r scaffold.Recorded) bool { return r.Generator == generator })
	roles, _ := p.Read(roleFile) // others report an unreadable file
	if !planned && !bytes.Contains(roles, []byte("\nkind: Role\n")) || !p.Exists(defaultFile) {
		return nil
	}
	src, err := p.Read(defaultFile)
	if err != nil {
		return err
	}
	var settings struct{ Namespace string }
	if err := yaml.Unmarshal(src, &settings); err != nil {
		return nil //nolint:nilerr // kustomize build reports it
	}
	var d data
	if n := (namespaces{c, settings.Namespace}); n.areLeft(roles) {
		var reason string
		if d, reason, err = read(n, p); err != nil {
			return err
		}
		if reason != "" {
			p.Warn(scaffold.Warning{File: roleFile, Rule: rule, Message: "the Roles of other namespaces are not bound to the manager: " + reason})
			return nil
		}
	}
	keep := map[string]bool{}
	if len(d.Roles) > 0 {
		sink := func(name string, _ fs.FileMode, content []byte) error {
			keep[name] = true
			return p.Generate(generator, name, content)
		}
		if err := render.Tree(p.Templates(templates.FS), "golang/namespacedroles", nil, d, sink); err != nil {
			return err
		}
	}
	for _, item := range items {
		change := item.Add
		if len(d.Roles) == 0 {
			change = item.Remove
		}
		if err := change(p); err != nil {
			return err
		}
	}
	return p.RemoveStale(generator, func(name string) bool { return keep[name] })
}

// read returns the Roles of other namespaces, and how they are bound. reason says why it cannot tell.
func read(n namespaces, p *scaffold.Plan) (d data, reason string, err error) {
	files, err := p.ReadBelow(config)
	if err != nil {
		return d, "", err
	}
	all := map[string][]byte{}
	for name, content := range files {
		all[path.Join(config, name)] = content
	}
	built, err := kustomize.BuildFiles(all, rbac, kustomize.Options{})
	if err != nil {
		return d, err.Error(), nil
	}
	d.Namespace = cmp.Or(n.own, "system")
	for _, o := range built.Objects {
		if subjects, _ := o.Object["subjects"].([]any); o.File == bindingFile && len(subjects) > 0 {
			subject, _ := subjects[0].(map[string]any)
			d.Account = jsonvalue.String(subject, "name")
			if dangles(roleRef(o), n, built.Objects) {
				d.Dangling, d.Binding = o.GetKind(), o.GetName()
			}
		}
	}
	if d.Account == "" {
		return d, bindingFile + " names no account", nil
	}
	for _, o := range built.Objects {
		if o.GetKind() == "ServiceAccount" && o.GetName() == d.Account {
			d.Declared = o.GetNamespace()
		}
		if o.File == roleFile && n.isOther(o.GetKind(), o.GetNamespace()) {
			if r := n.bind(o, d.Account, built.Objects); r.Binding != "" || !n.isOwn(r.Namespace) {
				d.Roles = append(d.Roles, r)
			} // else the user binds a Role that kustomize leaves where it is
		}
	}
	return d, "", nil
}

// dangles reports whether a binding refers to the manager's role, but all rules of the manager are in the Roles of
// other namespaces.
func dangles(ref [2]string, n namespaces, all []kustomize.Object) bool {
	named := func(o kustomize.Object) bool { return o.File == roleFile && o.GetName() == ref[1] }
	return slices.ContainsFunc(all, named) && !slices.ContainsFunc(all, func(o kustomize.Object) bool {
		return named(o) && o.GetKind() == ref[0] && (ref[0] == "ClusterRole" || n.isOwn(o.GetNamespace()))
	})
}

// bind returns a Role with a new name, and a binding to the account unless the user has one.
func (n namespaces) bind(o kustomize.Object, account string, all []kustomize.Object) role {
	suffix := "-" + o.GetNamespace()
	r := role{Name: o.GetName(), Namespace: o.GetNamespace(), NewName: o.GetName() + suffix}
	r.Binding = strings.TrimSuffix(r.Name, "-role") + "-rolebinding" + suffix
	for _, b := range all {
		moved := n.own != "" && b.GetNamespace() == "system" // config/default moves it
		here := b.GetNamespace() == r.Namespace || n.isOwn(r.Namespace) && (moved || n.isOwn(b.GetNamespace()))
		if b.GetKind() != "RoleBinding" || !here || roleRef(b) != [2]string{"Role", r.Name} {
			continue
		}
		subjects, _ := b.Object["subjects"].([]any)
		if slices.ContainsFunc(subjects, func(s any) bool {
			subject, _ := s.(map[string]any)
			return subject["kind"] == "ServiceAccount" && subject["name"] == account
		}) {
			r.Binding = ""
		}
	}
	return r
}

// namespaces tells the manager's namespace from others.
type namespaces struct {
	project *project.Config
	own     string // of config/default, or ""
}

// isOwn reports whether kustomize leaves a namespace, or turns it into the manager's.
func (n namespaces) isOwn(namespace string) bool {
	return namespace == "" || namespace == n.own || namespace == n.project.Namespace()
}

// isOther reports whether an object is a Role that the scaffolded binding does not bind.
func (n namespaces) isOther(kind, namespace string) bool {
	return kind == "Role" && (!n.project.Namespaced || !n.isOwn(namespace))
}

// areLeft reports whether role.yaml has such a Role.
func (n namespaces) areLeft(roles []byte) bool {
	for d := yaml.NewDecoder(bytes.NewReader(roles)); ; {
		var o struct {
			Kind     string
			Metadata struct{ Namespace string }
		}
		if d.Decode(&o) != nil {
			return false // the end
		}
		if n.isOther(o.Kind, o.Metadata.Namespace) {
			return true
		}
	}
}

// roleRef returns the kind and the name of the role to which a binding refers.
func roleRef(o kustomize.Object) [2]string {
	ref := jsonvalue.Map(o.Object, "roleRef")
	return [2]string{jsonvalue.String(ref, "kind"), jsonvalue.String(ref, "name")}
}
