package bundlecheck

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/operator-framework/api/crds"
	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	"github.com/operon-dev/operon/internal/crdschema"
	"github.com/operon-dev/operon/internal/olm/bundle"
	"k8s.io/apimachinery/pkg/runtime"
)

// csvSchema is the schema of ClusterServiceVersions in OLM.
var csvSchema = sync.OnceValue(func() *crdschema.Validator {
	var schema crdschema.Schema
	src, err := json.Marshal(crds.ClusterServiceVersion().Spec.Versions[0].Schema.OpenAPIV3Schema)
	if err == nil {
		err = json.Unmarshal(src, &schema)
	}
	if err != nil {
		panic(err) // it is a part of this program
	}
	validator, err := crdschema.NewValidator(schema)
	if err != nil {
		panic(err)
	}
	return validator
})

// schemaRules validates the ClusterServiceVersion as the API server does, with the CRD of OLM. OLM sends what its type in
// Go has: fields that it does not know are lost, and texts that are missing are empty.
func (x *input) schemaRules() {
	schema := csvSchema()
	dropped, err := schema.Prune(runtime.DeepCopyJSON(x.csv.Object))
	if err != nil {
		x.report(ruleCSVSchema, x.csv.at(), "%s", shortened(err.Error()))
	}
	for _, path := range dropped {
		x.report(ruleUnknownField, x.csv.at(fieldPath(path)...), "%s is unknown", path)
	}
	if strategy := x.bundle.CSV.Spec.InstallStrategy.StrategyName; strategy != "" && strategy != v1alpha1.InstallStrategyNameDeployment {
		x.report(ruleCSVSchema, x.csv.at("spec", "install", "strategy"), "OLM knows the strategy deployment, not %q", strategy)
	}
	if x.csv.value("spec", "version") == nil {
		x.report(ruleCSVSchema, x.csv.at("spec"), "spec.version is missing, which catalogs need")
	}
	if text := x.bundle.CSV.Annotations["olm.skipRange"]; text != "" && !bundle.IsRange(text) {
		x.report(ruleCSVSchema, x.csv.at("metadata", "annotations", "olm.skipRange"), "skipRange %q is not a range of versions such as >=1.0.0 <1.2.0", text)
	}
	for i, crd := range x.bundle.CSV.Spec.CustomResourceDefinitions.Required {
		if crd.Name == "" {
			x.report(ruleCSVSchema, x.csv.at("spec", "customresourcedefinitions", "required", i), "a required CRD has no name, so OLM never finds it")
		}
	}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(x.bundle.CSV)
	if err != nil {
		x.report(ruleCSVSchema, x.csv.at(), "%v", err)
		return
	}
	delete(object, "status") // the API server drops it
	if _, err := schema.Prune(object); err != nil {
		return // it is reported
	}
	schema.Default(object)
	for _, err := range schema.Validate(context.Background(), nil, object) {
		if err.Field == "" || err.Field == "<nil>" { // it only says that the other errors come first
			continue
		}
		x.report(ruleCSVSchema, x.csv.at(fieldPath(err.Field)...), "%s: %s", err.Field, shortened(crdschema.Reason(err)))
	}
}
