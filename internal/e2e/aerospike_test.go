//go:build testall

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestAerospike runs the operator of the published walk-through, which manages clusters of a
// database.
func TestAerospike(t *testing.T) {
	t.Parallel()
	i := install(t, cluster, scenario(t, "aerospike"))
	i.run(t)
	for _, test := range []struct {
		name string
		run  func(t *testing.T, sample *unstructured.Unstructured)
	}{
		{"restores owned objects", aerospikeKeepsOwned},
		{"rejects invalid specs", aerospikeRejects},
		{"sets defaults", aerospikeDefaults},
		{"counts broken nodes", aerospikeCounts},
		{"deletes owned objects", aerospikeDeletes},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			sample := i.sample(t, "aerospike_v1alpha1_aerospikecluster.yaml")
			sample.SetNamespace(cluster.namespace(t, "aerospike", nil))
			test.run(t, sample)
		})
	}
}

func aerospikeKeepsOwned(t *testing.T, sample *unstructured.Unstructured) {
	mustCreate(t, sample)
	awaitNodes(t, sample, aerospikeNodes{3, map[string]string{"REPL_FACTOR": "2", "MEM_GB": "4"}, `network {
  heartbeat {
    interval 150
  }
}
namespace main {
  replication-factor 2
  strong-consistency false
}
`})

	patched(t, sample, `{"spec":{"deployments":5,"replicationFactor":4,"maxMemory":null,"strongConsistency":true,"heartbeat":{"interval":250}}}`)
	changed := aerospikeNodes{5, map[string]string{"REPL_FACTOR": "4"}, `network {
  heartbeat {
    interval 250
  }
}
namespace main {
  replication-factor 4
  strong-consistency true
}
`}
	awaitNodes(t, sample, changed)

	t.Log("changed and deleted objects are restored")
	awaitPods(t, sample, 5) // from here on, only owned objects change
	patched(t, object("v1", "ConfigMap", sample.GetNamespace(), sample.GetName()), `{"data":{"aerospike.conf":"other"}}`)
	awaitNodes(t, sample, changed)
	if err := cluster.delete(t, object("apps/v1", "StatefulSet", sample.GetNamespace(), sample.GetName())); err != nil {
		t.Fatal(err)
	}
	awaitNodes(t, sample, changed)
}

// aerospikeNodes are the settings of the nodes of a cluster.
type aerospikeNodes struct {
	Replicas int32
	Env      map[string]string
	Config   string
}

// awaitNodes waits until the StatefulSet and the ConfigMap of the cluster have the settings.
func awaitNodes(t *testing.T, sample *unstructured.Unstructured, want aerospikeNodes) {
	t.Helper()
	ns, name := sample.GetNamespace(), sample.GetName()
	eventually(t, "update the nodes", func() error {
		set, err := cluster.client.AppsV1().StatefulSets(ns).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		config, err := cluster.client.CoreV1().ConfigMaps(ns).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		got := aerospikeNodes{*set.Spec.Replicas, map[string]string{}, config.Data["aerospike.conf"]}
		for _, v := range set.Spec.Template.Spec.Containers[0].Env {
			got.Env[v.Name] = v.Value
		}
		if diff := cmp.Diff(want, got); diff != "" {
			return fmt.Errorf("-want +got:\n%s", diff)
		}
		return nil
	})
}

func aerospikeRejects(t *testing.T, sample *unstructured.Unstructured) {
	stored := sample.DeepCopy()
	stored.SetName("stored")
	mustCreate(t, stored)
	for _, test := range []struct {
		deployments, copies int64
		fields              []string
	}{
		{2, 3, []string{"spec.replicationFactor"}},
		{0, 0, []string{"spec.deployments"}},
		{0, 1, []string{"spec.deployments", "spec.replicationFactor"}},
	} {
		wantRejected := func(verb string, err error) {
			t.Helper()
			if diff := cmp.Diff(test.fields, invalidFields(err)); diff != "" {
				t.Errorf("%s with deployments %d and replicationFactor %d: %v: fields -want +got:\n%s",
					verb, test.deployments, test.copies, err, diff)
			}
		}
		bad := sample.DeepCopy()
		setAt(t, bad, test.deployments, "spec", "deployments")
		setAt(t, bad, test.copies, "spec", "replicationFactor")
		_, err := cluster.create(t, bad)
		wantRejected("create", err)
		_, err = cluster.patch(t, stored, fmt.Sprintf(`{"spec":{"deployments":%d,"replicationFactor":%d}}`, test.deployments, test.copies))
		wantRejected("update", err)
	}
	if err := cluster.delete(t, stored); err != nil {
		t.Errorf("a deletion was validated: %v", err)
	}
}

func aerospikeDefaults(t *testing.T, sample *unstructured.Unstructured) {
	unstructured.RemoveNestedField(sample.Object, "spec", "heartbeat")
	created := mustCreate(t, sample)
	if got := at(created, "spec", "heartbeat", "interval"); got != int64(150) {
		t.Errorf("the interval of the heartbeat is %v, want the default 150", got)
	}
}

