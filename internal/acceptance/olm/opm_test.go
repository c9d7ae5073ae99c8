//go:build testall

package olm

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// opmServers run opm in place of pods with catalogs, until the end of the test.
type opmServers struct {
	opm, folder string
	pods        map[types.UID]*opmServer
}

// opmServer is a run of opm, and the address that OLM finds in the status of the pod.
type opmServer struct{ address, ip string }

// serve serves the catalog in the ConfigMap of a pod, and returns the address of the pod, or "" until
// opm can be reached.
func (c *controlPlane) serve(ctx context.Context, s *opmServers, pod unstructured.Unstructured) (ip string) {
	server := s.pods[pod.GetUID()]
	if server == nil {
		o, err := c.objects.Resource(gvr("v1/configmaps")).Namespace(pod.GetNamespace()).Get(ctx, pod.GetName(), metav1.GetOptions{})
		if err != nil {
			return ""
		}
		content, _, _ := unstructured.NestedString(o.Object, "data", "catalog.json")
		if server, err = s.start(ctx, string(pod.GetUID()), content); err != nil {
			return ""
		}
		s.pods[pod.GetUID()] = server
	}
	conn, err := net.DialTimeout("tcp", server.address, time.Second)
	if err != nil || conn.Close() != nil {
		return ""
	}
	return server.ip
}

// start starts opm. It listens at all addresses of this machine, so each run has a port of its own, and
// the port of the pod is forwarded to it.
func (s *opmServers) start(ctx context.Context, name, content string) (*opmServer, error) {
	folder := filepath.Join(s.folder, name)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(folder, "catalog.json"), []byte(content), 0o600); err != nil {
		return nil, err
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := free.Addr().String()
	_, port, _ := net.SplitHostPort(address)
	_ = free.Close()
	pod, err := listenAsPod()
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { _ = pod.Close() })
	go forward(pod, address)
	cmd := exec.CommandContext(ctx, s.opm, "serve", folder, "--port="+port, "--termination-log", folder+".log")
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() { _ = cmd.Wait() }()
	ip, _, _ := net.SplitHostPort(pod.Addr().String())
	return &opmServer{address, ip}, nil
}

// listenAsPod listens on the port of catalog pods, at an address that no other test uses. A pod has an
// address of its own, and so has each test, where the operating system has several loopback addresses.
func listenAsPod() (l net.Listener, err error) {
	for range 20 {
		ip := fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(254), rand.IntN(256), 1+rand.IntN(254))
		if l, err = net.Listen("tcp", net.JoinHostPort(ip, "50051")); err == nil {
			return l, nil
		}
	}
	return net.Listen("tcp", "127.0.0.1:50051")
}

// forward connects all connections to another address.
func forward(l net.Listener, address string) {
	for {
		from, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer func() { _ = from.Close() }()
			to, err := net.Dial("tcp", address)
			if err != nil {
				return
			}
			defer func() { _ = to.Close() }()
			go func() { _, _ = io.Copy(to, from) }()
			_, _ = io.Copy(from, to)
		}()
	}
}
