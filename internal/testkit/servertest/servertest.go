// Package servertest starts an API server for a test, without supervisor, controllers and
// the ServiceAccount admission plugin.
package servertest

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	_ "embed"
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
	"sync"
	"testing"
	"time"

	"github.com/operon-dev/operon/internal/controlplane/assets"
	"github.com/operon-dev/operon/internal/pins"
	"github.com/operon-dev/operon/internal/testkit/answers"
)

// Question asks a new server about requests, which are all that a test sends to it.
func Question(requests ...string) answers.Question {
	return answers.Question{Peer: "kube-apiserver v" + pins.Kubernetes, Parts: append(slices.Clone(settings), requests...)}
}

// settings are the flags that decide how the server answers.
var settings = []string{
	"--authorization-mode", "RBAC", "--disable-admission-plugins", "ServiceAccount", "--service-cluster-ip-range", "10.0.0.0/24",
}

// Token is the token of the administrator.
const Token = "test-token"

// Server is a running kube-apiserver with RBAC. It listens on 127.0.0.1 with a self-signed
// certificate, and stops at the end of the test.
type Server struct {
	*testing.T
	URL    string // https://127.0.0.1:port
	client *http.Client
}

// Start starts etcd and kube-apiserver. The test fails if they are not installed.
func Start(t *testing.T) Server {
	t.Helper()
	dir := t.TempDir()
	ports := freePorts(t, 3)
	etcd := fmt.Sprintf("http://127.0.0.1:%d", ports[0])
	tokens := filepath.Join(dir, "tokens.csv")
	key := filepath.Join(dir, "sa.key")
	for name, content := range map[string][]byte{tokens: []byte(Token + `,admin,1,"system:masters"` + "\n"), key: signingKey(t)} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run(t, Program(t, "etcd"), "--data-dir", filepath.Join(dir, "etcd"), "--unsafe-no-fsync",
		"--listen-client-urls", etcd, "--advertise-client-urls", etcd,
		"--listen-peer-urls", fmt.Sprintf("http://127.0.0.1:%d", ports[1]))
	run(t, Program(t, "kube-apiserver"), append([]string{
		"--etcd-servers", etcd, "--cert-dir", filepath.Join(dir, "certs"),
		"--bind-address", "127.0.0.1", "--secure-port", fmt.Sprint(ports[2]), "--token-auth-file", tokens,
		"--service-account-issuer", "https://example.org", "--service-account-key-file", key, "--service-account-signing-key-file", key,
	}, settings...)...)
	s := Server{T: t, URL: fmt.Sprintf("https://127.0.0.1:%d", ports[2]), client: &http.Client{
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, // self-signed
	}}
	s.Await("/readyz")
	s.Await("/api/v1/namespaces/default")
	return s
}

// Kubeconfig writes a kubeconfig for the administrator, or for a user that the
// administrator impersonates, and returns its path.
func (s Server) Kubeconfig(as string) string {
	s.Helper()
	user := "token: " + Token
	if as != "" {
		user += ", as: " + as
	}
	name := filepath.Join(s.TempDir(), "config")
	content := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: test, contexts: [{name: test, context: {cluster: test, user: test}}],
clusters: [{name: test, cluster: {server: %q, insecure-skip-tls-verify: true}}], users: [{name: test, user: {%s}}]}`, s.URL, user)
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		s.Fatal(err)
	}
	return name
}

// Assets returns the folder with the programs of a control plane: KUBEBUILDER_ASSETS, or else
// what `make assets` installed.
var Assets = sync.OnceValues(func() (string, error) {
	for _, name := range []string{assets.Var, "HOME", "XDG_DATA_HOME", "LocalAppData"} {
		os.Getenv(name) // the go command records that the tests depend on it
	}
	store, err := assets.Open(assets.Options{Env: os.Environ()})
	if err != nil {
		return "", err
	}
	return store.Path("")
})

// Program returns the path of a program of the control plane, such as kubectl. The test fails
// if it is not installed.
func Program(t testing.TB, name string) string {
	t.Helper()
	dir, err := Assets()
	if err != nil {
		t.Fatalf("%v; `make assets` builds a control plane", err)
	}
	return assets.Program(dir, name)
}

// Key returns all that the answers of a server depend on: a checksum of its programs, and the
// source of this package.
func Key(t *testing.T) string {
	t.Helper()
	sum, err := Checksum()
	if err != nil {
		t.Fatal(err)
	}
	return sum + source
}

//go:embed servertest.go
var source string

// Checksum returns a checksum of the programs of the control plane.
var Checksum = sync.OnceValues(func() (string, error) {
	dir, err := Assets()
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, name := range []string{"etcd", "kube-apiserver", "kubectl"} {
		content, err := os.ReadFile(assets.Program(dir, name))
		if err != nil {
			return "", err
		}
		_, _ = fmt.Fprintln(sum, name, len(content))
		_, _ = sum.Write(content)
	}
	return string(sum.Sum(nil)), nil
})

// Await waits until the server answers requests for a path.
func (s Server) Await(path string) {
	s.Helper()
	for s.Context().Err() == nil {
		if code, _, err := s.Request(http.MethodGet, path, ""); err == nil && code == http.StatusOK {
			return
		}
		select {
		case <-s.Context().Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
	s.Fatal(s.Context().Err())
}

// run runs a program until the test ends.
func run(t *testing.T, name string, args ...string) {
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
		defer func() { _ = l.Close() }()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports
}

// Request sends a request with a body in YAML, as the administrator.
func (s Server) Request(method, path, body string) (code int, content []byte, err error) {
	req, err := http.NewRequestWithContext(s.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+Token)
	if body != "" {
		req.Header.Set("Content-Type", "application/yaml")
	}
	res, err := s.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = res.Body.Close() }()
	content, err = io.ReadAll(res.Body)
	return res.StatusCode, content, err
}

// Get decodes the JSON object at a path.
func (s Server) Get(path string, into any) {
	s.Helper()
	code, content, err := s.Request(http.MethodGet, path, "")
	if err == nil && code == http.StatusOK {
		err = json.Unmarshal(content, into)
	}
	if err != nil || code != http.StatusOK {
		s.Fatalf("GET %s: %v %d %s", path, err, code, content)
	}
}

// Group is an API group. The preferred version comes first.
type Group struct {
	Versions         []struct{ GroupVersion string }
	PreferredVersion struct{ GroupVersion string }
}

// Groups returns all groups in the server's order, without the core group.
func (s Server) Groups() []Group {
	s.Helper()
	var list struct{ Groups []Group }
	s.Get("/apis", &list)
	return list.Groups
}

// Root returns the path of a group and version.
func Root(groupVersion string) string {
	if strings.Contains(groupVersion, "/") {
		return "/apis/" + groupVersion
	}
	return "/api/" + groupVersion
}

// signingKey returns a new RSA key for the tokens of service accounts.
func signingKey(t *testing.T) []byte {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
}
