//go:build linux && testall

package envtest

import (
	"crypto/tls"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/operon-dev/operon/internal/testkit/operontest"
)

// BenchmarkEnvtestStart measures the time until /readyz answers ok: of a control plane, and
// of the same programs started by hand, with existing certificates.
func BenchmarkEnvtestStart(b *testing.B) {
	state := b.TempDir()
	env := append(os.Environ(), "XDG_STATE_HOME="+state, "KUBEBUILDER_ASSETS="+operontest.Assets())
	run := func(args ...string) string {
		cmd := exec.Command("operon", args...)
		cmd.Env = env
		out, err := cmd.Output()
		if err != nil {
			b.Fatalf("operon %v: %v", args, err)
		}
		return strings.TrimSpace(string(out))
	}
	b.Cleanup(func() { run("envtest", "stop") })
	// The programs started by hand use its certificates and tokens.
	config := run("envtest", "start", "--detach")
	files := b.TempDir()
	for _, name := range []string{"ca.crt", "server.crt", "server.key", "service-account.key", "tokens.csv"} {
		if err := os.Rename(filepath.Join(filepath.Dir(config), name), filepath.Join(files, name)); err != nil {
			b.Fatal(err)
		}
	}
	run("envtest", "stop")
	var ours, plain []time.Duration
	for b.Loop() {
		begin := time.Now()
		run("envtest", "start", "--detach")
		ours = append(ours, time.Since(begin))
		run("envtest", "stop")
		plain = append(plain, startByHand(b, files))
	}
	compare(b, ours, plain)
}

// startByHand returns the time until etcd and kube-apiserver are ready.
func startByHand(b *testing.B, files string) time.Duration {
	b.Helper()
	at := freeAddresses(b, 3)
	etcd, peer, api := "http://"+at[0], "http://"+at[1], at[2]
	_, port, _ := net.SplitHostPort(api)
	in := func(name string) string { return filepath.Join(files, name) }
	programs := [][]string{
		{"etcd", "--data-dir", b.TempDir(), "--unsafe-no-fsync", "--name", "n", "--initial-cluster", "n=" + peer,
			"--listen-client-urls", etcd, "--advertise-client-urls", etcd, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer},
		{"kube-apiserver", "--etcd-servers", etcd, "--bind-address", "127.0.0.1", "--secure-port", port,
			"--tls-cert-file", in("server.crt"), "--tls-private-key-file", in("server.key"), "--client-ca-file", in("ca.crt"),
			"--token-auth-file", in("tokens.csv"), "--authorization-mode", "RBAC", "--service-cluster-ip-range", "10.0.0.0/24",
			"--service-account-issuer", "https://kubernetes.default.svc", "--service-account-key-file", in("service-account.key"),
			"--service-account-signing-key-file", in("service-account.key"), "--endpoint-reconciler-type", "none"},
	}
	begin := time.Now()
	for _, p := range programs {
		cmd := exec.Command(filepath.Join(operontest.Assets(), p[0]), p[1:]...)
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		defer func() { _, _ = cmd.Process.Kill(), cmd.Wait() }()
	}
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer client.CloseIdleConnections()
	for deadline := begin.Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		resp, err := client.Get("https://" + api + "/readyz")
		if err != nil {
			continue
		}
		resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			return time.Since(begin)
		}
	}
	b.Fatal("not ready")
	return 0
}

// freeAddresses returns n free addresses of this machine.
func freeAddresses(b *testing.B, n int) (all []string) {
	b.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		defer l.Close()
		all = append(all, l.Addr().String())
	}
	return all
}

// compare reports the medians and their ratio.
func compare(b *testing.B, ours, theirs []time.Duration) {
	median := func(d []time.Duration) float64 {
		slices.Sort(d)
		return float64(d[len(d)/2].Microseconds()) / 1000
	}
	a, k := median(ours), median(theirs)
	b.ReportMetric(0, "ns/op") // the time of the whole loop has no meaning
	b.ReportMetric(a, "operon-ms")
	b.ReportMetric(k, "peer-ms")
	b.ReportMetric(k/a, "times-faster")
}
