//go:build testall

package e2e

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// TestManifests applies everything that config/ of a project builds: each kustomize target,
// and config/default with all its optional parts. It uses a control plane of its own, and
// one target at a time, because the targets of all projects have the same names, and
// webhook configurations without a manager reject objects.
func TestManifests(t *testing.T) {
	t.Parallel()
	c := startControlPlane(t, "--name", fmt.Sprint("e2e-manifests-", os.Getpid()))
	c.provideExternalCRDs(t)
	c.apply(t, objects(t, `
{apiVersion: v1, kind: Namespace, metadata: {name: system}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: nobody, namespace: system}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: restricted, labels: {pod-security.kubernetes.io/enforce: restricted}}}
`)...)

	t.Run("strict", func(t *testing.T) {
		_, err := c.create(t, objects(t, `{apiVersion: monitoring.coreos.com/v1, kind: ServiceMonitor, `+
			`metadata: {name: strict, namespace: system}, spec: {selector: {}, endpoint: []}}`)[0])
		if err == nil || !strings.Contains(err.Error(), `unknown field "spec.endpoint"`) {
			t.Errorf("a field that is not in the schema: %v", err)
		}
	})
	goldens := filepath.Join("..", "..", "testdata", "golden")
	folders, err := os.ReadDir(goldens)
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		if !folder.IsDir() {
			continue
		}
		dir := filepath.Join(goldens, folder.Name())
		test := testManifests
		if hasLayout(t, dir, "addon.operon.dev/v1") {
			test = testModuleManifests
		}
		t.Run(folder.Name(), func(t *testing.T) { test(t, c, dir) })
	}
}