func aerospikeCounts(t *testing.T, sample *unstructured.Unstructured) {
	mustCreate(t, sample)
	ns := sample.GetNamespace()
	pods := func() []corev1.Pod { return awaitPods(t, sample, 3) }
	status := func(deployed, broken any) {
		t.Helper()
		eventually(t, "report the nodes", func() error {
			now, err := cluster.get(t, sample)
			if err != nil {
				return err
			}
			want := map[string]any{"deployed": deployed, "brokenNodes": broken}
			got := map[string]any{"deployed": at(now, "status", "deployed"), "brokenNodes": at(now, "status", "brokenNodes")}
			if diff := cmp.Diff(want, got); diff != "" {
				return fmt.Errorf("-want +got:\n%s", diff)
			}
			return nil
		})
	}
	all := pods()
	status(true, int64(3)) // there is no kubelet to start them
	for _, pod := range all {
		setReady(t, &pod, corev1.ConditionTrue)
	}
	status(true, nil)
	setReady(t, &all[1], corev1.ConditionFalse)
	status(true, int64(1))

	t.Log("a deleted pod is replaced")
	if err := cluster.client.CoreV1().Pods(ns).Delete(t.Context(), all[1].Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "replace the node", func() error {
		if again := pods()[1]; again.UID == all[1].UID {
			return fmt.Errorf("%s is still there", again.Name)
		}
		return nil
	})
	setReady(t, &pods()[1], corev1.ConditionTrue)
	status(true, nil)
}

// awaitPods waits until a cluster has a number of pods, and returns them.
func awaitPods(t *testing.T, sample *unstructured.Unstructured, want int) (pods []corev1.Pod) {
	t.Helper()
	eventually(t, fmt.Sprintf("start %d nodes", want), func() error {
		found, err := cluster.client.CoreV1().Pods(sample.GetNamespace()).List(t.Context(), metav1.ListOptions{
			LabelSelector: "aerospike.dzolotov.tech/cluster=" + sample.GetName(),
		})
		if err == nil && len(found.Items) != want {
			err = fmt.Errorf("there are %d pods", len(found.Items))
		}
		if err == nil {
			pods = found.Items
		}
		return err
	})
	return pods
}

// setReady reports a pod as ready, as a kubelet would.
func setReady(t *testing.T, pod *corev1.Pod, ready corev1.ConditionStatus) {
	t.Helper()
	_, err := cluster.patchStatus(t, object("v1", "Pod", pod.Namespace, pod.Name),
		fmt.Sprintf(`{"status":{"conditions":[{"type":"Ready","status":%q}]}}`, ready))
	if err != nil {
		t.Fatal(err)
	}
}

func aerospikeDeletes(t *testing.T, sample *unstructured.Unstructured) {
	mustCreate(t, sample)
	owned := []*unstructured.Unstructured{
		object("apps/v1", "StatefulSet", sample.GetNamespace(), sample.GetName()),
		object("v1", "ConfigMap", sample.GetNamespace(), sample.GetName()),
		object("v1", "Pod", sample.GetNamespace(), sample.GetName()+"-0"),
	}
	for _, o := range owned {
		eventually(t, "create the "+o.GetKind(), func() error { _, err := cluster.get(t, o); return err })
	}
	if err := cluster.delete(t, sample); err != nil {
		t.Fatal(err)
	}
	for _, o := range append(owned, sample) {
		eventually(t, "delete the "+o.GetKind(), func() error {
			_, err := cluster.get(t, o)
			switch {
			case apierrors.IsNotFound(err):
				return nil
			case err == nil:
				err = fmt.Errorf("it is still there")
			}
			return err
		})
	}
}

// TestAerospikePublishedMarkers uses the markers of the publication. Their API groups contain
// versions, so the roles match nothing, and the API server would reject all requests of the
// operator. operon generate reports that.
func TestAerospikePublishedMarkers(t *testing.T) {
	t.Parallel()
	dir := scenario(t, "aerospike").copy(t)
	for file, group := range map[string]struct{ right, published string }{
		"aerospikecluster_statefulset_owned.go": {"groups=apps,", "groups=apps/v1,"},
		"aerospikecluster_pod_watched.go":       {"groups=core,", "groups=v1,"},
	} {
		name := filepath.Join(dir, "internal", "controller", file)
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Replace(string(content), group.right, group.published, 1)
		if text == string(content) {
			t.Fatalf("%s has no marker with %s", file, group.right)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out, err := command(dir, "operon", "generate")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`the API group "apps/v1" contains a version and matches nothing; write groups=apps`,
		`the API group "v1" contains a version and matches nothing; write groups=""`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("operon generate does not report %s:\n%s", want, out)
		}
	}
}
