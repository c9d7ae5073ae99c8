package helmchart

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	helm "github.com/operon-dev/operon/internal/chart"
	"github.com/operon-dev/operon/internal/kustomize"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/testkit/goldentest"
	"github.com/spf13/afero"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
)

// The tests are not parallel, because kustomize's library is not safe for concurrent use.

// disk returns a copy of a golden project in memory.
func disk(t *testing.T, name string) afero.Fs {
	t.Helper()
	fsys, root := afero.NewMemMapFs(), goldentest.Dir(name)
	for _, part := range []string{"config", "PROJECT"} {
		err := filepath.Walk(filepath.Join(root, part), func(file string, info os.FileInfo, err error) error {
			if err != nil || info.IsDir() {
				return err
			}
			content, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(root, file)
			if err != nil {
				return err
			}
			return afero.WriteFile(fsys, filepath.ToSlash(rel), content, 0o644)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return fsys
}

// config reads PROJECT, with the plugin.
func config(t *testing.T, fsys afero.Fs) *project.Config {
	t.Helper()
	content, err := afero.ReadFile(fsys, project.File)
	if err != nil {
		t.Fatal(err)
	}
	c, err := project.Parse(content)
	if err != nil {
		t.Fatal(err)
	}
	if c.Plugins[Key] == nil {
		c.EncodePluginConfig(Key, struct{}{})
	}
	return c
}

// newPlan plans the event Generate.
func newPlan(t *testing.T, fsys afero.Fs, o scaffold.Options) (*scaffold.Plan, error) {
	t.Helper()
	p, err := scaffold.New(fsys, o)
	if err != nil {
		t.Fatal(err)
	}
	return p, Plugin{}.Plan(t.Context(), plugin.Event{Type: plugin.Generate, Project: config(t, fsys)}, p)
}

// write generates the chart of a project and returns its files.
func write(t *testing.T, fsys afero.Fs) map[string][]byte {
	t.Helper()
	p, err := newPlan(t, fsys, scaffold.Options{Command: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if conflicts := p.Conflicts(); len(conflicts) > 0 {
		t.Fatalf("conflicts: %v", conflicts)
	}
	files, err := p.ReadBelow("dist/chart")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Apply(t.Context()); err != nil {
		t.Fatal(err)
	}
	return files
}

// rendered returns the objects of a chart with values in a release, by kind and name.
func rendered(t *testing.T, files map[string][]byte, values map[string]any, release, namespace string) (map[string]*unstructured.Unstructured, error) {
	t.Helper()
	c, err := helm.LoadFiles(files)
	if err != nil {
		t.Fatal(err)
	}
	for _, mistake := range helm.LintFiles(c) {
		t.Error(mistake)
	}
	texts, err := helm.Render(c, values, helm.Release{Name: release, Namespace: namespace}, helm.Cluster{Version: "v1.36.0"})
	if err != nil {
		return nil, err
	}
	objects, err := helm.Objects(texts)
	if err != nil {
		return nil, err
	}
	all := map[string]*unstructured.Unstructured{}
	for _, o := range objects {
		for _, problem := range helm.Lint(o) {
			t.Error(problem)
		}
		if err := validate(o); err != nil {
			t.Errorf("%s %s: %v", o.GetKind(), o.GetName(), err)
		}
		if id := o.GetKind() + " " + o.GetName(); all[id] != nil {
			t.Errorf("%s is rendered twice", id)
		} else {
			all[id] = o
		}
	}
	return all, nil
}

// writeChart writes the files of a chart to a folder.
func writeChart(t *testing.T, dir string, files map[string][]byte) {
	t.Helper()
	for name, content := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// lintWithHelm runs Helm's linter. An icon is not required.
func lintWithHelm(t *testing.T, files map[string][]byte) {
	t.Helper()
	dir := t.TempDir()
	writeChart(t, dir, files)
	for _, m := range lint.All(dir, nil, "default", true).Messages {
		if m.Severity >= support.WarningSev && !strings.Contains(m.Err.Error(), "does not match directory name") {
			t.Errorf("Helm: %v", m)
		}
	}
}

// validate decodes an object of Kubernetes as an API server with strict validation of fields does.
func validate(o *unstructured.Unstructured) error {
	content, err := o.MarshalJSON()
	if err != nil {
		return err
	}
	_, _, err = strict.Decode(content, nil, nil)
	if runtime.IsNotRegisteredError(err) {
		return nil // a kind of another module
	}
	return err
}

var strict = serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict).UniversalDeserializer()

// generic returns an object with the numbers of JSON.
func generic(t *testing.T, o *unstructured.Unstructured) (v any) {
	t.Helper()
	content, err := json.Marshal(o)
	if err == nil {
		err = json.Unmarshal(content, &v)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func goProjects(t *testing.T) []string {
	return slices.DeleteFunc(goldentest.Names(t), func(name string) bool { return !goldentest.IsGo(name) || goldentest.HasCharts(name) })
}

// TestDefaults compares the chart of each golden project with config/default.
func TestDefaults(t *testing.T) {
	for _, name := range goProjects(t) {
		t.Run(name, func(t *testing.T) {
			fsys := disk(t, name)
			files := write(t, fsys)
			lintWithHelm(t, files)
			wantSame(t, fsys, files, name)
		})
	}
}

// wantSame compares the objects of a chart with config/default's. They differ only in the namespace, which
// Helm creates, in the label managed-by and in the annotation that keeps CRDs.
func wantSame(t *testing.T, fsys afero.Fs, chart map[string][]byte, name string) {
	t.Helper()
	built, err := kustomize.BuildFiles(configFiles(t, fsys), path.Join(configDir, "default"), kustomize.Options{})
	if err != nil {
		t.Fatal(err)
	}
	wantObjects(t, built.Objects, chart, map[string]any{}, name, namespaceIn(t, configFiles(t, fsys)))
}

// namespaceIn returns the namespace of config/default.
func namespaceIn(t *testing.T, config map[string][]byte) string {
	t.Helper()
	namespace, _ := parse(t, string(config[defaultFile]))["namespace"].(string)
	return namespace
}

// wantObjects compares the objects of a chart with those of config/default.
func wantObjects(t *testing.T, want []kustomize.Object, chart map[string][]byte, values map[string]any, release, namespace string) {
	t.Helper()
	got, err := rendered(t, chart, values, release, namespace)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range want {
		if o.GetKind() == "Namespace" && o.GetName() == namespace {
			continue
		}
		id := o.GetKind() + " " + o.GetName()
		g := got[id]
		delete(got, id)
		if g == nil {
			t.Errorf("the chart lacks %s", id)
			continue
		}
		labels, annotations := g.GetLabels(), g.GetAnnotations()
		if _, managed := o.GetLabels()["app.kubernetes.io/managed-by"]; managed && labels["app.kubernetes.io/managed-by"] == "Helm" {
			labels["app.kubernetes.io/managed-by"] = "kustomize"
			g.SetLabels(labels)
		}
		if o.GetKind() == "CustomResourceDefinition" {
			if annotations["helm.sh/resource-policy"] != "keep" {
				t.Errorf("Helm deletes %s", id)
			}
			if delete(annotations, "helm.sh/resource-policy"); len(annotations) == 0 {
				annotations = nil
			}
			g.SetAnnotations(annotations)
		}
		want, have := generic(t, o.Unstructured), generic(t, g)
		sortLists(want)
		sortLists(have)
		if diff := cmp.Diff(want, have); diff != "" {
			t.Errorf("%s (-kustomize +chart):\n%s", id, diff)
		}
	}
	for id := range maps.Keys(got) {
		t.Errorf("config/default lacks %s", id)
	}
}

// sortLists sorts the arguments and variables of a Deployment's containers: those that are values of the chart are
// together.
func sortLists(object any) {
	containers, _ := find(object, "spec", "template", "spec", "containers").([]any)
	for i := range containers {
		for _, key := range []string{"args", "env"} {
			list, _ := find(containers[i], key).([]any)
			slices.SortFunc(list, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		}
	}
}

// configFiles returns the files below config by their paths.
func configFiles(t *testing.T, fsys afero.Fs) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := afero.Walk(fsys, configDir, func(name string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			files[filepath.ToSlash(name)], err = afero.ReadFile(fsys, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
