// Package rbac derives the permissions that the engine and the hooks of an operator
// need: least-privilege roles, with the origin of each rule. It reads configurations and
// sources, and uses neither disk nor cluster. The caller runs Python.
//
// Requests that the sources do not show are findings and never guesses. A marker in the
// source declares them:
//
//	# +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;patch
//
// Of shell, the package follows what the hooks of public operators use: kubectl and jq in
// functions, pipes, command substitutions and loops, with arguments, variables, defaults,
// here-documents and sourced files. It reports the requests in anything else, such as texts of
// eval, awk and bash -c, arguments after shift, and rare commands of kubectl. The expand package
// of mvdan.cc/sh expands words, and Python's own parser reads Python.
//
// Roles for named namespaces carry these namespaces. The namespace field of kustomize
// would change them, so a project whose roles may have them sets its namespace with a
// transformer that has unsetOnly: TestKustomize has the file.
package rbac

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/kinds"
	"github.com/operon-dev/operon/internal/roles"
	rbacv1 "k8s.io/api/rbac/v1"
)

const (
	// defaultWebhooks is the engine's default of VALIDATING_WEBHOOK_CONFIGURATION_NAME. The
	// engine appends "-hooks".
	defaultWebhooks = "shell-operator-hooks"
	// Path is the file of a project with the content Result.File.
	Path = "config/rbac/role.yaml"
	// Generator is recorded as the generator of Path.
	Generator = "hooks-rbac"
	// TestDir is the folder of hook tests, whose expected patches are Input.Recorded.
	TestDir = "test/hooks"
)

// IsTest reports whether the name of a file below TestDir is one of a test file.
func IsTest(name string) bool { return path.Ext(name) == ".yaml" || path.Ext(name) == ".yml" }

// Source is a file of an operator.
type Source struct {
	Path string // with slashes, as origins and findings name it
	Text []byte
}

// Hook is a hook with its configuration.
type Hook struct {
	Source
	Config *config.Config // nil when it is unknown
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

// Result is the result of Derive.
type Result struct {
	Roles    roles.List // sorted; the first is the ClusterRole of the manager, which always exists
	Findings []Finding  // sorted by place and message
}

// Finding reports unknown requests, or a mistake in a source.
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
	ruleUnknown     = "rbac-unseen"       // requests that the source does not show
	ruleImpossible  = "rbac-impossible"   // a request that no rule can allow
)

const (
	// unknownRequests begins the messages of RuleUnknown.
	unknownRequests = "unknown API requests: "
	exampleMarker   = "# " + markerName + ":groups=...,resources=...,verbs=..."
	declareInFile   = "declare them with markers: " + exampleMarker
)

// Derive returns the least-privilege roles with which the engine runs hooks, and hooks
// send the requests in their sources. It returns an error if it cannot read hooks in
// Python although Python is installed, because the roles would lack rules.
func Derive(in Input) (Result, error) {
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
	d.readRecorded()
	for _, h := range in.Hooks {
		d.start(h.Source, anyArguments, 0)
	}
	for _, o := range d.recorded {
		if !d.shows(o) {
			d.operate(o, Source{})
		}
	}
	if d.pythonErr != nil && !errors.Is(d.pythonErr, ErrNoPython) {
		return Result{}, d.pythonErr
	}
	slices.SortFunc(d.findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message))
	})
	for i, g := range d.grants {
		if g.Namespace == in.Namespace {
			d.grants[i].Namespace = ""
		}
	}
	return Result{Roles: roles.Merge(d.grants), Findings: slices.Compact(d.findings)}, nil
}

// deriver collects permissions.
type deriver struct {
	Input
	grants   []roles.Grant
	findings []Finding
	done     []operation     // whose rules are granted
	recorded []operation     // of Input.Recorded
	started  map[string]bool // files, with their arguments

	pythonRead  bool
	pythonFound map[string]pythonFile
	pythonErr   error
}

// sources returns the hooks, then the library.
func (d *deriver) sources() []Source {
	var all []Source
	for _, h := range d.Hooks {
		all = append(all, h.Source)
	}
	return append(all, d.Library...)
}

