package csv

import (
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/jsonvalue"
)

const rbac = "rbac.authorization.k8s.io"

// permissions puts the rules of the operator's ServiceAccounts into the
// ClusterServiceVersion. Roles and bindings for others become files.
func (g *generator) permissions() {
	p := &permissions{g: g, own: map[string]bool{}, bound: map[*object]bool{}, inRoles: map[string][]any{}, inClusterRoles: map[string][]any{}}
	for _, w := range g.workloads {
		p.own[w.account()] = true
	}
	for _, name := range g.o.ExtraServiceAccounts {
		p.own[name] = true
	}
	for _, b := range g.of(rbac, "RoleBinding") {
		p.bind(b, p.inRoles)
	}
	for _, b := range g.of(rbac, "ClusterRoleBinding") {
		p.bind(b, p.inClusterRoles)
	}
	p.unbound()
	p.accounts()
	spec := jsonvalue.EnsureMap(g.csv, "spec", "install", "spec")
	setList(spec, "permissions", entries(p.inRoles))
	setList(spec, "clusterPermissions", entries(p.inClusterRoles))
}

// permissions collects rules.
type permissions struct {
	g       *generator
	own     map[string]bool  // ServiceAccounts of the operator
	bound   map[*object]bool // roles that a binding names
	inRoles map[string][]any // rules by ServiceAccount

	inClusterRoles map[string][]any
}

func entries(rules map[string][]any) []any {
	var list []any
	for _, account := range sorted(rules) {
		of := rules[account]
		if of == nil {
			of = []any{}
		}
		list = append(list, map[string]any{"serviceAccountName": account, "rules": of})
	}
	return list
}

// bind adds the rules of a binding to the rules of the operator's ServiceAccounts. A binding
// that also has other subjects becomes a file for these.
func (p *permissions) bind(b *object, rules map[string][]any) {
	g := p.g
	role := p.role(b)
	if role != nil {
		p.bound[role] = true
	}
	var others []any
	mine := false
	for _, item := range jsonvalue.List(b.Object.Object, "subjects") {
		name := jsonvalue.String(item, "name")
		inNamespace := jsonvalue.String(item, "kind") == "ServiceAccount" && g.inOperatorNamespace(jsonvalue.String(item, "namespace"))
		switch {
		case inNamespace && !p.own[name]:
			g.refuse(b, "add --extra-service-accounts "+name+" if the operator creates pods with it, or remove the binding",
				"%s is for the ServiceAccount %s, which no Deployment uses; OLM may install it in another namespace than %s", b, name, g.namespace)
			return
		case !inNamespace:
			others = append(others, item)
		default:
			mine = true
			if !p.grantable(b, role) {
				return
			}
			if _, ok := rules[name]; !ok {
				rules[name] = nil
			}
			rules[name] = append(rules[name], jsonvalue.List(role.Object.Object, "rules")...)
		}
	}
	switch {
	case mine && len(others) == 0:
		b.inCSV()
	case mine:
		b.Object.Object["subjects"] = others // and becomes a file
	}
	if role != nil && mine && len(others) == 0 && role.place == "" && !p.alsoForOthers(role) {
		role.inCSV()
	}
}

// alsoForOthers reports whether a binding that becomes a file names the role.
func (p *permissions) alsoForOthers(role *object) bool {
	return slices.ContainsFunc(p.g.of(rbac, "RoleBinding", "ClusterRoleBinding"), func(b *object) bool {
		if p.role(b) != role {
			return false
		}
		return slices.ContainsFunc(jsonvalue.List(b.Object.Object, "subjects"), func(s any) bool {
			return jsonvalue.String(s, "kind") != "ServiceAccount" ||
				!p.g.inOperatorNamespace(jsonvalue.String(s, "namespace")) || !p.own[jsonvalue.String(s, "name")]
		})
	})
}

// role returns the role that a binding names, or nil if the manifests do not have it.
func (p *permissions) role(b *object) *object {
	kind, name := jsonvalue.String(b.Object.Object, "roleRef", "kind"), jsonvalue.String(b.Object.Object, "roleRef", "name")
	i := slices.IndexFunc(p.g.objects, func(o *object) bool {
		return o.group() == rbac && o.GetKind() == kind && o.GetName() == name && o.place != leftOut &&
			(kind == "ClusterRole" || o.GetNamespace() == b.GetNamespace())
	})
	if i < 0 {
		return nil
	}
	return p.g.objects[i]
}

