package catalog

import (
	"slices"
	"strings"
)

// deprecations validates the deprecations of a package.
func (v *validator) deprecations(d Doc[Deprecations]) {
	m := v.packages[d.Value.Package]
	if m == nil {
		report(v, d, ruleUnknownPackage, []any{"package"}, "deprecations of package %q, which the catalog lacks", d.Value.Package)
		return
	}
	if m.deprecated {
		report(v, d, ruleDuplicateName, []any{"package"}, "package %s has other deprecations", d.Value.Package)
	}
	m.deprecated = true
	seen := map[string]bool{}
	for i, e := range d.Value.Entries {
		path := []any{"entries", i}
		schema, name := e.Reference.Schema, e.Reference.Name
		if seen[schema+" "+name] {
			report(v, d, ruleDuplicateName, path, "%s %s is deprecated twice", strings.TrimPrefix(schema, "olm."), name)
		}
		seen[schema+" "+name] = true
		if e.Message == "" {
			report(v, d, ruleDeprecationTarget, path, "a deprecation of package %s has no message", d.Value.Package)
		}
		if problem := m.deprecationProblem(schema, name); problem != "" {
			report(v, d, ruleDeprecationTarget, path, "%s", problem)
		}
	}
}

// deprecationProblem returns what is wrong with the reference of a deprecation, or "".
func (m *packageContent) deprecationProblem(schema, name string) string {
	switch schema {
	case SchemaPackage:
		if name != "" {
			return "the deprecation of a package must not have a name"
		}
	case SchemaChannel:
		if !slices.ContainsFunc(m.channels, func(ch Doc[Channel]) bool { return ch.Value.Name == name }) {
			return "the deprecated channel " + name + " does not exist"
		}
	case SchemaBundle:
		if _, ok := m.bundles[name]; !ok {
			return "the deprecated bundle " + name + " does not exist"
		}
	default:
		return "the schema of a deprecation is olm.package, olm.channel or olm.bundle"
	}
	return ""
}
