package foreign

import (
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

func hasRole(src []byte) bool {
	all, err := objects(src)
	return err == nil && slices.ContainsFunc(all, func(o object) bool { return isRole(o.value) })
}

// addPermissions returns a role with the permissions that next has and was has not. A permission is a rule of its own for
// each resource, because a person may have changed the rule that the generators extend.
func addPermissions(mine, was, next map[string]any) map[string]any {
	merged := maps.Clone(mine)
	rules, _ := mine["rules"].([]any)
	rules = slices.Clone(rules)
	known := slices.Concat(permissions(was["rules"]), permissions(mine["rules"]))
	list, _ := next["rules"].([]any)
	for _, rule := range list {
		if !slices.ContainsFunc(permissions([]any{rule}), func(p string) bool { return slices.Contains(known, p) }) {
			rules = append(rules, rule)
			continue
		}
		for _, part := range perResource(rule) {
			if missing := permissions([]any{part}); slices.ContainsFunc(missing, func(p string) bool { return !slices.Contains(known, p) }) {
				rules = append(rules, part)
			}
		}
	}
	merged["rules"] = rules
	return merged
}

// perResource splits a rule into rules for one resource each.
func perResource(rule any) (parts []any) {
	m, _ := rule.(map[string]any)
	resources, _ := m["resources"].([]any)
	for _, resource := range resources {
		part := maps.Clone(m)
		part["resources"] = []any{resource}
		parts = append(parts, part)
	}
	if len(resources) == 0 {
		parts = []any{rule}
	}
	return parts
}

func isRole(v map[string]any) bool { return v["kind"] == "ClusterRole" || v["kind"] == "Role" }

// permissions returns each permission of the rules of a role, sorted.
func permissions(rules any) []string {
	var all []string
	list, _ := rules.([]any)
	for _, rule := range list {
		texts := []string{""}
		m, _ := rule.(map[string]any)
		for _, key := range []string{"apiGroups", "resources", "resourceNames", "nonResourceURLs", "verbs"} {
			values, _ := m[key].([]any)
			if len(values) == 0 {
				values = []any{"-"}
			}
			var next []string
			for _, text := range texts {
				for _, value := range values {
					out, _ := yaml.Marshal(value) // texts can always be encoded
					next = append(next, text+" "+strings.TrimSpace(string(out)))
				}
			}
			texts = next
		}
		all = append(all, texts...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
