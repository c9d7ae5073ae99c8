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
	"sigs.k8s.io/crdify/pkg/validations"
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
	for _, result := range []map[string]map[string][]validations.ComparisonResult{results.SameVersionValidation, results.ServedVersionValidation} {
		for version, properties := range result {
			versions := "in " + version
			if from, to, ok := strings.Cut(version, " -> "); ok {
				versions = "between " + from + " and " + to
			}
			for path, list := range properties {
				path = name(strings.TrimPrefix(path, "^"))
				for _, r := range list {
					if len(r.Errors) > 0 && !missing[verdict{versions, path, ""}] {
						all[verdict{versions, path, r.Name}] = true
					}
				}
			}
		}
	}
	return all
}

// name returns the name of a property, which crdify writes with a dot before the first part.
func name(path string) string { return strings.TrimPrefix(path, ".") }

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
		"", "type", "enum", "default", "required", removed,
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
		all[verdict{d.scope, d.property, d.keyword}] = true
	}
	return all
}

// repeats reports whether crdify may report a difference between versions that the previous CRD
// has, too. It compares texts, which list names in random order, or quote equal keywords.
func repeats(v verdict, older *apiextensionsv1.CustomResourceDefinition) bool {
	return strings.HasPrefix(v.versions, "between ") && (v.validation == "required" || v.validation == "unhandled") &&
		slices.ContainsFunc(pairs(older), func(d difference) bool { return d.scope == v.versions && d.property == v.property })
}

// checkVerdicts compares the verdicts on a pair, and returns their number. Each verdict of crdify
// must have a change that people read, and none may have one without.
func checkVerdicts(t *testing.T, older, newer *apiextensionsv1.CustomResourceDefinition) (refused, repeated int) {
	t.Helper()
	want, got := crdifys(older, newer), ours(older, newer)
	for v := range want {
		if !got[v] && repeats(v, older) {
			delete(want, v)
			repeated++
		}
	}
	if diff := cmp.Diff(texts(want), texts(got)); diff != "" {
		t.Errorf("-crdify +operon\n%s", diff)
	}
	if changes := Compare(older, newer); len(changes) == 0 != (len(want) == 0) {
		t.Errorf("%d changes for %d verdicts", len(changes), len(want))
	}
	return len(want), repeated
}

func texts(all map[verdict]bool) []string {
	var list []string
	for v := range maps.Keys(all) {
		list = append(list, fmt.Sprintf("%s %q: %s", v.versions, v.property, v.validation))
	}
	slices.Sort(list)
	return list
}
