//go:build testall

package projects

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/manifesttest"
	"github.com/operon-dev/operon/internal/testkit/projecttest"
	"github.com/operon-dev/operon/internal/testkit/scenariotest"
)

// scenario is what the files of a project contain after a walk-through.
type scenario struct {
	crd    string
	values map[string]string            // by dotted path in the CRD
	others map[string]map[string]string // the same for other files, by path
}

// scenarios are the walk-throughs of Go projects in testdata/scenarios.
var scenarios = map[string]scenario{
	"aerospike": {
		crd: "config/crd/bases/aerospike.dzolotov.tech_aerospikeclusters.yaml",
		values: map[string]string{
			"metadata.name":                                        "aerospikeclusters.aerospike.dzolotov.tech",
			"spec.scope":                                           "Namespaced",
			"spec.versions.0.name":                                 "v1alpha1",
			"spec.versions.0.served":                               "true",
			"spec.versions.0.storage":                              "true",
			"spec.versions.0.subresources":                         "",
			aeroSpec + "deployments.type":                          "integer",
			aeroSpec + "deployments.description":                   "Deployments is the number of nodes.",
			aeroSpec + "maxMemory.description":                     "MaxMemory of a node, in GB.",
			aeroSpec + "maxCPU.type":                               "integer",
			aeroSpec + "logging.type":                              "string",
			aeroSpec + "compressionLevel.type":                     "integer",
			aeroSpec + "replicationFactor.type":                    "integer",
			aeroSpec + "strongConsistency.type":                    "boolean",
			aeroSpec + "heartbeat.properties.interval.description": "Interval between two heartbeats, in milliseconds.",
			aeroSpec + "keepalive.properties.enabled.type":         "boolean",
			aeroSpec + "keepalive.properties.interval.type":        "integer",
			schema + "status.properties.deployed.type":             "boolean",
			schema + "status.properties.brokenNodes.type":          "integer",
		},
	},
	"s3-operator": {
		crd: "config/crd/bases/systek.no_s3s.yaml",
		values: map[string]string{
			"metadata.name":                                   "s3s.systek.no",
			"spec.group":                                      "systek.no",
			"spec.names.kind":                                 "S3",
			"spec.versions.0.subresources":                    "",
			schema + "spec.properties.bucket.maxLength":       "63",
			schema + "spec.properties.region.default":         "eu-north-1",
			schema + "status.properties.conditions.type":      "array",
			"spec.versions.0.additionalPrinterColumns.1.name": "Ready",
		},
		others: map[string]map[string]string{
			"config/samples/kustomization.yaml": {"resources.0": "v1_s3.yaml"},
			"config/rbac/s3_editor_role.yaml": {
				"rules.0.apiGroups.0": "systek.no", "rules.0.resources.0": "s3s", "rules.0.verbs.0": "create",
				"rules.1.resources.0": "s3s/status", "rules.1.verbs.0": "get",
			},
			"config/rbac/s3_viewer_role.yaml": {
				"rules.0.apiGroups.0": "systek.no", "rules.0.resources.0": "s3s", "rules.0.verbs.0": "get",
			},
		},
	},
	"databaseuser": {
		crd: "config/crd/bases/mygroup.handsomeguy.cn_databaseusers.yaml",
		values: map[string]string{
			"metadata.name":           "databaseusers.mygroup.handsomeguy.cn",
			"spec.names.shortNames.0": "dbu",
			"spec.versions.0.additionalPrinterColumns.1.name":       "Ready",
			schema + "spec.properties.password.properties.key.type": "string",
			schema + "spec.properties.user.description":             "User is the name inside the database.",
		},
		others: map[string]map[string]string{
			"config/rbac/role.yaml": {"kind": "Role", "metadata.namespace": "databaseuser-system"},
		},
	},
	"conversion": {
		crd: "config/crd/bases/storage.example.org_volumes.yaml",
		values: map[string]string{
			"spec.versions.0.name":                                                "v1",
			"spec.versions.0.storage":                                             "true",
			schema + "spec.properties.size.type":                                  "string",
			"spec.versions.1.name":                                                "v2",
			"spec.versions.1.served":                                              "true",
			"spec.versions.1.storage":                                             "false",
			"spec.versions.1.additionalPrinterColumns.0.name":                     "Gigabytes",
			strings.Replace(schema, "0", "1", 1) + "spec.properties.storage.type": "object",
		},
	},
}

// TestScenarios follows published walk-throughs: their command lines, the user's edits, and
// the suites on a real API server.
func TestScenarios(t *testing.T) {
	t.Parallel()
	for name, want := range scenarios {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), name)
			scenariotest.Follow(t, dir, name)
			checkYAML(t, dir, want.crd, want.values)
			for file, values := range want.others {
				checkYAML(t, dir, file, values)
			}
			projecttest.Test(t, dir)
		})
	}
}

const (
	schema   = "spec.versions.0.schema.openAPIV3Schema.properties."
	aeroSpec = schema + "spec.properties."
)

// checkYAML compares values in a file, by dotted path. "" matches any value.
func checkYAML(t *testing.T, dir, file string, values map[string]string) {
	t.Helper()
	content := manifesttest.ReadYAML(t, filepath.Join(dir, file))
	for path, value := range values {
		if got, ok := manifesttest.Lookup(content, path); !ok || (value != "" && got != value) {
			t.Errorf("%s: %s is %q, want %q", file, path, got, value)
		}
	}
}
