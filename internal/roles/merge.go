package roles

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// Merge returns the roles that have some grants, with rules merged and sorted as
// controller-gen does.
func Merge(grants []Grant) List {
	byScope := map[Scope][]Grant{Everywhere: nil}
	for _, g := range reduce(grants) {
		byScope[g.Scope] = append(byScope[g.Scope], g)
	}
	var all List
	for s, list := range byScope {
		all = append(all, Role{Name: s.Role, Cluster: s.Cluster, Namespace: s.Namespace, Rules: rules(list)})
	}
	slices.SortFunc(all, func(a, b Role) int { return cmp.Compare(a.order(), b.order()) })
	return all
}

// order sorts ClusterRoles first, and roles with the manager's own name.
func (r Role) order() string { return fmt.Sprintf("%t %s %s", !r.Cluster, r.Name, r.Namespace) }

// reduce removes grants that another one covers, which gets their reasons.
func reduce(grants []Grant) []Grant {
	seen := map[Grant]bool{}
	var unique []Grant
	for _, g := range grants {
		if !seen[g] {
			seen[g] = true
			unique = append(unique, g)
		}
	}
	var kept []Grant
	for _, g := range unique {
		widest := g
		for _, other := range unique {
			if other.Covers(widest) && !widest.Covers(other) {
				widest = other
			}
		}
		widest.Reason = g.Reason
		kept = append(kept, widest)
	}
	return kept
}

// Covers reports whether g allows all that other allows. Roles that markers name belong
// to the user, and cover only themselves.
func (g Grant) Covers(other Grant) bool {
	if g.Role != other.Role || !g.Cluster && (other.Cluster || g.Namespace != other.Namespace) {
		return false
	}
	has := func(a, b string) bool { return a == b || a == rbacv1.ResourceAll }
	if g.URL != "" || other.URL != "" {
		all := strings.HasSuffix(g.URL, "*") && other.URL != "" && strings.HasPrefix(other.URL, strings.TrimSuffix(g.URL, "*"))
		return has(g.Verb, other.Verb) && (g.URL == other.URL || all)
	}
	if g.Name != "" && g.Name != other.Name {
		return false
	}
	_, sub, _ := strings.Cut(other.Resource, "/")
	return has(g.Group, other.Group) && has(g.Verb, other.Verb) && (has(g.Resource, other.Resource) || sub != "" && g.Resource == "*/"+sub)
}

// rules merges the grants of one role: first verbs, then names, resources, groups and
// URLs of rules that are otherwise equal.
func rules(grants []Grant) (sorted []Rule) {
	var all []*Rule
	for _, g := range grants {
		r := &Rule{Origins: []Origin{{g.Reason.File, g.Reason.Line, []string{g.Verb}, g.Reason.Why}}}
		r.Verbs = []string{g.Verb}
		switch {
		case g.URL != "":
			r.NonResourceURLs = []string{g.URL}
		case g.Name != "":
			r.ResourceNames = []string{g.Name}
			fallthrough
		default:
			r.APIGroups, r.Resources = []string{g.Group}, []string{g.Resource}
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
	verbs := map[Reason][]string{}
	for _, o := range all {
		k := Reason{o.File, o.Line, o.Why}
		verbs[k] = append(verbs[k], o.Verbs...)
	}
	var merged []Origin
	for k, list := range verbs {
		slices.Sort(list)
		merged = append(merged, Origin{File: k.File, Line: k.Line, Verbs: slices.Compact(list), Why: k.Why})
	}
	slices.SortFunc(merged, func(a, b Origin) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Why, b.Why))
	})
	return merged
}
