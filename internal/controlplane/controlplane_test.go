package controlplane

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/operon-dev/operon/internal/fault"
)

func TestHomeDir(t *testing.T) {
	t.Parallel()
	if filepath.Separator != '/' {
		t.Skip("the expected paths are paths of Unix")
	}
	tests := []struct {
		goos string
		env  map[string]string
		want string
	}{
		{"linux", map[string]string{"HOME": "/h"}, "/h/.local/state/operon/envtest"},
		{"linux", map[string]string{"HOME": "/h", "XDG_STATE_HOME": "/s"}, "/s/operon/envtest"},
		{"linux", map[string]string{"XDG_STATE_HOME": "/s"}, "/s/operon/envtest"},
		// By the specification, relative paths are ignored.
		{"freebsd", map[string]string{"HOME": "/h", "XDG_STATE_HOME": "s"}, "/h/.local/state/operon/envtest"},
		{"darwin", map[string]string{"HOME": "/h", "XDG_STATE_HOME": "/s"}, "/h/Library/Application Support/operon/envtest"},
		{"windows", map[string]string{"HOME": "/h", "LocalAppData": "/l"}, "/l/operon/envtest"},
		{"linux", nil, "no folder for control planes: HOME is not an absolute path"},
		{"darwin", map[string]string{"HOME": "h"}, "no folder for control planes: HOME is not an absolute path"},
		{"windows", map[string]string{"HOME": "/h"}, "no folder for control planes: LocalAppData is not an absolute path"},
	}
	for _, tt := range tests {
		got, err := homeDir(tt.goos, func(name string) string { return tt.env[name] })
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s %v: got %s, want %s", tt.goos, tt.env, got, tt.want)
		}
	}
}

func TestCheckName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a", "default", "ci-2", "9", strings.Repeat("a", 63)} {
		if err := CheckName(name); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"", "-a", "a-", "A", "a.lock", "../a", "a/b", "ä", "a\n", strings.Repeat("a", 64)} {
		if err := CheckName(name); fault.Code(err) != fault.CodeUsage {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestUnmet(t *testing.T) {
	t.Parallel()
	there := State{Options: Options{Name: "a", Assets: "/b", Controllers: true, Port: 5}}
	for want, o := range map[string]Options{
		"":                             {Name: "a", Assets: "/b", Controllers: true},
		"with kube-controller-manager": {Name: "a", Assets: "/b", Port: 5},
		"on port 5":                    {Name: "a", Assets: "/b", Controllers: true, Port: 6},
		"with the programs in /b":      {Name: "a", Assets: "/c", Controllers: true, Port: 5},
	} {
		if got := o.Unmet(there); got != want {
			t.Errorf("%+v: got %q, want %q", o, got, want)
		}
	}
	if got := there.Unmet(State{}); got != "without kube-controller-manager" {
		t.Errorf("got %q", got)
	}
}

// TestLock takes and releases the lock of a name in many goroutines.
func TestLock(t *testing.T) {
	t.Parallel()
	home := &Home{t.TempDir()}
	var inside, taken atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 200 {
				unlock, ok, err := home.acquire("a")
				if err != nil {
					t.Error(err)
					return
				}
				if !ok {
					continue
				}
				if inside.Add(1) != 1 {
					t.Error("two goroutines have the lock")
				}
				taken.Add(1)
				inside.Add(-1)
				unlock()
			}
		})
	}
	all.Wait()
	if taken.Load() == 0 {
		t.Error("no goroutine got the lock")
	}
	if entries, err := os.ReadDir(home.dir); err != nil || len(entries) != 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	c, err := newCredentials()
	must(t, err)
	pair, err := tls.X509KeyPair(c.serverCert, c.serverKey)
	must(t, err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(c.ca)
	for _, name := range []string{"127.0.0.1", "10.0.0.1", "localhost", "kubernetes.default.svc"} {
		if _, err := pair.Leaf.Verify(x509.VerifyOptions{DNSName: name, Roots: roots}); err != nil {
			t.Error(err)
		}
	}
	if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err == nil {
		t.Error("the server's certificate is valid for clients")
	}
	other, err := newCredentials()
	must(t, err)
	if c.adminToken == other.adminToken || c.adminToken == c.controllerToken || len(c.adminToken) < 20 {
		t.Errorf("tokens %q, %q, %q", c.adminToken, c.controllerToken, other.adminToken)
	}
	if block, _ := pem.Decode(c.frontProxyCA); block == nil || cmp.Equal(c.ca, c.frontProxyCA) {
		t.Errorf("front proxy: %s", c.frontProxyCA)
	}
}

func TestKubeconfig(t *testing.T) {
	t.Parallel()
	c := &credentials{ca: []byte("authority")}
	var got struct {
		Current  string `yaml:"current-context"`
		Contexts []struct {
			Name    string
			Context struct{ Cluster, User string }
		}
		Clusters []struct {
			Name    string
			Cluster struct {
				Server string
				CA     string `yaml:"certificate-authority-data"`
			}
		}
		Users []struct {
			Name string
			User struct{ Token string }
		}
	}
	must(t, yaml.Unmarshal(c.kubeconfig("ci", "admin", "secret", 6443), &got))
	if len(got.Contexts) != 1 || len(got.Clusters) != 1 || len(got.Users) != 1 {
		t.Fatalf("%+v", got)
	}
	context, cluster, user := got.Contexts[0], got.Clusters[0], got.Users[0]
	if got.Current != "operon-ci" || context.Name != got.Current || context.Context.Cluster != cluster.Name || context.Context.User != user.Name {
		t.Errorf("names: %+v", got)
	}
	if cluster.Cluster.Server != "https://127.0.0.1:6443" || cluster.Cluster.CA != "YXV0aG9yaXR5" || user.User.Token != "secret" {
		t.Errorf("values: %+v", got)
	}
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	got := environment([]string{"PATH=/bin", "ETCD_NAME=a", "ETCDCTL_API=3", "GOGC=50", "ETCD_UNSUPPORTED_ARCH=riscv64"})
	if diff := cmp.Diff([]string{"GOGC=400", "PATH=/bin", "ETCDCTL_API=3", "GOGC=50", "ETCD_UNSUPPORTED_ARCH=riscv64"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A panic prints a hundred lines of stacks below its message.
func TestLogTailOfPanic(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	must(t, os.WriteFile(path, []byte(`warn	wal.go:147	no room	{"error": "no space left on device"}
panic	bootstrap.go:679	failed to create WAL
go.etcd.io/etcd.bootstrap
	/go/etcd/bootstrap.go:679
panic: failed to create WAL

goroutine 1 [running]:
go.etcd.io/etcd.bootstrap({0x1, 0x2}, ...)
	/go/etcd/bootstrap.go:679 +0x24a
main.main()
	/go/etcd/main.go:31 +0x28
`), 0o600))
	const want = "\n  warn\twal.go:147\tno room\t{\"error\": \"no space left on device\"}" +
		"\n  panic\tbootstrap.go:679\tfailed to create WAL\n  panic: failed to create WAL"
	if diff := cmp.Diff(want, logTail(path)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLogTail(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	if got := logTail(path); got != "" {
		t.Errorf("no log: %q", got)
	}
	must(t, os.WriteFile(path, []byte(strings.Repeat("early\n", 50)+strings.Repeat("ä", 400)+"\n\n  late \n\n"), 0o600))
	got := logTail(path)
	if lines := strings.Split(got, "\n"); len(lines) > 9 || !strings.HasSuffix(got, "...\n  late") || len(got) > 400 || strings.ContainsRune(got, '\ufffd') {
		t.Errorf("got %q", got)
	}
}
