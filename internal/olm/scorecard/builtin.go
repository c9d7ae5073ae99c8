package scorecard

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"
	"github.com/operon-dev/operon/internal/olm/bundle"
)

// Builtin runs the built-in tests of a bundle. They read the bundle and need no cluster.
type Builtin struct {
	Bundle *bundle.Bundle
	// Validate returns what OLM's validators say about the bundle.
	Validate func() (errors, warnings []string)
}

// builtinTests are the tests by name, in the order in which they are listed.
var builtinTests = []struct {
	name string
	run  func(Builtin, *v1alpha3.TestResult)
}{
	{"olm-bundle-validation", Builtin.checkBundle},
	{"olm-crds-have-validation", Builtin.checkSchemas},
	{"olm-crds-have-resources", Builtin.checkResources},
	{"olm-spec-descriptors", Builtin.checkSpecDescriptors},
	{"olm-status-descriptors", Builtin.checkStatusDescriptors},
	{"basic-check-spec", Builtin.checkSpec},
}

// builtinNames returns the names of the built-in tests.
func builtinNames() []string {
	var names []string
	for _, test := range builtinTests {
		names = append(names, test.name)
	}
	return names
}

// Run implements Runner.
func (b Builtin) Run(_ context.Context, test v1alpha3.TestConfiguration) v1alpha3.TestStatus {
	result := v1alpha3.TestResult{State: v1alpha3.PassState}
	if len(test.Entrypoint) > 1 {
		result.Name = test.Entrypoint[1]
	}
	for _, known := range builtinTests {
		if known.name == result.Name {
			known.run(b, &result)
			return v1alpha3.TestStatus{Results: []v1alpha3.TestResult{result}}
		}
	}
	fail(&result, "the image has no test %q; its tests are: %s", result.Name, strings.Join(builtinNames(), ", "))
	return v1alpha3.TestStatus{Results: []v1alpha3.TestResult{result}}
}

func fail(r *v1alpha3.TestResult, format string, args ...any) {
	r.State = v1alpha3.FailState
	r.Errors = append(r.Errors, fmt.Sprintf(format, args...))
}

func suggest(r *v1alpha3.TestResult, format string, args ...any) {
	r.Suggestions = append(r.Suggestions, fmt.Sprintf(format, args...))
}

func logf(r *v1alpha3.TestResult, format string, args ...any) {
	r.Log += fmt.Sprintf(format, args...) + "\n"
}

// checkBundle passes if OLM's validators have no errors.
func (b Builtin) checkBundle(r *v1alpha3.TestResult) {
	logf(r, "Validated %d manifests", len(b.Bundle.Manifests))
	errors, warnings := b.Validate()
	for _, err := range errors {
		fail(r, "%s", err)
	}
	r.Suggestions = append(r.Suggestions, warnings...)
}

// checkSpec never fails for an example without spec, as in operator-sdk: kinds without one
// are legal.
func (b Builtin) checkSpec(r *v1alpha3.TestResult) {
	examples, err := b.examples()
	if err != nil {
		fail(r, "%s", err)
	}
	for _, example := range examples {
		if example.Object["spec"] == nil {
			suggest(r, "the example %s has no spec", describe(example))
		}
	}
}

// checkSchemas passes if the schemas of the CRDs have each field of spec and status of the
// examples. It compares kind and version, but not the group, as operator-sdk does.
func (b Builtin) checkSchemas(r *v1alpha3.TestResult) {
	crds, err := b.crds()
	if err != nil {
		r.State, r.Errors = v1alpha3.ErrorState, append(r.Errors, err.Error())
		return
	}
	for _, crd := range crds {
		logf(r, "Loaded CustomResourceDefinition %s", crd.Metadata.Name)
	}
	for _, example := range b.wellFormed(r) {
		for _, crd := range crds {
			if !checkSchema(r, example, crd) {
				break
			}
		}
	}
}

// checkSchema reports whether the test of this example goes on.
func checkSchema(r *v1alpha3.TestResult, example example, crd crd) bool {
	gvk := example.GroupVersionKind()
	for _, version := range crd.versions() {
		if !strings.EqualFold(version.Name, gvk.Version) || !strings.EqualFold(crd.Spec.Names.Kind, gvk.Kind) {
			continue
		}
		if version.Schema == nil {
			suggest(r, "add a schema for %s/%s", crd.Spec.Names.Kind, version.Name)
			continue
		}
		complete := true
		for _, section := range []string{"spec", "status"} {
			for _, field := range example.fields(section) {
				if _, ok := version.Schema.OpenAPIV3Schema.Properties[section].Properties[field]; !ok {
					complete = false
					suggest(r, "add %s.%s to the schema of %s/%s", section, field, gvk.Kind, gvk.Version)
				}
			}
		}
		if !complete {
			r.State = v1alpha3.FailState
			return false
		}
	}
	return true
}

