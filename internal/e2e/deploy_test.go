//go:build unix && testall

package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/process"
	"github.com/operon-dev/operon/internal/testkit/operontest"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// TestDeploy runs make deploy again after other clients changed the objects. The manifests
// win, also over what an earlier make deploy, or a user of dist/install.yaml, applied.
func TestDeploy(t *testing.T) {
	t.Parallel()
	for layout, commands := range map[string][]string{
		"go":    {"init --domain example.org --repo example.org/deploygo", "create api --group deploygo --version v1 --kind Boat"},
		"shell": {"init --domain example.org --plugins shell", "create api --group deployshell --version v1 --kind Boat"},
		"addon": {"init --domain example.org --plugins addon"},
	} {
		t.Run(layout, func(t *testing.T) {
			t.Parallel()
			d := newDeployed(t, "deploy"+layout, commands)
			if layout == "shell" {
				d.testNamespaces(t)
			}
			d.testTakeover(t)
			if layout == "go" {
				d.testAutoscaled(t)
			}
			if layout != "addon" {
				d.testInstall(t)
			}
			d.make(t, "undeploy")
			if _, err := cluster.get(t, d.deployment); err == nil {
				t.Error("make undeploy left the Deployment")
			}
		})
	}
}

// deployed is a project that make deploys.
type deployed struct {
	dir, name  string
	deployment *unstructured.Unstructured
}

