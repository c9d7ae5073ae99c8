package rbac

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/lazyregexp"
	"github.com/operon-dev/operon/internal/roles"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-tools/pkg/rbac"
)

const markerName = "+" + "kubebuilder:rbac"

// marker is a comment that asks for rules, in controller-gen's grammar.
type marker struct {
	line, column int // of the plus sign
	text         string
}

var markerLike = lazyregexp.New(`^[ \t]*#+[ \t]*(\+[ \t]*[A-Za-z]+:[ \t]*[A-Za-z]+\b.*)$`)

// markersOf returns the comments of a script that are markers or look like one.
func markersOf(text []byte) []marker {
	var found []marker
	n := 0
	for line := range bytes.Lines(text) {
		n++
		m := markerLike().FindSubmatchIndex(bytes.TrimRight(line, "\r\n"))
		if m == nil {
			continue
		}
		found = append(found, marker{n, m[2] + 1, string(bytes.TrimSpace(line[m[2]:m[3]]))})
	}
	return found
}

// isRBAC reports whether a marker is meant to be one of RBAC, and whether it is spelled
// correctly.
func (m marker) isRBAC() (meant, correct bool) {
	name := strings.ReplaceAll(m.text, " ", "")
	parts := strings.SplitN(strings.TrimPrefix(name, "+"), ":", 3)
	second, _, _ := strings.Cut(parts[1], "=")
	if !strings.HasPrefix(name, "+") || fault.Distance(parts[0], "kubebuilder") > 2 || fault.Distance(second, "rbac") > 1 {
		return false, false
	}
	return true, strings.HasPrefix(m.text, markerName+":")
}

// CheckMarkers returns findings about the RBAC markers of a script.
func CheckMarkers(s Source) []Finding {
	d := &deriver{}
	d.markers(s)
	return d.findings
}

// markers allows what the markers of a source ask for.
func (d *deriver) markers(s Source) {
	for _, m := range markersOf(s.Text) {
		meant, correct := m.isRBAC()
		if !meant {
			continue
		}
		at := place{file: s.Path, line: m.line, column: m.column}
		const hint = "such as # " + markerName + ":groups=apps,resources=deployments,verbs=get;list"
		if !correct {
			d.find(at, RuleMarker, hint, "%s is not a marker and has no effect; markers begin with %s:", m.text, markerName)
			continue
		}
		value, err := rbac.RuleDefinition.Parse(m.text)
		if err != nil {
			text, _, _ := strings.Cut(strings.Trim(err.Error(), "[]"), " (at <input>")
			d.find(at, RuleMarker, hint, "the marker does not parse: %s", text)
			continue
		}
		d.marker(at, value.(rbac.Rule))
	}
}

var versionLike = lazyregexp.New(`^v[0-9]+((alpha|beta)[0-9]+)?$`)

func (d *deriver) marker(at place, r rbac.Rule) {
	if len(r.URLs) == 0 && len(r.Resources) == 0 {
		d.find(at, RuleMarker, "add resources= and groups=, or urls=", "the marker names no resources, so it allows nothing")
		return
	}
	if len(r.Resources) > 0 && len(r.Groups) == 0 {
		d.find(at, RuleMarker, `groups="" is the core group`, "the marker names no groups, so it allows nothing")
		return
	}
	if len(r.URLs) > 0 && r.Namespace != "" {
		d.find(at, RuleMarker, "remove namespace=", "URLs are in no namespace, so the marker allows nothing")
		return
	}
	for _, g := range r.Groups {
		group, version, slash := strings.Cut(g, "/")
		if !slash {
			group, version = "", g
		}
		if versionLike().MatchString(version) {
			d.find(at, RuleMarker, "write groups="+cmp.Or(group, strconv.Quote(group)), "the API group %q holds a version, so the marker allows nothing", g)
			return
		}
	}
	if slices.Contains(r.Groups, rbacv1.GroupName) && slices.ContainsFunc(r.Resources, isBinding) && slices.ContainsFunc(r.Verbs, isBindOrEscalate) {
		d.find(at, RuleMarker, "for bindings, write resources=roles or clusterroles and verbs=bind", "the verbs bind and escalate have no effect on bindings, only on roles")
	}
	in := roles.Scope{Cluster: r.Namespace == "", Namespace: r.Namespace, Role: r.RoleName}
	because := roles.Reason{File: at.file, Line: at.line, Why: "marker"}
	names := r.ResourceNames
	if len(names) == 0 {
		names = []string{""}
	}
	for _, verb := range r.Verbs {
		for _, u := range r.URLs {
			d.grants = append(d.grants, roles.Grant{Scope: in, URL: u, Verb: verb, Reason: because})
		}
		for _, group := range r.Groups {
			if group == "core" {
				group = ""
			}
			for _, resource := range r.Resources {
				for _, name := range names {
					d.grants = append(d.grants, roles.Grant{Scope: in, Group: group, Resource: resource, Name: name, Verb: verb, Reason: because})
				}
			}
		}
	}
}

func isBinding(resource string) bool { return isOneOf(resource, "rolebindings", "clusterrolebindings") }

func isBindOrEscalate(verb string) bool { return isOneOf(verb, "bind", "escalate") }

// markerFor is the marker that would allow verbs on a resource.
func markerFor(group, resource string, verbs []string) string {
	if group == "" {
		group = `""`
	}
	return fmt.Sprintf("# %s:groups=%s,resources=%s,verbs=%s", markerName, group, resource, strings.Join(verbs, ";"))
}

// isDeclared reports whether a marker declares the requests at a place: one right above the
// line, or at the head of a function around it.
func isDeclared(s Source, at place) bool {
	lines := strings.Split(string(s.Text), "\n")
	return slices.ContainsFunc(append(at.heads, at.line), func(line int) bool { return hasMarkerAbove(lines, line) })
}

// hasMarkerAbove reports whether the comment right above a line has a marker.
func hasMarkerAbove(lines []string, line int) bool {
	for i := min(line-2, len(lines)-1); i >= 0; i-- {
		trimmed := strings.TrimSpace(lines[i])
		if !strings.HasPrefix(trimmed, "#") {
			return false
		}
		if slices.ContainsFunc(markersOf([]byte(trimmed)), func(m marker) bool { _, correct := m.isRBAC(); return correct }) {
			return true
		}
	}
	return false
}
