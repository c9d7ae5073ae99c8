package rbac

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// roles returns the roles that have some grants, with rules merged and sorted as
// controller-gen does.
func roles(grants []grant) []Role {
	byPlace := map[where][]grant{{cluster: true}: nil}
	for _, g := range reduce(grants) {
		byPlace[g.where] = append(byPlace[g.where], g)
	}
	var all []Role
	for w, list := range byPlace {
		all = append(all, Role{Name: w.role, Cluster: w.cluster, Namespace: w.namespace, Rules: rules(list)})
	}
	slices.SortFunc(all, func(a, b Role) int { return cmp.Compare(a.order(), b.order()) })
	return all
}

// order sorts ClusterRoles first, and roles with the manager's own name.
func (r Role) order() string { return fmt.Sprintf("%t %s %s", !r.Cluster, r.Name, r.Namespace) }

// reduce removes grants that another one covers, which gets their reasons.
func reduce(grants []grant) []grant {
	seen := map[grant]bool{}
	var unique []grant
	for _, g := range grants {
		if !seen[g] {
			seen[g] = true
			unique = append(unique, g)
		}
	}
	var kept []grant
	for _, g := range unique {
		widest := g
		for _, other := range unique {
			if other.covers(widest) && !widest.covers(other) {
				widest = other
			}
		}
		widest.reason = g.reason
		kept = append(kept, widest)
	}
	return kept
}

// covers reports whether g allows all that other allows. Roles that markers name belong
// to the user, and cover only themselves.
func (g grant) covers(other grant) bool {
	if g.role != other.role || !g.cluster && (other.cluster || g.namespace != other.namespace) {
		return false
	}
	has := func(a, b string) bool { return a == b || a == rbacv1.ResourceAll }
	if g.url != "" || other.url != "" {
		return has(g.verb, other.verb) && (g.url == other.url || strings.HasSuffix(g.url, "*") && strings.HasPrefix(other.url, strings.TrimSuffix(g.url, "*")))
	}
	if g.name != "" && g.name != other.name {
		return false
	}
	_, sub, _ := strings.Cut(other.resource, "/")
	return has(g.group, other.group) && has(g.verb, other.verb) && (has(g.resource, other.resource) || sub != "" && g.resource == "*/"+sub)
}

// rules merges the grants of one role: first verbs, then names, resources, groups and
// URLs of rules that are otherwise equal.
func rules(grants []grant) (sorted []Rule) {
	var all []*Rule
	for _, g := range grants {
		r := &Rule{Origins: []Origin{{g.reason.file, g.reason.line, []string{g.verb}, g.reason.why}}}
		r.Verbs = []string{g.verb}
		switch {
		case g.url != "":
			r.NonResourceURLs = []string{g.url}
		case g.name != "":
			r.ResourceNames = []string{g.name}
			fallthrough
		default:
			r.APIGroups, r.Resources = []string{g.group}, []string{g.resource}
		}
		all = append(all, r)
	}
	for _, list := range []func(*Rule) *[]string{
		func(r *Rule) *[]string { return &r.Verbs },
		func(r *Rule) *[]string { return &r.ResourceNames },
		func(r *Rule) *[]string { return &r.Resources },
		func(r *Rule) *[]string { return &r.APIGroups },
		func(r *Rule) *[]string { return &r.NonResourceURLs },
	} {
		all = join(all, list)
	}
	slices.SortFunc(all, func(a, b *Rule) int { return cmp.Compare(a.key(), b.key()) })
	for _, r := range all {
		r.Origins = origins(r.Origins)
		sorted = append(sorted, *r)
	}
	return sorted
}

// join merges rules that differ only in one list, which is not empty.
func join(all []*Rule, list func(*Rule) *[]string) []*Rule {
	joined := map[string]*Rule{}
	for _, r := range all {
		own := *list(r)
		*list(r) = nil
		rest := fmt.Sprintf("%s + %v %t", r.key(), r.Verbs, own == nil)
		*list(r) = own
		first := joined[rest]
		if first == nil {
			first = r
			joined[rest] = r
		} else {
			*list(first) = append(*list(first), own...)
			first.Origins = append(first.Origins, r.Origins...)
		}
	}
	for _, r := range joined {
		if slices.Contains(r.Verbs, rbacv1.VerbAll) {
			r.Verbs = []string{rbacv1.VerbAll}
		}
		slices.Sort(*list(r))
		*list(r) = slices.Compact(*list(r))
	}
	return slices.Collect(maps.Values(joined))
}

// key is what controller-gen sorts rules by.
func (r *Rule) key() string {
	var parts []string
	for _, list := range [][]string{r.APIGroups, r.Resources, r.ResourceNames, r.NonResourceURLs} {
		parts = append(parts, strings.Join(list, "&"))
	}
	return strings.Join(parts, " + ")
}

// origins merges origins with the same reason, and sorts them by place.
func origins(all []Origin) []Origin {
	verbs := map[reason][]string{}
	for _, o := range all {
		k := reason{o.File, o.Line, o.Why}
		verbs[k] = append(verbs[k], o.Verbs...)
	}
	var merged []Origin
	for k, list := range verbs {
		slices.Sort(list)
		merged = append(merged, Origin{File: k.file, Line: k.line, Verbs: slices.Compact(list), Why: k.why})
	}
	slices.SortFunc(merged, func(a, b Origin) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Why, b.Why))
	})
	return merged
}
