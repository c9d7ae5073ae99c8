// Package rbac derives the permissions that the engine and the hooks of an operator
// need: least-privilege roles, with the origin of each rule. It reads configurations and
// markers, and uses neither disk nor cluster.
//
// The engine sends requests for the bindings of a hook, which its configuration shows. The hook
// declares all others in markers, as Go code does:
//
//	# +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;patch
//
// Roles for named namespaces carry these namespaces. The namespace field of kustomize
// would change them, so a project whose roles may have them sets its namespace with a
// transformer that has unsetOnly: TestKustomize has the file.
package rbac

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/operon-dev/operon/internal/roles"
)

const (
	// defaultWebhooks is the engine's default of VALIDATING_WEBHOOK_CONFIGURATION_NAME. The
	// engine appends "-hooks".
	defaultWebhooks = "shell-operator-hooks"
	// Path is the file of a project with the content Result.File.
	Path = "config/rbac/role.yaml"
	// Generator is recorded as the generator of Path.
	Generator = "hooks-rbac"
)

// Source is a file of an operator.
type Source struct {
	Path string // with slashes, as origins and findings name it
	Text []byte
}

// Hook is a hook with its configuration.
type Hook struct {
	Source Source
	Config *config.Config // nil when it is unknown
}

// Input is what rules are derived from.
type Input struct {
	Kinds    *kubeapi.Kinds
	Hooks    []Hook
	Library  []Source // files that hooks may source or import; their markers count for every hook
	Webhooks string   // see defaultWebhooks, which it is when empty

	// Namespace is the operator's, when it is known: what names it means the same
	// as what names none.
	Namespace string
}

// Result is the result of Derive.
type Result struct {
	Roles    roles.List // sorted; the first is the ClusterRole of the manager, which always exists
	Findings []Finding  // about bindings, sorted by place and message

	grants []roles.Grant
}

// Allows reports whether the roles allow a request, as Marker.Allows does.
func (r Result) Allows(q Request, operator string) bool { return allow(r.grants, q, operator) }

// Finding reports a mistake in a source.
type Finding struct {
	File         string
	Line, Column int // from 1; 0 when unknown
	Rule         string
	Message      string
	Hint         string // how to solve it, or ""
}

// Text is the message with the hint.
func (f Finding) Text() string {
	if f.Hint == "" {
		return f.Message
	}
	return f.Message + "; " + f.Hint
}

// Rules of findings.
const (
	RuleMarker      = "rbac-marker"       // a marker that does not parse, or allows nothing
	RuleUnknownKind = "rbac-unknown-kind" // a kind that neither Kubernetes nor a CRD defines
	ruleImpossible  = "rbac-impossible"   // a binding that no rule can allow
)

// Derive returns the least-privilege roles with which the engine runs hooks, and hooks send the
// requests that their markers declare. The first invalid marker is an error, because the roles
// would lack rules.
func Derive(in Input) (Result, error) {
	d := &deriver{Input: in}
	d.Webhooks = cmp.Or(d.Webhooks, defaultWebhooks)
	for _, h := range in.Hooks {
		if h.Config != nil {
			d.bindings(h)
		}
	}
	for _, s := range in.sources() {
		markers, findings := Markers(s, in.Kinds)
		if len(findings) > 0 {
			f := findings[0]
			return Result{}, fault.Failed(f.Hint, "%s: %s", roles.Place(f.File, f.Line), f.Message)
		}
		for _, m := range markers {
			d.grants = append(d.grants, m.grants...)
		}
	}
	slices.SortFunc(d.findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message))
	})
	for i, g := range d.grants {
		if g.Namespace == in.Namespace {
			d.grants[i].Namespace = ""
		}
	}
	return Result{Roles: roles.Merge(d.grants), Findings: slices.Compact(d.findings), grants: d.grants}, nil
}

// sources returns the hooks, then the library.
func (in Input) sources() []Source {
	var all []Source
	for _, h := range in.Hooks {
		all = append(all, h.Source)
	}
	return append(all, in.Library...)
}

// deriver collects permissions.
type deriver struct {
	Input
	grants   []roles.Grant
	findings []Finding
}

// objects are the objects of a kind with the given names, or all without names.
type objects struct {
	kind  kubeapi.Kind
	names []string
}

// allow grants verbs on objects for a hook.
func (d *deriver) allow(file string, in roles.Scope, on objects, why string, verbs ...string) {
	if !on.kind.Namespaced {
		in = roles.Everywhere
	}
	names := on.names
	if len(names) == 0 {
		names = []string{""}
	}
	for _, verb := range verbs {
		for _, name := range names {
			d.grants = append(d.grants, roles.Grant{Scope: in, Group: on.kind.Group, Resource: on.kind.Resource, Name: name, Verb: verb,
				Reason: roles.Reason{File: file, Why: why}})
		}
	}
}

func (d *deriver) find(file, rule, hint, format string, args ...any) {
	d.findings = append(d.findings, Finding{File: file, Rule: rule, Message: fmt.Sprintf(format, args...), Hint: hint})
}

// unknownKind reports a kind that nothing defines.
func (d *deriver) unknownKind(file, what string, err error) {
	hint := "name the file of its CRD with --crd, or add it to config/crd/bases"
	if unknown := (*kubeapi.UnknownKindError)(nil); errors.As(err, &unknown) && (len(unknown.Versions) > 0 || unknown.Near != "") {
		hint = "correct it, or " + hint
	}
	d.find(file, RuleUnknownKind, hint, "%s: %v", what, err)
}
