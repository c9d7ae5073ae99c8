package controlplane

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/controlplane/assets"
)

// program is one of the programs of a control plane.
type program struct {
	name string
	args []string
}

const (
	etcdProgram       = "etcd"
	serverProgram     = "kube-apiserver"
	controllerProgram = assets.ControllerManager
)

// The sockets of etcd, which every program meets in its working folder, so that
// a long path does not matter (a socket's may have 104 bytes). etcd has no other
// door: who may not enter the folder can not reach it.
const (
	etcdSocket = "unix://etcd.sock"
	peerSocket = "unix://peer.sock"
)

// etcd writes nothing through to the disk: its data lives no longer than it.
func etcd(dir string) program {
	return program{etcdProgram, []string{
		"--name=default",
		"--data-dir=" + filepath.Join(dir, "etcd"),
		"--unsafe-no-fsync",
		"--listen-client-urls=" + etcdSocket,
		"--advertise-client-urls=" + etcdSocket,
		"--listen-peer-urls=" + peerSocket,
		"--initial-advertise-peer-urls=" + peerSocket,
		"--initial-cluster=default=" + peerSocket,
		"--log-format=console",
	}}
}

func apiServer(dir string, o Options, port int) program {
	in := func(name string) string { return filepath.Join(dir, name) }
	args := []string{
		"--etcd-servers=" + etcdSocket,
		"--bind-address=127.0.0.1",
		// It would look for an address of the network, and there may be none.
		"--advertise-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(port),
		"--tls-cert-file=" + in("server.crt"),
		"--tls-private-key-file=" + in("server.key"),
		"--client-ca-file=" + in("ca.crt"),
		"--requestheader-client-ca-file=" + in("front-proxy-ca.crt"),
		"--requestheader-allowed-names=front-proxy-client",
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--token-auth-file=" + in("tokens.csv"),
		"--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=" + in("service-account.key"),
		"--service-account-signing-key-file=" + in("service-account.key"),
		"--service-cluster-ip-range=" + serviceIPs,
		// There are no nodes, and nothing reaches 127.0.0.1 through a Service.
		"--endpoint-reconciler-type=none",
		"--allow-privileged=true",
		"--profiling=false",
	}
	if !o.Controllers {
		// It refuses pods until a controller has made their ServiceAccount.
		args = append(args, "--disable-admission-plugins=ServiceAccount")
	}
	return program{serverProgram, args}
}

func controllerManager(dir string) program {
	in := func(name string) string { return filepath.Join(dir, name) }
	return program{controllerProgram, []string{
		"--kubeconfig=" + in("controllers.kubeconfig"),
		"--leader-elect=false",
		"--use-service-account-credentials",
		"--service-account-private-key-file=" + in("service-account.key"),
		"--root-ca-file=" + in("ca.crt"),
		"--secure-port=0",
		// One user's tests come in bursts.
		"--kube-api-qps=200",
		"--kube-api-burst=400",
	}}
}

// files returns what the programs read, by name.
func (c *credentials) files(o Options, port int) map[string][]byte {
	return map[string][]byte{
		"ca.crt":                 c.ca,
		"front-proxy-ca.crt":     c.frontProxyCA,
		"server.crt":             c.serverCert,
		"server.key":             c.serverKey,
		"service-account.key":    c.serviceAccountKey,
		"tokens.csv":             c.tokens(),
		kubeconfigFile:           c.kubeconfig(o.Name, "admin", c.adminToken, port),
		"controllers.kubeconfig": c.kubeconfig(o.Name, controllerProgram, c.controllerToken, port),
	}
}

// environment is what the programs get of env. etcd reads a variable for each
// of its flags, and one that the user has for another etcd must not reach ours;
// but on some processors it wants to be told that it may run there at all.
// Collecting garbage less often saves a fifth of the processor time until the
// API server is ready, for 90 MB of memory; the user's GOGC, when set, wins.
func environment(env []string) []string {
	kept := []string{"GOGC=400"}
	for _, line := range env {
		if !strings.HasPrefix(line, "ETCD_") || strings.HasPrefix(line, "ETCD_UNSUPPORTED_ARCH=") {
			kept = append(kept, line)
		}
	}
	return kept
}

// stack matches what Go programs print of their goroutines when they panic: the
// cause stands above it.
var stack = regexp.MustCompile(`(?m)^(?:goroutine \d+ \[.*|\S.*\n\t\S.*:\d+.*)\n?`)

// lastWords returns the end of a program's log, for an error: its last lines,
// none of them long, and none of a stack.
func lastWords(path string) string {
	const lines, width = 8, 300
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	all := strings.Split(strings.TrimSpace(stack.ReplaceAllString(string(data), "")), "\n")
	var b strings.Builder
	for _, line := range all[max(0, len(all)-lines):] {
		if line = strings.TrimSpace(line); len(line) > width {
			line = strings.ToValidUTF8(line[:width], "") + "..."
		}
		if line != "" {
			fmt.Fprintf(&b, "\n  %s", line)
		}
	}
	return b.String()
}
