//go:build testall

package e2e

import (
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// redirect replaces the Service of webhooks and conversions by a URL of this machine. If the
// manager makes its certificates, it makes them for the Service: then the Service leads here.
func (i *installation) redirect(t *testing.T, o *unstructured.Unstructured) {
	t.Helper()
	if i.selfCerts && o.GetKind() == "Service" && o.GetName() == i.prefix+"webhook-service" {
		o.Object["spec"] = map[string]any{"type": "ExternalName", "externalName": "127.0.0.1"}
	}
	for _, w := range webhooks(o) {
		path, ok, err := unstructured.NestedString(w, "clientConfig", "service", "path")
		if !ok || err != nil {
			t.Fatalf("%s %s: a webhook without a service and its path: %v", o.GetKind(), o.GetName(), w)
		}
		if i.selfCerts {
			port := i.service.Addr().(*net.TCPAddr).Port
			if err := unstructured.SetNestedField(w, int64(port), "clientConfig", "service", "port"); err != nil {
				t.Fatal(err)
			}
			continue
		}
		w["clientConfig"] = map[string]any{
			"url":      "https://" + i.service.Addr().String() + path,
			"caBundle": bundle(authority()),
		}
	}
}

// webhooks returns the parts of an object that have a clientConfig.
func webhooks(o *unstructured.Unstructured) (all []map[string]any) {
	switch o.GetKind() {
	case "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration":
		listed, _ := o.Object["webhooks"].([]any)
		for _, w := range listed {
			all = append(all, w.(map[string]any))
		}
	case "CustomResourceDefinition":
		if w, ok, _ := unstructured.NestedFieldNoCopy(o.Object, "spec", "conversion", "webhook"); ok {
			all = append(all, w.(map[string]any))
		}
	}
	return all
}

// service acts as the webhook Service: it forwards each connection to a running manager.
type service struct {
	net.Listener
	mu       sync.Mutex
	managers []string // their addresses
}

// serve starts a service on a free port. It ends with the test.
func serve(t *testing.T) *service {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &service{Listener: listener}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go s.forward(client)
		}
	}()
	return s
}

// forward connects a client to the first manager that answers, until one of them closes the
// connection.
func (s *service) forward(client net.Conn) {
	defer client.Close()
	s.mu.Lock()
	managers := slices.Clone(s.managers)
	s.mu.Unlock()
	for _, address := range managers {
		manager, err := net.DialTimeout("tcp", address, 5*time.Second)
		if err != nil {
			continue
		}
		go func() {
			_, _ = io.Copy(manager, client)
			_ = manager.Close()
		}()
		_, _ = io.Copy(client, manager)
		return
	}
}

func (s *service) add(address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.managers = append(s.managers, address)
}
