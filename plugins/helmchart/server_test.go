package helmchart

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/operon-dev/operon/internal/testkit/servertest"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/cli"
	"helm.sh/helm/v3/pkg/kube"
	"helm.sh/helm/v3/pkg/storage/driver"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/resource"
)

// TestServer installs, upgrades and uninstalls the chart of each golden project with Helm on an API server. Kinds
// of cert-manager and Prometheus are not installed.
func TestServer(t *testing.T) {
	s := servertest.Start(t)
	t.Setenv("KUBECACHEDIR", t.TempDir())
	kubeconfig := s.Kubeconfig("")
	for _, name := range goProjects(t) {
		t.Run(name, func(t *testing.T) { testRelease(t, kubeconfig, name, write(t, disk(t, name))) })
	}
}

// testRelease follows the chart of a project from the first installation until its last object is deleted.
func testRelease(t *testing.T, kubeconfig, name string, files map[string][]byte) {
	h := newHelm(t, kubeconfig, name, files)
	first := h.install("{metrics: {enable: false}, rbac: {helpers: {enabled: false}}}")
	second := h.upgrade("{fullnameOverride: sea, networkPolicy: {enabled: true}, metrics: {port: 9000}, manager: {replicas: 2, strategy: {type: Recreate}, env: [{name: A, value: b}]}}")
	h.wantGone(first.Difference(second))
	deployment := second.Filter(func(i *resource.Info) bool { return i.Name == "sea-controller-manager" && isKind(i, "Deployment") })
	h.wantServed(deployment)
	if replicas, _, err := unstructured.NestedInt64(deployment[0].Object.(*unstructured.Unstructured).Object, "spec", "replicas"); err != nil || replicas != 2 {
		t.Errorf("%d replicas, %v", replicas, err)
	}
	third := h.upgrade("{networkPolicy: {enabled: true}}")
	h.wantGone(second.Difference(third))

	// CRDs, and with them the objects of their kinds, outlive the release, unless the user decides otherwise.
	h.uninstall()
	crds := third.Filter(func(i *resource.Info) bool { return isKind(i, "CustomResourceDefinition") })
	h.wantServed(crds)
	h.wantGone(third.Difference(crds))
	last := h.install("{crd: {keep: false}}")
	h.uninstall()
	h.wantGone(last)
}

func isKind(i *resource.Info, kind string) bool { return i.Mapping.GroupVersionKind.Kind == kind }

// helmClient runs Helm with one chart, release and namespace.
type helmClient struct {
	*testing.T
	config          *action.Configuration
	chart           *chart.Chart
	name, namespace string // of the release
}

const releaseTimeout = time.Minute

func newHelm(t *testing.T, kubeconfig, name string, files map[string][]byte) helmClient {
	t.Helper()
	h := helmClient{t, &action.Configuration{}, nil, name, name + "-system"}
	settings := cli.New()
	settings.KubeConfig = kubeconfig
	settings.SetNamespace(h.namespace)
	if err := h.config.Init(settings.RESTClientGetter(), h.namespace, driver.SecretsDriverName, t.Logf); err != nil {
		t.Fatal(err)
	}
	var buffered []*loader.BufferedFile
	for _, file := range slices.Sorted(maps.Keys(files)) {
		buffered = append(buffered, &loader.BufferedFile{Name: file, Data: files[file]})
	}
	var err error
	if h.chart, err = loader.LoadFiles(buffered); err != nil {
		t.Fatal(err)
	}
	return h
}

// values decodes values, and disables what needs kinds of cert-manager.
func (h helmClient) values(text string) map[string]any {
	h.Helper()
	all := parse(h.T, text)
	all["certManager"] = map[string]any{"enabled": false}
	return all
}

// install installs the chart and returns the objects of the release.
func (h helmClient) install(values string) kube.ResourceList {
	h.Helper()
	i := action.NewInstall(h.config)
	i.ReleaseName, i.Namespace, i.CreateNamespace, i.Timeout = h.name, h.namespace, true, releaseTimeout
	r, err := i.RunWithContext(h.Context(), h.chart, h.values(values))
	if err != nil {
		h.Fatalf("install with %s: %v", values, err)
	}
	return h.objects(r.Manifest)
}

// upgrade upgrades the release to other values and returns its objects.
func (h helmClient) upgrade(values string) kube.ResourceList {
	h.Helper()
	u := action.NewUpgrade(h.config)
	u.Namespace, u.ResetValues, u.Timeout = h.namespace, true, releaseTimeout
	r, err := u.RunWithContext(h.Context(), h.name, h.chart, h.values(values))
	if err != nil {
		h.Fatalf("upgrade to %s: %v", values, err)
	}
	return h.objects(r.Manifest)
}

// uninstall uninstalls the release, and waits until its objects are deleted.
func (h helmClient) uninstall() {
	h.Helper()
	u := action.NewUninstall(h.config)
	u.Wait, u.Timeout = true, releaseTimeout
	if _, err := u.Run(h.name); err != nil {
		h.Fatalf("uninstall: %v", err)
	}
}

// objects returns the objects of a release, which the API server has.
func (h helmClient) objects(manifest string) kube.ResourceList {
	h.Helper()
	all, err := h.config.KubeClient.Build(strings.NewReader(manifest), true)
	if err != nil {
		h.Fatal(err)
	}
	h.wantServed(all)
	return all
}

// wantServed checks that the API server has the objects, and reads them.
func (h helmClient) wantServed(all kube.ResourceList) {
	h.Helper()
	if len(all) == 0 {
		h.Fatal("there are no objects")
	}
	for _, i := range all {
		if err := i.Get(); err != nil {
			h.Errorf("%s: %v", i.ObjectName(), err)
		}
	}
}

// wantGone checks that the API server does not have the objects.
func (h helmClient) wantGone(all kube.ResourceList) {
	h.Helper()
	for _, i := range all {
		if err := i.Get(); !apierrors.IsNotFound(err) {
			h.Errorf("%s still exists: %v", i.ObjectName(), err)
		}
	}
}
