package rbac

import (
	"cmp"
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
	slices.SortFunc(all, func(a, b Role) int {
		return cmp.Or(-compareBool(a.Cluster, b.Cluster), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Namespace, b.Namespace))
	})
	return all
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

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

// rules merges the grants of one role: first verbs, then names, resources and groups of
// rules that are otherwise equal.
func rules(grants []grant) []Rule {
	type key struct{ group, resource, name, url string }
	merged := map[key]*Rule{}
	for _, g := range grants {
		k := key{g.group, g.resource, g.name, g.url}
		r := merged[k]
		if r == nil {
			r = &Rule{}
			if g.url != "" {
				r.NonResourceURLs = []string{g.url}
			} else {
				r.APIGroups, r.Resources = []string{g.group}, []string{g.resource}
			}
			if g.name != "" {
				r.ResourceNames = []string{g.name}
			}
			merged[k] = r
		}
		r.Verbs = append(r.Verbs, g.verb)
		r.Origins = append(r.Origins, Origin{g.reason.file, g.reason.line, []string{g.verb}, g.reason.why})
	}
	var list []*Rule
	for _, r := range merged {
		if slices.Contains(r.Verbs, rbacv1.VerbAll) {
			r.Verbs = []string{rbacv1.VerbAll}
		}
		r.sort()
		list = append(list, r)
	}
	list = join(list, func(r *Rule) *[]string { return &r.ResourceNames }, func(r *Rule) bool { return len(r.ResourceNames) > 0 })
	list = join(list, func(r *Rule) *[]string { return &r.Resources }, func(r *Rule) bool { return len(r.Resources) > 0 })
	list = join(list, func(r *Rule) *[]string { return &r.APIGroups }, func(r *Rule) bool { return len(r.APIGroups) > 0 })
	list = join(list, func(r *Rule) *[]string { return &r.NonResourceURLs }, func(r *Rule) bool { return len(r.NonResourceURLs) > 0 })
	slices.SortFunc(list, func(a, b *Rule) int { return cmp.Compare(a.key(), b.key()) })
	var sorted []Rule
	for _, r := range list {
		r.Origins = origins(r.Origins)
		sorted = append(sorted, *r)
	}
	return sorted
}

// join merges rules that differ only in one list, if has says that they have it.
func join(all []*Rule, list func(*Rule) *[]string, has func(*Rule) bool) []*Rule {
	joined := map[string]*Rule{}
	for _, r := range all {
		mine := *list(r)
		*list(r) = nil
		rest := r.key() + " + " + strings.Join(r.Verbs, "&")
		*list(r) = mine
		if !has(r) {
			rest += " without"
		}
		if first := joined[rest]; first != nil {
			*list(first) = append(*list(first), mine...)
			first.Origins = append(first.Origins, r.Origins...)
			first.sort()
			continue
		}
		joined[rest] = r
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

func (r *Rule) sort() {
	for _, list := range []*[]string{&r.APIGroups, &r.Resources, &r.ResourceNames, &r.NonResourceURLs, &r.Verbs} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
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
