package bundle

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	k8syaml "sigs.k8s.io/yaml"
)

// TestReadFolder reads links to files, and the tests in whatever folder the annotations name.
func TestReadFolder(t *testing.T) {
	folder := t.TempDir()
	for name, content := range map[string]string{
		"manifests/role.yaml":       "kind: Role",
		"metadata/annotations.yaml": "annotations: {operators.operatorframework.io.test.config.v1: tests/custom/}",
		"tests/custom/config.yaml":  "kind: Configuration",
		"crd.yaml":                  "kind: CustomResourceDefinition",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../crd.yaml", filepath.Join(folder, "manifests", "crd.yaml")); err != nil {
		t.Fatal(err)
	}
	files, err := ReadFolder(folder)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"manifests/crd.yaml", "manifests/role.yaml", "metadata/annotations.yaml", "tests/custom/config.yaml"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(files))); diff != "" {
		t.Error(diff)
	}
	if got := string(files["manifests/crd.yaml"]); got != "kind: CustomResourceDefinition" {
		t.Errorf("the link has %q", got)
	}
}

// TestDockerfileWithOtherTests copies the folder with the tests that the labels name.
func TestDockerfileWithOtherTests(t *testing.T) {
	src := NewDockerfile("bundle", map[string]string{TestConfigKey: "tests/custom/"})
	if want := "\nCOPY bundle/tests/custom /tests/custom/\n"; !bytes.Contains(src, []byte(want)) {
		t.Errorf("no %q in:\n%s", want, src)
	}
}

// TestLabels reads the labels that a Dockerfile gets, also several in one instruction.
func TestLabels(t *testing.T) {
	t.Parallel()
	want := map[string]string{PackageKey: "fleet", "com.example.text": `a "b" $c \d`, "com.example.empty": ""}
	src := NewDockerfile("bundle", want)
	if diff := cmp.Diff(want, Labels(src)); diff != "" {
		t.Error(diff)
	}
	got := Labels([]byte("FROM scratch\n# LABEL x=y\nlabel a=\"b c\" \\\n  \"d\"=e\nCOPY a=b c\n"))
	if diff := cmp.Diff(map[string]string{"a": "b c", "d": "e"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestParseValues reads values as OLM does, by YAML 1.1.
func TestParseValues(t *testing.T) {
	t.Parallel()
	src := "kind: ClusterServiceVersion\nmetadata: {name: fleet.v1.0.0, annotations: {createdAt: 2026-01-02 03:04:05}}\n" +
		"spec: {on: yes, octal: 010, date: 2026-01-02, large: 9007199254740993, exponent: 1e3, float: 0.5, none: ~, base: 0x10, time: 1:30}\n"
	const properties = "[{type: a, value: yes}, {type: b, value: {off: 2026-01-02, 010: n, c: 'y'}}]"
	b, err := Parse(map[string][]byte{
		MetadataDir + "/properties.yaml": []byte("properties: " + properties),

		AnnotationsFile:      []byte("annotations: {" + PackageKey + ": fleet}"),
		"manifests/csv.yaml": []byte("# ours\n---\n" + src + "---\n# nothing\n---\nkind: Role\nrules: [{verbs: [on]}]\n"),
	})
	if err != nil {
		t.Fatal(err)
	}
	want, err := k8syaml.YAMLToJSON([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(b.CSV.Object)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("-OLM +operon\n%s", diff)
	}
	want, err = k8syaml.YAMLToJSON([]byte(properties))
	if err != nil {
		t.Fatal(err)
	}
	got, err = json.Marshal(b.Properties)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("properties: -OLM +operon\n%s", diff)
	}
	if len(b.Manifests) != 2 || b.Manifests[1].Object["kind"] != "Role" {
		t.Errorf("%v", b.Manifests)
	}
}
