//go:build testall

package helmchart

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	helm "github.com/operon-dev/operon/internal/chart"
	"github.com/operon-dev/operon/internal/testkit/peertest"
	"github.com/operon-dev/operon/internal/testkit/servertest"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestServer installs, upgrades and uninstalls the chart of each golden project with Helm on an API server. Kinds
// of cert-manager and Prometheus are not installed.
func TestServer(t *testing.T) {
	program, kubectl := peertest.Find(t, "helm").Path, servertest.Program(t, "kubectl")
	kubeconfig := sync.OnceValue(func() string { return servertest.Start(t).Kubeconfig("") })
	for _, name := range goProjects(t) {
		t.Run(name, func(t *testing.T) {
			files := write(t, disk(t, name))
			parts := append(peertest.Sources(t), servertest.Key(t), program)
			for _, file := range slices.Sorted(maps.Keys(files)) {
				parts = append(parts, file, string(files[file]))
			}
			peertest.Cached(t, parts, func() (passed, cacheable bool) {
				r := release{T: t, helm: program, kubectl: kubectl, kubeconfig: kubeconfig(), home: t.TempDir(), chart: t.TempDir(), name: name}
				writeChart(t, r.chart, files)
				r.follow()
				return true, !t.Failed()
			})
		})
	}
}

// release is a release of a chart, in a namespace of its own.
type release struct {
	*testing.T
	helm, kubectl, kubeconfig string
	home                      string // for what both programs cache
	chart, name               string
}

// objects are the objects of a revision, by kind and name.
type objects map[string]*unstructured.Unstructured

// follow follows the release from the first installation until its last object is deleted.
func (r release) follow() {
	first := r.apply("install", "{metrics: {enabled: false}}")
	second := r.apply("upgrade", "{fullnameOverride: sea, networkPolicy: {enabled: true}, metrics: {port: 9000}, manager: {replicas: 2, strategy: {type: Recreate}, env: [{name: A, value: b}]}}")
	r.wantGone(first.without(second))
	if got := r.get(objects{"": second["Deployment sea-controller-manager"]}, "-o", "jsonpath={.items[*].spec.replicas}"); got != "2" {
		r.Errorf("%q replicas: %v", got, slices.Sorted(maps.Keys(second)))
	}
	third := r.apply("upgrade", "{networkPolicy: {enabled: true}}")
	r.wantGone(second.without(third))

	// CRDs, and with them the objects of their kinds, outlive the release, unless the user decides otherwise.
	r.run(r.helm, nil, "uninstall", r.name, "--wait")
	crds := maps.Clone(third)
	maps.DeleteFunc(crds, func(_ string, o *unstructured.Unstructured) bool { return o.GetKind() != "CustomResourceDefinition" })
	r.wantServed(crds)
	r.wantGone(third.without(crds))
	last := r.apply("install", "{crd: {keep: false}}")
	r.run(r.helm, nil, "uninstall", r.name, "--wait")
	r.wantGone(last)
}

// apply installs or upgrades the release, without what needs kinds of cert-manager, and returns its objects, which the
// API server has.
func (r release) apply(command, values string) objects {
	r.Helper()
	all := parse(r.T, values)
	all["certManager"] = map[string]any{"enabled": false}
	args := []string{command, r.name, r.chart, "--values", "-"}
	if command == "install" {
		args = append(args, "--create-namespace")
	}
	content, err := json.Marshal(all)
	if err != nil {
		r.Fatal(err)
	}
	r.run(r.helm, content, args...)
	list, err := helm.Objects(map[string]string{"manifest": r.run(r.helm, nil, "get", "manifest", r.name)})
	if err != nil {
		r.Fatal(err)
	}
	revision := objects{}
	for _, o := range list {
		revision[o.GetKind()+" "+o.GetName()] = o
	}
	r.wantServed(revision)
	return revision
}

// without returns the objects that the other revision does not have.
func (o objects) without(other objects) objects {
	all := maps.Clone(o)
	maps.DeleteFunc(all, func(id string, _ *unstructured.Unstructured) bool { return other[id] != nil })
	return all
}

// wantServed checks that the API server has the objects.
func (r release) wantServed(all objects) {
	r.Helper()
	if got := strings.Count(r.get(all, "-o", "name"), "\n"); got != len(all) || len(all) == 0 {
		r.Errorf("the API server has %d of %v", got, slices.Sorted(maps.Keys(all)))
	}
}

// wantGone checks that the API server has none of the objects.
func (r release) wantGone(all objects) {
	r.Helper()
	if got := r.get(all, "-o", "name"); got != "" {
		r.Errorf("these objects still exist:\n%s", got)
	}
}

// get runs kubectl get for the objects that exist.
func (r release) get(all objects, args ...string) string {
	r.Helper()
	var list bytes.Buffer
	for _, o := range all {
		if err := json.NewEncoder(&list).Encode(o); err != nil {
			r.Fatal(err)
		}
	}
	if list.Len() == 0 {
		return ""
	}
	return r.run(r.kubectl, list.Bytes(), append([]string{"get", "--ignore-not-found", "--filename", "-"}, args...)...)
}

// run runs a program in the namespace of the release, and returns what it prints.
func (r release) run(program string, stdin []byte, args ...string) string {
	r.Helper()
	cmd := exec.CommandContext(r.Context(), program, append(args, "--kubeconfig", r.kubeconfig, "--namespace", r.name+"-system")...)
	cmd.Env = append(os.Environ(), "HOME="+r.home, "KUBECACHEDIR="+r.home)
	cmd.Stdin = bytes.NewReader(stdin)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		r.Fatalf("%s %v: %v\n%s%s", filepath.Base(program), args, err, out, stderr.String())
	}
	return string(out)
}
