package bundlecheck

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/olm/bundle"
	"github.com/operon-dev/operon/internal/olm/scorecard"
	"golang.org/x/tools/txtar"
)

const (
	csvFile  = "manifests/fleet.clusterserviceversion.yaml"
	crdFile  = "manifests/frigates.yaml"
	notes    = "metadata/annotations.yaml"
	service  = "manifests/service.yaml"
	depsFile = "metadata/dependencies.yaml"
)

// fleet returns the files of a bundle in which no suite finds anything.
func fleet(t *testing.T) map[string][]byte {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/fleet.txtar")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, f := range archive.Files {
		files[f.Name] = f.Data
	}
	return files
}

func everySuite() []string {
	var names []string
	for _, s := range Suites {
		if s.Name != "multiarch" { // it runs docker
			names = append(names, s.Name)
		}
	}
	return names
}

// mutation is a change of the bundle, and the findings that it results in.
type mutation struct {
	name     string
	file     string
	old, new string // "" adds or removes the file
	want     string // rule and line of each finding, and a part of one message after a colon
}

var mutations = []mutation{
	// The format.
	{"no CSV", csvFile, "", "", "csv-count"},
	{"two CSVs", "manifests/copy.yaml", "", "apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\n", "csv-count 2: manifests/copy.yaml:2:7: error: manifests/fleet.clusterserviceversion.yaml has a ClusterServiceVersion, too"},
	{"CSV is not YAML", csvFile, "spec:\n", "spec: [\n", "manifest-syntax 16"},
	{"separator first", csvFile, "apiVersion", "---\napiVersion", ""},
	{"syntax after a separator", csvFile, "apiVersion: operators", "---\napiVersion: [operators", "manifest-syntax 2"},
	{"empty file", "manifests/empty.yaml", "", "\n", "object-kind: the file has no object"},
	{"file without kind", "manifests/README.md", "", "name: fleet\n", "manifest-syntax: the object has no kind"},
	{"folder in manifests", "manifests/more/a.yaml", "", "kind: Service\n", "manifests-entry"},
	{"hidden file", "manifests/.gitkeep", "", "\n", "manifests-entry"},
	{"second document", service, "port: 8443}]\n", "port: 8443}]\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: lost}\n", "manifest-documents 8: ConfigMap lost"},
	{"second CSV in a file", csvFile, "    conversionCRDs: [frigates.ship.example.org]\n", "    conversionCRDs: [frigates.ship.example.org]\n---\napiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\n", "csv-count 78: OLM ignores ClusterServiceVersion"},
	{"several documents", service, "port: 8443}]\n", "port: 8443}]\n---\n# first\nkind: A\n---\nkind: B\n", "manifest-documents 9: OLM ignores A"},
	{"version is not semver", csvFile, "  version: 1.0.0", "  version: one", `manifest-field 19: spec.version: "one" is not valid`},
	{"text instead of a list", csvFile, "  icon:\n  - base64data: PHN2Zy8+\n    mediatype: image/svg+xml\n", "  icon: icon.svg\n", "manifest-field 30: spec.icon: a string is not valid here"},
	{"quantity in a list", csvFile, "cpu: 10m", "cpu: ten", "manifest-field 62: spec.install.spec.deployments[0].spec.template.spec.containers[0].resources.requests.cpu"},
	{"number instead of a text", csvFile, "  displayName: Fleet", "  displayName: 1", "manifest-field 17: spec.displayName: a number is not valid here"},
	{"number as the value of a variable", csvFile, "resources: {requests", "env: [{name: PORT, value: 8080}]\n                resources: {requests", "manifest-field 62: spec.install.spec.deployments[0].spec.template.spec.containers[0].env[0].value: a number is not valid here"},
	{"boolean annotation", csvFile, "capabilities: Basic Install", "capabilities: true", "manifest-field 6: metadata.annotations.capabilities: a bool is not valid here"},
	{"skipRange that is no range", csvFile, "    capabilities", "    olm.skipRange: latest\n    capabilities", "csv-schema 6: skipRange \"latest\" is not a range of versions"},
	{"number as the name of a CRD", crdFile, "  name: frigates.ship.example.org", "  name: 1", "manifest-field 4: metadata.name: a number is not valid here"},
	{"bad field of a CRD", crdFile, "served: true\n    storage: true", "served: often\n    storage: true", "manifest-field 11: spec.versions[0].served"},
	{"CRD of an unknown version", crdFile, "apiextensions.k8s.io/v1", "apiextensions.k8s.io/v2", "crd-api-version 1"},
	{"no annotations", notes, "", "", "bundle-folders annotations-file"},
	{"annotations are not YAML", notes, "annotations:", "annotations: {", "annotations-file metadata-syntax 1"},
	{"other format", notes, "registry+v1", "helm", "bundle-annotation 2: the format is \"helm\""},
	{"other folder", notes, "v1: manifests/", "v1: deploy/", "bundle-annotation 3"},
	{"no channels", notes, "stable,fast", `""`, "bundle-annotation 6"},
	{"no package", notes, "  operators.operatorframework.io.bundle.package.v1: fleet\n", "", "bundle-annotation 1 olmv1-package 1"},
	{"annotation is a number", notes, "v1: fleet", "v1: 1", ""},
	{"annotation is a list", notes, "v1: fleet", "v1: [fleet]", "bundle-annotation 5 olmv1-package 5"},
	{"dependencies are not YAML", depsFile, "", "dependencies: {\n", "metadata-syntax 1"},
	{"properties are not YAML", "metadata/properties.yaml", "", "properties: {\n", "metadata-syntax 1"},
	{"null key in the properties", "metadata/properties.yaml", "", "properties:\n- type: a.b\n  value:\n    ~: 1\n", "metadata-syntax 4:5: a key is null"},
	{"NaN in the properties", "metadata/properties.yaml", "", "properties:\n- type: a.b\n  value: {a: [1, .nan]}\n", "metadata-syntax 3:18: .nan is not a number in JSON"},
	{"empty key in the dependencies", depsFile, "", "dependencies:\n- type: olm.gvk\n  : b\n", "metadata-syntax 3:3"},
	{"infinite number in the dependencies", depsFile, "", "dependencies:\n- type: olm.gvk\n  value: -.Inf\n", "metadata-syntax 3:10: -.Inf is not a number in JSON"},
	{"mapping as a key of the dependencies", depsFile, "", "dependencies:\n- {a: b}: c\n", "metadata-syntax 2:3: a key is a list or a mapping"},
	{"null key in a manifest", service, "  name: fleet-metrics", "  name: fleet-metrics\n  labels: {null: a}", "manifest-syntax 5:12: a key is null"},
	{"NaN in a manifest", service, "8443}]", ".NaN}]", "manifest-syntax 6: .NaN is not a number in JSON"},
	{"dependency without a value", depsFile, "", "dependencies:\n- {type: olm.package}\n", "olmv1-dependency 2 dependency 2 dependency 2: the dependency has no packageName, a string"},
	{"dependency whose package is null", depsFile, "", "dependencies:\n- type: olm.package\n  value: {packageName: null, version: 1.0.0}\n", "olmv1-dependency 2 dependency 3: the dependency has no packageName, a string"},
	{"dependency without range", depsFile, "", "dependencies:\n- type: olm.package\n  value: {packageName: fleet, version: newest}\n", "olmv1-dependency 2 dependency 3"},
	{"dependency without kind", depsFile, "", "dependencies:\n- type: olm.gvk\n  value: {group: a.b, version: v1}\n", "olmv1-dependency 2 dependency 3"},
	{"unknown dependency", depsFile, "", "dependencies:\n- {type: olm.wish, value: {}}\n", "dependency-type 2"},
	{"constraint that is no CEL", depsFile, "", "dependencies:\n- type: olm.constraint\n  value:\n    cel: {rule: \"a b\"}\n", "olmv1-dependency 2 dependency 4"},
	{"constraint", depsFile, "", "dependencies:\n- type: olm.constraint\n  value:\n    cel: {rule: \"properties.exists(p, p.type == 'certified')\"}\n", "olmv1-dependency 2"},
	{"unsupported kind", service, "kind: Service", "kind: Deployment", "object-kind 2"},
	{"kind that OLM v0 lacks", service, "kind: Service", "kind: PodMonitor", "object-kind 2: OLM v0 refuses"},
	{"object with a namespace", service, "  name: fleet-metrics", "  name: fleet-metrics\n  namespace: fleet", "object-metadata 5"},
	{"object without name", service, "  name: fleet-metrics", "  labels: {a: b}", "object-metadata 3"},

	// What belongs together.
	{"CRD missing", crdFile, "", "", "owned-crd 40: no CRD frigates.ship.example.org in the bundle serves the version v1 of Frigate"},
	{"owned version that is not served", crdFile, "name: v1\n    served: true", "name: v1\n    served: false", "owned-crd 40"},
	{"owned kind", csvFile, "kind: Frigate\n      version", "kind: Boat\n      version", "bundle 0 bundle 0 csv 0 csv 0 owned-crd 40"},
	{"key twice", csvFile, "    categories: Data", "    capabilities: Deep Insights\n    categories: Data", "strict-yaml 7:5: capabilities also occurs on line 6; OLM reads the last one"},
	{"key twice in a CRD", crdFile, "minimum: 1", "minimum: 1\n                minimum: 2", "strict-yaml 23:17"},
	{"key three times", crdFile, "minimum: 1", "minimum: 1\n                minimum: 2\n                minimum: 3", "strict-yaml 23:17 strict-yaml 24:17"},
	{"key twice in the annotations", notes, "annotations:\n", "annotations:\n  operators.operatorframework.io.bundle.package.v1: boats\n", "strict-yaml 6:3"},
	{"key twice in the dependencies", depsFile, "", "dependencies: []\ndependencies: []\n", "strict-yaml 2:1"},
	{"key twice in a later document", service, "8443}]", "8443}]\n---\na: 1\na: 2\n---\nb: {c: 1, c: 2}", "strict-yaml 9:1 strict-yaml 11:11"},
	{"invalid later document", service, "8443}]", "8443}]\n---\na: [\n", "strict-yaml 8"},
	{"invalid CRD", crdFile, "scope: Namespaced", "scope: Everywhere", "crd-invalid 8"},
	{"two storage versions", crdFile, "storage: false", "storage: true", "crd-invalid 9: spec.versions: Invalid value: must have exactly one version"},
	{"name of a CRD", crdFile, "name: frigates.ship", "name: boats.ship", "owned-crd 40 crd-invalid 4: metadata.name: "},
	{"fields of a CRD that API servers set", crdFile, "  name: frigates", "  namespace: fleet\n  name: frigates", ""},
	{"pattern of a field", crdFile, "type: string", "type: string\n                pattern: '^[a-z'", "crd-invalid 25: properties[spec].properties[home].pattern"},
	{"default of a field", crdFile, "minimum: 1", "default: one", "crd-invalid 22: default"},
	{"rule of a field", crdFile, "minimum: 1", "x-kubernetes-validations: [{rule: self.size}]", "crd-invalid 22: properties[crew].x-kubernetes-validations[0].rule"},
	{"array without items", crdFile, "type: string", "type: array", "crd-invalid 23: items"},
	{"another CRD of v1beta1", crdFile, "", "apiVersion: apiextensions.k8s.io/v1beta1\nkind: CustomResourceDefinition\nmetadata: {name: boats.ship.example.org}\n" +
		"spec: {group: ship.example.org, version: v1, scope: Namespaced, names: {kind: Boat, plural: boats}}\n", "bundle 0 community 0 operatorhubv2 0 community 0 owned-crd 40 olmv1-crd-version 1 crd-invalid 4"},
	{"CRD of v1beta1", crdFile, "apiextensions.k8s.io/v1\n", "apiextensions.k8s.io/v1beta1\n", "community 0 community 0 operatorhubv2 0 olmv1-crd-version 1 crd-invalid 5"},
	{"ServiceAccount of a Deployment", "manifests/account.yaml", "", "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: fleet\n", "bundle 0"},
	{"related image", csvFile, `"registry.example.org/fleet:v1.0.0"`, `"fleet:"`, "bundle 0"},
	{"release", csvFile, "  version: 1.0.0", "  version: 1.0.0\n  release: \"2\"", "bundle 0"},

	// The ClusterServiceVersion.
	{"name", csvFile, "name: fleet.v1.0.0", "name: Fleet.v1.0.0", "csv-schema 4: the name \"Fleet.v1.0.0\" is not valid"},
	{"long name", csvFile, "name: fleet.v1.0.0", "name: fleet.v" + strings.Repeat("1", 60) + ".0.0", "good-practices 0 csv-schema 4"},
	{"no display name", csvFile, "  displayName: Fleet\n", "", "csv 0: Spec.DisplayName: required field missing"},
	{"install modes unsupported", csvFile, "AllNamespaces, supported: true", "AllNamespaces, supported: false", "csv 0 install-modes 35 olmv1-install-modes 35"},
	{"install mode twice", csvFile, "  installModes:\n", "  installModes:\n  - {type: AllNamespaces, supported: true}\n", "install-modes 35"},
	{"minKubeVersion", csvFile, "1.30.0", "new", "operatorhubv2 0 csv 0"},
	{"examples are not JSON", csvFile, `"kind": "Frigate",`, `"kind": Frigate,`, "csv 0: invalid example"},
	{"example of another kind", csvFile, `"kind": "Frigate",`, `"kind": "Boat",`, "csv 0 csv 0: example must have a provided API: ship.example.org/v1, Kind=Boat"},
	{"owned name", csvFile, "name: frigates.ship.example.org\n", "name: frigates\n", "csv 0 csv 0 bundle 0 bundle 0 owned-crd 40 conversion-webhook 76"},

	// What catalogs ask for.
	{"provider", csvFile, "    name: Example\n", "    url: https://example.org\n", "operatorhubv2 0"},
	{"no icon", csvFile, "  icon:\n  - base64data: PHN2Zy8+\n    mediatype: image/svg+xml\n", "", "operatorhubv2 0"},
	{"empty list of icons", csvFile, "  icon:\n  - base64data: PHN2Zy8+\n    mediatype: image/svg+xml\n", "  icon: []\n", "operatorhubv2 0"},
	{"capabilities", csvFile, "Basic Install", "Basic", "capabilities 0"},
	{"categories", csvFile, "Database, Networking", "Database, Ships", "categories 0"},
	{"removed API", "manifests/pdb.yaml", "", "apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: fleet}\n", "operatorhubv2 0: Migrate the API(s) for PodDisruptionBudget: ([\"fleet\"])"},
	{"permission for a removed API", csvFile, "[secrets]", "[secrets, podsecuritypolicies]", ""},
	{"permission for a removed resource", csvFile, `{apiGroups: [""], resources: [secrets]`, `{apiGroups: [policy], resources: [podsecuritypolicies]`, ""},
	{"permission for events, of which a version was removed", csvFile, `{apiGroups: [""], resources: [secrets]`, `{apiGroups: ["", events.k8s.io], resources: [events, secrets]`, ""},
	{"no Deployments", csvFile, "      deployments:\n", "      others:\n", "csv-schema 46 unknown-field 51 csv 0 good-practices 0 olmv1-webhook 66 olmv1-webhook 73"},
	{"no resource requests", csvFile, "{requests: {cpu: 10m, memory: 64Mi}}", "{}", "good-practices 0"},
	{"channels", notes, "stable,fast", "stable,beta,alpha", "good-practices 0: channel(s) [\"alpha\" \"beta\"]"},

	// What the API server, OLM or opm refuse.
	{"number as an annotation", csvFile, "    capabilities", "    certified: true\n    capabilities", "manifest-field 6: metadata.annotations.certified: a bool is not valid here"},
	{"number as a keyword", csvFile, "  displayName", "  keywords: [2024]\n  displayName", "manifest-field 17: spec.keywords[0]: a number is not valid here"},
	{"type of a webhook", csvFile, "type: ValidatingAdmissionWebhook", "type: ValidatingWebhook", "csv-schema 64: spec.webhookdefinitions[0].type: Unsupported value"},
	{"webhook without side effects", csvFile, "    sideEffects: None\n    admissionReviewVersions: [v1]\n    rules", "    admissionReviewVersions: [v1]\n    rules", "csv-schema 64"},
	{"port of a webhook", csvFile, "    generateName: vf", "    containerPort: 70000\n    generateName: vf", "csv-schema 65"},
	{"name of the package", notes, "package.v1: fleet", "package.v1: navy.fleet", "package-name 5"},
	{"no version", csvFile, "  version: 1.0.0\n", "", "csv-schema 16 operatorhubv2 0"},
	{"range that is none", csvFile, "    capabilities", "    olm.skipRange: newest\n    capabilities", "csv-schema 6: skipRange \"newest\" is not a range of versions"},
	{"strategy", csvFile, "strategy: deployment", "strategy: Deployments", "csv-schema 45"},
	{"required CRD without a name", csvFile, "  customresourcedefinitions:\n", "  customresourcedefinitions:\n    required:\n    - {kind: A, version: v1}\n", "csv-schema 40 good-practices 0 olmv1-dependency 40: a required CRD has no name"},
	{"unknown field", csvFile, "  displayName", "  shortName: fl\n  displayName", "unknown-field 17: spec.shortName is unknown"},
	{"icon that is no base64", csvFile, "PHN2Zy8+", "data:image/png;base64,AAAA", "icon-data 31"},
	{"name of a webhook of 70 characters", csvFile, "vfrigate.kb.io", strings.Repeat("frigate", 9) + "frigate", "webhook 65"},
	{"two webhooks of a name", csvFile, "cfrigates.kb.io", "vfrigate.kb.io", "webhook 72: there is another webhook vfrigate.kb.io"},
	{"conversion for two modes", csvFile, "OwnNamespace, supported: false", "OwnNamespace, supported: true", "install-modes 35: OLM converts objects only for operators that support AllNamespaces and no other mode"},
	{"webhook for configurations of webhooks", csvFile, "{apiGroups: [ship.example.org], apiVersions: [v1], resources: [frigates]", "{apiGroups: [admissionregistration.k8s.io], apiVersions: [v1], resources: [ValidatingWebhookConfiguration]", "webhook-rule 70"},
	{"large Secret", "manifests/secret.yaml", "", "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ndata: {a: " + strings.Repeat("QUJD", 360<<10) + "}\n", "object-size 1"},
	{"Secret of 0.8 MiB", "manifests/secret.yaml", "", "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ndata: {a: " + strings.Repeat("QUJD", 270<<10) + "}\n", ""},
	{"webhook for OLM", csvFile, "{apiGroups: [ship.example.org], apiV", "{apiGroups: [operators.coreos.com], apiV", "webhook-rule 70"},
	{"conversion", crdFile, "spec:\n  group", "spec:\n  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {service: {name: a, namespace: b}}}}\n  group", "conversion 6"},
	{"properties are a mapping", "metadata/properties.yaml", "", "properties: {a: b}\n", "property 1: properties is not a list"},
	{"property without type", "metadata/properties.yaml", "", "properties:\n- value: 1\n", "property 2: a property has no type"},
	{"property without value", "metadata/properties.yaml", "", "properties:\n- type: olm.package\n", "property 2: property olm.package has no value"},
	{"value of a property", "metadata/properties.yaml", "", "properties:\n- type: olm.gvk\n  value: x\n", "property 2: the value of property olm.gvk is not an object"},
	{"text as a property", "metadata/properties.yaml", "", "properties: [a]\n", "property 1: an item of properties is not an object"},
	{"dependencies are a mapping", depsFile, "", "dependencies:\n  type: olm.package\n", "dependency 1: dependencies is not a list"},
	{"version of OpenShift as a number", "metadata/properties.yaml", "", "properties:\n- type: olm.maxOpenShiftVersion\n  value: 4.20\n", "number 2"},
	{"annotation 4.10", notes, "annotations:\n", "annotations:\n  com.redhat.openshift.versions: 4.10\n", "number 2: OLM reads com.redhat.openshift.versions: 4.10 as 4.1"},
	{"annotation 4.12", notes, "annotations:\n", "annotations:\n  com.redhat.openshift.versions: 4.12\n", ""},

	// OLM v1.
	{"only one namespace", csvFile, "OwnNamespace, supported: false}\n  - {type: AllNamespaces, supported: true", "OwnNamespace, supported: true}\n  - {type: AllNamespaces, supported: false", "install-modes 35 olmv1-watch-namespace 35"},
	{"several namespaces", csvFile, "OwnNamespace, supported: false}\n  - {type: AllNamespaces, supported: true", "MultiNamespace, supported: true}\n  - {type: AllNamespaces, supported: false", "install-modes 35 olmv1-install-modes 35"},
	{"required property", "metadata/properties.yaml", "", "properties:\n- {type: olm.gvk.required, value: {group: a.b, kind: A, version: v1}}\n", "olmv1-dependency 2"},
	{"required CRD", csvFile, "  customresourcedefinitions:\n", "  customresourcedefinitions:\n    required:\n    - {name: a.b, kind: A, version: v1, description: a}\n", "olmv1-dependency 40"},
	{"required API service", csvFile, "  customresourcedefinitions:\n", "  apiservicedefinitions:\n    required:\n    - {group: a.b, kind: Crew, version: v1}\n  customresourcedefinitions:\n", "olmv1-dependency 40: OLM v1 does not install bundles that require API services, such as Crew of a.b"},
	{"API service", csvFile, "  customresourcedefinitions:\n", "  apiservicedefinitions:\n    owned:\n    - {name: a, group: ship.example.org, kind: Frigate, version: v1}\n  customresourcedefinitions:\n", "olmv1-api-service 40"},
	{"OperatorCondition", csvFile, "[secrets]", "[operatorconditions/status]", "olmv1-operator-conditions 50"},
	{"name of a Deployment", csvFile, "      - name: fleet\n", "      - name: Fleet\n", "olmv1-deployment 52 olmv1-webhook 66 olmv1-webhook 73"},
	{"name of a webhook", csvFile, "vfrigate.kb.io", "v_frigate", "olmv1-webhook 65"},
	{"webhook for all groups", csvFile, "{apiGroups: [ship.example.org], apiV", `{apiGroups: ["*"], apiV`, "webhook-rule 70"},
	{"webhook for webhooks", csvFile, "{apiGroups: [ship.example.org], apiVersions: [v1], resources: [frigates]", "{apiGroups: [admissionregistration.k8s.io], apiVersions: [v1], resources: [validatingWebhookConfigurations]", "olmv1-webhook-rule 70"},
	{"conversion of another CRD", csvFile, "conversionCRDs: [", "conversionCRDs: [boats.ship.example.org, ", "conversion-webhook 76"},
	{"conversion of no CRD", csvFile, "    conversionCRDs: [frigates.ship.example.org]\n", "", "conversion-webhook 71"},
	{"conversion by two webhooks", csvFile, "  - type: ConversionWebhook\n", "  - {type: ConversionWebhook, generateName: c.kb.io, deploymentName: fleet, sideEffects: None, admissionReviewVersions: [v1], conversionCRDs: [frigates.ship.example.org]}\n  - type: ConversionWebhook\n", "olmv1-conversion 77"},
	{"conversion of a CRD with unknown fields", crdFile, "spec:\n  group", "spec:\n  preserveUnknownFields: true\n  group", "crd-invalid 6 conversion-webhook 6"},
	{"properties are not JSON", csvFile, "    capabilities", "    olm.properties: a\n    capabilities", "property 6 csv 0"},
}

