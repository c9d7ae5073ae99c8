//go:build testall

package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/dynamic/fake"
	"sigs.k8s.io/yaml"

	"github.com/operon-dev/operon/internal/olm/bundle"
)

const testNamespace = "ships"

var secretKind = core("secrets", "Secret")

// fakeCluster is a cluster in memory, without controllers.
type fakeCluster struct {
	*Client

	fake  *fake.FakeDynamicClient
	notes []string
}

// newFake returns a cluster with the objects in a stream of YAML.
func newFake(t *testing.T, manifests string) *fakeCluster {
	t.Helper()
	known := map[schema.GroupVersionResource]string{}
	all := []resource{
		catalogSources, subscriptions, installPlans, csvs, operatorGroups, operators, clusterExtensions,
		namespaces, pods, configMaps, events, deployments, crds, replicaSets, jobs, secretKind,
	}
	all = append(append(all, roleBindings), ownedByLabel...)
	for _, r := range all {
		known[r.GroupVersionResource] = r.kind + "List"
	}
	var objects []runtime.Object
	for _, o := range parse(t, manifests) {
		objects = append(objects, &o)
	}
	c := &fakeCluster{fake: fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), known, objects...)}
	c.Client = &Client{
		Objects: c.fake,
		Resource: func(_ context.Context, apiVersion, kind string) (schema.GroupVersionResource, bool, error) {
			for _, r := range all {
				if r.kind == kind && r.GroupVersion().String() == apiVersion {
					return r.GroupVersionResource, !slices.Contains(append([]resource{namespaces, crds, operators}, ownedByLabel...), r), nil
				}
			}
			return schema.GroupVersionResource{}, false, UnknownKindError{errors.New(kind + " is unknown")}
		},
		Note: func(format string, args ...any) { c.notes = append(c.notes, fmt.Sprintf(format, args...)) },
		Wait: func(string) {},
	}
	return c
}

// task returns a task of package fleet.
func (c *fakeCluster) task() *task {
	b := &bundle.Bundle{
		CSV:         bundle.Manifest{Object: parseOne("{metadata: {name: fleet.v0.2.0}, spec: {install: {spec: {deployments: [{name: fleet, spec: {selector: {matchLabels: {app: manager}}}}]}}}}")},
		Annotations: map[string]string{bundle.PackageKey: "fleet"},
	}
	b.Manifests = []bundle.Manifest{b.CSV}
	return &task{Client: c.Client, namespace: testNamespace, bundle: b, detach: func(context.Context) error { return nil }}
}

// changes returns the verbs and resources of the requests that change the cluster.
func (c *fakeCluster) changes() (all []string) {
	for _, a := range c.fake.Actions() {
		if verb := a.GetVerb(); verb != "get" && verb != "list" {
			all = append(all, verb+" "+a.GetResource().Resource)
		}
	}
	return all
}

func parse(t *testing.T, manifests string) (all []unstructured.Unstructured) {
	t.Helper()
	for doc := range strings.SplitSeq(manifests, "---\n") {
		if strings.TrimSpace(doc) != "" {
			all = append(all, unstructured.Unstructured{Object: parseOne(doc)})
		}
	}
	return all
}

func parseOne(doc string) map[string]any {
	src, err := yaml.YAMLToJSON([]byte(doc))
	if err != nil {
		panic(err)
	}
	var o map[string]any
	if err := utiljson.Unmarshal(src, &o); err != nil { // integers are int64, as in answers of the API server
		panic(err)
	}
	return o
}
