package scorecard

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/olm/podstate"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/dynamic"
)

// Cluster is access to a cluster.
type Cluster struct {
	Objects dynamic.Interface
	// Log returns the log of a container.
	Log func(ctx context.Context, namespace, pod, container string) (string, error)
	// Exec runs a command in a container.
	Exec func(ctx context.Context, namespace, pod, container string, command []string, stdout io.Writer) error
}

// Pods runs tests as pods. Each finds the bundle in /bundle, and prints a TestStatus as JSON.
type Pods struct {
	Cluster
	Namespace      string
	ServiceAccount string
	Restricted     bool   // the pods keep the restricted Pod Security Standard
	UntarImage     string // has tar and gzip
	StorageImage   string // has a shell and tar, for tests with a storage
	OutputDir      string // for what tests write to their storage; see [EmptyFolders]
	Note           func(format string, args ...any)

	name    string // of the ConfigMap with the bundle; the label of the pods
	copying sync.Mutex
	links   map[string][]string // that this run has copied, by folder
}

var (
	podResource       = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	configMapResource = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
)

// The interval at which the state of a pod is read.
const interval = 500 * time.Millisecond

// Start writes the bundle to the cluster. The caller calls Stop in any case.
func (p *Pods) Start(ctx context.Context, files map[string][]byte) error {
	p.name = "scorecard-test-" + rand.String(5)
	archive, err := pack(files)
	if err != nil {
		return err
	}
	if len(archive) > 1<<20-1<<10 {
		return fault.Usage("shorten descriptions in the CRDs, or select the built-in tests", "the compressed bundle has %d bytes, and a ConfigMap accepts 1 MiB", len(archive))
	}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Name: p.name, Labels: p.labels()},
		BinaryData: map[string][]byte{archiveFile: archive},
	})
	if err != nil {
		return err
	}
	configMap := &unstructured.Unstructured{Object: object}
	_, err = p.Objects.Resource(configMapResource).Namespace(p.Namespace).Create(ctx, configMap, metav1.CreateOptions{})
	if err != nil {
		return fault.Failed("check the namespace (--namespace) and your permissions", "cannot write the bundle to a ConfigMap in the namespace %s: %v", p.Namespace, fault.Reason(cause(ctx, err)))
	}
	return nil
}

// pack returns the files as a compressed archive, the same for the same files.
func pack(files map[string][]byte) ([]byte, error) {
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	archive := tar.NewWriter(zip)
	folders := map[string]bool{".": true}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		for _, folder := range newFolders(path.Dir(name), folders) {
			if err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: folder + "/", Mode: 0o755}); err != nil {
				return nil, err
			}
		}
		if err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(files[name]))}); err != nil {
			return nil, err
		}
		if _, err := archive.Write(files[name]); err != nil {
			return nil, err
		}
	}
	err := errors.Join(archive.Close(), zip.Close())
	return out.Bytes(), err
}

// newFolders returns the folders from the outermost to this one that are not known yet.
func newFolders(folder string, known map[string]bool) (added []string) {
	for ; !known[folder]; folder = path.Dir(folder) {
		known[folder] = true
		added = append(added, folder)
	}
	slices.Reverse(added)
	return added
}

// Stop deletes the pods and the bundle.
func (p *Pods) Stop(ctx context.Context) error {
	err := p.Objects.Resource(podResource).Namespace(p.Namespace).
		DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: p.Selector()})
	e := p.Objects.Resource(configMapResource).Namespace(p.Namespace).Delete(ctx, p.name, metav1.DeleteOptions{})
	if !apierrors.IsNotFound(e) {
		err = cmp.Or(err, e)
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return fault.Failed(fmt.Sprintf("kubectl --namespace %s delete pods,configmaps --selector %s", p.Namespace, p.Selector()),
			"the pods of the tests are not deleted: %v", fault.Reason(err))
	}
	return nil
}

// Name returns the name of the ConfigMap with the bundle.
func (p *Pods) Name() string { return p.name }

func (p *Pods) labels() map[string]string {
	return map[string]string{"app": "scorecard-test", "testrun": p.name}
}

