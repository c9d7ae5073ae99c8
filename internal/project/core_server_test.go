package project

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestCoreKinds compares the table with a real API server: what it serves, and
// whether it accepts the objects.
func TestCoreKinds(t *testing.T) {
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if assets == "" {
		t.Skip("KUBEBUILDER_ASSETS is not set; `make test` sets it")
	}
	t.Parallel()
	s := startAPIServer(t, assets)
	var served, listed []string
	for _, group := range s.groupVersions() {
		if group == "apiregistration.k8s.io/v1" {
			continue // see coreGroups
		}
		for _, r := range s.resources(group) {
			served = append(served, fmt.Sprintf("%s %s %s namespaced=%t stored=%t", group, r.Kind, r.Name, r.Namespaced, slices.Contains(r.Verbs, "watch")))
		}
	}
	for _, k := range CoreKinds() {
		group := strings.TrimPrefix(k.Resource().QualifiedGroup()+"/"+k.Version, "/")
		listed = append(listed, fmt.Sprintf("%s %s %s namespaced=%t stored=%t", group, k.Kind, k.Plural, k.Namespaced, k.Stored))
	}
	slices.Sort(served)
	slices.Sort(listed)
	if diff := cmp.Diff(served, listed); diff != "" {
		t.Errorf("the table differs from the API server (-server +table):\n%s", diff)
	}
	for _, k := range CoreKinds() {
		if k.Stored {
			s.create(k)
		}
	}
}

// apiServer is a running kube-apiserver.
type apiServer struct {
	*testing.T
	url    string
	client *http.Client
}

const bearer = "test-token"

func startAPIServer(t *testing.T, assets string) apiServer {
	t.Helper()
	dir := t.TempDir()
	ports := freePorts(t, 3)
	etcd := fmt.Sprintf("http://127.0.0.1:%d", ports[0])
	tokens := filepath.Join(dir, "tokens.csv")
	if err := os.WriteFile(tokens, []byte(bearer+`,admin,1,"system:masters"`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	certs := filepath.Join(dir, "certs")
	start(t, filepath.Join(assets, "etcd"), "--data-dir", filepath.Join(dir, "etcd"), "--unsafe-no-fsync",
		"--listen-client-urls", etcd, "--advertise-client-urls", etcd,
		"--listen-peer-urls", fmt.Sprintf("http://127.0.0.1:%d", ports[1]))
	key := filepath.Join(dir, "sa.key")
	if err := os.WriteFile(key, signingKey(t), 0o600); err != nil {
		t.Fatal(err)
	}
	start(t, filepath.Join(assets, "kube-apiserver"), "--etcd-servers", etcd, "--cert-dir", certs,
		"--bind-address", "127.0.0.1", "--secure-port", fmt.Sprint(ports[2]), "--token-auth-file", tokens,
		"--service-account-issuer", "https://example.org", "--service-account-key-file", key, "--service-account-signing-key-file", key,
		"--authorization-mode", "RBAC", "--disable-admission-plugins", "ServiceAccount", "--service-cluster-ip-range", "10.0.0.0/24")
	s := apiServer{T: t, url: fmt.Sprintf("https://127.0.0.1:%d", ports[2]), client: &http.Client{
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, // the certificate is minutes old and its own
	}}
	for t.Context().Err() == nil {
		if code, _, err := s.request(http.MethodGet, "/readyz", ""); err == nil && code == http.StatusOK {
			if code, _, err := s.request(http.MethodGet, "/api/v1/namespaces/default", ""); err == nil && code == http.StatusOK {
				return s
			}
		}
		select {
		case <-t.Context().Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
	t.Fatal(t.Context().Err())
	return s
}

// start runs a program until the test ends.
func start(t *testing.T, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	out := &strings.Builder{}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
		if t.Failed() {
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			t.Logf("%s ended with:\n%s", filepath.Base(name), strings.Join(lines[max(0, len(lines)-10):], "\n"))
		}
	})
}

func freePorts(t *testing.T, n int) []int {
	t.Helper()
	var ports []int
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports
}

func (s apiServer) request(method, path, body string) (int, []byte, error) {
	req, err := http.NewRequestWithContext(s.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+bearer)
	req.Header.Set("Content-Type", "application/yaml")
	res, err := s.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	content, err := io.ReadAll(res.Body)
	return res.StatusCode, content, err
}

func (s apiServer) get(path string, into any) {
	s.Helper()
	code, content, err := s.request(http.MethodGet, path, "")
	if err == nil && code == http.StatusOK {
		err = json.Unmarshal(content, into)
	}
	if err != nil || code != http.StatusOK {
		s.Fatalf("GET %s: %v %d %s", path, err, code, content)
	}
}

// groupVersions are all that the server has, v1 for the core group.
func (s apiServer) groupVersions() []string {
	s.Helper()
	var groups struct {
		Groups []struct {
			Versions []struct{ GroupVersion string }
		}
	}
	s.get("/apis", &groups)
	all := []string{"v1"}
	for _, g := range groups.Groups {
		for _, v := range g.Versions {
			all = append(all, v.GroupVersion)
		}
	}
	return all
}

type servedResource struct {
	Name, Kind string
	Namespaced bool
	Verbs      []string
}

// resources leaves subresources out.
func (s apiServer) resources(groupVersion string) []servedResource {
	s.Helper()
	var list struct{ Resources []servedResource }
	s.get(root(groupVersion), &list)
	return slices.DeleteFunc(list.Resources, func(r servedResource) bool { return strings.Contains(r.Name, "/") })
}

func root(groupVersion string) string {
	if strings.Contains(groupVersion, "/") {
		return "/apis/" + groupVersion
	}
	return "/api/" + groupVersion
}

// create posts the kind's object, as strictly checked as by kubectl apply.
func (s apiServer) create(k CoreKind) {
	s.Helper()
	path := root(strings.TrimPrefix(k.Resource().QualifiedGroup()+"/"+k.Version, "/"))
	if k.Namespaced {
		path += "/namespaces/default"
	}
	path += "/" + k.Plural + "?fieldValidation=Strict"
	if code, content, err := s.request(http.MethodPost, path, k.Object); err != nil || code != http.StatusCreated {
		var status struct{ Message string }
		_ = json.Unmarshal(content, &status)
		// Two versions of a kind share their object.
		if !strings.Contains(status.Message, "already exists") {
			s.Errorf("POST %s: %v %d %s\n%s", path, err, code, status.Message, k.Object)
		}
	}
}

// signingKey is an RSA key for the tokens of service accounts, which nobody asks
// for.
func signingKey(t *testing.T) []byte {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
}
