package bundlecheck

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/lazyregexp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/crdify/pkg/config"
	"sigs.k8s.io/crdify/pkg/runner"
	"sigs.k8s.io/crdify/pkg/validations"
	"sigs.k8s.io/crdify/pkg/validations/property"
)

// Previous is the bundle that is upgraded.
type Previous struct {
	Name string // of its ClusterServiceVersion
	CRDs []*apiextensionsv1.CustomResourceDefinition
}

// ReadPrevious reads the previous bundle from its files.
func ReadPrevious(files map[string][]byte) (Previous, []finding.Finding) {
	x := read(files)
	return Previous{x.bundle.Name, x.bundle.V1CRDs}, finding.Errors(x.found)
}

// AddObject adds an object of the previous bundle in JSON, as catalogs have it.
func (p *Previous) AddObject(src []byte) error {
	var object apiextensionsv1.CustomResourceDefinition
	if err := json.Unmarshal(src, &object.TypeMeta); err != nil || object.GroupVersionKind() != apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition") {
		return err
	}
	if err := json.Unmarshal(src, &object); err != nil {
		return err
	}
	p.CRDs = append(p.CRDs, &object)
	return nil
}

// upgradeRules compares CRDs with those of the previous bundle. The verdicts are crdify's, with
// the settings of OLM v1.
func (x *input) upgradeRules(previous Previous) {
	run, err := runner.New(&config.Config{
		Conversion:           config.ConversionPolicyIgnore,
		UnhandledEnforcement: config.EnforcementPolicyError,
		Validations: []config.ValidationConfig{
			{Name: "description", Enforcement: config.EnforcementPolicyNone},
			{Name: "enum", Enforcement: config.EnforcementPolicyError, Configuration: map[string]any{"additionPolicy": property.AdditionPolicyAllow}},
		},
	}, runner.DefaultRegistry())
	if err != nil {
		panic(err) // the settings are constant
	}
	for _, old := range previous.CRDs {
		i := slices.IndexFunc(x.bundle.V1CRDs, func(crd *apiextensionsv1.CustomResourceDefinition) bool { return crd.Name == old.Name })
		if i < 0 {
			x.report(CRDRemoved, x.csv.at(ownedCRDs...), "the bundle lacks the CRD %s of %s", old.Name, previous.Name)
			continue
		}
		results := run.Run(settled(old), settled(x.bundle.V1CRDs[i]))
		c := comparison{x, x.crds[x.bundle.V1CRDs[i]], x.bundle.V1CRDs[i], previous.Name, map[string]bool{}}
		c.crd(results.CRDValidation)
		c.versions(results.SameVersionValidation)
		c.versions(results.ServedVersionValidation)
	}
}

// settled returns a CRD in the form that crdify expects: each version has a schema, and the
// API server stores objects in the version that says so.
func settled(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
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

// comparison reports the results for one CRD.
type comparison struct {
	x        *input
	doc      *document
	owner    *apiextensionsv1.CustomResourceDefinition
	previous string
	removed  map[string]bool // versions with properties
}

// crd reports results about the CRD as a whole.
func (c comparison) crd(results []validations.ComparisonResult) {
	places := map[string]place{"scope": c.doc.at("spec", "scope")}
	for _, r := range results {
		for _, text := range r.Errors {
			at, ok := places[r.Name]
			if !ok {
				at = c.doc.at("spec", "versions")
			}
			if match := removedField().FindStringSubmatch(text); match != nil {
				at = c.schema(match[1], match[2])
				c.removed[match[1]+"."+match[2]] = true
				text = "removed field : " + match[2] + " of " + match[1]
			}
			c.report(at, text)
		}
	}
}

var removedField = lazyregexp.New(`^removed field : ([^.]*)\.\^\.(.*)$`)

// versions reports results by version and property. A version may be that of a pair, such as
// v1alpha1 -> v1. A property that was removed is reported as such, and not as changed.
func (c comparison) versions(results map[string]map[string][]validations.ComparisonResult) {
	for _, version := range slices.Sorted(maps.Keys(results)) {
		name := version
		if _, newer, ok := strings.Cut(version, " -> "); ok {
			name = newer
		}
		for _, property := range slices.Sorted(maps.Keys(results[version])) {
			path := strings.TrimPrefix(strings.TrimPrefix(property, "^"), ".")
			if c.removed[version+"."+path] {
				continue
			}
			for _, r := range results[version][property] {
				for _, text := range r.Errors {
					c.report(c.schema(name, path), cmp.Or(path, "the root")+" of "+version+": "+text)
				}
			}
		}
	}
}

// report reports a result.
func (c comparison) report(at place, text string) {
	if summary, diff, ok := strings.Cut(text, ":\n"); ok {
		var fields []string
		for _, match := range changedField().FindAllStringSubmatch(diff, -1) {
			fields = append(fields, match[1])
		}
		slices.Sort(fields)
		text = strings.TrimSpace(summary) + " : " + strings.Join(slices.Compact(fields), ", ")
	}
	c.x.report(CRDUpgrade, at, "objects of %s may become invalid: %s", c.previous, strings.ReplaceAll(text, " : ", ": "))
}

var changedField = lazyregexp.New(`(?m)^[-+][\s\x{a0}]*(\w+):`)

// schema returns the place of a property in the schema of a version.
func (c comparison) schema(version, property string) place {
	at := c.doc.at("spec", "versions")
	for i, v := range c.owner.Spec.Versions {
		if v.Name == version {
			at = c.doc.at("spec", "versions", i, "schema", "openAPIV3Schema")
		}
	}
	for _, step := range fieldPath(property) {
		next := at.child("properties", step)
		if name, ok := step.(string); ok && next.value() == nil && at.child(name).value() != nil {
			next = at.child(name)
		} else if !ok {
			next = at.child(step)
		}
		if next.value() == nil {
			break
		}
		at = next
	}
	return at
}
