package kustomize

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/testkit/repository"
	"github.com/operon-dev/operon/internal/testkit/treetest"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// TestBuildGolden compares the output for all kustomizations of the golden projects with the output
// of the library, with the options of the program kustomize.
func TestBuildGolden(t *testing.T) {
	root := repository.Path("testdata", "golden")
	built := 0
	for _, dir := range []string{"crd", "default", "manager", "rbac", "samples"} {
		dirs, err := filepath.Glob(filepath.Join(root, "*", "config", dir))
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range dirs {
			if !HasKustomization(dir) {
				continue
			}
			built++
			options := krusty.MakeDefaultOptions()
			options.Reorder = krusty.ReorderOptionUnspecified
			m, err := krusty.MakeKustomizer(options).Run(filesys.MakeFsOnDisk(), dir)
			if err != nil {
				t.Fatal(err)
			}
			want, err := m.AsYaml()
			if err != nil {
				t.Fatal(err)
			}
			got, err := Build(root, dir, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got.YAML())); diff != "" {
				t.Errorf("%s:\n%s", dir, diff)
			}
			for _, o := range got.Objects {
				if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(o.File))); o.File == "" || err != nil {
					t.Errorf("%s: the file of %s %s is %q", dir, o.GetKind(), o.GetName(), o.File)
				}
			}
		}
	}
	if built < 20 {
		t.Errorf("%d kustomizations built", built)
	}
}

