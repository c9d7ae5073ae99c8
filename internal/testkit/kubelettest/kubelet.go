// Package kubelettest plays the scheduler and the kubelet of one node for a test, so that pods
// on a real API server get a status, logs and a shell without running.
package kubelettest

import (
	"crypto/tls"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"github.com/operon-dev/operon/internal/testkit/servertest"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
)

const nodeName = "node"

// Outcome is what becomes of a pod.
type Outcome struct {
	Pending bool              // no node has room for the pod
	Status  corev1.PodStatus  // its status from then on
	Logs    map[string]string // by container
	Warning string            // the message of an event
	// Exec runs a command in a container. nil refuses all commands.
	Exec func(container string, command []string, stdout io.Writer) error
}

// Kubelet is a node.
type Kubelet struct {
	servertest.Server
	decide func(corev1.Pod) Outcome

	mu   sync.Mutex
	pods map[string]Outcome // by name
}

// Start adds a node to the cluster. It asks decide what becomes of each new pod in the
// namespace default, until the test ends.
func Start(s servertest.Server, decide func(corev1.Pod) Outcome) *Kubelet {
	s.Helper()
	k := &Kubelet{Server: s, decide: decide, pods: map[string]Outcome{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /containerLogs/default/{pod}/{container}", k.log)
	mux.HandleFunc("POST /exec/default/{pod}/{container}", k.exec)
	server := httptest.NewUnstartedServer(mux)
	server.TLS = &tls.Config{NextProtos: []string{"http/1.1"}} // commands need an upgrade of the connection
	server.StartTLS()
	s.Cleanup(server.Close)
	k.addNode(server.Listener.Addr().(*net.TCPAddr).Port)
	ended := make(chan struct{})
	s.Cleanup(func() { <-ended })
	go func() {
		defer close(ended)
		for s.Context().Err() == nil {
			k.sync()
			time.Sleep(50 * time.Millisecond)
		}
	}()
	return k
}

func (k *Kubelet) addNode(port int) {
	k.Helper()
	node := corev1.Node{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}, ObjectMeta: metav1.ObjectMeta{Name: nodeName}}
	k.send(http.MethodPost, "/api/v1/nodes", node)
	k.Get("/api/v1/nodes/"+nodeName, &node)
	node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "127.0.0.1"}}
	node.Status.DaemonEndpoints.KubeletEndpoint.Port = int32(port)
	k.send(http.MethodPut, "/api/v1/nodes/"+nodeName+"/status", node)
}

// send writes an object. It reports failures, except those after the end of the test.
func (k *Kubelet) send(method, path string, object any) {
	body, err := json.Marshal(object)
	if err != nil {
		k.Errorf("%s %s: %v", method, path, err)
		return
	}
	code, answer, err := k.Request(method, path, string(body))
	refused := code >= http.StatusBadRequest && code != http.StatusNotFound && code != http.StatusConflict
	if k.Context().Err() == nil && (err != nil || refused) {
		k.Errorf("%s %s: %d %s %v", method, path, code, answer, err)
	}
}

// sync handles new pods, and removes those that are being deleted.
func (k *Kubelet) sync() {
	code, answer, err := k.Request(http.MethodGet, "/api/v1/namespaces/default/pods", "")
	var list corev1.PodList
	if err != nil || code != http.StatusOK || json.Unmarshal(answer, &list) != nil {
		return // the next call tries again
	}
	for _, pod := range list.Items {
		path := "/api/v1/namespaces/default/pods/" + pod.Name
		if pod.DeletionTimestamp != nil {
			meta := metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"}
			k.send(http.MethodDelete, path, metav1.DeleteOptions{TypeMeta: meta, GracePeriodSeconds: new(int64)})
			continue
		}
		if _, known := k.outcome(pod.Name); !known {
			k.start(path, pod)
		}
	}
}

func (k *Kubelet) outcome(pod string) (Outcome, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	o, ok := k.pods[pod]
	return o, ok
}

// start binds a pod to the node, and writes its status.
func (k *Kubelet) start(path string, pod corev1.Pod) {
	o := k.decide(pod)
	if !o.Pending {
		k.send(http.MethodPost, path+"/binding", corev1.Binding{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Binding"}, ObjectMeta: metav1.ObjectMeta{Name: pod.Name},
			Target: corev1.ObjectReference{APIVersion: "v1", Kind: "Node", Name: nodeName},
		})
	}
	if o.Warning != "" {
		k.send(http.MethodPost, "/api/v1/namespaces/default/events", corev1.Event{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Event"}, ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: "default"},
			InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: "default", Name: pod.Name, UID: pod.UID},
			Type:           corev1.EventTypeWarning, Reason: "Failed", Message: o.Warning,
		})
	}
	k.mu.Lock()
	k.pods[pod.Name] = o
	k.mu.Unlock()
	code, answer, err := k.Request(http.MethodGet, path, "")
	if err != nil || code != http.StatusOK || json.Unmarshal(answer, &pod) != nil {
		return // deleted meanwhile
	}
	pod.APIVersion, pod.Kind, pod.Status = "v1", "Pod", o.Status
	k.send(http.MethodPut, path+"/status", pod)
}

// log serves the log of a container to the API server.
func (k *Kubelet) log(w http.ResponseWriter, r *http.Request) {
	o, _ := k.outcome(r.PathValue("pod"))
	text, ok := o.Logs[r.PathValue("container")]
	if !ok {
		http.Error(w, "the container has no log", http.StatusNotFound)
		return
	}
	_, _ = io.WriteString(w, text)
}

// exec runs a command for the API server.
func (k *Kubelet) exec(w http.ResponseWriter, r *http.Request) {
	o, _ := k.outcome(r.PathValue("pod"))
	if o.Exec == nil {
		http.Error(w, "the container has no shell", http.StatusNotFound)
		return
	}
	if _, err := httpstream.Handshake(r, w, []string{"v4.channel.k8s.io"}); err != nil {
		k.Error(err)
		return
	}
	opened := make(chan httpstream.Stream, 4)
	conn := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(s httpstream.Stream, _ <-chan struct{}) error {
		opened <- s
		return nil
	})
	if conn == nil {
		return
	}
	defer func() { _ = conn.Close() }()
	streams := map[string]httpstream.Stream{}
	for len(streams) < 2 {
		select {
		case s := <-opened:
			streams[strings.ToLower(s.Headers().Get(corev1.StreamType))] = s
		case <-conn.CloseChan():
			return
		}
	}
	status := metav1.Status{Status: metav1.StatusSuccess}
	if err := o.Exec(r.PathValue("container"), r.URL.Query()["command"], streams[corev1.StreamTypeStdout]); err != nil {
		status = metav1.Status{Status: metav1.StatusFailure, Message: err.Error()}
	}
	_ = streams[corev1.StreamTypeStdout].Close()
	_ = json.NewEncoder(streams[corev1.StreamTypeError]).Encode(status)
	_ = streams[corev1.StreamTypeError].Close()
	<-conn.CloseChan()
}
