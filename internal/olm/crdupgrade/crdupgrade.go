// Package crdupgrade finds the changes of a CRD that can make existing objects invalid, with crdify.
package crdupgrade

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/crdify/pkg/config"
	"sigs.k8s.io/crdify/pkg/runner"
	"sigs.k8s.io/crdify/pkg/validations"
	"sigs.k8s.io/crdify/pkg/validations/property"
	"sigs.k8s.io/crdify/pkg/validators/version"
)

// Change is a change of a CRD that can make objects invalid.
type Change struct {
	Rule     string // the validation of crdify, such as minimum, or Unhandled
	Versions string // such as v1, or v1beta1 -> v1; "" for the whole CRD
	Property string // as crdify writes it, such as spec.ports.items; "" for the object, or the whole CRD
	Message  string // such as "minimum increased: 1 -> 2"
}

// Unhandled is the rule for keywords that crdify has no validation for. Each of their changes counts.
const Unhandled = "unhandled"

// FieldRemoval is the rule for a removed property.
const FieldRemoval = "existingFieldRemoval"

// String returns the change for people, such as "v1: spec.crew: minimum increased: 1 -> 2".
func (c Change) String() string {
	parts := slices.DeleteFunc([]string{c.Versions, c.Property, c.Message}, func(part string) bool { return part == "" })
	return strings.Join(parts, ": ")
}

// Compare returns the changes from one CRD to another of the same name for which OLM v1 refuses an upgrade.
func Compare(older, newer *apiextensionsv1.CustomResourceDefinition) []Change {
	return compare(olm(), older, newer)
}

// Fields returns the changes that the API server may refuse objects for, or remove values of them for.
func Fields(older, newer *apiextensionsv1.CustomResourceDefinition) []Change {
	return slices.DeleteFunc(compare(fields(), older, newer), func(c Change) bool { return c.Property == "" })
}

var (
	olm    = sync.OnceValue(func() *runner.Runner { return newRunner() })
	fields = sync.OnceValue(func() *runner.Runner {
		return newRunner(off("default"),
			with("pattern", "removalPolicy", property.PatternRemovalPolicyAllow),
			with("nullable", "additionPolicy", property.NullableAdditionPolicyAllow),
		)
	})
)

func off(name string) config.ValidationConfig {
	return config.ValidationConfig{Name: name, Enforcement: config.EnforcementPolicyNone}
}

func with(name, key string, policy any) config.ValidationConfig {
	return config.ValidationConfig{
		Name: name, Enforcement: config.EnforcementPolicyError, Configuration: map[string]any{key: policy},
	}
}

// newRunner returns crdify with the settings of OLM v1, and more of them.
func newRunner(more ...config.ValidationConfig) *runner.Runner {
	enum := with("enum", "additionPolicy", property.AdditionPolicyAllow)
	r, err := runner.New(&config.Config{
		Conversion:           config.ConversionPolicyIgnore,
		UnhandledEnforcement: config.EnforcementPolicyError,
		Validations:          append(more, off("description"), enum),
	}, runner.DefaultRegistry())
	if err != nil {
		panic(err) // the settings above are wrong
	}
	return r
}

func compare(r *runner.Runner, older, newer *apiextensionsv1.CustomResourceDefinition) []Change {
	older, newer = complete(older), complete(newer)
	results := r.Run(older, newer)
	// crdify leaves out what differs between versions of the older CRD, too. It compares texts for that, which have
	// names in random order.
	known := ofVersions(r.Run(&apiextensionsv1.CustomResourceDefinition{}, older).ServedVersionValidation)
	served := slices.DeleteFunc(ofVersions(results.ServedVersionValidation), func(c Change) bool { return slices.Contains(known, c) })
	all := withoutConsequences(slices.Concat(ofCRD(results.CRDValidation), ofVersions(results.SameVersionValidation), served))
	slices.SortFunc(all, func(a, b Change) int { return cmp.Compare(a.String(), b.String()) })
	return all
}

// complete returns a CRD as crdify expects it: each version has a schema, and the status has the stored version.
func complete(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	crd = crd.DeepCopy()
	crd.Status.StoredVersions = nil
	for i, v := range crd.Spec.Versions {
		if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
			crd.Spec.Versions[i].Schema = &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{}}
		}
		if v.Storage {
			crd.Status.StoredVersions = append(crd.Status.StoredVersions, v.Name)
		}
	}
	return crd
}

func ofCRD(results []validations.ComparisonResult) (all []Change) {
	for _, r := range results {
		for _, text := range r.Errors {
			c := Change{Rule: r.Name, Message: message(r.Name, text)}
			if what, where, ok := strings.Cut(c.Message, ": "); ok && r.Name == FieldRemoval { // v1.^.spec.crew
				c.Message = what
				c.Versions, c.Property, _ = strings.Cut(where, ".^.")
			}
			all = append(all, c)
		}
	}
	return all
}

func ofVersions(results []version.VersionedPropertyComparisonResult) (all []Change) {
	for _, v := range results {
		for _, p := range v.PropertyComparisons {
			for _, r := range p.ComparisonResults {
				for _, text := range r.Errors {
					path := strings.TrimPrefix(strings.TrimPrefix(p.Property, "^"), ".")
					all = append(all, Change{r.Name, v.Version, path, message(r.Name, text)})
				}
			}
		}
	}
	return all
}

// message returns a text of crdify in one line that is the same in each run.
func message(rule, text string) string {
	text = strings.Replace(text, " :", ":", 1)
	switch what, list, _ := strings.Cut(text, ": ["); rule {
	case Unhandled: // has a diff of two schemas, with random blanks
		what, diff, _ := strings.Cut(text, "\n")
		for line := range strings.Lines(diff) {
			if strings.HasPrefix(line, "-") || strings.HasPrefix(line, "+") {
				what += " " + strings.Join(strings.Fields(line), " ")
			}
		}
		return what
	case "required": // has names in random order
		names := strings.Fields(strings.TrimSuffix(list, "]"))
		slices.Sort(names)
		return what + ": " + strings.Join(names, ", ")
	}
	return text
}

// withoutConsequences leaves out what follows from the removal of a property: its changes, and the removal of its
// own properties.
func withoutConsequences(all []Change) []Change {
	removed := map[string]bool{}
	for _, c := range all {
		if c.Rule == FieldRemoval {
			removed[c.Versions+" "+c.Property] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(c Change) bool {
		for i, r := range c.Property {
			if r == '.' && removed[c.Versions+" "+c.Property[:i]] {
				return true
			}
		}
		return c.Rule != FieldRemoval && removed[c.Versions+" "+c.Property]
	})
}
