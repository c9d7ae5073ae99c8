package roles

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// Names are the names in the objects that Objects returns.
type Names struct {
	Role      string // of the manager's own roles; default: manager-role
	Account   string // the ServiceAccount; default: controller-manager
	Namespace string // the operator's; "" if kustomize sets it
}

// Scaffolded are the names in projects, before kustomize adds its prefix.
var Scaffolded = Names{Role: "manager-role", Account: "controller-manager"}

// pair is a role with its binding. Those of a ClusterRole have the same fields.
type pair struct {
	role    rbacv1.Role
	binding rbacv1.RoleBinding
	Role
}

func (l List) pairs(n Names) (all []pair) {
	for _, role := range l {
		name, prefix, namespace := cmp.Or(role.Name, n.Role, Scaffolded.Role), "", cmp.Or(role.Namespace, n.Namespace)
		if role.Cluster {
			prefix, namespace = "Cluster", ""
		}
		meta := func(kind, name string) (metav1.TypeMeta, metav1.ObjectMeta) {
			return metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: prefix + kind},
				metav1.ObjectMeta{Name: name, Namespace: namespace}
		}
		p := pair{Role: role}
		p.role.TypeMeta, p.role.ObjectMeta = meta("Role", name)
		p.role.Rules = []rbacv1.PolicyRule{}
		for _, rule := range role.Rules {
			p.role.Rules = append(p.role.Rules, rule.PolicyRule)
		}
		p.binding.TypeMeta, p.binding.ObjectMeta = meta("RoleBinding", strings.TrimSuffix(name, "-role")+"-rolebinding") // manager-rolebinding
		p.binding.RoleRef = rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: p.role.Kind, Name: name}
		account := cmp.Or(n.Account, Scaffolded.Account)
		p.binding.Subjects = []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: account, Namespace: n.Namespace}}
		all = append(all, p)
	}
	return all
}

// Objects returns the roles, each followed by its binding to the account. They have the
// types of k8s.io/api/rbac/v1, with apiVersion and kind.
func (l List) Objects(n Names) (all []runtime.Object) {
	for _, p := range l.pairs(n) {
		if !p.Cluster {
			all = append(all, &p.role, &p.binding)
			continue
		}
		r, b := p.role, p.binding
		all = append(all, &rbacv1.ClusterRole{TypeMeta: r.TypeMeta, ObjectMeta: r.ObjectMeta, Rules: r.Rules},
			&rbacv1.ClusterRoleBinding{TypeMeta: b.TypeMeta, ObjectMeta: b.ObjectMeta, RoleRef: b.RoleRef, Subjects: b.Subjects})
	}
	return all
}

// File returns the content of config/rbac/role.yaml: the roles, and the bindings of all
// but the first, which role_binding.yaml binds. Comments name the origins of each rule
// without line numbers, which would change with every edit.
func (l List) File(n Names) ([]byte, error) { return l.write(n, 1) }

// YAML returns the roles with their origins, and all bindings, for kubectl apply.
func (l List) YAML(n Names) ([]byte, error) { return l.write(n, 0) }

// write writes the roles, and the bindings from a number on.
func (l List) write(n Names, bindings int) ([]byte, error) {
	var out bytes.Buffer
	for i, p := range l.pairs(n) {
		if err := p.writeRole(&out); err != nil {
			return nil, err
		}
		if i < bindings {
			continue
		}
		text, err := yaml.Marshal(p.binding)
		if err != nil {
			return nil, err
		}
		out.WriteString("---\n" + string(text))
	}
	return out.Bytes(), nil
}

// writeRole writes a role as controller-gen does, with a comment for each origin.
func (p pair) writeRole(out *bytes.Buffer) error {
	p.role.Rules = []rbacv1.PolicyRule{}
	head, err := yaml.Marshal(p.role)
	if err != nil {
		return err
	}
	text := "---\n" + string(head)
	if len(p.Rules) > 0 {
		text = strings.TrimSuffix(text, " []\n") + "\n"
	}
	out.WriteString(text)
	for _, rule := range p.Rules {
		text, err := yaml.Marshal([]rbacv1.PolicyRule{rule.PolicyRule})
		if err != nil {
			return err
		}
		for _, reason := range rule.reasons() {
			fmt.Fprintf(out, "# %s\n", reason)
		}
		out.Write(text)
	}
	return nil
}

// reasons returns the distinct origins without line numbers.
func (r Rule) reasons() []string {
	var all []string
	plain := []Origin{}
	for _, o := range r.Origins {
		o.Line = 0
		plain = append(plain, o)
	}
	for _, o := range origins(plain) {
		all = append(all, fmt.Sprintf("%s: %s (%s)", o.File, strings.ReplaceAll(o.Why, "\n", " "), strings.Join(o.Verbs, ", ")))
	}
	return all
}
