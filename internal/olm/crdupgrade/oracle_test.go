//go:build testall

package crdupgrade

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/crdify/pkg/config"
	"sigs.k8s.io/crdify/pkg/runner"
	crdifyproperty "sigs.k8s.io/crdify/pkg/validations/property"
)

// crdify has the settings of OLM v1.
var crdify = func() *runner.Runner {
	r, err := runner.New(&config.Config{
		Conversion:           config.ConversionPolicyIgnore,
		UnhandledEnforcement: config.EnforcementPolicyError,
		Validations: []config.ValidationConfig{
			{Name: "description", Enforcement: config.EnforcementPolicyNone},
			{Name: "enum", Enforcement: config.EnforcementPolicyError, Configuration: map[string]any{"additionPolicy": crdifyproperty.AdditionPolicyAllow}},
		},
	}, runner.DefaultRegistry())
	if err != nil {
		panic(err)
	}
	return r
}()

// verdict is that a validation refuses a property of a version, or the CRD.
type verdict struct{ versions, property, validation string }

// crdifys returns the verdicts of crdify.
func crdifys(older, newer *apiextensionsv1.CustomResourceDefinition) map[verdict]bool {
	results := crdify.Run(complete(older), complete(newer))
	all := map[verdict]bool{}
	missing := map[verdict]bool{}
	for _, r := range results.CRDValidation {
		for _, text := range r.Errors {
			v := verdict{validation: r.Name}
			if field, ok := strings.CutPrefix(text, "removed field : "); ok {
				version, path, _ := strings.Cut(field, ".^")
				v = verdict{"in " + version, name(path), removed}
				missing[verdict{v.versions, v.property, ""}] = true
			}
			all[v] = true
		}
	}
	for _, result := range slices.Concat(results.SameVersionValidation, results.ServedVersionValidation) {
		versions := "in " + result.Version
		if from, to, ok := strings.Cut(result.Version, " -> "); ok {
			versions = "between " + from + " and " + to
		}
		for _, p := range result.PropertyComparisons {
			path := name(strings.TrimPrefix(p.Property, "^"))
			for _, r := range p.ComparisonResults {
				if len(r.Errors) > 0 && !missing[verdict{versions, path, ""}] {
					all[verdict{versions, path, r.Name}] = true
				}
			}
		}
	}
	return all
}

// name returns the name of a property without the dot before the first part. crdify writes [] for
// an empty name.
func name(path string) string { return strings.TrimLeft(strings.TrimPrefix(path, "[]"), ".") }

// crdifyName returns the name that crdify has for a property.
func crdifyName(property string) string {
	return name(strings.NewReplacer("[*]", ".items", ".*", ".additionalProperties").Replace("." + property))
}

// complete returns a CRD in the form that crdify expects: each version has a schema, and the
// API server stores objects in the version that says so.
func complete(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	crd = crd.DeepCopy()
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

// ours returns our verdicts, with those that other ones explain.
func ours(older, newer *apiextensionsv1.CustomResourceDefinition) map[verdict]bool {
	known := []string{
		"", "type", "enum", "default", "required", "pattern", "nullable", removed,
		"minimum", "minLength", "minItems", "minProperties", "maximum", "maxLength", "maxItems", "maxProperties",
	}
	all := map[verdict]bool{}
	for _, c := range Compare(older, newer) {
		switch {
		case strings.HasPrefix(c.Text, "the scope"):
			all[verdict{validation: "scope"}] = true
		case strings.HasPrefix(c.Text, "the stored"):
			all[verdict{validation: "storedVersionRemoval"}] = true
		}
	}
	for _, d := range slices.Concat(sameVersions(older, newer), newPairs(older, newer)) {
		if d.missing && d.keyword != removed && strings.HasPrefix(d.scope, "in ") {
			continue // the property is reported
		}
		if !slices.Contains(known, d.keyword) {
			d.keyword = "unhandled"
		}
		all[verdict{d.scope, crdifyName(d.property), d.keyword}] = true
	}
	return all
}

// checkVerdicts compares the verdicts on a pair. Each pair with verdicts of crdify must have a
// change that people read, and no other. It returns the numbers of verdicts, and of those that may differ.
func checkVerdicts(t *testing.T, older, newer *apiextensionsv1.CustomResourceDefinition) (verdicts, unclear int) {
	t.Helper()
	want, got := crdifys(older, newer), ours(older, newer)
	for _, known := range pairs(older) {
		for _, validation := range []string{"required", "unhandled"} {
			// crdify finds out by its texts that the previous CRD has a difference between versions, too.
			// They list names in random order, quote equal keywords, and abbreviate long values.
			v := verdict{known.scope, crdifyName(known.property), validation}
			if want[v] != got[v] {
				unclear++
			}
			delete(want, v)
			delete(got, v)
		}
	}
	if diff := cmp.Diff(texts(want), texts(got)); diff != "" {
		t.Errorf("-crdify +operon\n%s", diff)
	}
	if changes := Compare(older, newer); len(changes) == 0 && len(got) > 0 || len(changes) > 0 && len(ours(older, newer)) == 0 {
		t.Errorf("%d changes for %d verdicts", len(changes), len(got))
	}
	return len(want), unclear
}

func texts(all map[verdict]bool) []string {
	var list []string
	for v := range maps.Keys(all) {
		list = append(list, fmt.Sprintf("%s %q: %s", v.versions, v.property, v.validation))
	}
	slices.Sort(list)
	return list
}
