package rbac

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/operon-dev/operon/internal/lazyregexp"
	"github.com/operon-dev/operon/internal/roles"
	"sigs.k8s.io/controller-tools/pkg/rbac"
)

const (
	markerName    = "+" + "kubebuilder:rbac"
	exampleMarker = "# " + markerName + ":groups=apps,resources=deployments,verbs=get;list"
)

// Marker is a comment that asks for rules, in controller-gen's grammar.
type Marker struct {
	File string
	Line int // from 1
	Text string

	grants []roles.Grant
}

// Allows reports whether a marker allows a request of a hook in a test. operator is the namespace of the operator, "" if it is
// not known. In tests, the roles there also apply in the namespace default.
func (m Marker) Allows(r Request, operator string) bool { return allow(m.grants, r, operator) }

// comment is a comment that is a marker or looks like one.
type comment struct {
	line, column int // of the plus sign
	text         string
}

var markerLike = lazyregexp.New(`^[ \t]*#+[ \t]*(\+[ \t]*[A-Za-z]+:[ \t]*[A-Za-z]+\b.*)$`)

// commentsOf returns the comments of a script that are markers or look like one.
func commentsOf(text []byte) []comment {
	var found []comment
	n := 0
	for line := range bytes.Lines(text) {
		n++
		m := markerLike().FindSubmatchIndex(bytes.TrimRight(line, "\r\n"))
		if m == nil {
			continue
		}
		found = append(found, comment{n, m[2] + 1, string(bytes.TrimSpace(line[m[2]:m[3]]))})
	}
	return found
}

// isRBAC reports whether a comment is meant to be an RBAC marker, and whether it is spelled
// correctly.
func (c comment) isRBAC() (meant, correct bool) {
	name := strings.ReplaceAll(c.text, " ", "")
	parts := strings.SplitN(strings.TrimPrefix(name, "+"), ":", 3)
	second, _, _ := strings.Cut(parts[1], "=")
	if !strings.HasPrefix(name, "+") || fault.Distance(parts[0], "kubebuilder") > 2 || fault.Distance(second, "rbac") > 1 {
		return false, false
	}
	return true, strings.HasPrefix(c.text, markerName+":")
}

// Markers returns the RBAC markers of a script, and findings about those that are invalid. known are the kinds of the
// project, or nil for Kubernetes'.
func Markers(s Source, known *kubeapi.Kinds) (all []Marker, findings []Finding) {
	for _, c := range commentsOf(s.Text) {
		meant, correct := c.isRBAC()
		if !meant {
			continue
		}
		find := func(hint, format string, args ...any) {
			msg := fmt.Sprintf(format, args...)
			findings = append(findings, Finding{File: s.Path, Line: c.line, Column: c.column, Rule: RuleMarker, Message: msg, Hint: hint})
		}
		if !correct {
			find("such as "+exampleMarker, "%s is not a marker and has no effect; markers begin with %s:", c.text, markerName)
			continue
		}
		value, err := rbac.RuleDefinition.Parse(c.text)
		if err != nil {
			text, _, _ := strings.Cut(strings.Trim(err.Error(), "[]"), " (at <input>")
			find("such as "+exampleMarker, "the marker does not parse: %s", text)
			continue
		}
		rule := value.(rbac.Rule)
		if wrong := checkRule(rule, known); wrong.message != "" {
			find(wrong.hint, "%s", wrong.message)
			continue
		}
		all = append(all, Marker{s.Path, c.line, c.text, grantsOf(rule, roles.Reason{File: s.Path, Line: c.line, Why: "marker"})})
	}
	return all, findings
}

// grantsOf returns the permissions that a marker asks for.
func grantsOf(r rbac.Rule, because roles.Reason) (all []roles.Grant) {
	in := roles.Scope{Cluster: r.Namespace == "", Namespace: r.Namespace, Role: r.RoleName}
	names := r.ResourceNames
	if len(names) == 0 {
		names = []string{""}
	}
	for _, verb := range r.Verbs {
		for _, u := range r.URLs {
			all = append(all, roles.Grant{Scope: in, URL: u, Verb: verb, Reason: because})
		}
		for _, group := range r.Groups {
			for _, resource := range r.Resources {
				for _, name := range names {
					all = append(all, roles.Grant{Scope: in, Group: groupOf(group), Resource: resource, Name: name, Verb: verb, Reason: because})
				}
			}
		}
	}
	return all
}

// groupOf returns the group that a marker names: core is another name of the group without a name.
func groupOf(name string) string {
	if name == "core" {
		return ""
	}
	return name
}
