package bundlecheck

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/operator-framework/api/crds"
	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	"github.com/operon-dev/operon/internal/crdschema"
	"k8s.io/apimachinery/pkg/runtime"
)

// csvSchema is the schema of ClusterServiceVersions in OLM.
var csvSchema = sync.OnceValues(func() (*crdschema.Validator, error) {
	var schema crdschema.Schema
	src, err := json.Marshal(crds.ClusterServiceVersion().Spec.Versions[0].Schema.OpenAPIV3Schema)
	if err == nil {
		err = json.Unmarshal(src, &schema)
	}
	if err != nil {
		return nil, err
	}
	return crdschema.NewValidator(schema)
})

// schemaRules validates the ClusterServiceVersion as the API server does, with the CRD of OLM.
func (x *input) schemaRules() {
	schema, err := csvSchema()
	if err != nil {
		x.report(ruleValidator, x.csv.at(), "the schema of OLM cannot be read: %v", err)
		return
	}
	object := runtime.DeepCopyJSON(x.csv.Object)
	dropped, err := schema.Prune(object)
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
	schema.Default(object)
	for _, err := range schema.Validate(context.Background(), nil, object) {
		if err.Field == "" || err.Field == "<nil>" { // it only says that the other errors come first
			continue
		}
		x.report(ruleCSVSchema, x.csv.at(fieldPath(err.Field)...), "%s: %s", err.Field, shortened(crdschema.Reason(err)))
	}
}
