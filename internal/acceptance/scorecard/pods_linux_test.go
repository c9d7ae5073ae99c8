//go:build testall

// Package scorecard runs tests of bundles as pods: the API server is real, and a test plays
// the kubelet.
package scorecard

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"
	"github.com/operon-dev/operon/internal/testkit/kubelettest"
	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/servertest"
	"github.com/operon-dev/operon/internal/testkit/treetest"
	corev1 "k8s.io/api/core/v1"
)

// TestPods runs tests that pass, fail, crash and hang, and checks results, output and what is
// left in the cluster.
func TestPods(t *testing.T) {
	t.Parallel()
	server := servertest.Start(t)
	seen := &pods{}
	kubelettest.Start(server, seen.decide)
	kubeconfig := server.Kubeconfig("")
	dir := newBundle(t)
	t.Run("ended", func(t *testing.T) {
		treetest.MakeDir(t, filepath.Join(dir, "out/custom/storage"))
		for _, name := range []string{".scorecard-output", "old"} { // of an earlier run
			treetest.WriteFile(t, filepath.Join(dir, "out/custom/storage", name), "")
		}
		out, stderr, code := operon(t, dir, "-l", "group!=hangs", "--kubeconfig", kubeconfig, "-o", "json", "-w", "5m", "-t", "out", "--pod-security", "restricted")
		if code != 1 || !strings.HasSuffix(stderr, "error: 4 of 7 tests failed\n") {
			t.Errorf("exit code %d, stderr\n%s", code, stderr)
		}
		want := []string{
			"basic-check-spec: pass",
			"passed: pass",
			"two: pass", "two-more: fail: no ships",
			`crash: fail: the log is not the JSON of a TestStatus: invalid character 'p' looking for beginning of value; container scorecard-test ended with code 2 (Error); log panic: at sea`,
			"silent: fail: the test reports no results; log {}",
			"untar: fail: the pod failed before the test started; container scorecard-untar ended with code 1 (Error); log tar: no such file",
			"storage: pass",
		}
		if diff := cmp.Diff(want, summary(t, out)); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
		if diff := cmp.Diff("stored", treetest.ReadFile(t, filepath.Join(dir, "out/custom/storage/deep/file"))); diff != "" {
			t.Error(diff)
		}
		if _, err := os.Stat(filepath.Join(dir, "out/custom/storage/old")); !os.IsNotExist(err) {
			t.Errorf("the output of an earlier run is still there: %v", err)
		}
		seen.checkSpecs(t)
	})
	t.Run("hanging", func(t *testing.T) {
		out, stderr, code := operon(t, dir, "-l", "group=hangs", "--kubeconfig", kubeconfig, "-o", "json", "-w", "12s")
		if code != 1 || !strings.Contains(stderr, "waiting for no-image: container scorecard-test waits: ImagePullBackOff: Back-off pulling image\n") {
			t.Errorf("exit code %d, stderr\n%s", code, stderr)
		}
		const late = "fail: the tests did not end within 12s (--wait-time); "
		want := []string{
			"no-image: " + late + "container scorecard-test waits: ImagePullBackOff: Back-off pulling image; event Failed: no such image",
			"no-room: " + late + "it is not scheduled: 0/3 nodes are available",
		}
		if diff := cmp.Diff(want, summary(t, out)); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
	})
	t.Run("interrupted", func(t *testing.T) {
		interrupt(t, seen, dir, kubeconfig)
		checkEmpty(t, server)
	})
	t.Run("errors", func(t *testing.T) {
		for want, args := range map[string][]string{
			"error: cannot write the bundle to a ConfigMap in the namespace nowhere: namespaces \"nowhere\" not found\n": {"-n", "nowhere", "--kubeconfig", kubeconfig},
			"error: no cluster: ":                              nil,
			"error: unknown --pod-security \"none\"":           {"--pod-security", "none"},
			"error: --wait-time 0s is not greater than zero\n": {"-w", "0s"},
		} {
			if _, stderr, code := operon(t, dir, args...); code == 0 || !strings.Contains(stderr, want) {
				t.Errorf("%v: exit code %d, stderr %q, want %q", args, code, stderr, want)
			}
		}
	})
	checkEmpty(t, server)
	t.Run("kept", func(t *testing.T) {
		_, stderr, code := operon(t, dir, "-l", "test=passed", "--kubeconfig", kubeconfig, "-x", "-s", "sailor")
		if code != 0 || !strings.Contains(stderr, "kept in the namespace default: the ConfigMap scorecard-test-") {
			t.Errorf("exit code %d, stderr\n%s", code, stderr)
		}
		var left corev1.PodList
		server.Get("/api/v1/namespaces/default/pods", &left)
		if len(left.Items) != 1 || left.Items[0].Spec.ServiceAccountName != "sailor" {
			t.Errorf("left: %v", left.Items)
		}
		checkArchive(t, server, left.Items[0])
	})
}

