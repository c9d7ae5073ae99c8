//go:build testall

package e2e

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// berthVersion is the API version of Berth, the kind that the tests of harbor use.
const berthVersion = "port.example.org/v1"

// TestSecurity runs managers of the golden project harbor with all optional parts of config/,
// and checks their servers, leader election and certificates. It uses a control plane of its
// own: while no manager runs, its webhook for pods would reject the pods of other tests.
func TestSecurity(t *testing.T) {
	t.Parallel()
	c := startControlPlane(t, "--name", fmt.Sprint("e2e-security-", os.Getpid()))
	i := install(t, c, golden(t, "harbor"), func(config string) {
		switchOn(t, filesys.MakeFsOnDisk(), config)
	})
	scraper, stranger := i.account(t, "scraper"), i.account(t, "stranger")
	i.grant(t, "scraper", "metrics-reader")

	first := i.run(t)
	first.awaitLeader(t, scraper)
	t.Run("servers", func(t *testing.T) {
		t.Run("metrics", func(t *testing.T) { testMetrics(t, first, trusting(authority()), scraper, stranger) })
		t.Run("probes", func(t *testing.T) { testProbes(t, first) })
		t.Run("logs", func(t *testing.T) {
			if text := first.output.String(); !strings.HasPrefix(text, `{"level":"info"`) {
				t.Errorf("the manager does not log JSON:\n%s", text)
			}
		})
		t.Run("http2", func(t *testing.T) {
			for _, address := range []string{first.metricsAddress(t), first.webhook} {
				wantProtocol(t, address, trusting(authority()), "http/1.1")
			}
		})
		t.Run("flags", func(t *testing.T) {
			t.Parallel()
			m := i.run(t, "--metrics-cert-path=", "--enable-http2", "--zap-devel")
			if text := m.output.String(); !strings.Contains(text, "\tINFO\tsetup\tstarting the manager\n") {
				t.Errorf("with --zap-devel the manager does not log text:\n%s", text)
			}
			// The certificate is self-signed.
			testMetrics(t, m, &tls.Config{InsecureSkipVerify: true}, scraper, stranger)
			if _, _, err := get(m.metricsURL, trusting(authority()), scraper); err == nil {
				t.Error("the server uses a certificate from a folder that no flag names")
			}
			wantProtocol(t, m.metricsAddress(t), &tls.Config{InsecureSkipVerify: true}, "h2")
			wantProtocol(t, m.webhook, trusting(authority()), "h2")
		})
		t.Run("no metrics", func(t *testing.T) {
			t.Parallel()
			m := i.run(t, "--metrics-bind-address=0")
			if conn, err := net.Dial("tcp", m.metricsAddress(t)); err == nil {
				_ = conn.Close()
				t.Error("the metrics are served")
			}
		})
	})
	t.Run("leader", func(t *testing.T) { testLeader(t, i, first, scraper) })
	t.Run("certificates", func(t *testing.T) { testRotation(t, i, scraper) })
}

// testMetrics reads the metrics without a token, without permission and with permission.
func testMetrics(t *testing.T, m *manager, trust *tls.Config, scraper, stranger string) {
	t.Helper()
	eventually(t, "serve metrics", func() error {
		_, _, err := get(m.metricsURL, trust, "")
		return err
	})
	for _, who := range []struct {
		name, token string
		want        int
	}{
		{"nobody", "", http.StatusUnauthorized},
		// controller-runtime answers so when the review of the token fails.
		{"somebody with a forged token", stranger + "x", http.StatusInternalServerError},
		{"an account without the role", stranger, http.StatusForbidden},
		{"an account with the role", scraper, http.StatusOK},
	} {
		status, body, err := get(m.metricsURL, trust, who.token)
		if err != nil || status != who.want {
			t.Errorf("%s: status %d %v, want %d", who.name, status, err, who.want)
		}
		if has := strings.Contains(body, "leader_election_master_status"); has != (who.want == http.StatusOK) {
			t.Errorf("%s sees metrics: %t", who.name, has)
		}
	}
	if status, _, err := get(strings.Replace(m.metricsURL, "https:", "http:", 1), trust, scraper); status != http.StatusBadRequest {
		t.Errorf("without TLS: %d %v", status, err)
	}
}

// testProbes requests the probes as a kubelet does, without a token.
func testProbes(t *testing.T, m *manager) {
	for _, path := range []string{"/healthz", "/readyz"} {
		if status, _, err := get(m.probeURL+path, nil, ""); err != nil || status != http.StatusOK {
			t.Errorf("%s: %d %v", path, status, err)
		}
	}
}

// ready returns an error unless the newest generation of an object is ready.
func ready(o *unstructured.Unstructured, err error) error {
	if err != nil {
		return err
	}
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range conditions {
		c := c.(map[string]any)
		if c["type"] == "Ready" && c["status"] == "True" && c["observedGeneration"] == o.GetGeneration() {
			return nil
		}
	}
	return fmt.Errorf("generation %d of %s has the conditions %v", o.GetGeneration(), o.GetName(), conditions)
}

// gone returns an error unless the object does not exist.
func gone(o *unstructured.Unstructured, err error) error {
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	}
	return fmt.Errorf("%s %s exists, with the finalizers %q", o.GetKind(), o.GetName(), o.GetFinalizers())
}

// account creates a ServiceAccount in the namespace of the manager and returns a token of it.
func (i *installation) account(t *testing.T, name string) string {
	t.Helper()
	i.cluster.apply(t, object("v1", "ServiceAccount", i.namespace, name))
	return i.token(t, name)
}

// grant binds a ClusterRole of the installation to an account, and waits until the manager
// notices: it caches denials.
func (i *installation) grant(t *testing.T, account, role string) {
	t.Helper()
	bindings := i.cluster.client.RbacV1().ClusterRoleBindings()
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: i.prefix + account},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: i.named(t, "ClusterRole", role).GetName()},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: i.namespace, Name: account}},
	}
	if _, err := bindings.Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := bindings.Delete(context.WithoutCancel(t.Context()), binding.Name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	as := serviceAccount(t, i.cluster, i.namespace, account)
	eventually(t, "grant "+role, func() error {
		may, err := allowed(t, as, i.namespace)
		if err == nil && !may["get /metrics"] {
			err = fmt.Errorf("%s may %v", account, may)
		}
		return err
	})
}

// get sends a request with a token, unless it is "", on a new connection.
func get(address string, trust *tls.Config, token string) (status int, body string, err error) {
	request, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		return 0, "", err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: trust, DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	all, err := io.ReadAll(response.Body)
	return response.StatusCode, string(all), err
}

// wantProtocol checks which protocol a server selects when the client prefers HTTP/2.
func wantProtocol(t *testing.T, address string, trust *tls.Config, want string) {
	t.Helper()
	trust = trust.Clone()
	trust.NextProtos = []string{"h2", "http/1.1"}
	conn, err := tls.Dial("tcp", address, trust)
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close()
	if got := conn.ConnectionState().NegotiatedProtocol; got != want {
		t.Errorf("%s selects %q, want %q", address, got, want)
	}
}

// trusting returns a TLS configuration that trusts one authority.
func trusting(a *issuer) *tls.Config {
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	return &tls.Config{RootCAs: pool}
}

func (m *manager) metricsAddress(t *testing.T) string {
	t.Helper()
	u, err := url.Parse(m.metricsURL)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}
