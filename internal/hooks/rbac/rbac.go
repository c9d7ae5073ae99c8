// Package rbac derives what the engine and the hooks of an operator must be allowed
// to do on an API server: the least roles, and where each of their rules comes
// from. It reads configurations and sources, and touches neither disk nor cluster.
//
// What it cannot see, such as a kubectl call whose arguments are known only when it
// runs, is a finding and never a guess: a marker says it in the source.
//
//	# +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;patch
//
// Roles for named namespaces carry these. kustomize's field namespace would move
// them, so a project whose roles may have them gives its namespace to what has none
// by a transformer with unsetOnly: TestKustomize has the file.
package rbac

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/kinds"
	rbacv1 "k8s.io/api/rbac/v1"
)

// defaultWebhooks is what the engine calls its webhook configurations, unless
// VALIDATING_WEBHOOK_CONFIGURATION_NAME says otherwise, before it appends "-hooks".
const defaultWebhooks = "shell-operator-hooks"

// Path is the file of a project that Result.File is the content of, and Generator
// what is recorded to have generated it.
const (
	Path      = "config/rbac/role.yaml"
	Generator = "hooks-rbac"
	// TestDir is where a project has tests of hooks, whose expected patches are
	// Input.Recorded.
	TestDir = "test/hooks"
)

// IsTest reports whether a file below TestDir is one of tests, by its name.
func IsTest(name string) bool { return path.Ext(name) == ".yaml" || path.Ext(name) == ".yml" }

// Source is a file of an operator.
type Source struct {
	Path string // with slashes, as origins and findings are to name it
	Text []byte
}

// Hook is a hook with its configuration. What sources name is relative to the folder
// that all paths are below.
type Hook struct {
	Source
	Config *config.Config // nil when it is not known
}

// Input is what rules are derived from.
type Input struct {
	Kinds    *kinds.Table
	Hooks    []Hook
	Library  []Source     // files that hooks may source or import
	Recorded []Source     // patch operations that hooks wrote, or that tests of hooks expect
	Webhooks string       // see defaultWebhooks, which it is when empty
	Python   PythonRunner // reads hooks in Python; nil when there is no Python

	// Namespace is the operator's, when it is known: what names it means the same
	// as what names none.
	Namespace string
}

// Result is what Derive found.
type Result struct {
	// Roles are sorted, the ClusterRole of the manager first: it is always there.
	Roles    []Role
	Findings []Finding // sorted by place, and at one place by what they say
}

// Role is a set of rules for one place.
type Role struct {
	Name      string // "" of the manager's own role, else by a marker's roleName
	Cluster   bool   // a ClusterRole, bound in all namespaces
	Namespace string // of a Role; "" is the operator's own
	Rules     []Rule
}

// Rule is a rule as controller-gen would write it, with where it comes from.
type Rule struct {
	rbacv1.PolicyRule
	Origins []Origin
}

// Origin is a reason for a rule.
type Origin struct {
	File  string   `json:"file"`
	Line  int      `json:"line,omitempty"` // from 1; 0 when the rule comes from the whole file
	Verbs []string `json:"verbs"`          // of the rule, for this reason
	Why   string   `json:"why"`            // such as "binding namespaces watches Namespace"
}

// Finding is something that rules cannot be derived from, or that makes no sense.
type Finding struct {
	File         string
	Line, Column int // from 1; 0 when unknown
	Rule         string
	Message      string
	Hint         string // what to do, or ""
}

// Text is the message with the hint.
func (f Finding) Text() string {
	if f.Hint == "" {
		return f.Message
	}
	return f.Message + "; " + f.Hint
}

// Names of rules for findings.
const (
	RuleMarker      = "rbac-marker"       // a marker that does not parse, or can match nothing
	RuleUnknownKind = "rbac-unknown-kind" // a kind that neither Kubernetes nor a CRD has
	RuleUnseen      = "rbac-unseen"       // a call or an operation that cannot be seen
	RuleImpossible  = "rbac-impossible"   // what no rule can allow
)