// hasLayout reports whether a project has a layout and no other one.
func hasLayout(t *testing.T, dir, layout string) bool {
	t.Helper()
	record, err := os.ReadFile(filepath.Join(dir, "PROJECT"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(record), "\nlayout:\n- "+layout+"\n")
}

func testManifests(t *testing.T, c *controlPlane, dir string) {
	// The samples come first: the CRDs in config/crd call a manager for conversions, and
	// none is running.
	bases := objectsOf(t, filepath.Join(dir, "config/crd/bases/*.yaml"))
	c.apply(t, bases...)
	for _, crd := range bases {
		eventually(t, "serve "+crd.GetName(), func() error { return c.established(t, crd) })
	}
	project := inMemory(t, dir)
	whole := kustomized(t, project, "config/default")
	c.apply(t, ofKind(whole, "Namespace")...)
	hooks := hasLayout(t, dir, shellLayout)
	if hooks {
		c.apply(t, namespacesOfRoles(whole)...)
	}
	t.Run("config/samples", func(t *testing.T) {
		samples := kustomized(t, project, "config/samples")
		if len(samples) == 0 {
			t.Error("no samples")
		}
		c.applyAndDelete(t, samples)
	})
	for _, target := range targets(t, project) {
		// An API server without OLM does not serve what bundles are made of. In projects of
		// hooks, config/default sets the namespace of the bindings in config/rbac.
		if target == "config/manifests" || target == "config/scorecard" {
			continue
		}
		if target == "config/samples" || hooks && target == "config/rbac" {
			continue
		}
		t.Run(target, func(t *testing.T) { c.applyAndDelete(t, kustomized(t, project, target)) })
	}
	for _, folder := range []string{"config/rbac", "config/samples"} {
		written := slices.DeleteFunc(objectsOf(t, filepath.Join(dir, folder, "*.yaml")), func(o *unstructured.Unstructured) bool {
			return o.GetKind() == "" // the kustomization
		})
		if built := kustomized(t, project, folder); len(built) != len(written) {
			t.Errorf("%s builds %d of the %d objects in its files", folder, len(built), len(written))
		}
	}
	t.Run("with all parts", func(t *testing.T) {
		switchOn(t, project, "config")
		all := kustomized(t, project, "config/default")
		c.apply(t, all...)
		defer c.remove(t, all)
		// Without a manager, they would reject the objects that follow.
		c.remove(t, ofKind(all, "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"))
		t.Run("security", func(t *testing.T) { testSecurity(t, c, dir, project, all) })
	})
}

// applyAndDelete applies objects and deletes them.
func (c *controlPlane) applyAndDelete(t *testing.T, all []*unstructured.Unstructured) {
	t.Helper()
	c.apply(t, all...)
	c.remove(t, all)
}

// remove deletes objects that exist, except for namespaces and CRDs, whose deletion takes
// time.
func (c *controlPlane) remove(t *testing.T, all []*unstructured.Unstructured) {
	t.Helper()
	for _, o := range all {
		if kind := o.GetKind(); kind == "Namespace" || kind == "CustomResourceDefinition" {
			continue
		}
		if err := c.delete(t, o); err != nil && !apierrors.IsNotFound(err) {
			t.Error(err)
		}
	}
}

// ofKind returns the objects of some kinds.
func ofKind(all []*unstructured.Unstructured, kinds ...string) []*unstructured.Unstructured {
	return slices.DeleteFunc(slices.Clone(all), func(o *unstructured.Unstructured) bool {
		return !slices.Contains(kinds, o.GetKind())
	})
}

// targets returns the folders with a kustomization, sorted.
func targets(t *testing.T, project filesys.FileSystem) []string {
	t.Helper()
	var found []string
	err := project.Walk("config", func(name string, _ fs.FileInfo, err error) error {
		if path.Base(name) == "kustomization.yaml" {
			found = append(found, strings.TrimPrefix(path.Dir(name), "/"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(found)
	return found
}

// switchOn removes the "#" from all optional parts of the folder config.
func switchOn(t *testing.T, fsys filesys.FileSystem, config string) {
	t.Helper()
	// Hooks serve their metrics without TLS, even with cert-manager.
	certificates := fsys.Exists(filepath.Join(config, "certmanager", "kustomization.yaml")) &&
		fsys.Exists(filepath.Join(config, "default", "cert_metrics_manager_patch.yaml"))
	for _, on := range []struct {
		folder, lines string
		certificates  bool // whether the part uses cert-manager
	}{
		{"default", "#- ../prometheus\n", false},
		{"default", "#- ../network-policy\n", false},
		{"default", "#- path: cert_metrics_manager_patch.yaml\n#  target:\n#    kind: Deployment\n#    name: controller-manager\n", true},
		{"certmanager", "#- certificate-metrics.yaml\n", true},
		{"prometheus", "#patches:\n#- path: monitor_tls_patch.yaml\n#  target:\n#    kind: ServiceMonitor\n#    name: controller-manager-metrics-monitor\n", true},
	} {
		if !on.certificates || certificates {
			replace(t, fsys, filepath.Join(config, on.folder, "kustomization.yaml"), on.lines, strings.ReplaceAll(on.lines, "#", ""))
		}
	}
	if certificates {
		replace(t, fsys, filepath.Join(config, "default", "kustomization.yaml"), "\nreplacements: [{path: webhook_replacements.yaml}]\n",
			"\nreplacements: [{path: webhook_replacements.yaml}, {path: metrics_replacements.yaml}]\n")
	}
}

// replace replaces a text that occurs once in a file.
func replace(t *testing.T, fsys filesys.FileSystem, name, old, text string) {
	t.Helper()
	b, err := fsys.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(b), old) != 1 {
		t.Fatalf("%s must have %q once:\n%s", name, old, b)
	}
	if err := fsys.WriteFile(name, []byte(strings.Replace(string(b), old, text, 1))); err != nil {
		t.Fatal(err)
	}
}

// inMemory copies config/ of a project, for editing.
func inMemory(t *testing.T, dir string) filesys.FileSystem {
	t.Helper()
	memory, disk := filesys.MakeFsInMemory(), os.DirFS(dir)
	err := fs.WalkDir(disk, "config", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(disk, name)
		if err != nil {
			return err
		}
		return memory.WriteFile(name, b)
	})
	if err != nil {
		t.Fatal(err)
	}
	return memory
}

// kustomized returns the objects that kustomize builds from a folder.
func kustomized(t *testing.T, fsys filesys.FileSystem, dir string) []*unstructured.Unstructured {
	t.Helper()
	options := krusty.MakeDefaultOptions()
	options.Reorder = krusty.ReorderOptionLegacy // as in kubectl: namespaces and CRDs first
	all, err := krusty.MakeKustomizer(options).Run(fsys, dir)
	if err != nil {
		t.Fatalf("kustomize build %s: %v", dir, err)
	}
	yaml, err := all.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	return objects(t, string(yaml))
}

// objectsOf returns the objects in the files that match a pattern.
func objectsOf(t *testing.T, pattern string) []*unstructured.Unstructured {
	t.Helper()
	names := must(filepath.Glob(pattern))
	if len(names) == 0 {
		t.Fatalf("no file matches %s", pattern)
	}
	var all []*unstructured.Unstructured
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, objects(t, string(b))...)
	}
	return all
}