// apply returns the files with the mutation.
func (m mutation) apply(t *testing.T) map[string][]byte {
	t.Helper()
	files := fleet(t)
	switch {
	case m.old == "" && m.new == "":
		delete(files, m.file)
	case m.old == "":
		files[m.file] = []byte(m.new)
	case !bytes.Contains(files[m.file], []byte(m.old)):
		t.Fatalf("%s lacks %q", m.file, m.old)
	default:
		files[m.file] = bytes.Replace(files[m.file], []byte(m.old), []byte(m.new), 1)
	}
	return files
}

// TestMutations validates changed bundles with all suites.
func TestMutations(t *testing.T) {
	t.Parallel()
	for _, m := range append([]mutation{{name: "valid", file: service, old: "8443", new: "8080"}}, mutations...) {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			files := m.apply(t)
			want, message, _ := strings.Cut(m.want, ": ")
			var missing []string
			found := Check(files, Options{Suites: everySuite()})
			got := map[string]int{}
			var all strings.Builder
			for _, f := range found {
				all.WriteString(f.Text(func(_, text string) string { return text }) + "\n")
				for _, form := range []string{f.Rule, fmt.Sprintf("%s %d", f.Rule, f.Line), fmt.Sprintf("%s %d:%d", f.Rule, f.Line, f.Column)} {
					got[form]++
				}
			}
			expected := expectations(want)
			for _, form := range expected {
				if got[form]--; got[form] < 0 {
					missing = append(missing, form)
				}
			}
			if len(missing) > 0 || len(found) != len(expected) || !strings.Contains(all.String(), message) {
				t.Errorf("missing %q of %q in:\n%s", missing, m.want, all.String())
			}
			if _, err := bundle.Parse(files); err != nil && !finding.HasErrors(found) {
				t.Errorf("commands that read bundles refuse it: %v", err)
			}
		})
	}
}

