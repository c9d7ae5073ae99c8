package bundle

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var meta = Metadata{Package: "fleet", Channels: []string{"stable", "fast"}, DefaultChannel: "stable", Scorecard: true}

// TestEdit checks that custom keys, labels and lines survive, and that a repeat changes
// nothing.
func TestEdit(t *testing.T) {
	t.Parallel()
	annotations, err := meta.EditAnnotations([]byte(`# ours
annotations:
  com.redhat.openshift.versions: v4.12-v4.16 # supported
  operators.operatorframework.io.bundle.channels.v1: alpha
  operators.operatorframework.io.bundle.package.v1: fleet
other: key
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"# ours\n", "v4.12-v4.16 # supported\n", "other: key\n", "channels.v1: stable,fast\n", "test.config.v1: tests/scorecard/\n"} {
		if !strings.Contains(string(annotations), line) {
			t.Errorf("%q is missing:\n%s", line, annotations)
		}
	}
	values, err := ReadAnnotations(annotations)
	if err != nil {
		t.Fatal(err)
	}
	dockerfile, err := EditDockerfile([]byte(`# syntax=docker/dockerfile:1
FROM scratch AS bundle
LABEL com.example.team="the fleet" operators.operatorframework.io.bundle.channels.v1=alpha \
      com.example.other=x
# a comment
COPY --chown=1 old/manifests /manifests/
COPY extra /extra/
`), "bundle", values, meta.Unset())
	if err != nil {
		t.Fatal(err)
	}
	want := `# syntax=docker/dockerfile:1
FROM scratch AS bundle
LABEL com.example.team="the fleet" operators.operatorframework.io.bundle.channels.v1=stable,fast \
      com.example.other=x
LABEL com.redhat.openshift.versions=v4.12-v4.16
LABEL operators.operatorframework.io.bundle.channel.default.v1=stable
LABEL operators.operatorframework.io.bundle.manifests.v1=manifests/
LABEL operators.operatorframework.io.bundle.mediatype.v1=registry+v1
LABEL operators.operatorframework.io.bundle.metadata.v1=metadata/
LABEL operators.operatorframework.io.bundle.package.v1=fleet
LABEL operators.operatorframework.io.test.config.v1=tests/scorecard/
LABEL operators.operatorframework.io.test.mediatype.v1=scorecard+v1
# a comment
COPY --chown=1 bundle/manifests /manifests/
COPY extra /extra/
COPY bundle/metadata /metadata/
COPY bundle/tests/scorecard /tests/scorecard/
`
	sortedWant, sortedGot := lines(want), lines(string(dockerfile))
	if diff := cmp.Diff(sortedWant, sortedGot); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	again, err := EditDockerfile(dockerfile, "bundle", values, meta.Unset())
	if err != nil || string(again) != string(dockerfile) {
		t.Errorf("a repeat changes the Dockerfile (%v):\n%s", err, cmp.Diff(string(dockerfile), string(again)))
	}
}

func lines(s string) map[string]int {
	count := map[string]int{}
	for line := range strings.Lines(s) {
		count[line]++
	}
	return count
}

// TestNew checks that new files have what an edit would add, and that an edit removes the
// tests again.
func TestNew(t *testing.T) {
	t.Parallel()
	annotations := meta.NewAnnotations()
	if edited, err := meta.EditAnnotations(annotations); err != nil || string(edited) != string(annotations) {
		t.Errorf("an edit changes a new file (%v):\n%s", err, cmp.Diff(string(annotations), string(edited)))
	}
	values, err := ReadAnnotations(annotations)
	if err != nil {
		t.Fatal(err)
	}
	values["com.example.text"] = `a "b" $c`
	dockerfile := NewDockerfile("out/bundle", values)
	if edited, err := EditDockerfile(dockerfile, "out/bundle", values, meta.Unset()); err != nil || string(edited) != string(dockerfile) {
		t.Errorf("an edit changes a new file (%v):\n%s", err, cmp.Diff(string(dockerfile), string(edited)))
	}
	without := meta
	without.Scorecard = false
	if annotations, err = without.EditAnnotations(annotations); err != nil || strings.Contains(string(annotations), "test.") {
		t.Errorf("%v\n%s", err, annotations)
	}
	if values, err = ReadAnnotations(annotations); err != nil {
		t.Fatal(err)
	}
	dockerfile, err = EditDockerfile(dockerfile, "out/bundle", values, without.Unset())
	if err != nil || strings.Contains(string(dockerfile), "tests/scorecard") || strings.Contains(string(dockerfile), "scorecard+v1") {
		t.Errorf("%v\n%s", err, dockerfile)
	}
}

func TestEditErrors(t *testing.T) {
	t.Parallel()
	if _, err := EditDockerfile([]byte("# empty\n"), "bundle", nil, nil); err == nil {
		t.Error("a Dockerfile without FROM is accepted")
	}
	for _, text := range []string{"annotations: [a]\n", "annotations: {\n"} {
		if _, err := meta.EditAnnotations([]byte(text)); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
	if _, err := ReadAnnotations([]byte("annotations: {a: 1}\n")); err == nil {
		t.Error("a number is accepted")
	}
}

// TestEncodeSize checks that manifests that OLM would refuse are an error. Random text does
// not become smaller when it is compressed.
func TestEncodeSize(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, 2<<20)
	for i := range text {
		text[i] = byte('!' + random.IntN(90))
	}
	if _, err := Encode(map[string]map[string]any{"crd.yaml": {"description": string(text)}}); err == nil || !strings.Contains(err.Error(), "OLM accepts 1.0 MiB") {
		t.Errorf("got %v", err)
	}
	if _, err := Encode(map[string]map[string]any{"crd.yaml": {"description": strings.Repeat("text ", 1<<19)}}); err != nil {
		t.Errorf("2 MB that are small when compressed: %v", err)
	}
}

// TestParseScalars reads annotations that published bundles have.
func TestParseScalars(t *testing.T) {
	t.Parallel()
	b, err := Parse(map[string][]byte{
		AnnotationsFile:      []byte("annotations: {" + PackageKey + ": fleet, com.example.delivered: true, com.example.build: 7}\n"),
		"manifests/csv.yaml": []byte("kind: ClusterServiceVersion\nmetadata: {name: fleet.v1.0.0}\n"),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{PackageKey: "fleet", "com.example.delivered": "true", "com.example.build": "7"}
	if diff := cmp.Diff(want, b.Annotations); diff != "" {
		t.Error(diff)
	}
	if _, err := Parse(map[string][]byte{AnnotationsFile: []byte("annotations: {" + PackageKey + ": [fleet]}\n")}); err == nil {
		t.Error("a list is accepted")
	}
}

func TestParseOtherFolder(t *testing.T) {
	t.Parallel()
	files := map[string][]byte{AnnotationsFile: []byte("annotations:\n  " + PackageKey + ": fleet\n  " + ManifestsKey + ": deploy/\n")}
	if _, err := Parse(files); err == nil || err.Error() != "metadata/annotations.yaml: the manifests are in deploy/, and catalogs accept only manifests/" {
		t.Errorf("got %v", err)
	}
}
