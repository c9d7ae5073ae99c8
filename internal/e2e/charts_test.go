//go:build testall

package e2e

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"
)

// The finalizers of the two engines that can run charts.
const (
	moduleFinalizer = "uninstall-helm-release"
	imageFinalizer  = "helm.sdk.operatorframework.io/uninstall-release"
)

// TestCharts runs the engine of the golden project shops with the permissions that operon derives from
// its charts, and no others: the API server rejects none of its requests.
func TestCharts(t *testing.T) {
	t.Parallel()
	p := golden(t, "shops")
	i := install(t, cluster, p)
	namespace := cluster.namespace(t, "charts", nil)
	go finishPods(t.Context(), namespace)

	kept := i.kiosk(t, namespace, "kept") // another engine ran the operator before
	scraper, stranger := i.account(t, "scraper"), i.account(t, "stranger")
	i.grant(t, "scraper", "metrics-reader")
	wire := observe(t)
	kubeconfig := wire.kubeconfig(t, i.kubeconfig(t, i.pod(t).ServiceAccountName))
	m := i.run(t, "KUBECONFIG="+kubeconfig)
	t.Cleanup(func() { wire.review(t) })

	t.Run("metrics", func(t *testing.T) { testMetrics(t, m, &tls.Config{InsecureSkipVerify: true}, scraper, stranger) })
	t.Run("release", func(t *testing.T) { testRelease(t, i, namespace) })
	t.Run("takeover", func(t *testing.T) {
		awaitDeployed(t, kept, "InstallSuccessful")
		eventually(t, "replace the finalizer", func() error {
			o, err := cluster.get(t, kept)
			if err == nil && !slices.Equal(o.GetFinalizers(), []string{moduleFinalizer}) {
				err = fmt.Errorf("the finalizers are %v", o.GetFinalizers())
			}
			return err
		})
		if err := cluster.delete(t, kept); err != nil {
			t.Fatal(err)
		}
		wantGone(t, kept)
	})
	t.Run("run", func(t *testing.T) { testRun(t, i, m, kubeconfig, namespace) })
}