// TestRefused compares what commands refuse with what bundle validate reports without a suite. The rules that a command
// may ignore have no effect in a cluster, or depend on its version.
func TestRefused(t *testing.T) {
	t.Parallel()
	ignored := []string{
		"bundle-annotation", "dependency-type", "scorecard-config", // only operon and opm's validator read it
		"bundle", "csv", // the validators of the library
	}
	for _, m := range mutations {
		files := m.apply(t)
		var want, got []string
		for _, f := range finding.Errors(Check(files, Options{})) {
			outdated := f.Rule == "crd-invalid" && strings.HasSuffix(m.name, "CRD of v1beta1") // only the library validates it
			if !slices.Contains(ignored, f.Rule) && !outdated && m.name != "object with a namespace" && m.name != "hidden file" {
				want = append(want, f.Position()+" "+f.Rule)
			}
		}
		for _, f := range Refused(files) {
			got = append(got, f.Position()+" "+f.Rule)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-bundle validate +other commands):\n%s", m.name, diff)
		}
	}
}

// TestScorecardConfiguration validates the configuration of the tests. Its errors are those with which
// operon scorecard cannot run the tests.
func TestScorecardConfiguration(t *testing.T) {
	t.Parallel()
	const valid = "apiVersion: scorecard.operatorframework.io/v1alpha3\nkind: Configuration\nmetadata: {name: config, labels: {a: b}}\n" +
		"stages:\n- parallel: true\n  tests:\n  - image: quay.io/operator-framework/scorecard-test:v1.42.3\n    entrypoint: [scorecard-test, basic-check-spec]\n    labels: {suite: basic}\n"
	for name, c := range map[string]struct{ old, new, want string }{
		"valid":            {},
		"without kind":     {"kind: Configuration\n", "", ""},
		"syntax":           {"kind: Conf", "kind: [Conf", "2:1: error: did not find expected ',' or ']'"},
		"key twice":        {"kind: Conf", "kind: A\nkind: Conf", "3:1: error: kind also occurs on line 2"},
		"a list":           {valid, "- a\n", " error: it is not a scorecard configuration"},
		"kind":             {"kind: Configuration", "kind: ConfigMap", "2:7: error: it is not a scorecard configuration: kind ConfigMap"},
		"apiVersion":       {"v1alpha3", "v1alpha2", "1:13: error: operon does not know scorecard configurations of apiVersion scorecard.operatorframework.io/v1alpha2"},
		"type":             {"parallel: true", "parallel: often", "5:13: error: stages[0].parallel: a string is not valid here"},
		"type of a list":   {"[scorecard-test, basic-check-spec]", "basic-check-spec", "8:17: error: stages[0].tests[0].entrypoint: a string is not valid here"},
		"no image":         {"image: quay.io/operator-framework/scorecard-test:v1.42.3\n    ", "", "7:5: error: stages[0].tests[0] has no image: add image"},
		"no entrypoint":    {"    entrypoint: [scorecard-test, basic-check-spec]\n", "", "7:5: warning: stages[0].tests[0] has no entrypoint"},
		"misspelled field": {"labels: {suite", "label: {suite", "9:5: warning: scorecard configurations have no field stages[0].tests[0].label"},
		"no tests":         {"stages:", "steps:", "4:1: warning: scorecard configurations have no field steps"},
		"empty list":       {"stages:\n", "stages: []\nother:\n", "4:1: warning: the configuration lists no tests"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := fleet(t)
			src := []byte(strings.Replace(valid, c.old, c.new, 1))
			files[bundle.ScorecardFile] = src
			found := Check(files, Options{})
			var all strings.Builder
			for _, f := range found {
				all.WriteString(f.Text(func(_, text string) string { return text }) + "\n")
			}
			switch {
			case c.want == "" && len(found) > 0:
				t.Errorf("got:\n%s", all.String())
			case c.want != "" && !strings.Contains(all.String(), bundle.ScorecardFile+":"+c.want):
				t.Errorf("no %q in:\n%s", c.want, all.String())
			}
			_, err := scorecard.ReadConfiguration("config.yaml", src)
			if (err != nil) != finding.HasErrors(found) {
				t.Errorf("operon scorecard: %v; operon bundle validate:\n%s", err, all.String())
			}
		})
	}
	files := fleet(t)
	files[notes] = slices.Concat(files[notes], []byte("  operators.operatorframework.io.test.config.v1: tests/own/\n"))
	if found := Check(files, Options{}); len(found) != 1 || found[0].Message != "the bundle has no file tests/own/config.yaml" {
		t.Errorf("got %v", found)
	}
}