// checkResources passes if each owned kind lists the kinds that its controller creates.
func (b Builtin) checkResources(r *v1alpha3.TestResult) {
	logf(r, "Loaded ClusterServiceVersion %s", b.Bundle.Name())
	owned, err := b.owned()
	if err != nil {
		r.State, r.Errors = v1alpha3.ErrorState, append(r.Errors, err.Error())
		return
	}
	for _, kind := range owned {
		if len(kind.Resources) == 0 {
			fail(r, "%s/%s: resources is empty", kind.Name, kind.Version)
			suggest(r, "list the kinds that the controller of %s creates: %s", kind.Kind, b.resourcesPlace())
		}
	}
}

// resourcesPlace returns where the project of the bundle lists the kinds that controllers create.
func (b Builtin) resourcesPlace() string {
	base := "under resources of the kind in the base in config/manifests/bases"
	layout := b.Bundle.CSVAnnotation("operators.operatorframework.io/project_layout")
	if layout != "" && !strings.HasPrefix(layout, "go.") {
		return base
	}
	return "above the Go type in api, as in +operator-sdk:csv:customresourcedefinitions:resources={{Deployment,v1,name}}, or " + base
}

// checkSpecDescriptors passes if each field of the spec of an example has a descriptor with
// that path. Fields below it are not compared.
func (b Builtin) checkSpecDescriptors(r *v1alpha3.TestResult) {
	b.eachExample(r, func(example example, kind *ownedKind) {
		if example.Object["spec"] == nil {
			fail(r, "the example %s has no spec", describe(example))
			return
		}
		if kind == nil {
			fail(r, "the ClusterServiceVersion does not own the kind of the example %s", describe(example))
			return
		}
		for _, field := range example.fields("spec") {
			if !kind.describesSpec(field) {
				fail(r, "%s/%s: spec.%s has no descriptor", kind.Name, kind.Version, field)
				suggest(r, "add a descriptor with the path %s to specDescriptors of %s", field, kind.Name)
			}
		}
	})
}

// checkStatusDescriptors passes if kinds whose examples have a status have a descriptor for
// any field of it.
func (b Builtin) checkStatusDescriptors(r *v1alpha3.TestResult) {
	b.eachExample(r, func(example example, kind *ownedKind) {
		switch {
		case kind == nil:
			fail(r, "the ClusterServiceVersion does not own the kind of the example %s", describe(example))
		case len(example.fields("status")) == 0:
			suggest(r, "the example %s has no status, so the descriptors of the status are not tested", describe(example))
		case len(kind.StatusDescriptors) == 0:
			fail(r, "%s/%s: the status has no descriptors", kind.Name, kind.Version)
			suggest(r, "add descriptors of the status of %s", kind.Kind)
		}
	})
}

// eachExample calls f with each example and the owned kind that it belongs to, or nil.
func (b Builtin) eachExample(r *v1alpha3.TestResult, f func(example, *ownedKind)) {
	logf(r, "Loaded ClusterServiceVersion %s", b.Bundle.Name())
	owned, err := b.owned()
	if err != nil {
		r.State, r.Errors = v1alpha3.ErrorState, append(r.Errors, err.Error())
		return
	}
	for _, example := range b.wellFormed(r) {
		f(example, find(owned, example))
	}
}

// wellFormed returns the examples, and reports those whose fields cannot be compared.
func (b Builtin) wellFormed(r *v1alpha3.TestResult) []example {
	examples, err := b.examples()
	if err != nil {
		r.State, r.Errors = v1alpha3.ErrorState, append(r.Errors, err.Error())
		return nil
	}
	logf(r, "Loaded examples: %d", len(examples))
	return slices.DeleteFunc(examples, func(e example) bool {
		for _, section := range []string{"spec", "status"} {
			if value, ok := e.Object[section]; ok && value != nil && !isObject(value) {
				fail(r, "the %s of the example %s is not an object", section, describe(e))
				return true
			}
		}
		return false
	})
}

func isObject(v any) bool { _, ok := v.(map[string]any); return ok }
