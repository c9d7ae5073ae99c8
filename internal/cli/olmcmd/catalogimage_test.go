//go:build testall

package olmcmd

import (
	"bytes"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/image"
	"github.com/operon-dev/operon/internal/olm/bundle"
	"github.com/operon-dev/operon/internal/olm/catalog"
	"github.com/operon-dev/operon/internal/olm/cluster"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
	"sigs.k8s.io/yaml"
)

// testRegistry starts a registry, and returns its host and options that use it.
func testRegistry(t *testing.T, wrap func(http.Handler) http.Handler) (host string, o *runOptions) {
	t.Helper()
	server := httptest.NewServer(wrap(registry.New(registry.Logger(log.New(io.Discard, "", 0)))))
	t.Cleanup(server.Close)
	o = &runOptions{}
	o.source.Registry = image.Registry{PlainHTTP: true}
	return strings.TrimPrefix(server.URL, "http://"), o
}

func unwrapped(h http.Handler) http.Handler { return h }

// pushImage pushes an image, and returns its reference by digest.
func pushImage(t *testing.T, r image.Registry, ref string, labels map[string]string, files ...image.File) string {
	t.Helper()
	base, err := image.Scratch(v1.Platform{OS: "linux", Architecture: "amd64"})
	if err != nil {
		t.Fatal(err)
	}
	img, err := image.Build(t.Context(), base, files, image.Config{Labels: labels}, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Push(t.Context(), ref, image.Content{Image: img}); err != nil {
		t.Fatal(err)
	}
	return resolve(t, r, ref)
}

func resolve(t *testing.T, r image.Registry, ref string) string {
	t.Helper()
	resolved, err := r.Resolve(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

// TestPush expects that a push replaces only a catalog that operon pushed for the package, whose image
// keeps a tag.
func TestPush(t *testing.T) {
	t.Parallel()
	host, o := testRegistry(t, unwrapped)
	a, r := &command.App{Err: io.Discard}, o.source.Registry
	for name, labels := range map[string]map[string]string{"production": catalog.Labels(), "harbor": cluster.Labels("harbor")} {
		ref := host + "/catalog:" + name
		before := pushImage(t, r, ref, labels)
		_, err := o.push(t.Context(), a, ref, "fleet", []byte("{}"))
		if err == nil || !strings.Contains(err.Error(), ref+" exists, and operon run bundle did not push it for package fleet") || !strings.Contains(fault.HintOf(err), host+"/catalog:run-bundle-fleet") {
			t.Errorf("%s: error %v, hint %q", name, err, fault.HintOf(err))
		}
		if now := resolve(t, r, ref); now != before {
			t.Errorf("%s: the tag is %s, was %s", name, now, before)
		}
	}
	ref := host + "/catalog:fleet"
	for _, content := range []string{`{"version": 1}`, `{"version": 2}`} {
		pushed, err := o.push(t.Context(), a, ref, "fleet", []byte(content))
		if err != nil {
			t.Fatal(err)
		}
		_, sum, _ := strings.Cut(pushed, "@sha256:")
		if now := resolve(t, r, ref); now != pushed {
			t.Errorf("the tag is %s, want %s", now, pushed)
		}
		if keeps := resolve(t, r, ref+"-"+sum[:12]); keeps != pushed {
			t.Errorf("the kept tag is %s, want %s", keeps, pushed)
		}
	}
	if _, err := o.push(t.Context(), a, host+"/catalog:"+strings.Repeat("x", 128), "fleet", nil); err != nil {
		t.Errorf("with a long tag: %v", err)
	}
}

const (
	crdV0 = `
- {apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: subscriptions.operators.coreos.com}}`
	crdV1 = `
- {apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: clusterextensions.olm.operatorframework.io}}`
	fleetExtension = `
- apiVersion: olm.operatorframework.io/v1
  kind: ClusterExtension
  metadata: {name: fleet}
  spec: {namespace: ships, source: {catalog: {packageName: fleet}}}`
	fleetCatalog = `
- apiVersion: olm.operatorframework.io/v1
  kind: ClusterCatalog
  metadata: {name: operon-fleet, labels: {app.kubernetes.io/managed-by: operon}, annotations: {operon.dev/catalog-image: "TAG"}}
  spec: {source: {image: {ref: example.org/catalog@sha256:0000000000000000000000000000000000000000000000000000000000000000}}}`
)

// testCluster returns a cluster in memory with the objects in a list.
func testCluster(t *testing.T, list string) *cluster.Client {
	t.Helper()
	var all []map[string]any
	if err := yaml.Unmarshal([]byte(list), &all); err != nil {
		t.Fatal(err)
	}
	var objects []runtime.Object
	for _, o := range all {
		objects = append(objects, &unstructured.Unstructured{Object: o})
	}
	return &cluster.Client{Objects: fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{
		{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}: "CustomResourceDefinitionList",
		{Group: "olm.operatorframework.io", Version: "v1", Resource: "clusterextensions"}:     "ClusterExtensionList",
		{Group: "olm.operatorframework.io", Version: "v1", Resource: "clustercatalogs"}:       "ClusterCatalogList",
	}, objects...)}
}

// TestVersion expects that the version of OLM that has installed a package also upgrades it, and that
// only a tag beside the image that OLM reads is pushed without the flag.
func TestVersion(t *testing.T) {
	t.Parallel()
	both := crdV0 + crdV1
	catalogAt := func(tag string) string { return both + fleetExtension + strings.ReplaceAll(fleetCatalog, "TAG", tag) }
	for name, tt := range map[string]struct {
		cluster, flag string
		v1            bool
		ref           string
		err           string // of the push, or else of the choice
	}{
		"only v0":             {cluster: crdV0},
		"flag without v1":     {cluster: crdV0, flag: "example.org/x:y", err: "--catalog-image is for OLM v1"},
		"both":                {cluster: both},
		"both, flag":          {cluster: both, flag: "example.org/x:y", v1: true, ref: "example.org/x:y"},
		"both, installed":     {cluster: catalogAt("example.org/catalog:dev"), v1: true, ref: "example.org/catalog:dev"},
		"only v1":             {cluster: crdV1, v1: true, err: "OLM v1 installs fleet only from the image of a catalog"},
		"another user's":      {cluster: both + fleetExtension, v1: true, err: "OLM v1 installs fleet only from the image of a catalog"},
		"another repository":  {cluster: catalogAt("evil.example.org/catalog:dev"), v1: true, err: "names evil.example.org/catalog:dev, and OLM reads example.org/catalog@"},
		"not a tag":           {cluster: catalogAt("Example.org/Catalog:dev"), v1: true, err: "which is not the tag of an image"},
		"digest":              {cluster: catalogAt("example.org/catalog@sha256:0"), v1: true, err: "which is not the tag of an image"},
		"flag instead of tag": {cluster: catalogAt("evil.example.org/catalog:dev"), flag: "example.org/x:y", v1: true, ref: "example.org/x:y"},
	} {
		o := &runOptions{catalogImage: tt.flag, pod: cluster.Pod{Bundle: "example.org/fleet@sha256:" + strings.Repeat("1", 64)}}
		b := &bundle.Bundle{Annotations: map[string]string{bundle.PackageKey: "fleet"}}
		client := testCluster(t, tt.cluster)
		has, err := o.versions(t.Context(), client)
		var c cluster.Catalog
		if err == nil {
			c, err = o.catalog(t.Context(), &command.App{Err: io.Discard}, &cobra.Command{}, client, has, cluster.Options{Bundle: b}, o.pod.Bundle)
		}
		made, v1 := c.(cluster.CatalogImage)
		if v1 != tt.v1 || made.Ref != tt.ref {
			t.Errorf("%s: v1 %v, image %q, error %v", name, v1, made.Ref, err)
			continue
		}
		if v1 && tt.err != "" {
			_, err = made.Push(t.Context(), nil)
		}
		if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err) || fault.HintOf(err) == "") {
			t.Errorf("%s: error %v, hint %q", name, err, fault.HintOf(err))
		}
	}
}

