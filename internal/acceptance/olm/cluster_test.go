//go:build testall

package olm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/peertest"
	"github.com/operon-dev/operon/internal/testkit/treetest"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// controlPlane is a control plane with controllers and a kubelet of the test.
type controlPlane struct {
	kubeconfig string
	config     *rest.Config
	objects    dynamic.Interface
}

// start starts a control plane. It ends with the test.
func start(t *testing.T) *controlPlane {
	t.Helper()
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	kubeconfig := strings.TrimSpace(operontest.Run(t, state, "envtest", "start", "--detach", "--controllers"))
	t.Cleanup(func() { operontest.Run(t, state, "envtest", "stop") })
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	config.WarningHandler = rest.NoWarnings{}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	c := &controlPlane{kubeconfig, config, objects}
	opm := &opmServers{opm: peertest.OLM(t, "opm"), folder: t.TempDir(), pods: map[types.UID]*opmServer{}}
	go c.kubelet(t.Context(), opm)
	return c
}

// patience is how long events may take that must happen; the machine may compile meanwhile.
const patience = 10 * time.Minute

// broken is a part of the names of images that the kubelet refuses, and slow of those that it never
// finishes to pull.
const (
	broken = "broken"
	slow   = "slow"
)

// kubelet reports that pods run, or that the names of their images are invalid, and removes deleted pods.
func (c *controlPlane) kubelet(ctx context.Context, opm *opmServers) {
	pods := c.objects.Resource(schema.GroupVersionResource{Version: "v1", Resource: "pods"})
	for ; ctx.Err() == nil; time.Sleep(200 * time.Millisecond) {
		all, err := pods.List(ctx, metav1.ListOptions{})
		if err != nil {
			continue // the next turn shows whether it matters
		}
		for _, p := range all.Items {
			if p.GetDeletionTimestamp() != nil {
				now := int64(0)
				_ = pods.Namespace(p.GetNamespace()).Delete(ctx, p.GetName(), metav1.DeleteOptions{GracePeriodSeconds: &now})
				continue
			}
			if phase, _, _ := unstructured.NestedString(p.Object, "status", "phase"); phase == "Running" {
				continue
			}
			containers, _, _ := unstructured.NestedSlice(p.Object, "spec", "containers")
			container := containers[0].(map[string]any)
			if strings.Contains(fmt.Sprint(container["image"]), slow) {
				continue
			}
			ip := "127.0.0.1"
			if container["name"] == "registry" {
				if ip = c.serve(ctx, opm, p); ip == "" {
					continue
				}
			}
			status := `{"phase":"Running","podIP":"` + ip + `","podIPs":[{"ip":"` + ip + `"}],"conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[{"name":%q,"image":%q,"imageID":"","ready":true,"restartCount":0,"state":{"running":{"startedAt":"2026-01-01T00:00:00Z"}}}]}`
			if image := fmt.Sprint(container["image"]); strings.Contains(image, broken) {
				status = `{"phase":"Pending","conditions":[{"type":"Ready","status":"False"}],"containerStatuses":[{"name":%q,"image":%q,"imageID":"","ready":false,"restartCount":0,"state":{"waiting":{"reason":"InvalidImageName","message":"cannot parse it"}}}]}`
			}
			patch := `{"status":` + fmt.Sprintf(status, container["name"], container["image"]) + `}`
			_, _ = pods.Namespace(p.GetNamespace()).Patch(ctx, p.GetName(), types.MergePatchType, []byte(patch), metav1.PatchOptions{}, "status")
		}
	}
}

// run runs operon, and returns its exit code and its output.
func (c *controlPlane) run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return c.wait(t, c.command(t, args...), func() {})
}

