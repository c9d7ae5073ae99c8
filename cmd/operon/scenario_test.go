package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/kballard/go-shellquote"
	"go.yaml.in/yaml/v3"
)

const scenarioDir = "../../testdata/scenarios"

// TestScenarios goes the way of published walk-throughs: their command lines as
// they are written, the user's edits, and the suites on a real API server.
func TestScenarios(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct {
		crd    string
		values map[string]string            // dotted path in the CRD -> value
		others map[string]map[string]string // the same for other files
	}{
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
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), name)
			followScenario(t, dir, filepath.Join(scenarioDir, name))
			checkYAML(t, dir, want.crd, want.values)
			for file, values := range want.others {
				checkYAML(t, dir, file, values)
			}
			testProject(t, dir)
		})
	}
}

const (
	schema   = "spec.versions.0.schema.openAPIV3Schema.properties."
	aeroSpec = schema + "spec.properties."
)

// followScenario runs the lines of commands in dir; EDIT lays the user's edits
// over the tree. It returns what the last one printed.
func followScenario(t *testing.T, dir, scenario string) (out string) {
	t.Helper()
	makeDir(t, dir)
	src, err := os.ReadFile(filepath.Join(scenario, "commands"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(src)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		words, err := shellquote.Split(line)
		if err != nil {
			t.Fatal(err)
		}
		switch words[0] {
		case "EDIT":
			before := hookConfigs(t, dir)
			if err := overlay(dir, filepath.Join(scenario, "edits")); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, hookConfigs(t, dir)); diff != "" {
				t.Errorf("the user's hooks are configured otherwise than those that were created (-created +user's):\n%s", diff)
			}
		default:
			out = command(t, dir, words[0], words[1:]...)
		}
	}
	return out
}

// hookConfigs are the configurations of hooks, as the engine asks for them.
func hookConfigs(t *testing.T, dir string) map[string]string {
	t.Helper()
	hooks, err := filepath.Glob(filepath.Join(dir, "hooks", "*.*"))
	if err != nil {
		t.Fatal(err)
	}
	configs := map[string]string{}
	for _, hook := range hooks {
		configs[filepath.Base(hook)] = command(t, dir, hook, "--config")
	}
	return configs
}

// overlay copies the files below edits into dir, with their modes.
func overlay(dir, edits string) error {
	return filepath.WalkDir(edits, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(edits, name)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		to := filepath.Join(dir, rel)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return os.WriteFile(to, content, info.Mode().Perm())
	})
}

// checkYAML compares values of a file, by their dotted paths. "" is any value.
func checkYAML(t *testing.T, dir, file string, values map[string]string) {
	t.Helper()
	content := readYAML(t, filepath.Join(dir, file))
	for path, value := range values {
		if got, ok := lookup(content, path); !ok || (value != "" && got != value) {
			t.Errorf("%s: %s is %q, want %q", file, path, got, value)
		}
	}
}

func readYAML(t *testing.T, name string) any {
	t.Helper()
	src, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := yaml.Unmarshal(src, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// lookup returns the value at a dotted path, whose numbers index lists.
func lookup(v any, path string) (string, bool) {
	for key := range strings.SplitSeq(path, ".") {
		switch node := v.(type) {
		case map[string]any:
			child, ok := node[key]
			if !ok {
				return "", false
			}
			v = child
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(node) {
				return "", false
			}
			v = node[i]
		default:
			return "", false
		}
	}
	return fmt.Sprint(v), true
}
