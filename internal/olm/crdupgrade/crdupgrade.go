// Package crdupgrade finds the changes of a CRD that can make existing objects invalid.
//
// The verdicts are those of crdify (sigs.k8s.io/crdify) with the settings of OLM v1, and the
// tests compare the two. crdify itself reports texts without positions and repeats a change for
// each schema above and below. Importing it costs 0.4 ms and 280 kB at each start.
package crdupgrade

import (
	"maps"
	"slices"
	"strconv"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiversion "k8s.io/apimachinery/pkg/version"
)

// Change is a change of a CRD that can make objects invalid.
type Change struct {
	// Text says what changed, such as "in v1, minimum of spec.crew changed from 1 to 2".
	Text string
	// Path has the keys and indexes of the changed value in the new CRD. The last ones may be missing there.
	Path []any

	// Property is the changed property, such as spec.ports[*].name. It is "" if no keyword of a
	// property changed: for the scope, for versions, and for a property that was removed.
	Property string
	Keyword  string // of OpenAPI
	From, To string // the values in JSON; "" for none. For enum, From has the values that were removed.
}

// Compare returns the incompatible changes from one CRD to another of the same name.
func Compare(older, newer *apiextensionsv1.CustomResourceDefinition) []Change {
	var changes []Change
	if from, to := older.Spec.Scope, newer.Spec.Scope; from != to {
		changes = append(changes, Change{Text: "the scope changed from " + string(from) + " to " + string(to), Path: []any{"spec", "scope"}})
	}
	for _, v := range older.Spec.Versions {
		if v.Storage && indexOf(newer, v.Name) < 0 {
			changes = append(changes, Change{Text: "the stored version " + v.Name + " was removed", Path: []any{"spec", "versions"}})
		}
	}
	for _, diffs := range [][]difference{sameVersions(older, newer), newPairs(older, newer)} {
		for _, d := range concise(diffs) {
			c := Change{Text: d.text(), Path: d.path}
			if !d.missing {
				c.Property, c.Keyword, c.From, c.To = d.property, d.keyword, d.from, d.to
			}
			changes = append(changes, c)
		}
	}
	return changes
}

// sameVersions compares each version with the version of the same name.
func sameVersions(older, newer *apiextensionsv1.CustomResourceDefinition) []difference {
	var all []difference
	for _, v := range older.Spec.Versions {
		if i := indexOf(newer, v.Name); i >= 0 {
			all = append(all, compare("in "+v.Name, properties(v, 0), properties(newer.Spec.Versions[i], i))...)
		}
	}
	return all
}

// newPairs returns the differences between versions of a CRD that its previous release does
// not have. The API server only renames the version of an object, unless a webhook converts it.
func newPairs(older, newer *apiextensionsv1.CustomResourceDefinition) []difference {
	if c := newer.Spec.Conversion; c != nil && c.Strategy == apiextensionsv1.WebhookConverter {
		return nil
	}
	known := map[string]bool{}
	for _, d := range pairs(older) {
		known[d.key()] = true
	}
	return slices.DeleteFunc(pairs(newer), func(d difference) bool { return known[d.key()] })
}

// pairs compares each served version of a CRD with the more stable ones.
func pairs(crd *apiextensionsv1.CustomResourceDefinition) []difference {
	var served []int
	for i, v := range crd.Spec.Versions {
		if v.Served {
			served = append(served, i)
		}
	}
	slices.SortStableFunc(served, func(a, b int) int {
		return apiversion.CompareKubeAwareVersionStrings(crd.Spec.Versions[a].Name, crd.Spec.Versions[b].Name)
	})
	var all []difference
	for n, i := range served {
		for _, j := range served[n+1:] {
			from, to := crd.Spec.Versions[i], crd.Spec.Versions[j]
			diffs := compare("between "+from.Name+" and "+to.Name, properties(from, i), properties(to, j))
			// An object of one version need not have the properties of the other.
			all = append(all, slices.DeleteFunc(diffs, func(d difference) bool { return d.keyword == removed })...)
		}
	}
	return all
}

func indexOf(crd *apiextensionsv1.CustomResourceDefinition, version string) int {
	return slices.IndexFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == version })
}

// property is a schema in the schema of a version.
type property struct {
	*apiextensionsv1.JSONSchemaProps

	parent  string // the name of the schema that has it
	keyword string // of OpenAPI, with which the parent has it
	path    []any  // of the schema in the CRD
}

// properties returns all schemas in a version with this index. Their names are such as
// spec.ports[*].name, spec.labels.* and spec.port.anyOf[0], and that of the object is "".
func properties(v apiextensionsv1.CustomResourceDefinitionVersion, index int) map[string]property {
	all := map[string]property{}
	root := &apiextensionsv1.JSONSchemaProps{}
	if v.Schema != nil && v.Schema.OpenAPIV3Schema != nil {
		root = v.Schema.OpenAPIV3Schema
	}
	var walk func(name string, p property)
	walk = func(name string, p property) {
		all[name] = p
		below := func(child string, s *apiextensionsv1.JSONSchemaProps, keyword string, step ...any) {
			if s != nil {
				walk(child, property{s, name, keyword, slices.Concat(p.path, []any{keyword}, step)})
			}
		}
		for _, key := range slices.Sorted(maps.Keys(p.Properties)) {
			s := p.Properties[key]
			below(join(name, key), &s, "properties", key)
		}
		if p.Items != nil {
			below(name+"[*]", p.Items.Schema, "items")
		}
		if p.AdditionalProperties != nil {
			below(join(name, "*"), p.AdditionalProperties.Schema, "additionalProperties")
		}
		for keyword, list := range map[string][]apiextensionsv1.JSONSchemaProps{"allOf": p.AllOf, "anyOf": p.AnyOf, "oneOf": p.OneOf} {
			for i := range list {
				below(join(name, keyword+"["+strconv.Itoa(i)+"]"), &list[i], keyword, i)
			}
		}
		below(join(name, "not"), p.Not, "not")
	}
	walk("", property{root, "", "", []any{"spec", "versions", index, "schema", "openAPIV3Schema"}})
	return all
}

// join returns the name of a property of a property.
func join(name, key string) string {
	if name == "" && key != "" {
		return key
	}
	return name + "." + key
}