// grantable refuses a binding whose rules a ClusterServiceVersion cannot grant.
func (p *permissions) grantable(b, role *object) bool {
	g := p.g
	ref := jsonvalue.String(b.Object.Object, "roleRef", "kind") + " " + jsonvalue.String(b.Object.Object, "roleRef", "name")
	switch {
	case role == nil:
		g.refuse(b, "add the role to the manifests, or remove the binding", "%s names the %s, which the manifests do not have; a ClusterServiceVersion needs its rules", b, ref)
	case b.GetKind() == "RoleBinding" && !g.inOperatorNamespace(b.GetNamespace()):
		if role.GetKind() == "Role" && role.place == "" {
			role.leaveOut("its binding is refused")
		}
		fix := "use a ClusterRole and a ClusterRoleBinding, or remove the binding and create it in the cluster"
		if g.o.RolesFromHooks {
			fix = "remove the namespace " + b.GetNamespace() + " from the bindings and the calls of the hooks that comments in " + b.File + " name, and run operon generate"
		}
		g.refuse(b, fix,
			"%s is in the namespace %s, and OLM grants permissions only in the namespaces of the operator", b, b.GetNamespace())
	case role.Object.Object["aggregationRule"] != nil:
		g.refuse(b, "bind a role with rules of its own", "%s names the %s, whose rules the cluster aggregates; a ClusterServiceVersion needs the rules", b, ref)
	default:
		return true
	}
	return false
}

// unbound refuses roles for the operator that no binding grants. Roles for users are files.
func (p *permissions) unbound() {
	g := p.g
	for _, role := range g.of(rbac, "Role", "ClusterRole") {
		if p.bound[role] || p.forUsers(role) {
			continue
		}
		fix := "bind it to the ServiceAccount " + list(sorted(p.own)) + ", or give it the label rbac.authorization.k8s.io/aggregate-to-admin if it is for users"
		g.refuse(role, fix, "no binding grants %s", role)
	}
}

// forUsers reports whether a role is for users of the operator rather than for the operator:
// it is aggregated into others, or has rules only for paths and for objects of owned kinds,
// without the right to write their status or finalizers.
func (p *permissions) forUsers(role *object) bool {
	for label := range role.GetLabels() {
		if strings.HasPrefix(label, rbac+"/aggregate-to-") {
			return true
		}
	}
	var groups []string
	for _, crd := range p.g.crds() {
		groups = append(groups, jsonvalue.String(crd.Object.Object, "spec", "group"))
	}
	for _, rule := range jsonvalue.Maps(role.Object.Object, "rules") {
		if rule["nonResourceURLs"] != nil {
			continue
		}
		if !subset(jsonvalue.Strings(rule, "apiGroups"), groups) {
			return false
		}
		reads := subset(jsonvalue.Strings(rule, "verbs"), []string{"get", "list", "watch"})
		internal := func(resource string) bool {
			return strings.HasSuffix(resource, "/status") || strings.HasSuffix(resource, "/finalizers")
		}
		if !reads && slices.ContainsFunc(jsonvalue.Strings(rule, "resources"), internal) {
			return false
		}
	}
	return true
}

// accounts leaves the operator's ServiceAccounts to OLM, which creates those with
// permissions.
func (p *permissions) accounts() {
	for _, o := range p.g.of("", "ServiceAccount") {
		if !p.own[o.GetName()] {
			continue
		}
		o.inCSV()
		for _, field := range []string{"imagePullSecrets", "secrets", "automountServiceAccountToken"} {
			if o.Object.Object[field] != nil {
				p.g.warn(o, "service-account-field", "OLM creates "+o.String()+" without its "+field)
			}
		}
		if len(o.GetAnnotations()) > 0 {
			p.g.warn(o, "service-account-field", "OLM creates "+o.String()+" without its annotations")
		}
	}
	for account := range p.own {
		if p.inRoles[account] == nil && p.inClusterRoles[account] == nil && account != "default" {
			p.inRoles[account] = nil // so that OLM creates it
		}
	}
}
