package loadtest

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"
)

// Cluster holds the objects of the project.
type Cluster struct {
	Fleets, ConfigMaps, Deployments dynamic.ResourceInterface

	crds      dynamic.ResourceInterface
	namespace string
}

// Connect connects to the API server of a kubeconfig. Objects get a namespace, which must
// exist.
func Connect(kubeconfig, namespace string) (*Cluster, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	resource := func(group, version, plural string) dynamic.NamespaceableResourceInterface {
		return client.Resource(schema.GroupVersionResource{Group: group, Version: version, Resource: plural})
	}
	return &Cluster{
		crds:        resource("apiextensions.k8s.io", "v1", "customresourcedefinitions"),
		ConfigMaps:  resource("", "v1", "configmaps").Namespace(namespace),
		Deployments: resource("apps", "v1", "deployments").Namespace(namespace),
		Fleets:      resource("load.example.org", "v1", "fleets").Namespace(namespace),
		namespace:   namespace,
	}, nil
}

// Install creates a CRD and waits until the API server serves its kind.
func (c *Cluster) Install(ctx context.Context, file string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	crd := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(content, &crd.Object); err != nil {
		return err
	}
	if _, err := c.crds.Create(ctx, crd, metav1.CreateOptions{}); err != nil {
		return err
	}
	for {
		if _, err = c.Fleets.List(ctx, metav1.ListOptions{}); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// Uninstall deletes the CRD, and with it all Fleets.
func (c *Cluster) Uninstall(ctx context.Context) error {
	return c.crds.Delete(ctx, "fleets.load.example.org", metav1.DeleteOptions{})
}

// Fleet returns a Fleet without content.
func (c *Cluster) Fleet() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "load.example.org/v1", "kind": "Fleet", "metadata": map[string]any{"namespace": c.namespace},
	}}
}

// CreateFleets creates n Fleets.
func (c *Cluster) CreateFleets(ctx context.Context, n int) error {
	return create(ctx, c.Fleets, n, func(i int) *unstructured.Unstructured {
		o := c.Fleet()
		o.SetName(fmt.Sprint("fleet-", i))
		o.Object["spec"] = map[string]any{"foo": "first"}
		return o
	})
}

// CreateUnrelated creates n ConfigMaps of 1 KiB without an owner.
func (c *Cluster) CreateUnrelated(ctx context.Context, n int) error {
	content := strings.Repeat("key: value\n", 93)
	return create(ctx, c.ConfigMaps, n, func(i int) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap",
			"metadata": map[string]any{"namespace": c.namespace, "name": fmt.Sprint("unrelated-", i)},
			"data":     map[string]any{"content": content},
		}}
	})
}

// create creates n objects, some at once.
func create(ctx context.Context, objects dynamic.ResourceInterface, n int, object func(i int) *unstructured.Unstructured) error {
	const atOnce = 16
	var (
		wait  sync.WaitGroup
		next  atomic.Int64
		first = make(chan error, atOnce)
	)
	for range atOnce {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				if _, err := objects.Create(ctx, object(i), metav1.CreateOptions{}); err != nil {
					first <- err
					return
				}
			}
		})
	}
	wait.Wait()
	close(first)
	return <-first
}

// CheckOwned returns the number of Fleets. It returns an error unless each of them is reconciled
// and owns its objects with the value of its spec, and no other objects are owned.
func (c *Cluster) CheckOwned(ctx context.Context) (fleets int, err error) {
	owned, values := 0, map[string]int{}
	for _, objects := range []dynamic.ResourceInterface{c.ConfigMaps, c.Deployments} {
		list, err := objects.List(ctx, metav1.ListOptions{LabelSelector: "app.kubernetes.io/managed-by=scale"})
		if err != nil {
			return 0, err
		}
		for i := range list.Items {
			o := &list.Items[i]
			if owner := metav1.GetControllerOf(o); owner != nil {
				values[string(owner.UID)+o.GetAnnotations()["load.example.org/foo"]]++
			}
			owned++
		}
	}
	list, err := c.Fleets.List(ctx, metav1.ListOptions{})
	if err != nil {
		return 0, err
	}
	for i := range list.Items {
		o := &list.Items[i]
		foo, _, _ := unstructured.NestedString(o.Object, "spec", "foo")
		if status, generation := ready(o); status != "True" || generation != o.GetGeneration() {
			return 0, fmt.Errorf("%s: Ready is %q for generation %d of %d", o.GetName(), status, generation, o.GetGeneration())
		}
		if n := values[string(o.GetUID())+foo]; n != OwnedPerFleet {
			return 0, fmt.Errorf("%s owns %d objects with its value, want %d", o.GetName(), n, OwnedPerFleet)
		}
	}
	if owned != OwnedPerFleet*len(list.Items) {
		return 0, fmt.Errorf("%d Fleets own %d objects", len(list.Items), owned)
	}
	return len(list.Items), nil
}
