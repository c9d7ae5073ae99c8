package controlplane

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/controlplane/assets"
	"github.com/operon-dev/operon/internal/input"
	"github.com/operon-dev/operon/internal/lazyregexp"
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

// The sockets of etcd are relative to the working folder of the programs, because the
// path of a socket is limited to 104 bytes. etcd listens nowhere else, so only users who
// can enter the folder can reach it.
const (
	etcdSocket = "unix://etcd.sock"
	peerSocket = "unix://peer.sock"
)

// etcd runs without fsync, because its data is removed with the control plane.
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
		// By default it looks for a network address, and there may be none.
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
		// This plugin rejects pods until a controller has created their ServiceAccount.
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
		// Tests create many objects at once.
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

// environment returns the environment of the programs. etcd reads a variable for each of
// its flags; those that the user set for another etcd are removed, except for the one
// that some processors require. GOGC=400 saves a fifth of the CPU time until the API
// server is ready, for 90 MB of memory. The user's GOGC takes precedence.
func environment(env []string) []string {
	kept := []string{"GOGC=400"}
	for _, line := range env {
		if !strings.HasPrefix(line, "ETCD_") || strings.HasPrefix(line, "ETCD_UNSUPPORTED_ARCH=") {
			kept = append(kept, line)
		}
	}
	return kept
}

// stack matches the goroutine traces of a Go panic; the cause is printed above them.
var stack = lazyregexp.New(`(?m)^(?:goroutine \d+ \[.*|\S.*\n\t\S.*:\d+.*)\n?`)

// logTail returns the last lines of a log for an error, shortened and without stacks.
func logTail(path string) string {
	const lines, width = 8, 300
	data, err := input.ReadFile(path, input.Catalog)
	if err != nil {
		return ""
	}
	all := strings.Split(strings.TrimSpace(stack().ReplaceAllString(string(data), "")), "\n")
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