// interrupt sends SIGINT while a test hangs, when its pod and the ConfigMap of the bundle exist.
func interrupt(t *testing.T, seen *pods, dir, kubeconfig string) {
	before := seen.count()
	cmd := exec.Command("operon", "scorecard", "-l", "test=no-room", "--kubeconfig", kubeconfig, "-w", "10m")
	var stderr strings.Builder
	cmd.Dir, cmd.Env, cmd.Stderr = dir, operontest.Environ(), &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for seen.count() == before && t.Context().Err() == nil {
		time.Sleep(50 * time.Millisecond)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if exit, ok := errors.AsType[*exec.ExitError](cmd.Wait()); !ok || exit.ExitCode() != 130 {
		t.Errorf("got %v, want exit code 130", exit)
	}
	if text := stderr.String(); strings.Contains(text, "not deleted") {
		t.Errorf("stderr\n%s", text)
	}
}

// operon runs operon scorecard, without a cluster by default.
func operon(t *testing.T, dir string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := exec.Command("operon", append([]string{"scorecard"}, args...)...)
	var out, errs strings.Builder
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, append(operontest.Environ(), "KUBECONFIG="+filepath.Join(dir, "none")), &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// summary returns a line for each result.
func summary(t *testing.T, out string) (lines []string) {
	t.Helper()
	var list v1alpha3.TestList
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, test := range list.Items {
		for _, r := range test.Status.Results {
			line := r.Name + ": " + string(r.State)
			if len(r.Errors) > 0 {
				line += ": " + strings.Join(r.Errors, "; ")
			}
			if r.Log != "" && r.State != v1alpha3.PassState {
				line += "; log " + strings.TrimSpace(r.Log)
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// checkEmpty waits until the cluster has neither pods nor ConfigMaps of the tests.
func checkEmpty(t *testing.T, server servertest.Server) {
	t.Helper()
	for t.Context().Err() == nil {
		var pods corev1.PodList
		var maps corev1.ConfigMapList
		server.Get("/api/v1/namespaces/default/pods", &pods)
		server.Get("/api/v1/namespaces/default/configmaps?labelSelector=app%3Dscorecard-test", &maps)
		if len(pods.Items) == 0 && len(maps.Items) == 0 {
			return
		}
		if slices.ContainsFunc(pods.Items, func(p corev1.Pod) bool { return p.DeletionTimestamp == nil }) || len(maps.Items) > 0 {
			t.Fatalf("left: %d pods, %d ConfigMaps", len(pods.Items), len(maps.Items))
		}
		time.Sleep(50 * time.Millisecond) // the kubelet confirms the deletion
	}
}

// pods are the pods that the kubelet has seen.
type pods struct {
	mu  sync.Mutex
	all []corev1.Pod
}

func (p *pods) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.all)
}

// decide says what becomes of a pod, by the last word of its command.
func (p *pods) decide(pod corev1.Pod) kubelettest.Outcome {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = append(p.all, pod)
	switch test := pod.Spec.Containers[0]; test.Command[len(test.Command)-1] {
	case "crash":
		return ended(2, "panic: at sea")
	case "silent":
		return ended(0, "{}")
	case "two":
		return ended(0, `{"results": [{"name": "two", "state": "pass"}, {"name": "two-more", "state": "fail", "errors": ["no ships"]}]}`)
	case "untar":
		o := kubelettest.Outcome{Logs: map[string]string{"scorecard-untar": "tar: no such file"}}
		o.Status.Phase = corev1.PodFailed
		o.Status.InitContainerStatuses = []corev1.ContainerStatus{terminated("scorecard-untar", 1)}
		return o
	case "no-image":
		o := kubelettest.Outcome{Warning: "no such image"}
		o.Status.Phase = corev1.PodPending
		o.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "scorecard-test", State: corev1.ContainerState{
			Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "Back-off pulling image"},
		}}}
		return o
	case "no-room":
		o := kubelettest.Outcome{Pending: true}
		o.Status.Phase = corev1.PodPending
		o.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/3 nodes are available"}}
		return o
	case "storage":
		o := ended(0, `{"results": [{"name": "storage", "state": "pass"}]}`)
		o.Status.ContainerStatuses = append(o.Status.ContainerStatuses, corev1.ContainerStatus{Name: "scorecard-gather", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}})
		o.Exec = store
		return o
	default:
		return ended(0, `{"results": [{"name": "passed", "state": "pass"}]}`)
	}
}