const (
	// unknownRequests begins the messages of RuleUnseen.
	unknownRequests = "unknown API requests: "
	declareInFile   = "declare them with markers: # " + markerName + ":groups=...,resources=...,verbs=..."
)

// Derive returns the least roles with which the engine can run hooks, and hooks can
// do what their sources say.
func Derive(in Input) Result {
	d := &deriver{Input: in, started: map[string]bool{}}
	d.Webhooks = cmp.Or(d.Webhooks, defaultWebhooks)
	for _, h := range in.Hooks {
		if h.Config != nil {
			d.bindings(h)
		}
	}
	for _, s := range d.sources() {
		d.markers(s)
	}
	for _, h := range in.Hooks {
		d.program(h.Source)
	}
	for _, s := range in.Recorded {
		d.recorded(s)
	}
	slices.SortFunc(d.findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message))
	})
	for i, g := range d.grants {
		if g.namespace == in.Namespace {
			d.grants[i].namespace = ""
		}
	}
	return Result{Roles: roles(d.grants), Findings: slices.Compact(d.findings)}
}

// deriver collects what is to be allowed.
type deriver struct {
	Input
	grants   []grant
	findings []Finding
	done     []operation     // that have their rules
	started  map[string]bool // programs, with their arguments

	pythonRead  bool
	pythonFound map[string]pythonFile
	pythonErr   error
}

// sources are the hooks' and the library's, in this order.
func (d *deriver) sources() []Source {
	var all []Source
	for _, h := range d.Hooks {
		all = append(all, h.Source)
	}
	return append(all, d.Library...)
}

// where is the place that a role is for.
type where struct {
	cluster   bool
	namespace string // "" is the operator's own
	role      string // a marker's roleName
}

var everywhere = where{cluster: true}

// grant is one verb on one thing.
type grant struct {
	where
	group, resource string
	name            string // "" is any
	url             string // instead of group and resource
	verb            string
	reason          reason
}

// reason is an Origin of one verb.
type reason struct {
	file string
	line int
	why  string
}

// place is a place in a source.
type place struct {
	file         string
	line, column int
}

// allow grants verbs on a resource, maybe a subresource. Names do not limit create,
// of which the API server knows none.
func (d *deriver) allow(at place, in where, k kinds.Kind, subresource string, names []string, why string, verbs ...string) {
	if !k.Namespaced {
		in = where{cluster: true, role: in.role}
	}
	resource := k.Resource
	if subresource != "" {
		resource += "/" + subresource
	}
	for _, verb := range verbs {
		limits := names
		if len(limits) == 0 || verb == "create" && subresource == "" {
			limits = []string{""}
		}
		for _, name := range limits {
			d.grants = append(d.grants, grant{where: in, group: k.Group, resource: resource, name: name, verb: verb,
				reason: reason{at.file, at.line, why}})
		}
	}
}

func (d *deriver) find(at place, rule, hint, format string, args ...any) {
	d.findings = append(d.findings, Finding{File: at.file, Line: at.line, Column: at.column, Rule: rule, Message: fmt.Sprintf(format, args...), Hint: hint})
}

// gives reports that an account gives rights to others: the API server lets it give
// none that it does not have.
func (d *deriver) gives(at place, in *script, k kinds.Kind, what string, verbs ...string) {
	changes := slices.ContainsFunc(verbs, func(v string) bool { return slices.Contains([]string{"create", "update", "patch"}, v) })
	marked := in != nil && spokenFor(in.Text, at.line)
	if k.Group == rbacv1.GroupName && changes && !marked {
		d.find(at, RuleUnseen, "name in a marker right above what it gives, or the verbs escalate and bind for "+k.Resource,
			"%s: the rights that %s give the account must have, too", what, k.Resource)
	}
}

// unknownKind reports a kind that nobody knows.
func (d *deriver) unknownKind(at place, what string, err error) {
	hint := "name the file of its CRD with --crd, or put it into config/crd/bases"
	if unknown := (*kinds.UnknownError)(nil); errors.As(err, &unknown) && (len(unknown.Versions) > 0 || unknown.Near != "") {
		hint = "mend it, or " + hint
	}
	d.find(at, RuleUnknownKind, hint, "%s: %v", what, err)
}
