package registry

import (
	"bytes"
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/olm/catalog"
	"google.golang.org/protobuf/encoding/protowire"
)

var content = Content{
	Package: catalog.Package{Name: "fleet", DefaultChannel: "stable"},
	Channel: catalog.Channel{Name: "stable", Package: "fleet", Entries: []catalog.Entry{{Name: "fleet.v0.2.0", Replaces: "fleet.v0.1.0", Skips: []string{"fleet.v0.1.1"}, SkipRange: "<0.2.0"}}},
	Bundle: catalog.Bundle{Name: "fleet.v0.2.0", Package: "fleet", Properties: []catalog.Property{
		{Type: catalog.PropertyPackage, Value: map[string]any{"packageName": "fleet", "version": "0.2.0"}},
		{Type: catalog.PropertyGVK, Value: map[string]any{"group": "ship.example.org", "kind": "Frigate", "version": "v1"}},
		{Type: catalog.PropertyGVKRequired, Value: map[string]any{"group": "cert-manager.io", "kind": "Issuer", "version": "v1"}},
		{Type: catalog.PropertyPackageRequired, Value: map[string]any{"packageName": "harbor", "versionRange": ">=1.0.0"}},
		{Type: catalog.PropertyObject, Value: map[string]any{"data": base64.StdEncoding.EncodeToString([]byte(`{"kind":"ClusterServiceVersion"}`))}},
		{Type: catalog.PropertyObject, Value: map[string]any{"data": base64.StdEncoding.EncodeToString([]byte(`{"kind":"ConfigMap"}`))}},
	}},
}

// TestServe calls all methods over HTTP/2 without TLS. That OLM understands the answers shows
// internal/acceptance/olm.
func TestServe(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s, err := Serve(l, content)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	url := "http://" + l.Addr().String()
	for _, tt := range []struct {
		method  string
		request message
		status  string
		want    []string // of the fields of the answer
	}{
		{method: "/api.Registry/ListPackages", status: "0", want: []string{"fleet"}},
		{method: "/api.Registry/GetPackage", request: newMessage("fleet"), status: "0", want: []string{"fleet", "\n\x06stable\x12\x0cfleet.v0.2.0", "stable"}},
		{method: "/api.Registry/GetPackage", request: newMessage("harbor"), status: "5"},
		{method: "/api.Registry/GetBundle", request: newMessage("fleet", "stable", "fleet.v0.1.0"), status: "5"},
		{method: "/api.Registry/GetBundleForChannel", request: newMessage("fleet", "alpha"), status: "5"},
		{method: "/api.Registry/GetBundleThatReplaces", status: "12"},
		{method: "/grpc.health.v1.Health/Check", request: newMessage("Registry"), status: "0"},
	} {
		answer, status := call(t, url+tt.method, tt.request)
		if status != tt.status || tt.want != nil && !slices.Equal(fields(t, answer), tt.want) {
			t.Errorf("%s(%q) = %q with status %s, want %q with status %s", tt.method, tt.request, answer, status, tt.want, tt.status)
		}
	}
	bundle, _ := call(t, url+"/api.Registry/ListBundles", nil)
	other, _ := call(t, url+"/api.Registry/GetBundle", newMessage("fleet", "stable", "fleet.v0.2.0"))
	if !bytes.Equal(bundle, other) {
		t.Errorf("ListBundles and GetBundle differ: %q, %q", bundle, other)
	}
	for field, want := range map[int]string{
		1: "fleet.v0.2.0", 2: "fleet", 3: "stable", 4: `{"kind":"ClusterServiceVersion"}`, 5: `{"kind":"ClusterServiceVersion"}`, 6: "",
		7: string(newMessage("ship.example.org", "v1", "Frigate")), 8: string(newMessage("cert-manager.io", "v1", "Issuer")),
		9: "0.2.0", 10: "<0.2.0", 13: "fleet.v0.1.0", 14: "fleet.v0.1.1",
	} {
		if got := bundle.find(field); got != want {
			t.Errorf("field %d is %q, want %q", field, got, want)
		}
	}
	if text := string(bundle); !strings.Contains(text, `{"packageName":"harbor","version":"\u003e=1.0.0"}`) || strings.Count(text, "olm.bundle.object") > 0 {
		t.Errorf("dependencies or properties: %q", text)
	}
	for body, want := range map[string]string{"": "13", "\x00\x00\x00\x00\x02a": "13", "\x01\x00\x00\x00\x00": "12", "\x00\xff\xff\xff\xff": "8"} {
		if _, status, _ := send(t, url+"/api.Registry/ListBundles", body); status != want {
			t.Errorf("%q has status %s, want %s", body, status, want)
		}
	}
	if _, status, text := send(t, url+"/api.Registry/GetDefaultBundleThatProvides", "\x00\x00\x00\x00\x00"); status != "12" || text != "this catalog does not serve the method /api.Registry/GetDefaultBundleThatProvides" {
		t.Errorf("status %s: %s", status, text)
	}
}

func call(t *testing.T, url string, m message) (answer message, status string) {
	t.Helper()
	var body bytes.Buffer
	if err := writeMessage(&body, m); err != nil {
		t.Fatal(err)
	}
	got, status, _ := send(t, url, body.String())
	if status != "0" {
		return nil, status
	}
	if len(got) < 5 {
		t.Fatalf("%s: %q", url, got)
	}
	return message(got[5:]), status
}

func send(t *testing.T, url, body string) (answer, status, text string) {
	t.Helper()
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	client := http.Client{Transport: &http.Transport{Protocols: &protocols}}
	t.Cleanup(client.CloseIdleConnections)
	resp, err := client.Post(url, "application/grpc", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(got), resp.Trailer.Get("Grpc-Status"), resp.Trailer.Get("Grpc-Message")
}

// fields returns the values of the fields of a message.
func fields(t *testing.T, m message) (values []string) {
	t.Helper()
	for len(m) > 0 {
		_, _, n := protowire.ConsumeTag(m)
		value, length := protowire.ConsumeBytes(m[max(n, 0):])
		if n < 0 || length < 0 {
			t.Fatalf("%q is not a message", m)
		}
		values, m = append(values, string(value)), m[n+length:]
	}
	return values
}
