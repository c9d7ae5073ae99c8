package operator

import (
	"context"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/cluster"
	"github.com/operon-dev/operon/internal/hooks/engine"
	"github.com/operon-dev/operon/internal/process"
)

// Program is a shell-operator program that runs instead of an Operator.
type Program struct {
	Path     string
	Hooks    string // the folder
	Cluster  *cluster.Cluster
	Home     cluster.KubeconfigDir
	Env      []string // in the form of os.Environ
	Host     string
	Port     int // of the admission webhooks; conversion uses the next one; 0 means free ports
	Out, Err io.Writer
	Warn     func(error)
}

// Run runs the program until ctx ends. It redirects the program's webhooks to this
// machine, and removes their registration at the end. It returns an error if the program
// exits by itself.
func (p Program) Run(ctx context.Context, hooks []engine.Hook) error {
	own, cancel := context.WithCancel(ctx)
	defer cancel()
	env, redirection, err := p.webhooks(hooks)
	if err != nil {
		return err
	}
	if err := p.Cluster.RemoveStale(own); err != nil && own.Err() == nil {
		p.Warn(err)
	}
	if redirection != nil {
		remove, err := p.Cluster.Redirect(own, *redirection, p.Warn)
		switch {
		case err != nil && ctx.Err() != nil:
			return nil
		case err != nil:
			return fault.In("register webhooks", err)
		}
		defer func() {
			cancel()
			cleanup, done := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
			defer done()
			if err := remove(cleanup); err != nil {
				p.Warn(fmt.Errorf("webhooks may still be registered: %w", err))
			}
		}()
	}
	ports, err := freePorts(1)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(own, p.Path, "start")
	cmd.WaitDelay = stopTimeout
	cmd.Stdout, cmd.Stderr = p.Out, p.Err
	cmd.Env = slices.Concat(p.Env, env, p.settings(ports[0]))
	err = process.Run(cmd)
	switch {
	case ctx.Err() != nil:
		return nil
	case err == nil:
		return fault.Failed("see its log", "%s ended", p.Path)
	}
	return fault.Failed("see its log", "%s ended: %v", p.Path, err)
}

// settings returns the environment of the program for everything except webhooks.
func (p Program) settings(port int) []string {
	return []string{
		"SHELL_OPERATOR_HOOKS_DIR=" + p.Hooks,
		"SHELL_OPERATOR_TMP_DIR=" + filepath.Join(p.Home.Path(), "tmp"),
		"SHELL_OPERATOR_NAMESPACE=" + p.Cluster.Namespace,
		"SHELL_OPERATOR_LISTEN_ADDRESS=127.0.0.1",
		fmt.Sprintf("SHELL_OPERATOR_LISTEN_PORT=%d", port),
		"KUBE_CONFIG=" + p.Home.Kubeconfig(),
		"KUBE_CONTEXT=" + p.Cluster.Context,
		"VALIDATING_WEBHOOK_CONFIGURATION_NAME=" + p.Cluster.WebhookPrefix(),
		"DEBUG_UNIX_SOCKET=" + filepath.Join(p.Home.Path(), "debug.socket"),
	}
}

// webhooks returns the environment and the redirection that the program needs to serve
// webhooks, or nothing if no hook has webhooks.
func (p Program) webhooks(hooks []engine.Hook) ([]string, *cluster.Redirection, error) {
	var crds []string
	serves := false
	for _, h := range hooks {
		serves = serves || hasWebhooks(h)
		for _, v := range h.Config.Conversion {
			if !slices.Contains(crds, v.CRDName) {
				crds = append(crds, v.CRDName)
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
	own, err := cluster.NewCertificate(host)
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
	for name, content := range map[string][]byte{"CA": own.CA, "SERVER_CERT": own.Cert, "SERVER_KEY": own.Key} {
		path, err := p.Home.WriteFile(name+".pem", content)
		if err != nil {
			return nil, nil, err
		}
		env = append(env, "VALIDATING_WEBHOOK_"+name+"="+path, "CONVERSION_WEBHOOK_"+name+"="+path)
	}
	url := func(port int) string { return "https://" + net.JoinHostPort(host, fmt.Sprint(port)) }
	return append(env,
			"VALIDATING_WEBHOOK_LISTEN_ADDRESS="+listen, fmt.Sprintf("VALIDATING_WEBHOOK_LISTEN_PORT=%d", ports[0]),
			"CONVERSION_WEBHOOK_LISTEN_ADDRESS="+listen, fmt.Sprintf("CONVERSION_WEBHOOK_LISTEN_PORT=%d", ports[1])),
		&cluster.Redirection{Admission: url(ports[0]), Conversion: url(ports[1]), CRDs: crds}, nil
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

// stopTimeout limits how long the program and the cleanup take to stop.
const stopTimeout = 10 * time.Second