// ended is a test that ended with a code and a log.
func ended(code int32, log string) kubelettest.Outcome {
	o := kubelettest.Outcome{Logs: map[string]string{"scorecard-untar": "manifests/\n", "scorecard-test": log}}
	o.Status.Phase = corev1.PodRunning
	o.Status.InitContainerStatuses = []corev1.ContainerStatus{terminated("scorecard-untar", 0)}
	o.Status.ContainerStatuses = []corev1.ContainerStatus{terminated("scorecard-test", code)}
	return o
}

func terminated(container string, code int32) corev1.ContainerStatus {
	reason := "Completed"
	if code != 0 {
		reason = "Error"
	}
	return corev1.ContainerStatus{Name: container, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason}}}
}

// store answers the command that archives the storage of a test.
func store(container string, command []string, stdout io.Writer) error {
	if want := []string{"tar", "cf", "-", "/data/out"}; container != "scorecard-gather" || !slices.Equal(command, want) {
		return fmt.Errorf("container %s: %q", container, command)
	}
	archive := tar.NewWriter(stdout)
	for _, f := range []struct{ name, content string }{{"data/out/", ""}, {"data/out/deep/file", "stored"}} {
		header := &tar.Header{Name: f.name, Mode: 0o644, Size: int64(len(f.content))}
		if err := errors.Join(archive.WriteHeader(header), func() error { _, err := io.WriteString(archive, f.content); return err }()); err != nil {
			return err
		}
	}
	return archive.Close()
}

// checkSpecs checks the settings of the pods.
func (p *pods) checkSpecs(t *testing.T) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, pod := range p.all {
		for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
			if c.SecurityContext == nil || c.SecurityContext.AllowPrivilegeEscalation == nil || *c.SecurityContext.AllowPrivilegeEscalation {
				t.Errorf("the container %s is not restricted", c.Name)
			}
		}
		if pod.Spec.ServiceAccountName != "tester" {
			t.Errorf("ServiceAccount %s", pod.Spec.ServiceAccountName)
		}
	}
}

// checkArchive checks the bundle that a pod unpacks.
func checkArchive(t *testing.T, server servertest.Server, pod corev1.Pod) {
	t.Helper()
	var archive corev1.ConfigMap
	server.Get("/api/v1/namespaces/default/configmaps/"+pod.Spec.Volumes[0].ConfigMap.Name, &archive)
	zip, err := gzip.NewReader(bytes.NewReader(archive.BinaryData["bundle.tar.gz"]))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for files := tar.NewReader(zip); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, header.Name)
	}
	want := []string{"manifests/", "manifests/csv.yaml", "metadata/", "metadata/annotations.yaml", "tests/", "tests/scorecard/", "tests/scorecard/config.yaml"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// newBundle returns a folder with a bundle and its tests.
func newBundle(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	var config strings.Builder
	config.WriteString("kind: Configuration\nserviceaccount: tester\nstages:\n- parallel: true\n  tests:\n" +
		"  - {image: example.org/scorecard-test, entrypoint: [scorecard-test, basic-check-spec]}\n")
	for _, name := range []string{"passed", "two", "crash", "silent", "untar", "storage", "no-image", "no-room"} {
		group, storage := "ends", ""
		if strings.HasPrefix(name, "no-") {
			group = "hangs"
		}
		if name == "storage" {
			storage = ", storage: {spec: {mountPath: {path: /data/out}}}"
		}
		fmt.Fprintf(&config, "  - {image: example.org/custom, entrypoint: [custom, %s], labels: {suite: custom, test: %s, group: %s}%s}\n", name, name, group, storage)
	}
	for name, content := range map[string]string{
		"metadata/annotations.yaml":   "annotations: {operators.operatorframework.io.bundle.package.v1: fleet}\n",
		"manifests/csv.yaml":          "kind: ClusterServiceVersion\nmetadata: {name: fleet.v0.1.0}\n",
		"tests/scorecard/config.yaml": config.String(),
	} {
		treetest.WriteFile(t, filepath.Join(dir, "bundle", filepath.FromSlash(name)), content)
	}
	return dir
}
