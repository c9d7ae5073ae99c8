package project

import "strings"

// ScopeOf tells whether objects live in namespaces, by full API group and by
// resource as RBAC rules name it: a plural, maybe with a subresource behind it.
// known is false for what is neither the project's nor Kubernetes' own.
func (c *Config) ScopeOf(group, resource string) (namespaced, known bool) {
	plural, _, _ := strings.Cut(resource, "/")
	for _, r := range c.Resources {
		if r.QualifiedGroup() == group && r.PluralName() == plural {
			return c.IsNamespaced(r), true
		}
	}
	for _, k := range CoreKinds() {
		if k.Resource().QualifiedGroup() == group && k.Plural == plural {
			return k.Namespaced, true
		}
	}
	return false, false
}
