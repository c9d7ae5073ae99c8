//go:build unix && testall

package e2e

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/goldentest"
	"github.com/operon-dev/operon/internal/testkit/operontest"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// TestHooksCertificate installs hooks without cert-manager. The engine mounts the Secret that
// `make certificate` writes, and an API server trusts the certificate for both Services, by
// the bundle in the Secret. Each run of make writes a new certificate.
func TestHooksCertificate(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "copier")
	if err := os.CopyFS(dir, os.DirFS(goldentest.Dir("copier"))); err != nil {
		t.Fatal(err)
	}
	replace(t, filesys.MakeFsOnDisk(), filepath.Join(dir, "config", "default", "kustomization.yaml"), "\n- ../certmanager\n", "\n#- ../certmanager\n")
	all := kustomized(t, inMemory(t, dir), "config/default")
	var names []string
	for _, o := range ofKind(all, "Service") {
		if ports := at(o, "spec", "ports").([]any); fmt.Sprint(ports[0].(map[string]any)["port"]) == "443" {
			names = append(names, o.GetName()+"."+o.GetNamespace()+".svc")
		}
	}
	if len(names) != 2 || len(ofKind(all, "Certificate", "Issuer")) > 0 {
		t.Fatalf("config/default has the Services %v, and objects of cert-manager: %v", names, ofKind(all, "Certificate", "Issuer"))
	}
	namespace := ofKind(all, "Namespace")[0].GetName()
	t.Cleanup(func() { _ = cluster.delete(t, object("v1", "Namespace", "", namespace)) })
	first := makeCertificate(t, dir, namespace, podOf(t, all).Spec)
	for _, name := range names {
		wantTrust(t, first, name, true)
	}
	wantTrust(t, first, "elsewhere."+namespace+".svc", false)
	if second := makeCertificate(t, dir, namespace, podOf(t, all).Spec); string(second["tls.crt"]) == string(first["tls.crt"]) {
		t.Error("the certificate was not renewed")
	}
}

// makeCertificate runs `make certificate` and returns the Secret that a pod mounts at the
// paths where the engine expects its certificates.
func makeCertificate(t *testing.T, dir, namespace string, pod corev1.PodSpec) map[string][]byte {
	t.Helper()
	cmd := exec.Command("make", "certificate", "KUBECTL="+filepath.Join(operontest.Assets(), "kubectl"))
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "KUBECONFIG="+cluster.kubeconfig)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("make certificate: %v\n%s", err, out)
	}
	mounted := map[string]string{} // names of volumes, by path
	for _, m := range pod.Containers[0].VolumeMounts {
		mounted[m.MountPath] = m.Name
	}
	if mounted["/validating-certs"] != mounted["/conversion-certs"] {
		t.Errorf("the engine mounts several Secrets: %v", mounted)
	}
	for _, v := range pod.Volumes {
		if v.Name == mounted["/validating-certs"] && v.Secret != nil {
			secret, err := cluster.client.CoreV1().Secrets(namespace).Get(t.Context(), v.Secret.SecretName, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			return secret.Data
		}
	}
	t.Fatalf("no Secret is mounted: %v", pod.Volumes)
	return nil
}

// wantTrust checks whether a client that trusts the bundle in a Secret, as the API server
// does, accepts the certificate in the Secret for a server name.
func wantTrust(t *testing.T, secret map[string][]byte, name string, want bool) {
	t.Helper()
	pair, err := tls.X509KeyPair(secret["tls.crt"], secret["tls.key"])
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(secret["ca.crt"]) {
		t.Fatalf("ca.crt is %q", secret["ca.crt"])
	}
	here, there := net.Pipe()
	defer here.Close()
	served := make(chan error, 1)
	go func() {
		defer there.Close()
		served <- tls.Server(there, &tls.Config{Certificates: []tls.Certificate{pair}}).Handshake()
	}()
	err = tls.Client(here, &tls.Config{RootCAs: roots, ServerName: name}).Handshake()
	_ = here.Close()
	<-served
	if (err == nil) != want {
		t.Errorf("as %s: %v", name, err)
	}
}