// expectations splits a text such as "icon 3 link" into the rules with their lines.
func expectations(text string) []string {
	var all []string
	for word := range strings.FieldsSeq(text) {
		if strings.Trim(word, "0123456789:") == "" {
			all[len(all)-1] += " " + word
		} else {
			all = append(all, word)
		}
	}
	return all
}

// TestSize validates bundles near and above the size that OLM accepts.
func TestSize(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]string{300 << 10: "", 720 << 10: "bundle", 2 << 20: "bundle object-size"} {
		files := fleet(t)
		var noise []byte
		for i := 0; len(noise) < size; i++ {
			sum := sha256.Sum256([]byte{byte(i), byte(i >> 8)})
			noise = append(noise, sum[:]...)
		}
		files[csvFile] = bytes.Replace(files[csvFile], []byte("PHN2Zy8+"), []byte(base64.StdEncoding.EncodeToString(noise)), 1)
		var rules []string
		for _, f := range Check(files, Options{Suites: everySuite()}) {
			rules = append(rules, f.Rule)
		}
		if got := strings.Join(rules, " "); got != want {
			t.Errorf("%d bytes: %q instead of %q", size, got, want)
		}
	}
}

// TestUpgrade validates CRDs against the previous bundle's.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	previous, errors := ReadPrevious(fleet(t))
	if len(errors) > 0 {
		t.Fatal(errors)
	}
	for _, m := range []mutation{
		{"same", crdFile, "Namespaced", "Namespaced", ""},
		{"new field", crdFile, "              home:\n", "              port: {type: string}\n              home:\n", ""},
		{"new minimum", crdFile, "minimum: 1", "minimum: 2", "crd-upgrade 5: v1: spec.crew: minimum increased: 1 -> 2"},
		{"other type", crdFile, "type: integer\n                minimum: 1", "type: string", "crd-upgrade 5: v1: spec.crew: type changed: \"integer\" -> \"string\""},
		{"removed field", crdFile, "              home:\n                type: string\n", "", "crd-upgrade 5: v1: spec.home: removed field"},
		{"required field", crdFile, "          spec:\n            type: object\n", "          spec:\n            type: object\n            required: [crew]\n", "crd-upgrade 5: v1: spec: new required fields: crew"},
		{"scope", crdFile, "Namespaced", "Cluster", "crd-upgrade 5: scope changed: \"Namespaced\" -> \"Cluster\""},
		{"stored version", crdFile, "name: v1\n", "name: v2\n", "bundle 0 bundle 0 crd-upgrade 5 crd-upgrade 5 owned-crd 40: stored versions removed: [v1]"},
		{"other change", crdFile, "              crew:\n", "              crew:\n                multipleOf: 2\n", "crd-upgrade 5: v1: spec.crew: unhandled changes found: - MultipleOf: nil, + MultipleOf: &2,"},
		{"removed CRD", crdFile, "", "", "crd-removed 39 owned-crd 40"},
	} {
		files := m.apply(t)
		want, message, _ := strings.Cut(m.want, ": ")
		var got []string
		var all strings.Builder
		for _, f := range Check(files, Options{Previous: previous}) {
			got = append(got, fmt.Sprintf("%s %d", f.Rule, f.Line))
			all.WriteString(f.Message + "\n")
		}
		slices.Sort(got)
		if diff := cmp.Diff(expectations(want), got); diff != "" || !strings.Contains(all.String(), message) {
			t.Errorf("%s: %s\n%s", m.name, diff, all.String())
		}
	}
}

