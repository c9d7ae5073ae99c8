// Package roles merges permissions into RBAC roles, and writes these with the origin of each rule.
package roles

import (
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// List is the roles of an operator: the ClusterRole of the manager, which always exists, and then
// others, sorted.
type List []Role

// Role is a set of rules for one place.
type Role struct {
	Name      string // "" for the manager's own role, or a marker's roleName
	Cluster   bool   // a ClusterRole, bound in all namespaces
	Namespace string // of a Role; "" is the operator's own
	Rules     []Rule
}

// Rule is a rule as controller-gen would write it, with its origins.
type Rule struct {
	rbacv1.PolicyRule
	Origins []Origin
}

// Origin is a reason for a rule.
type Origin struct {
	File  string   `json:"file"`
	Line  int      `json:"line,omitempty"` // from 1; 0 when the rule comes from the whole file
	Verbs []string `json:"verbs"`          // the verbs of the rule with this origin
	Why   string   `json:"why"`            // such as "binding namespaces watches Namespace"
}

// Scope is where a role applies.
type Scope struct {
	Cluster   bool   // in all namespaces, and to what has none
	Namespace string // unless Cluster is set; "" is the operator's own
	Role      string // the name of the role, or "" for the manager's own role
}

// Everywhere is the scope of the manager's ClusterRole.
var Everywhere = Scope{Cluster: true}

// Grant is one verb on one thing.
type Grant struct {
	Scope
	Group, Resource string
	Name            string // "" is any
	URL             string // instead of Group and Resource
	Verb            string
	Reason          Reason
}

// String returns such as "get secrets" or "bind clusterroles.rbac.authorization.k8s.io view in
// namespace web".
func (g Grant) String() string {
	rule := Rule{PolicyRule: rbacv1.PolicyRule{APIGroups: []string{g.Group}, Resources: []string{g.Resource}}}
	if g.URL != "" {
		rule = Rule{PolicyRule: rbacv1.PolicyRule{NonResourceURLs: []string{g.URL}}}
	}
	if g.Name != "" {
		rule.ResourceNames = []string{g.Name}
	}
	text := g.Verb + " " + rule.subject()
	switch {
	case g.Cluster:
	case g.Namespace == "":
		text += " in the operator's namespace"
	default:
		text += " in namespace " + g.Namespace
	}
	return strings.TrimSpace(text)
}

// Reason is an Origin of one verb.
type Reason struct {
	File string
	Line int
	Why  string
}