// testRun stops the engine of the tests and runs the operator of a copy of the project with operon run. An
// object follows a chart that is saved.
func testRun(t *testing.T, i *installation, engine *manager, kubeconfig, namespace string) {
	engine.stop(t)
	dir := i.copy(t)
	program, err := os.ReadFile(i.manager) // so that operon need not link it again
	if err == nil {
		err = os.MkdirAll(filepath.Join(dir, "bin"), 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "bin", "manager"), program, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	var output log
	run, err := start("operon", func(cmd *exec.Cmd) {
		cmd.Args = append(cmd.Args, "run", "--kubeconfig", kubeconfig)
		cmd.Env = append(os.Environ(), "GOPROXY=off", "GOWORK=off", "GOFLAGS="+os.Getenv("GOFLAGS")+" '-ldflags=-s -w'") // as the tests build it
		cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &output, &output
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		run.stop()
		if run.err != nil {
			t.Errorf("operon run: %v", run.err)
		}
		if t.Failed() {
			t.Log(output.String())
		}
	})
	kiosk := i.kiosk(t, namespace, "run")
	awaitDeployed(t, kiosk, "InstallSuccessful")
	const warning = "warning: the cluster has "
	if strings.Contains(output.String(), warning) {
		t.Error("a warning about CRDs that the cluster has")
	}
	chart := filepath.Join(dir, "helm-charts", "kiosk")
	for file, edit := range map[string][2]string{
		"templates/service.yaml": {"metadata:\n", "metadata:\n  annotations: {saved: again}\n"},
		"values.yaml":            {"replicas: ", "open: true\nreplicas: "}, // the CRD follows
	} {
		content, err := os.ReadFile(filepath.Join(chart, file))
		if err == nil {
			err = os.WriteFile(filepath.Join(chart, file), []byte(strings.Replace(string(content), edit[0], edit[1], 1)), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "warn about the CRD", func() error {
		want := warning + "another schema of CRD kiosks.stores.example.org: run KUBECONFIG=" + kubeconfig + " make install, or operon run --install\n"
		if !strings.Contains(output.String(), want) {
			return errors.New("no " + want)
		}
		return nil
	})
	eventually(t, "install the chart that was saved", func() error {
		for _, o := range awaitDeployed(t, kiosk, "UpgradeSuccessful") {
			if o.GetKind() == "Service" && o.GetAnnotations()["saved"] == "again" {
				return nil
			}
		}
		return fmt.Errorf("the Service has no annotation")
	})
	if err := cluster.delete(t, kiosk); err != nil {
		t.Fatal(err)
	}
	wantGone(t, kiosk)
}

// testRelease installs, upgrades, repairs and uninstalls a release.
func testRelease(t *testing.T, i *installation, namespace string) {
	shop := i.sample(t, "stores_v1_shop.yaml")
	shop.SetNamespace(namespace)
	mustCreate(t, shop)
	installed := awaitDeployed(t, shop, "InstallSuccessful")
	wantExist(t, installed)
	wantTested(t, i, installed, shop)

	// These values enable all parts of the chart.
	values, err := os.ReadFile(filepath.Join(i.dir, "helm-charts", "shop", "ci", "full-values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	full, err := yaml.YAMLToJSON(values)
	if err != nil {
		t.Fatal(err)
	}
	patched(t, shop, `{"spec":`+string(full)+`}`)
	patched(t, shop, `{"spec":{"autoscaling":{"enabled":true}}}`)
	upgraded := awaitDeployed(t, shop, "UpgradeSuccessful")
	if len(upgraded) <= len(installed) {
		t.Errorf("the release has %d objects after the upgrade, and had %d", len(upgraded), len(installed))
	}
	wantExist(t, upgraded)
	now, err := cluster.get(t, shop)
	if err != nil {
		t.Fatal(err)
	}
	wantTested(t, i, upgraded, shop, now)

	for _, o := range upgraded {
		switch o.GetKind() {
		case "ConfigMap":
			patched(t, o, `{"data":{"host":"drifted"}}`)
		case "Service":
			if err := cluster.delete(t, o); err != nil {
				t.Fatal(err)
			}
		}
	}
	eventually(t, "repair the release", func() error {
		for _, o := range upgraded {
			now, err := cluster.get(t, o)
			if err != nil {
				return err
			}
			if o.GetKind() == "ConfigMap" && at(now, "data", "host") != at(o, "data", "host") {
				return fmt.Errorf("ConfigMap %s has drifted", o.GetName())
			}
		}
		return nil
	})

	if err := cluster.delete(t, shop); err != nil {
		t.Fatal(err)
	}
	wantGone(t, shop)
	for _, o := range upgraded {
		if o.GetAnnotations()["helm.sh/resource-policy"] == "keep" {
			wantExist(t, []*unstructured.Unstructured{o})
			continue
		}
		wantGone(t, o)
	}
}

// kiosk creates a Kiosk that another engine has reconciled.
func (i *installation) kiosk(t *testing.T, namespace, name string) *unstructured.Unstructured {
	t.Helper()
	o := i.sample(t, "stores_v1alpha1_kiosk.yaml")
	o.SetNamespace(namespace)
	o.SetName(name)
	o.SetFinalizers([]string{imageFinalizer})
	return mustCreate(t, o)
}

// awaitDeployed waits until the release of an object has the status and no step failed, and returns the
// objects of the release.
func awaitDeployed(t *testing.T, o *unstructured.Unstructured, reason string) (all []*unstructured.Unstructured) {
	t.Helper()
	eventually(t, fmt.Sprintf("deploy %s %s: %s", o.GetKind(), o.GetName(), reason), func() error {
		now, err := cluster.get(t, o)
		if err != nil {
			return err
		}
		conditions, _, _ := unstructured.NestedSlice(now.Object, "status", "conditions")
		deployed := slices.ContainsFunc(conditions, func(c any) bool {
			m := c.(map[string]any)
			return m["type"] == "Deployed" && m["status"] == "True" && m["reason"] == reason
		})
		manifest, _ := at(now, "status", "deployedRelease", "manifest").(string)
		if !deployed || manifest == "" || !slices.Contains(now.GetFinalizers(), moduleFinalizer) {
			return fmt.Errorf("the finalizers are %v, the conditions %v", now.GetFinalizers(), conditions)
		}
		all = objects(t, manifest)
		return nil
	})
	for _, part := range all {
		if part.GetNamespace() == "" {
			part.SetNamespace(o.GetNamespace())
		}
	}
	return all
}

func wantExist(t *testing.T, all []*unstructured.Unstructured) {
	t.Helper()
	for _, o := range all {
		if _, err := cluster.get(t, o); err != nil {
			t.Errorf("%s %s: %v", o.GetKind(), o.GetName(), err)
		}
	}
}

// wantTested runs a chart test in which the custom resource has states, one after the other, and which
// expects the objects that the real engine made.
func wantTested(t *testing.T, i *installation, objects []*unstructured.Unstructured, states ...*unstructured.Unstructured) {
	t.Helper()
	monitors, err := cluster.get(t, &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "servicemonitors.monitoring.coreos.com"}}})
	if err != nil {
		t.Fatal(err)
	}
	var events, expected []any
	for _, o := range states {
		events = append(events, map[string]any{"apply": map[string]any{"apiVersion": o.GetAPIVersion(), "kind": o.GetKind(), "spec": o.Object["spec"],
			"metadata": map[string]any{"name": o.GetName(), "namespace": o.GetNamespace()}}})
	}
	for _, o := range objects {
		made, err := cluster.get(t, o)
		if err != nil {
			t.Fatal(err)
		}
		o = o.DeepCopy()
		o.SetLabels(made.GetLabels())
		annotations := made.GetAnnotations()
		delete(annotations, "deployment.kubernetes.io/revision") // of kube-controller-manager
		o.SetAnnotations(annotations)
		delete(o.Object, "stringData") // an API server stores data
		owners, _, _ := unstructured.NestedSlice(made.Object, "metadata", "ownerReferences")
		for _, owner := range owners {
			delete(owner.(map[string]any), "uid")
		}
		if err := unstructured.SetNestedSlice(o.Object, owners, "metadata", "ownerReferences"); err != nil {
			t.Fatal(err)
		}
		expected = append(expected, o.Object)
	}
	text, err := yaml.Marshal(map[string]any{"kind": states[0].GetKind(), "tests": []any{map[string]any{
		"name": "the real engine", "given": []any{monitors.Object}, "events": events, "expect": map[string]any{"objects": expected}}}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "test.yaml")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := command(i.dir, "operon", "chart", "test", file); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func wantGone(t *testing.T, o *unstructured.Unstructured) {
	t.Helper()
	eventually(t, "delete "+o.GetKind()+" "+o.GetName(), func() error {
		now, err := cluster.get(t, o)
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err == nil {
			err = fmt.Errorf("the finalizers are %v", now.GetFinalizers())
		}
		return err
	})
}

// finishPods reports that pods of a namespace have succeeded, as a kubelet would for the pods of the tests and
// jobs of a release. A ReplicaSet or StatefulSet would replace a pod that ends, again and again.
func finishPods(ctx context.Context, namespace string) {
	pods := cluster.client.CoreV1().Pods(namespace)
	for ; ctx.Err() == nil; time.Sleep(interval) {
		all, err := pods.List(ctx, metav1.ListOptions{FieldSelector: "status.phase=Pending"})
		if err != nil {
			continue // the test shows whether it matters
		}
		for _, p := range all.Items {
			if owner := metav1.GetControllerOf(&p); owner != nil && owner.Kind != "Job" {
				continue
			}
			_, _ = pods.Patch(ctx, p.Name, types.MergePatchType, []byte(`{"status":{"phase":"Succeeded"}}`), metav1.PatchOptions{}, "status")
		}
	}
}

// wire is a proxy in front of the API server. It counts the answers to one client.
type wire struct {
	url       string
	authority []byte // the certificate, in PEM
	mu        sync.Mutex
	answers   map[int]int // by status code
	rejected  []string
}

// observe starts a wire.
func observe(t *testing.T) *wire {
	t.Helper()
	target, err := url.Parse(cluster.config.Host)
	if err != nil {
		t.Fatal(err)
	}
	server := rest.AnonymousClientConfig(cluster.config) // the client sends its token
	transport, err := rest.TransportFor(server)
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{answers: map[int]int{}}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, Transport: transport, FlushInterval: -1, ModifyResponse: w.count,
	}
	front := httptest.NewTLSServer(proxy)
	t.Cleanup(func() {
		front.CloseClientConnections() // of watches
		front.Close()
	})
	w.url, w.authority = front.URL, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: front.Certificate().Raw})
	return w
}

// count counts an answer. An object that is missing, exists or has changed is no rejection, and neither is
// an API that is not served yet.
func (w *wire) count(r *http.Response) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answers[r.StatusCode]++
	normal := []int{http.StatusNotFound, http.StatusConflict, http.StatusTooManyRequests}
	if r.StatusCode < http.StatusBadRequest || slices.Contains(normal, r.StatusCode) || probesNamespace(r) {
		return nil
	}
	w.rejected = append(w.rejected, fmt.Sprintf("%s %s: %s", r.Request.Method, r.Request.URL.Path, r.Status))
	return nil
}

// probesNamespace reports whether a request only asks whether the cause of a missing object is a missing
// namespace. Helm ignores that it may not know: the namespace is the custom resource's.
func probesNamespace(r *http.Response) bool {
	return r.StatusCode == http.StatusForbidden && r.Request.Method == http.MethodGet && path.Dir(r.Request.URL.Path) == "/api/v1/namespaces"
}

// review fails the test if the API server rejected a request.
func (w *wire) review(t *testing.T) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.rejected) > 0 {
		t.Errorf("the API server rejected %d requests:\n%s", len(w.rejected), strings.Join(w.rejected, "\n"))
	}
	for _, code := range slices.Sorted(maps.Keys(w.answers)) {
		t.Logf("status %d: %d answers", code, w.answers[code])
	}
}

// kubeconfig copies a kubeconfig, and replaces the server.
func (w *wire) kubeconfig(t *testing.T, from string) string {
	t.Helper()
	config, err := clientcmd.LoadFromFile(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range config.Clusters {
		c.Server, c.CertificateAuthority, c.CertificateAuthorityData = w.url, "", w.authority
	}
	name := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, name); err != nil {
		t.Fatal(err)
	}
	return name
}