func TestExternal(t *testing.T) {
	t.Parallel()
	found, err := External(fleet(t), []byte(`{"Name": "fleet", "Errors": [{"Type": "", "Level": "Error", "Field": "spec.links[0].url", "BadValue": null, "Detail": "no such page"}], "Warnings": []}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{csvFile + ":29:10: error: no such page: correct what the validator reports [validator]"}
	if diff := cmp.Diff(want, texts(found)); diff != "" {
		t.Error(diff)
	}
	for _, field := range []string{"spec.links[-1].url", "spec.links[99]"} {
		found, err := External(fleet(t), []byte(`{"Name": "fleet", "Errors": [{"Level": "Error", "Field": "`+field+`", "Detail": "no such page"}]}`))
		if err != nil || len(found) != 1 || found[0].File != csvFile {
			t.Errorf("%s: %v, %v", field, texts(found), err)
		}
	}
	for _, output := range []string{"", "ok", `{"passed": true}`} {
		if _, err := External(fleet(t), []byte(output)); err == nil {
			t.Errorf("%q is accepted", output)
		}
	}
}

// TestDocumentedRules compares the page about rules with the rules.
func TestDocumentedRules(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/bundle-rules.md")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, r := range Rules() {
		want = append(want, fmt.Sprintf("| `%s` | %s | %s | %s |", r.Name, r.Severity, r.Summary, r.Fix))
	}
	var got []string
	for line := range strings.Lines(string(page)) {
		if strings.HasPrefix(line, "| `") && strings.Count(line, "|") == 5 {
			got = append(got, strings.TrimSpace(line))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/bundle-rules.md (-want +got):\n%s", diff)
	}
}

// texts returns findings in a fixed order.
func texts(all []finding.Finding) []string {
	var out []string
	for _, f := range all {
		out = append(out, f.Text(func(_, text string) string { return text }))
	}
	slices.Sort(out)
	return out
}

// TestBundlesOfOpm checks that no bundle of opm's own tests is refused: opm and OLM read them.
func TestBundlesOfOpm(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/operator-framework/operator-registry").Output()
	if err != nil {
		t.Fatal(err)
	}
	annotations, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "bundles", "*", "metadata", "annotations.yaml"))
	if err != nil || len(annotations) < 10 {
		t.Fatalf("%d bundles: %v", len(annotations), err)
	}
	for _, file := range annotations {
		files, err := bundle.ReadFolder(filepath.Dir(filepath.Dir(file)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range Refused(files) {
			if !strings.Contains(f.Message, "-rebuild") { // names with +, which no API server accepts
				t.Errorf("%s: %s: %s [%s]", file, f.Position(), f.Message, f.Rule)
			}
		}
	}
}