// Selector selects the objects of this run.
func (p *Pods) Selector() string { return "testrun=" + p.name }

// Run implements Runner.
func (p *Pods) Run(ctx context.Context, test v1alpha3.TestConfiguration) v1alpha3.TestStatus {
	status, err := p.run(ctx, test)
	if err == nil {
		return status
	}
	result := v1alpha3.TestResult{Name: nameOf(test), State: v1alpha3.FailState}
	var failed *podError
	if errors.As(err, &failed) {
		result.Errors, result.Log = failed.lines, failed.log
	} else {
		result.Errors = []string{err.Error()}
	}
	return v1alpha3.TestStatus{Results: []v1alpha3.TestResult{result}}
}

// nameOf returns a name of a test that reports none.
func nameOf(test v1alpha3.TestConfiguration) string {
	if name := test.Labels["test"]; name != "" {
		return name
	}
	if n := len(test.Entrypoint); n > 0 {
		return test.Entrypoint[n-1]
	}
	return test.Image
}

// run runs a test in a pod.
func (p *Pods) run(ctx context.Context, test v1alpha3.TestConfiguration) (v1alpha3.TestStatus, error) {
	var status v1alpha3.TestStatus
	if ctx.Err() != nil {
		return status, fmt.Errorf("the test was not started: %w", context.Cause(ctx))
	}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(p.pod(test))
	if err != nil {
		return status, err
	}
	if _, err := p.pods().Create(ctx, &unstructured.Unstructured{Object: object}, metav1.CreateOptions{}); err != nil {
		return status, fmt.Errorf("cannot create the pod: %w", cause(ctx, err))
	}
	name := (&unstructured.Unstructured{Object: object}).GetName()
	pod, err := p.waitForPod(ctx, name, nameOf(test))
	if err != nil {
		return status, p.explain(ctx, name, pod, err)
	}
	if folder := test.Storage.Spec.MountPath.Path; folder != "" {
		if err := p.gather(ctx, name, folder, outputFolder(test)); err != nil {
			return status, p.explain(ctx, name, pod, fmt.Errorf("cannot copy the output of the test: %w", cause(ctx, err)))
		}
	}
	log, err := p.Log(ctx, p.Namespace, name, testContainer)
	if err != nil {
		return status, fmt.Errorf("cannot read the log of the pod %s: %w", name, cause(ctx, err))
	}
	if err := json.Unmarshal([]byte(log), &status); err != nil {
		return status, p.explain(ctx, name, pod, fmt.Errorf("the log is not the JSON of a TestStatus: %w", err))
	}
	if len(status.Results) == 0 {
		return status, p.explain(ctx, name, pod, errors.New("the test reports no results"))
	}
	return status, nil
}

func (p *Pods) pods() dynamic.ResourceInterface {
	return p.Objects.Resource(podResource).Namespace(p.Namespace)
}

// cause returns why the context ended, or else the error.
func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// waitForPod waits until the test has ended. With an error, it returns the last state of the pod,
// which may be nil.
func (p *Pods) waitForPod(ctx context.Context, name, test string) (*corev1.Pod, error) {
	var last *corev1.Pod
	noted := ""
	for {
		pod, err := p.get(ctx, name)
		if ctx.Err() != nil {
			return last, context.Cause(ctx)
		}
		if err != nil {
			return last, fmt.Errorf("cannot read the pod %s: %w", name, err)
		}
		last = pod
		if state := containerState(pod, testContainer); state != nil && state.Terminated != nil {
			return pod, nil
		}
		if pod.Status.Phase == corev1.PodFailed {
			return pod, errors.New("the pod failed before the test started")
		}
		if found := podstate.Problems(pod); len(found) > 0 && found[0].Text != noted {
			noted = found[0].Text
			p.Note("waiting for %s: %s", test, noted)
		}
		select {
		case <-ctx.Done():
		case <-time.After(interval):
		}
	}
}

func (p *Pods) get(ctx context.Context, name string) (*corev1.Pod, error) {
	object, err := p.pods().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	pod := &corev1.Pod{}
	return pod, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, pod)
}
