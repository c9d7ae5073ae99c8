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

// Program is a shell-operator that is run in the place of an Operator.
type Program struct {
	Path     string
	Hooks    string // the folder
	Cluster  *cluster.Cluster
	Home     cluster.KubeconfigDir
	Env      []string // as in os.Environ
	Host     string
	Port     int // of admission; conversion has the next one; 0 for free ones
	Out, Err io.Writer
	Warn     func(error)
}

// Run runs the program until ctx ends, with its webhooks led to this machine, and
// takes back what it registered. The error says that it ended by itself.
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
			clean, done := context.WithTimeout(context.WithoutCancel(ctx), patience)
			defer done()
			if err := remove(clean); err != nil {
				p.Warn(fmt.Errorf("webhooks may still be registered: %w", err))
			}
		}()
	}
	ports, err := freePorts(1)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(own, p.Path, "start")
	cmd.WaitDelay = patience
	cmd.Stdout, cmd.Stderr = p.Out, p.Err
	cmd.Env = append(append(slices.Clone(p.Env), env...),
		"SHELL_OPERATOR_HOOKS_DIR="+p.Hooks,
		"SHELL_OPERATOR_TMP_DIR="+filepath.Join(p.Home.Path(), "tmp"),
		"SHELL_OPERATOR_NAMESPACE="+p.Cluster.Namespace,
		"SHELL_OPERATOR_LISTEN_ADDRESS=127.0.0.1",
		fmt.Sprintf("SHELL_OPERATOR_LISTEN_PORT=%d", ports[0]),
		"KUBE_CONFIG="+p.Home.Kubeconfig(),
		"KUBE_CONTEXT="+p.Cluster.Context,
		"DEBUG_UNIX_SOCKET="+filepath.Join(p.Home.Path(), "debug.socket"),
	)
	err = process.Run(cmd)
	switch {
	case ctx.Err() != nil:
		return nil
	case err == nil:
		return fault.Failed("its log says why", "%s ended", p.Path)
	}
	return fault.Failed("its log says why", "%s ended: %v", p.Path, err)
}

// webhooks is what the program needs to serve webhooks, where hooks have any.
func (p Program) webhooks(hooks []engine.Hook) ([]string, *cluster.Redirection, error) {
	var crds []string
	serves := false
	for _, h := range hooks {
		serves = serves || webhooked(h)
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
		return nil, nil, fault.Failed("name it with --webhook-host", "serve webhooks: %v", err)
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

// freePorts returns ports that nobody listened at a moment ago.
func freePorts(n int) ([]int, error) {
	var ports []int
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer func() { _ = l.Close() }() // after all are found, for they are to differ
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

// patience is how long an end may take.
const patience = 10 * time.Second