// runUntilPod runs operon, and sends it a signal when the namespace has a pod with an image whose name
// has this part.
func (c *controlPlane) runUntilPod(t *testing.T, namespace, image string, s os.Signal, args ...string) (code int, stderr string) {
	t.Helper()
	cmd := c.command(t, args...)
	code, _, stderr = c.wait(t, cmd, func() {
		defer func() { _ = cmd.Process.Signal(s) }()
		for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
			all, err := c.objects.Resource(gvr("v1/pods")).Namespace(namespace).List(t.Context(), metav1.ListOptions{})
			if err == nil && slices.ContainsFunc(all.Items, func(p unstructured.Unstructured) bool { return strings.Contains(imageOf(p), image) }) {
				return
			}
		}
		t.Errorf("namespace %s gets no pod with the image %s", namespace, image)
	})
	return code, stderr
}

// imageOf returns the image of the first container of a pod.
func imageOf(pod unstructured.Unstructured) string {
	containers, _, _ := unstructured.NestedSlice(pod.Object, "spec", "containers")
	return fmt.Sprint(containers[0].(map[string]any)["image"])
}

// command returns a run of operon. The machine may compile meanwhile, so OLM gets more time than
// the flag --timeout gives it by default.
func (c *controlPlane) command(t *testing.T, args ...string) *exec.Cmd {
	if !slices.Contains(args, "status") {
		args = append(slices.Clone(args), "--timeout", patience.String())
	}
	cmd := exec.Command("operon", args...)
	cmd.Dir, cmd.Env = t.TempDir(), operontest.Environ("KUBECONFIG="+c.kubeconfig)
	return cmd
}

// wait starts a command, calls a function, and waits for the end of the command.
func (c *controlPlane) wait(t *testing.T, cmd *exec.Cmd, running func()) (code int, stdout, stderr string) {
	t.Helper()
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	running()
	err := cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		t.Fatal(err)
	} else if ok {
		code = exit.ExitCode()
	}
	t.Logf("operon %s: exit code %d, %s\n%s%s", strings.Join(cmd.Args[1:], " "), code, time.Since(begin).Round(10*time.Millisecond), out.String(), errOut.String())
	return code, out.String(), errOut.String()
}

// expect runs operon, and compares its exit code and parts of its output.
func (c *controlPlane) expect(t *testing.T, want int, parts []string, args ...string) {
	t.Helper()
	code, stdout, stderr := c.run(t, args...)
	if code != want {
		t.Fatalf("operon %s: exit code %d, want %d", strings.Join(args, " "), code, want)
	}
	for _, part := range parts {
		if !strings.Contains(stdout+stderr, part) {
			t.Errorf("operon %s does not print %q", strings.Join(args, " "), part)
		}
	}
}

// get returns a field of an object, or "" if there is none.
func (c *controlPlane) get(t *testing.T, resource, namespace, name string, path ...string) string {
	t.Helper()
	o, err := c.objects.Resource(gvr(resource)).Namespace(namespace).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	value, _, _ := unstructured.NestedFieldNoCopy(o.Object, path...)
	return fmt.Sprint(value)
}

// gvr parses VERSION/RESOURCE or GROUP/VERSION/RESOURCE.
func gvr(s string) schema.GroupVersionResource {
	parts := strings.Split("/"+s, "/")
	parts = parts[max(0, len(parts)-3):]
	return schema.GroupVersionResource{Group: parts[0], Version: parts[1], Resource: parts[2]}
}

