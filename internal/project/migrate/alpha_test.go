package migrate

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/project"
)

func TestAlpha(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"config/crd/bases/cache.example.com_memcacheds.yaml": "spec:\n  names:\n    kind: Memcached\n  scope: Namespaced\n",
		"config/crd/bases/cache.example.com_fleets.yaml":     "spec:\n  scope: Cluster\n",
		"controllers/memcached_controller.go":                "package controllers\n\nfunc (r *MemcachedReconciler) Reconcile() {}\n",
		"controllers/deployment_controller.go":               "package controllers\n\nfunc (r *DeploymentReconciler) Reconcile() {}\n",
		"api/v1alpha1/memcached_webhook.go":                  "package v1alpha1\n\nfunc (r *Memcached) Default() {}\n",
	}
	src := `# ours
domain: example.com
layout: go.kubebuilder.io/v3
projectName: memcached-operator # the name
repo: github.com/example/memcached-operator
resources:
- crdVersion: v1
  group: cache
  kind: Memcached # in memory
  version: v1alpha1
  webhookVersion: v1
- crdVersion: v1
  group: cache
  kind: Fleet
  version: v1
- group: apps
  kind: Deployment
  version: v1
version: 3-alpha
plugins:
  manifests.sdk.operatorframework.io/v2: {}
`
	read := func(name string) ([]byte, error) {
		if content, ok := files[name]; ok {
			return []byte(content), nil
		}
		return nil, errors.New("missing")
	}
	got, err := Alpha([]byte(src), read)
	if err != nil {
		t.Fatal(err)
	}
	c, err := project.Parse(got)
	if err != nil {
		t.Fatalf("%v\n%s", err, got)
	}
	want := []project.Resource{
		{
			Group: "cache", Domain: "example.com", Version: "v1alpha1", Kind: "Memcached", Path: "github.com/example/memcached-operator/api/v1alpha1",
			API: &project.API{CRDVersion: "v1", Namespaced: true}, Controller: true, Webhooks: &project.Webhooks{WebhookVersion: "v1", Defaulting: true},
		},
		{Group: "cache", Domain: "example.com", Version: "v1", Kind: "Fleet", Path: "github.com/example/memcached-operator/api/v1", API: &project.API{CRDVersion: "v1"}},
		{Group: "apps", Version: "v1", Kind: "Deployment", Path: "k8s.io/api/apps/v1", Core: true, Controller: true},
	}
	if diff := cmp.Diff(want, c.Resources); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	for _, line := range []string{"# ours\n", "memcached-operator # the name\n", "kind: Memcached # in memory\n", "- go.kubebuilder.io/v3\n", "manifests.sdk.operatorframework.io/v2: {}\n", `version: "3"`} {
		if !strings.Contains(string(got), line) {
			t.Errorf("%q is missing:\n%s", line, got)
		}
	}
	again, err := Alpha(got, read)
	if err != nil || string(again) != string(got) {
		t.Errorf("a repeat changes the file (%v):\n%s", err, cmp.Diff(string(got), string(again)))
	}
	for src, want := range map[string]string{
		"version: \"2\"\n":                            `1:10: project version "2" is not supported`,
		"version: 3-alpha\nresources: [a]":            "2:13: the resource is not a mapping",
		"version: 3-alpha\nresources: [{group: a}]\n": "2:13: the resource has no kind",
		"version: [": "1:",
	} {
		if _, err := Alpha([]byte(src), read); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", src, err, want)
		}
	}
}

// TestAlphaLayouts checks projects without Go, and those with several groups.
func TestAlphaLayouts(t *testing.T) {
	t.Parallel()
	read := func(name string) ([]byte, error) {
		if name == "controllers/cache/memcached_controller.go" {
			return []byte("func main() {}\n"), nil
		}
		return nil, errors.New("missing")
	}
	for src, want := range map[string]project.Resource{
		"layout: helm.sdk.operatorframework.io/v1\n": {Group: "cache", Domain: "example.com", Version: "v1", Kind: "Memcached", API: &project.API{CRDVersion: "v1", Namespaced: true}},
		"layout: go.kubebuilder.io/v3\nrepo: example.com/m\nmultigroup: true\n": {
			Group: "cache", Domain: "example.com", Version: "v1", Kind: "Memcached", API: &project.API{CRDVersion: "v1", Namespaced: true}, Path: "example.com/m/apis/cache/v1", Controller: true,
		},
	} {
		got, err := Alpha([]byte(src+"domain: example.com\nresources:\n- crdVersion: v1\n  group: cache\n  kind: Memcached\n  version: v1\nversion: 3-alpha\n"), read)
		if err != nil {
			t.Fatal(err)
		}
		c, err := project.Parse(got)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]project.Resource{want}, c.Resources); diff != "" {
			t.Errorf("%s-want +got\n%s", src, diff)
		}
	}
}
