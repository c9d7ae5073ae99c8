package shelloperator

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/cluster"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/process"
	"k8s.io/client-go/util/cert"
)

// Program is a shell-operator on this machine.
type Program struct {
	Path     string
	Dir      string // the working folder
	Hooks    string // the folder of the hooks
	Cluster  *cluster.Cluster
	Home     cluster.KubeconfigDir
	Env      []string // in the form of os.Environ
	Webhooks string   // shell-operator's name for its webhook configurations; it appends "-hooks"
	Host     string   // at which the API server reaches this machine; "" means the address on the route to it
	Port     int      // of the admission webhooks; conversion uses the next one; 0 means free ports
	Out      io.Writer
	JSON     bool // whether Out gets the complete log, in the format of shell-operator
	Warn     func(error)
	Recorder *Recorder // or nil
}

// DefaultWebhooks is the name of webhook configurations if nobody sets it.
const DefaultWebhooks = "shell-operator-hooks"

// stopTimeout limits how long the program and the cleanup take to stop.
const stopTimeout = 10 * time.Second

// Run runs the program until ctx ends; then the error is nil. It redirects the program's webhooks to
// this machine, and removes their registration at the end. The error says why the program has ended, or
// why it cannot start.
func (p Program) Run(ctx context.Context, hooks []*config.Config) (err error) {
	env, redirection, err := p.webhooks(hooks)
	if err == nil && p.Recorder != nil {
		p.Hooks, err = p.Recorder.writeScripts()
	}
	if err != nil {
		return err
	}
	stale := cluster.Redirection{Configuration: p.configuration()}
	if err := stale.RemoveStale(ctx, p.Cluster); err != nil && ctx.Err() == nil {
		p.Warn(err)
	}
	if redirection != nil {
		if err := redirection.Prepare(ctx, p.Cluster); err != nil {
			return unlessEnded(ctx, fault.In("register webhooks", err))
		}
		watching, end := context.WithCancel(ctx)
		ended := make(chan struct{})
		go func() { defer close(ended); redirection.Run(watching, p.Cluster, p.Warn) }()
		defer func() {
			end()
			<-ended
			cleanup, done := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
			defer done()
			if err := redirection.Remove(cleanup, p.Cluster); err != nil {
				p.Warn(fmt.Errorf("webhooks may still be registered: %w", err))
			}
		}()
	}
	ports, err := freePorts(1)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(p.temp(), 0o700); err != nil {
		return fault.In("run shell-operator", err)
	}
	cmd := exec.CommandContext(ctx, p.Path, "start")
	cmd.Dir, cmd.WaitDelay = p.Dir, stopTimeout
	var out io.Writer = &logWriter{out: p.Out}
	if p.JSON {
		out = p.Out
	}
	cmd.Stdout, cmd.Stderr = out, out
	cmd.Env = slices.Concat(p.Env, env, p.settings(ports[0]))
	err = process.Run(cmd)
	if err == nil {
		return unlessEnded(ctx, fault.Failed("its last lines say why", "%s ended", p.Path))
	}
	return unlessEnded(ctx, fault.Failed("its last lines say why", "%s ended: %v", p.Path, err))
}

// unlessEnded returns err, or nil if ctx has ended, because then nobody waits for the program.
func unlessEnded(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// configuration is the name of shell-operator's webhook configurations.
func (p Program) configuration() string { return p.Webhooks + "-hooks" }

// temp is the folder for temporary files. shell-operator leaves some in TMPDIR.
func (p Program) temp() string { return filepath.Join(p.Home.Path(), "tmp") }

// settings returns the environment of the program for everything except webhooks.
func (p Program) settings(port int) []string {
	return []string{
		"SHELL_OPERATOR_HOOKS_DIR=" + p.Hooks,
		"SHELL_OPERATOR_TMP_DIR=" + p.temp(),
		"TMPDIR=" + p.temp(),
		"SHELL_OPERATOR_NAMESPACE=" + p.Cluster.Namespace,
		"SHELL_OPERATOR_LISTEN_ADDRESS=127.0.0.1",
		fmt.Sprintf("SHELL_OPERATOR_LISTEN_PORT=%d", port),
		"KUBE_CONFIG=" + p.Home.Kubeconfig(),
		"KUBE_CONTEXT=" + p.Cluster.Context,
		"VALIDATING_WEBHOOK_CONFIGURATION_NAME=" + p.Webhooks,
		"DEBUG_UNIX_SOCKET=" + filepath.Join(p.Home.Path(), "debug.socket"),
	}
}

// webhooks returns the environment and the redirection for the webhooks of hooks, or nothing if no hook
// has webhooks.
func (p Program) webhooks(hooks []*config.Config) ([]string, *cluster.Redirection, error) {
	r := &cluster.Redirection{Configuration: p.configuration()}
	serves := false
	for _, c := range hooks {
		serves = serves || len(c.Validating)+len(c.Mutating)+len(c.Conversion) > 0
		for _, v := range c.Conversion {
			if !slices.Contains(r.CRDs, v.CRDName) {
				r.CRDs = append(r.CRDs, v.CRDName)
			}
		}
	}
	if !serves {
		return nil, nil, nil
	}
	host, listen, err := p.Cluster.Address(p.Host)
	if err != nil {
		return nil, nil, fault.Failed("set the host with --webhook-host", "cannot serve webhooks: %v", err)
	}
	files, err := p.certificate(host)
	if err != nil {
		return nil, nil, err
	}
	ports := []int{p.Port, p.Port + 1}
	if p.Port == 0 {
		if ports, err = freePorts(2); err != nil {
			return nil, nil, err
		}
	}
	var env []string
	for i, prefix := range []string{"VALIDATING_WEBHOOK_", "CONVERSION_WEBHOOK_"} {
		env = append(env, prefix+"LISTEN_ADDRESS="+listen, fmt.Sprintf("%sLISTEN_PORT=%d", prefix, ports[i]))
		for variable, path := range files {
			env = append(env, prefix+variable+"="+path)
		}
	}
	url := func(port int) string { return "https://" + net.JoinHostPort(host, fmt.Sprint(port)) }
	r.Admission, r.Conversion = url(ports[0]), url(ports[1])
	return env, r, nil
}

// certificate writes a new certificate for a host to files. It returns their paths by the variables of
// shell-operator, without prefix.
func (p Program) certificate(host string) (map[string]string, error) {
	chain, key, err := cert.GenerateSelfSignedCertKey(host, nil, nil)
	if err != nil {
		return nil, fault.Failed("set the host with --webhook-host", "cannot make a certificate for %s: %v", host, err)
	}
	crt, err := p.Home.WriteFile("webhooks.crt", chain)
	if err != nil {
		return nil, err
	}
	private, err := p.Home.WriteFile("webhooks.key", key)
	return map[string]string{"CA": crt, "SERVER_CERT": crt, "SERVER_KEY": private}, err
}

// freePorts returns ports that were free a moment ago.
func freePorts(n int) ([]int, error) {
	var ports []int
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer func() { _ = l.Close() }() // after all are chosen, so that they differ
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}