// namespace creates a namespace.
func (c *controlPlane) namespace(t *testing.T, name string) {
	t.Helper()
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}}}
	if _, err := c.objects.Resource(gvr("v1/namespaces")).Create(t.Context(), o, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// snapshot lists the objects in a namespace, and those in the cluster or in other namespaces whose
// name has one of the words. It leaves out what the control plane makes for each of them.
func (c *controlPlane) snapshot(t *testing.T, namespace string, words ...string) (names []string) {
	t.Helper()
	client, err := discovery.NewDiscoveryClientForConfig(c.config)
	if err != nil {
		t.Fatal(err)
	}
	lists, err := client.ServerPreferredResources()
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list.APIResources {
			if !slices.Contains(r.Verbs, "list") || slices.Contains([]string{"Event", "Lease", "Endpoints", "EndpointSlice", "IPAddress", "ComponentStatus"}, r.Kind) {
				continue
			}
			all, err := c.objects.Resource(gv.WithResource(r.Name)).List(t.Context(), metav1.ListOptions{})
			if err != nil {
				continue // its CRD is being deleted
			}
			for _, o := range all.Items {
				copied := o.GetLabels()["olm.copiedFrom"]
				switch {
				case o.GetName() == "kube-root-ca.crt" || r.Kind == "ServiceAccount" && o.GetName() == "default":
					continue // of every namespace
				case r.Kind == "ClusterServiceVersion" && copied != namespace && copied != "":
					continue // a copy of another operator
				case strings.HasSuffix(o.GetNamespace(), "-system") && o.GetNamespace() != namespace && copied == "":
					continue // of a test that runs at the same time
				}
				if o.GetNamespace() == namespace || slices.ContainsFunc(words, func(w string) bool { return strings.Contains(o.GetName(), w) }) {
					names = append(names, fmt.Sprintf("%s %s/%s", r.Kind, o.GetNamespace(), o.GetName()))
				}
			}
		}
	}
	slices.Sort(names)
	return names
}

// unchanged expects the objects of a snapshot. The garbage collector may take some seconds.
func (c *controlPlane) unchanged(t *testing.T, before []string, namespace string, words ...string) {
	t.Helper()
	var now []string
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(time.Second) {
		if now = c.snapshot(t, namespace, words...); slices.Equal(now, before) {
			return
		}
	}
	t.Errorf("objects:\n%s\nbefore:\n%s", strings.Join(now, "\n"), strings.Join(before, "\n"))
}

// installOLM installs OLM with operon from its CRDs and two Deployments, and runs its programs,
// which the pods of the Deployments would run.
func (c *controlPlane) installOLM(t *testing.T) {
	t.Helper()
	module := peertest.Module(t, "github.com/operator-framework/operator-lifecycle-manager")
	folder := t.TempDir()
	treetest.Write(t, folder, treetest.Read(t, filepath.Join(module, "deploy", "chart", "crds")))
	treetest.WriteFile(t, filepath.Join(folder, "a.yaml"), controllers)
	c.expect(t, 0, []string{"installed OLM"}, "olm", "install", folder)
	c.expect(t, 0, []string{"nothing to do"}, "olm", "install", folder)
	c.program(t, "catalog", "--namespace", "olm", "--kubeconfig", c.kubeconfig, "--writeStatusName", "", "--install-plan-retry-timeout", "3s")
	c.program(t, "olm", "--namespace", "olm", "--writeStatusName", "", "--writePackageServerStatusName", "")
	t.Cleanup(func() { // before the programs end
		c.expect(t, 0, []string{"removed OLM"}, "olm", "uninstall", folder)
		c.expect(t, 0, []string{"nothing to do"}, "olm", "uninstall", folder)
	})
}

const controllers = `apiVersion: apps/v1
kind: Deployment
metadata: {name: olm-operator, namespace: olm}
spec:
  selector: {matchLabels: {app: olm-operator}}
  template:
    metadata: {labels: {app: olm-operator}}
    spec: {containers: [{name: olm, image: example.org/olm:v0}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: catalog-operator, namespace: olm}
spec:
  selector: {matchLabels: {app: catalog-operator}}
  template:
    metadata: {labels: {app: catalog-operator}}
    spec: {containers: [{name: catalog, image: example.org/olm:v0}]}
---
apiVersion: v1
kind: Namespace
metadata: {name: olm}
`

// program runs a program of OLM until the end of the test, and shows its log if the test fails.
func (c *controlPlane) program(t *testing.T, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(peertest.OLM(t, name), args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.kubeconfig, "OPERATOR_NAMESPACE=olm", "OPERATOR_NAME=olm-operator")
	log := filepath.Join(t.TempDir(), name+".log")
	out, err := os.Create(log)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGKILL)
		_ = cmd.Wait()
		_ = out.Close()
		if content, err := os.ReadFile(log); err == nil && t.Failed() {
			t.Logf("the end of the log of %s:\n%s", name, content[max(0, len(content)-3_000):])
		}
	})
}