const (
	deployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: manager
spec:
  template:
    spec:
      containers:
      - image: controller:latest
        name: manager
`
	configMap = `apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
`
)

// tree writes files to a temporary folder.
func tree(t *testing.T, files map[string]string) string {
	root := t.TempDir()
	treetest.Write(t, root, files)
	return root
}

func TestBuildImage(t *testing.T) {
	digest := "sha256:" + strings.Repeat("0", 64)
	for name, tc := range map[string]struct{ manager, image string }{
		"tag":                  {"images:\n- name: controller\n  newName: x\n  newTag: y\n", "example.org/fleet:v1"},
		"port, no tag":         {"images:\n- name: controller\n  digest: " + digest + "\n", "localhost:5000/fleet"},
		"digest":               {"images:\n- name: other\n- name: controller\n  newTag: y\n", "example.org/fleet@" + digest},
		"no image in the file": {"", "example.org/fleet:v1"},
	} {
		root := tree(t, map[string]string{
			"config/manager/kustomization.yaml": "resources: [manager.yaml]\n" + tc.manager,
			"config/manager/manager.yaml":       deployment,
			"config/default/kustomization.yaml": "resources: [../manager]\nnamePrefix: fleet-\n",
		})
		got, err := Build(root, "config/default", Options{Image: tc.image})
		if err != nil {
			t.Fatal(name, err)
		}
		want := tc.image
		if name == "port, no tag" {
			want += ":latest"
		}
		if text := string(got.YAML()); !strings.Contains(text, "image: "+want+"\n") || strings.Contains(text, "annotations") {
			t.Errorf("%s:\n%s", name, text)
		}
	}
	root := tree(t, map[string]string{
		"kustomization.yaml": "resources: [manager.yaml]\n",
		"manager.yaml":       strings.ReplaceAll(deployment, "controller:latest", "example.org/own:v1"),
	})
	if _, err := Build(root, ".", Options{Image: "example.org/fleet:v1"}); fault.Code(err) != fault.CodeUsage {
		t.Errorf("no image controller: %v", err)
	}
}

// TestOrigins checks the files of objects, and that an annotation of the user stays.
func TestOrigins(t *testing.T) {
	root := tree(t, map[string]string{
		"base/kustomization.yaml": "resources: [settings.yaml]\nconfigMapGenerator:\n- name: made\n  literals: [a=b]\n",
		"base/settings.yaml":      configMap,
		"over/kustomization.yaml": "resources: [../base]\n",
	})
	got, err := Build(root, "over", Options{})
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, o := range got.Objects {
		files[strings.Split(o.GetName(), "-")[0]] = o.File
	}
	if diff := cmp.Diff(map[string]string{"settings": "base/settings.yaml", "made": "base/kustomization.yaml"}, files); diff != "" {
		t.Error(diff)
	}
	if text := string(got.YAML()); strings.Contains(text, "origin") || strings.Contains(text, "annotations") {
		t.Errorf("annotations of the build:\n%s", text)
	}
	treetest.WriteFile(t, filepath.Join(root, "over", "kustomization.yaml"), "resources: [../base]\nbuildMetadata: [originAnnotations]\n")
	got, err = Build(root, "over", Options{})
	if err != nil || !strings.Contains(string(got.YAML()), "config.kubernetes.io/origin") {
		t.Errorf("annotations of the user: %v\n%s", err, got.YAML())
	}
}

// TestErrors checks that each error is one line and names the file to change.
func TestErrors(t *testing.T) {
	for name, tc := range map[string]struct {
		kustomization, want string
	}{
		"missing file":     {"resources: [no.yaml]", "over/kustomization.yaml: resources has no.yaml, which does not exist"},
		"missing folder":   {"resources: [../no]", "over/kustomization.yaml: resources has ../no, which does not exist"},
		"no kustomization": {"resources: [../files]", "over/kustomization.yaml: resources has the folder ../files, which has no kustomization.yaml"},
		"nested":           {"resources: [../broken]", "broken/kustomization.yaml: resources has no.yaml, which does not exist"},
		"missing patch":    {"resources: [../base]\npatches: [{path: no.yaml, target: {kind: X}}]", "over/kustomization.yaml: path has no.yaml, which does not exist"},
		"patch of one of two": {"resources: [../base, two]\nnamePrefix: x-\npatches:\n- {target: {kind: ConfigMap}, patch: '- {op: add, path: /data, value: {}}'}\n" +
			"- {target: {kind: ConfigMap}, path: patch.yaml}", `over/kustomization.yaml: patch.yaml does not apply to ConfigMap other: ` +
			`error in remove for path: '/immutable': Unable to remove nonexistent key: immutable: missing value`},
		"inline patch": {"resources: [../base]\npatches: [{target: {kind: ConfigMap}, patch: '- {op: remove, path: /data}'}]",
			`over/kustomization.yaml: patches[0] does not apply to ConfigMap settings: error in remove for path: '/data': Unable to remove nonexistent key: data: missing value`},
		"nested patch": {"resources: [../patched]",
			`patched/kustomization.yaml: patchesJson6902[0] does not apply to ConfigMap settings: error in remove for path: '/data': Unable to remove nonexistent key: data: missing value`},
		"patch of nothing": {"resources: [../base]\npatches: [{path: two/other.yaml}]",
			`over/kustomization.yaml: two/other.yaml does not apply: no resource matches strategic merge patch "ConfigMap.v1.[noGrp]/other.[noNs]": no matches for Id ConfigMap.v1.[noGrp]/other.[noNs]; failed to find unique target for patch ConfigMap.v1.[noGrp]/other.[noNs]`},
		"syntax":      {"resources: [../syntax]", "syntax/wrong.yaml:2:3: mapping values are not allowed in this context"},
		"own syntax":  {"resources: [", "over/kustomization.yaml:1:1: did not find expected node content"},
		"empty":       {"", "over/kustomization.yaml: kustomization.yaml is empty"},
		"same object": {"resources: [one.yaml, two.yaml]", "over/kustomization.yaml: resources has the same object twice: ConfigMap settings in over/one.yaml and over/two.yaml"},
		"same namespace": {"namespace: x\nresources: [namespaces.yaml]", "over/kustomization.yaml: namespace puts several objects of one name into one namespace: " +
			"ConfigMap m of the namespace one in namespaces.yaml, ConfigMap m of the namespace two in namespaces.yaml"},
		"key twice":           {"resources: [../keys]", `keys/twice.yaml:6: mapping key "a" already defined at line 5`},
		"syntax of JSON":      {"resources: [../keys/a.json]", "keys/a.json:1:1: did not find expected ',' or '}'"},
		"object without kind": {"resources: [../keys/kind.yaml]", "keys/kind.yaml:2: the object has no kind"},
		"object without name": {"resources: [../keys/name.yaml]", "keys/name.yaml:1: the object has no metadata.name"},
		"unknown field":       {"resource: [x]", `over/kustomization.yaml: invalid Kustomization: json: unknown field "resource"`},
		"cycle":               {"resources: [../over]", "over/kustomization.yaml: cycle detected: candidate root 'over' contains visited root 'over'"},
		"outside":             {"resources: [../base/settings.yaml]", "over/kustomization.yaml: security; file 'base/settings.yaml' is not in or below 'over'"},
		"URL":                 {"resources: [https://example.org/x.yaml]", "over/kustomization.yaml: operon fetches nothing, and resources has https://example.org/x.yaml"},
		"repository":          {"components: ['github.com/a/b//c?ref=v1']", "over/kustomization.yaml: operon fetches nothing, and components has github.com/a/b//c?ref=v1"},
		"ssh":                 {"resources: ['git@example.org:a/b']", "over/kustomization.yaml: operon fetches nothing, and resources has git@example.org:a/b"},
		"URL of a file":       {"secretGenerator: [{name: x, files: ['a=http://example.org/x']}]", "over/kustomization.yaml: operon fetches nothing, and files has http://example.org/x"},
		"URL, nested":         {"resources: [../fetched]", "fetched/plugin.yaml: operon fetches nothing, and path has https://example.org/x"},
		"URL, inline":         {"transformers: [\"apiVersion: builtin\\nkind: PatchTransformer\\npath: https://example.org/x\"]", "over/kustomization.yaml: operon fetches nothing, and path has https://example.org/x"},
		"chart":               {"helmCharts: [{name: x}]", "over/kustomization.yaml: operon does not run helm, which helmCharts needs"},
		"chart generator":     {"generators: [chart.yaml]", "over/chart.yaml: operon does not run helm, which HelmChartInflationGenerator needs"},
	} {
		root := tree(t, map[string]string{
			"over/kustomization.yaml":     tc.kustomization,
			"over/chart.yaml":             "apiVersion: builtin\nkind: HelmChartInflationGenerator\nmetadata: {name: x}\nname: x\n",
			"over/one.yaml":               configMap,
			"over/namespaces.yaml":        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m, namespace: one}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: m, namespace: two}\n",
			"keys/kustomization.yaml":     "resources: [twice.yaml]\n",
			"keys/twice.yaml":             "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata:\n  a: b\n  a: c\n",
			"keys/a.json":                 `{"apiVersion": "v1", "kind": "ConfigMap" "metadata": {}}`,
			"keys/kind.yaml":              "# A note.\nmetadata: {name: m}\n",
			"keys/name.yaml":              "apiVersion: v1\nkind: ConfigMap\n",
			"over/two.yaml":               configMap,
			"over/patch.yaml":             "- {op: remove, path: /immutable}\n",
			"over/two/kustomization.yaml": "resources: [other.yaml]\n",
			"over/two/other.yaml":         strings.Replace(configMap, "settings", "other", 1),
			"patched/kustomization.yaml":  "resources: [../base]\npatchesJson6902: [{target: {version: v1, kind: ConfigMap, name: settings}, patch: '- {op: remove, path: /data}'}]\n",
			"base/kustomization.yaml":     "resources: [settings.yaml]\n",
			"base/settings.yaml":          configMap + "immutable: false\n",
			"files/settings.yaml":         configMap,
			"broken/kustomization.yaml":   "resources: [no.yaml]\n",
			"syntax/kustomization.yaml":   "resources: [wrong.yaml]\n",
			"syntax/wrong.yaml":           "a: b\n  c: d\n",
			"fetched/kustomization.yaml":  "resources: [../base]\ntransformers: [plugin.yaml]\n",
			"fetched/plugin.yaml":         "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: x}\npath: https://example.org/x\n",
		})
		_, err := Build(root, "over", Options{AnyPath: strings.Contains(tc.kustomization, "keys/")})
		if err == nil || err.Error() != tc.want {
			t.Errorf("%s:\n got %v\nwant %s", name, err, tc.want)
		}
		if f, ok := errors.AsType[*fault.Error](err); ok && f.Hint == "" && slices.Contains([]string{"empty", "same object", "outside"}, name) {
			t.Errorf("%s: no hint", name)
		}
	}
}

// TestFilesInLowerCase checks that no object is lost whose name differs from another one in capitals only.
func TestFilesInLowerCase(t *testing.T) {
	const role = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: reader}\n"
	root := tree(t, map[string]string{"kustomization.yaml": "resources: [a.yaml, b.yaml]\n", "a.yaml": role, "b.yaml": strings.Replace(role, "reader", "Reader", 1)})
	built, err := Build(root, ".", Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = built.Files()
	if want := "ClusterRole Reader and reader need the same file rbac.authorization.k8s.io_v1_clusterrole_reader.yaml"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestAnyPath(t *testing.T) {
	root := tree(t, map[string]string{
		"over/kustomization.yaml": "resources: [../settings.yaml]\n",
		"settings.yaml":           configMap,
	})
	got, err := Build(root, "over", Options{AnyPath: true})
	if err != nil || string(got.YAML()) != configMap {
		t.Errorf("%v\n%s", err, got.YAML())
	}
}

// TestFiles checks the names of files for single objects. The program kustomize
// chooses the same names.
func TestFiles(t *testing.T) {
	other := strings.ReplaceAll(configMap, "  name: settings\n", "  name: settings\n  namespace: other\n")
	root := tree(t, map[string]string{
		"kustomization.yaml": "resources: [a.yaml, b.yaml, n.yaml]\n",
		"a.yaml":             configMap, "b.yaml": other,
		"n.yaml": "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: other\n",
	})
	got, err := Build(root, root, Options{})
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	written, err := got.Files()
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range written {
		files[name] = string(content)
	}
	want := map[string]string{
		"default_v1_configmap_settings.yaml": configMap, "other_v1_configmap_settings.yaml": other,
		"v1_namespace_other.yaml": "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: other\n",
	}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Error(diff)
	}
}

// TestBuildFilesWithOtherNames builds a folder beside files whose names the library cannot have in memory.
func TestBuildFilesWithOtherNames(t *testing.T) {
	t.Parallel()
	const object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
	files := map[string][]byte{
		"config/default/kustomization.yaml": []byte("resources: [a.yaml]\n"), "config/default/a.yaml": []byte(object),
		"config/default/a b.yaml": []byte(object), "config/notes@home/ä.md": nil,
	}
	if built, err := BuildFiles(files, "config/default", Options{}); err != nil || len(built.Objects) != 1 {
		t.Errorf("got %v, error %v", built, err)
	}
	files["config/default/kustomization.yaml"] = []byte("resources: [a b.yaml]\n")
	if _, err := BuildFiles(files, "config/default", Options{}); err == nil || !strings.Contains(err.Error(), "a b.yaml") {
		t.Errorf("a resource with a space in its name: error %v", err)
	}
}

// TestBuildQuietly builds kustomizations with deprecated fields without warnings: the objects are the same.
func TestBuildQuietly(t *testing.T) {
	t.Parallel()
	const object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
	for _, fields := range []string{
		"bases: [../base]\n",
		"resources: [a.yaml]\npatchesStrategicMerge:\n- p.yaml\n",
		"resources: [a.yaml]\npatchesStrategicMerge:\n- |\n  {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {x: z}}\n",
		"resources: [a.yaml]\npatchesStrategicMerge:\n- '{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"a\"}, \"data\": {\"x\": \"z\"}}'\n",
		"resources: [a.yaml]\npatchesJson6902:\n- {target: {version: v1, kind: ConfigMap, name: a}, path: j.yaml}\n",
		"resources: [a.yaml]\ncommonLabels: {app: b}\n",
		"resources: [a.yaml]\nbases: wrong\n",
	} {
		files := map[string][]byte{
			"default/kustomization.yaml": []byte(fields), "default/a.yaml": []byte(object), "default/p.yaml": []byte(object + "data: {x: y}\n"),
			"default/j.yaml":          []byte("- {op: add, path: /data, value: {x: y}}\n"),
			"base/kustomization.yaml": []byte("resources: [a.yaml]\n"), "base/a.yaml": []byte(object),
		}
		loud, err := BuildFiles(files, "default", Options{})
		quiet, quietErr := BuildFiles(files, "default", Options{Quiet: true})
		if (err == nil) != (quietErr == nil) {
			t.Errorf("%s: error %v, quietly %v", fields, err, quietErr)
			continue
		}
		if err != nil {
			continue
		}
		if diff := cmp.Diff(loud.Objects[0].Object, quiet.Objects[0].Object); diff != "" {
			t.Errorf("%s: (-loud +quiet):\n%s", fields, diff)
		}
	}
}