// TestMovedTag expects that OLM gets the image of the bundle that operon has read.
func TestMovedTag(t *testing.T) {
	t.Parallel()
	var move func()
	host, o := testRegistry(t, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h.ServeHTTP(w, r)
			if f := move; f != nil && strings.HasSuffix(r.URL.Path, "/manifests/v1") {
				move = nil
				f()
			}
		})
	})
	ref := host + "/fleet:v1"
	push := func(name string) string {
		return pushImage(t, o.source.Registry, ref, nil, image.Text(bundle.AnnotationsFile, []byte("annotations: {"+bundle.PackageKey+": fleet}")),
			image.Text("manifests/csv.yaml", []byte("{kind: ClusterServiceVersion, metadata: {name: "+name+"}, spec: {version: 0.1.0}}")))
	}
	first := push("fleet.v0.1.0")
	move = func() { push("fleet.v0.2.0") }
	var progress bytes.Buffer
	b, err := o.openBundle(t.Context(), &command.App{Err: &progress, Dir: t.TempDir()}, ref)
	if err != nil {
		t.Fatal(err)
	}
	if resolve(t, o.source.Registry, ref) == first {
		t.Fatal("the tag has not moved")
	}
	if b.Name() != "fleet.v0.1.0" || o.pod.Bundle != first {
		t.Errorf("read %s, OLM gets %s, want %s; %s", b.Name(), o.pod.Bundle, first, progress.String())
	}
}
