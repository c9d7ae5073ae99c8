package rbac

import (
	"bytes"
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

func (n Names) filled() Names {
	if n.Role == "" {
		n.Role = Scaffolded.Role
	}
	if n.Account == "" {
		n.Account = Scaffolded.Account
	}
	return n
}

func (n Names) role(r Role) string {
	if r.Name != "" {
		return r.Name
	}
	return n.Role
}

// binding returns the name of a role's binding: manager-rolebinding for manager-role.
func binding(role string) string { return strings.TrimSuffix(role, "-role") + "-rolebinding" }

// Objects returns the roles, each followed by its binding to the account. They have the
// types of k8s.io/api/rbac/v1, with apiVersion and kind.
func (r Result) Objects(n Names) []runtime.Object {
	var all []runtime.Object
	for _, p := range r.pairs(n) {
		all = append(all, p.role, p.binding)
	}
	return all
}

// pair is the object of a role, and that of its binding.
type pair struct {
	role, binding runtime.Object
	rules         []Rule
}

func (r Result) pairs(n Names) []pair {
	n = n.filled()
	var all []pair
	for _, role := range r.Roles {
		name, kind := n.role(role), "Role"
		if role.Cluster {
			kind = "ClusterRole"
		}
		policy := []rbacv1.PolicyRule{}
		for _, rule := range role.Rules {
			policy = append(policy, rule.PolicyRule)
		}
		ref := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: name}
		subjects := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: n.Account, Namespace: n.Namespace}}
		types := func(kind string) metav1.TypeMeta {
			return metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: kind}
		}
		if role.Cluster {
			all = append(all, pair{
				role:    &rbacv1.ClusterRole{TypeMeta: types(kind), ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: policy},
				binding: &rbacv1.ClusterRoleBinding{TypeMeta: types("ClusterRoleBinding"), ObjectMeta: metav1.ObjectMeta{Name: binding(name)}, RoleRef: ref, Subjects: subjects},
				rules:   role.Rules,
			})
			continue
		}
		in := role.Namespace
		if in == "" {
			in = n.Namespace
		}
		all = append(all, pair{
			role:    &rbacv1.Role{TypeMeta: types(kind), ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: in}, Rules: policy},
			binding: &rbacv1.RoleBinding{TypeMeta: types("RoleBinding"), ObjectMeta: metav1.ObjectMeta{Name: binding(name), Namespace: in}, RoleRef: ref, Subjects: subjects},
			rules:   role.Rules,
		})
	}
	return all
}

// File returns the content of config/rbac/role.yaml: the roles, and the bindings of all
// but the first, which role_binding.yaml binds. Comments name the origins of each rule
// without line numbers, which would change with every edit.
func (r Result) File(n Names) ([]byte, error) {
	var out bytes.Buffer
	for i, o := range r.pairs(n) {
		if err := writeRole(&out, o); err != nil {
			return nil, err
		}
		if i > 0 {
			if err := writeObject(&out, o.binding); err != nil {
				return nil, err
			}
		}
	}
	return out.Bytes(), nil
}

// YAML returns the roles with their origins, and all bindings, for kubectl apply.
func (r Result) YAML(n Names) ([]byte, error) {
	var out bytes.Buffer
	for _, o := range r.pairs(n) {
		if err := writeRole(&out, o); err != nil {
			return nil, err
		}
		if err := writeObject(&out, o.binding); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

// writeRole writes a role as controller-gen does, with a comment for each origin.
func writeRole(out *bytes.Buffer, o pair) error {
	var head any
	switch role := o.role.(type) {
	case *rbacv1.ClusterRole:
		bare := *role
		bare.Rules = []rbacv1.PolicyRule{}
		head = &bare
	case *rbacv1.Role:
		bare := *role
		bare.Rules = []rbacv1.PolicyRule{}
		head = &bare
	}
	if len(o.rules) == 0 {
		return writeObject(out, head)
	}
	var frame bytes.Buffer
	if err := writeObject(&frame, head); err != nil {
		return err
	}
	out.WriteString(strings.TrimSuffix(frame.String(), " []\n") + "\n")
	for _, rule := range o.rules {
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

func writeObject(out *bytes.Buffer, o any) error {
	text, err := yaml.Marshal(o)
	if err != nil {
		return err
	}
	out.WriteString("---\n")
	out.Write(text)
	return nil
}