// place is a place in a source.
type place struct {
	file         string
	line, column int
	heads        []int // of the functions around it: their first lines, and those of their first commands
}

// objects are the objects of a kind with the given names, or all without names. sub is a subresource
// of them, or "".
type objects struct {
	kinds.Kind
	sub   string
	names []string
}

// allow grants verbs on objects. Names do not limit create: the API server does not know the name
// then.
func (d *deriver) allow(at place, in roles.Scope, on objects, why string, verbs ...string) {
	if !on.Namespaced {
		in = roles.Scope{Cluster: true, Role: in.Role}
	}
	resource := on.Resource
	if on.sub != "" {
		resource += "/" + on.sub
	}
	for _, verb := range verbs {
		limits := on.names
		if len(limits) == 0 || verb == "create" && on.sub == "" {
			limits = []string{""}
		}
		for _, name := range limits {
			d.grants = append(d.grants, roles.Grant{Scope: in, Group: on.Group, Resource: resource, Name: name, Verb: verb,
				Reason: roles.Reason{File: at.file, Line: at.line, Why: why}})
		}
	}
}

func (d *deriver) find(at place, rule, hint, format string, args ...any) {
	d.findings = append(d.findings, Finding{File: at.file, Line: at.line, Column: at.column, Rule: rule, Message: fmt.Sprintf(format, args...), Hint: hint})
}

// roleRef is the role that a binding refers to. Its fields may hold unknown, and are "" where
// nothing shows the role.
type roleRef struct{ kind, name string }

// roleRefIn returns the role that an object refers to.
func roleRefIn(object map[string]any) roleRef {
	ref, _ := object["roleRef"].(map[string]any)
	return roleRef{textAt(ref, "kind"), textAt(ref, "name")}
}

// escalate handles an account that grants permissions to others. The API server lets it grant
// only those that it has. The exceptions are the verb escalate on the role and, for a binding,
// the verb bind on the role that the binding refers to.
func (d *deriver) escalate(s Source, at place, in roles.Scope, k kinds.Kind, ref roleRef, what string, verbs ...string) {
	changes := slices.ContainsFunc(verbs, func(v string) bool { return isOneOf(v, "create", "update", "patch") })
	if k.Group != rbacv1.GroupName || !changes {
		return
	}
	const declare = "declare in a marker right above the permissions that it grants, or "
	if isOneOf(k.Resource, "roles", "clusterroles") {
		if !isDeclared(s, at) {
			d.find(at, ruleUnknown, declare+"the verb escalate: "+markerFor(k.Group, k.Resource, []string{"escalate"}),
				"%s: the account needs all permissions that the %s grant", what, k.Resource)
		}
		return
	}
	role, err := d.Kinds.Find(k.APIVersion(), ref.kind)
	known := err == nil && isOneOf(role.Resource, "roles", "clusterroles") && isKnown(ref.name) && ref.name != ""
	switch {
	case isDeclared(s, place{line: at.line}) || !known && isDeclared(s, at):
	case known:
		role.Namespaced = k.Namespaced // the API server checks the verb in the namespace of the binding
		d.allow(at, in, objects{Kind: role, names: []string{ref.name}}, what+" binds the role", "bind")
	default:
		d.find(at, ruleUnknown, declare+"the verb bind on the role: # "+markerName+":groups="+k.Group+",resources=clusterroles,resourceNames=...,verbs=bind",
			"%s: the account needs all permissions of the role that the %s refer to", what, k.Resource)
	}
}

// unknownKind reports a kind that nothing defines.
func (d *deriver) unknownKind(at place, what string, err error) {
	hint := "name the file of its CRD with --crd, or add it to config/crd/bases"
	if unknown := (*kinds.UnknownError)(nil); errors.As(err, &unknown) && (len(unknown.Versions) > 0 || unknown.Near != "") {
		hint = "correct it, or " + hint
	}
	d.find(at, RuleUnknownKind, hint, "%s: %v", what, err)
}