func newDeployed(t *testing.T, name string, commands []string) deployed {
	t.Helper()
	d := deployed{dir: filepath.Join(t.TempDir(), name), name: name}
	if err := os.Mkdir(d.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, line := range commands {
		if _, err := command(d.dir, "operon", strings.Fields(line)...); err != nil {
			t.Fatal(err)
		}
	}
	d.deployment = object("apps/v1", "Deployment", name+"-system", name+"-controller-manager")
	if name == "deployaddon" {
		d.deployment.SetName(ofKind(kustomized(t, inMemory(t, d.dir), "config/default"), "Deployment")[0].GetName())
	}
	t.Cleanup(func() { _, _ = d.run(t, "make", "undeploy", "ignore-not-found=true") }) // after a failure
	return d
}

// make runs make with the kubectl of the control plane, whose kustomize is sufficient.
func (d deployed) make(t *testing.T, args ...string) {
	t.Helper()
	out, err := d.run(t, "make", args...)
	if err != nil {
		t.Fatalf("make %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func (d deployed) run(t *testing.T, name string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), name, args...)
	cmd.Dir = d.dir
	cmd.Env = append(os.Environ(), "KUBECONFIG="+cluster.kubeconfig, "KUSTOMIZE=kubectl kustomize",
		"PATH="+operontest.Assets()+string(filepath.ListSeparator)+os.Getenv("PATH"))
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	err := process.Run(cmd)
	return out.String(), err
}

// testNamespaces deploys a hook that watches a namespace which does not exist yet. Nothing is
// applied before it exists.
func (d deployed) testNamespaces(t *testing.T) {
	t.Helper()
	const namespace = "deploy-watched"
	if _, err := command(d.dir, "operon", "create", "hook", "watch", "--on", "kubernetes:ConfigMap", "--namespace", namespace); err != nil {
		t.Fatal(err)
	}
	want := "error: the cluster has no namespace " + namespace + ", in which hooks get permissions: create it with kubectl create namespace " + namespace + "\n"
	if out, err := d.run(t, "make", "deploy"); err == nil || !strings.Contains(out, want) || strings.Contains(out, "serverside-applied") {
		t.Errorf("a missing namespace: %v\n%s", err, out)
	}
	mustCreate(t, object("v1", "Namespace", "", namespace))
}

// testTakeover deploys, changes the Deployment as other clients do, and deploys again.
func (d deployed) testTakeover(t *testing.T) {
	t.Helper()
	// What make deploy of older versions did: apply with the default field manager. The
	// manifests later drop an annotation.
	manifests := filepath.Join("config", "default", "kustomization.yaml")
	disk := filesys.MakeFsOnDisk()
	old, err := disk.ReadFile(filepath.Join(d.dir, manifests))
	if err != nil {
		t.Fatal(err)
	}
	annotated := string(old) + "\ncommonAnnotations: {dropped: later}\n"
	if err := disk.WriteFile(filepath.Join(d.dir, manifests), []byte(annotated)); err != nil {
		t.Fatal(err)
	}
	if out, err := d.run(t, "sh", "-c", "kubectl kustomize config/default | kubectl apply --server-side -f -"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := disk.WriteFile(filepath.Join(d.dir, manifests), old); err != nil {
		t.Fatal(err)
	}
	d.kubectl(t, "scale", "--replicas", "3")
	d.kubectl(t, "set", "image", "*=example.com/edited:by-hand")

	d.make(t, "deploy", "IMG=example.com/boat:1.0")
	d.want(t, "example.com/boat:1.0", 1)
	if now, err := cluster.get(t, d.deployment); err != nil || now.GetAnnotations()["dropped"] != "" {
		t.Errorf("an annotation that the manifests dropped: %v, %v", now.GetAnnotations(), err)
	}
}

// testAutoscaled deploys while an autoscaler sets the number of replicas.
func (d deployed) testAutoscaled(t *testing.T) {
	t.Helper()
	replace(t, filesys.MakeFsOnDisk(), filepath.Join(d.dir, "config", "manager", "manager.yaml"), "\n  replicas: 1\n", "\n  replicas: 2\n")
	d.make(t, "deploy", "IMG=example.com/boat:1.0")
	d.want(t, "example.com/boat:1.0", 2)

	// Nobody else has set the number yet. It must not become the default, 1.
	d.make(t, "deploy", "IMG=example.com/boat:v3", "AUTOSCALED=true")
	d.want(t, "example.com/boat:v3", 2)

	d.kubectl(t, "scale", "--replicas", "5")
	for _, image := range []string{"example.com/boat:v4", "example.com/boat:v5"} {
		d.make(t, "deploy", "IMG="+image, "AUTOSCALED=true")
		d.want(t, image, 5)
	}
	d.make(t, "build-installer", "IMG=example.com/boat:v6", "AUTOSCALED=true")
	if out, err := d.run(t, "kubectl", "apply", "--server-side", "--force-conflicts", "-f", "dist/install.yaml"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	d.want(t, "example.com/boat:v6", 5)

	d.make(t, "deploy", "IMG=example.com/boat:v7")
	d.want(t, "example.com/boat:v7", 2)
}

// testInstall installs the CRDs again after another client changed one.
func (d deployed) testInstall(t *testing.T) {
	t.Helper()
	crd := object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "boats."+d.name+".example.org")
	shipped, err := cluster.get(t, crd)
	if err != nil {
		t.Fatal(err)
	}
	patched(t, crd, `{"spec":{"names":{"singular":"vessel"}}}`)
	d.make(t, "install")
	if now, err := cluster.get(t, crd); err != nil || cmp.Diff(at(shipped, "spec", "names"), at(now, "spec", "names")) != "" {
		t.Errorf("the names in the CRD are %v, %v", at(now, "spec", "names"), err)
	}
}

// kubectl changes the Deployment as another client.
func (d deployed) kubectl(t *testing.T, args ...string) {
	t.Helper()
	verb := []string{args[0]}
	if args[0] == "set" {
		verb = args[:2]
	}
	line := append(append(verb[:len(verb):len(verb)], "deployment/"+d.deployment.GetName(), "--namespace", d.deployment.GetNamespace()), args[len(verb):]...)
	if out, err := d.run(t, "kubectl", line...); err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(line, " "), err, out)
	}
}

// want checks the image and the number of replicas of the Deployment.
func (d deployed) want(t *testing.T, image string, replicas int64) {
	t.Helper()
	now, err := cluster.get(t, d.deployment)
	if err != nil {
		t.Fatal(err)
	}
	containers, _ := at(now, "spec", "template", "spec", "containers").([]any)
	want := fmt.Sprint(image, " ", replicas)
	if got := fmt.Sprint(containers[0].(map[string]any)["image"], " ", at(now, "spec", "replicas")); got != want {
		t.Errorf("the Deployment has the image and replicas %s, want %s", got, want)
	}
}
