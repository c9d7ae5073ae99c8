// Package manager runs the manager of a project on this machine. A control plane of operon calls
// its webhooks; no other cluster can.
package manager

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/controlplane"
	"github.com/operon-dev/operon/internal/environ"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/cluster"
	"github.com/operon-dev/operon/internal/input"
	"github.com/operon-dev/operon/internal/process"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/util/cert"
)

// NoWebhooks is the variable that makes managers of Go projects start without webhooks.
const NoWebhooks = "ENABLE_WEBHOOKS=false"

// Run runs the manager of a project, a program with its arguments, in the working folder until it
// or ctx ends. The end of ctx is no error. If the kubeconfig selects a control plane of operon, its
// API server calls the webhooks. With another cluster, webhooks are an error unless the manager has a
// certificate of the user, or runs without them.
func Run(ctx context.Context, a *command.App, p command.Project, args []string) error {
	if !p.Config.HasWebhooks() {
		return run(ctx, a, args, nil)
	}
	webhooks, err := managerWebhooks(p)
	if err != nil {
		return err
	}
	c, own, err := selected(a)
	if err != nil {
		return run(ctx, a, args, nil) // in a pod, or the manager reports the error
	}
	if own {
		if err := c.RemoveManager(ctx, webhooks); err != nil { // of a run that was killed
			return err
		}
	}
	switch {
	case !operonServes(a, args, own):
		return run(ctx, a, args, nil)
	case !own:
		return fault.Failed("to try the webhooks: export KUBECONFIG=\"$(operon envtest start --detach --controllers)\", then make install run",
			"set "+NoWebhooks+": the cluster of context %s cannot call webhooks on this machine", c.Context)
	}
	return serve(ctx, a, p, c, webhooks, args)
}

// Unreachable reports whether a project has webhooks that the cluster of the kubeconfig cannot call on
// this machine, and that neither the environment nor args is about.
func Unreachable(a *command.App, p command.Project, args []string) (bool, error) {
	if !p.Config.HasWebhooks() {
		return false, nil
	}
	_, own, err := selected(a)
	return err == nil && !own && operonServes(a, args, own), err
}

// operonServes reports whether it is up to operon that the API server can call the webhooks of a manager.
func operonServes(a *command.App, args []string, own bool) bool {
	return !slices.Contains(a.Environ, NoWebhooks) && flagValue(args, "webhook-cert-path") == "" && (own || !hasCertificate())
}

// selected returns the cluster of the kubeconfig, and whether it is a control plane of operon.
func selected(a *command.App) (c *cluster.Cluster, own bool, err error) {
	if c, err = cluster.Open(cluster.ClientOptions{}, a.Getenv); err != nil {
		return nil, false, err
	}
	home, err := controlplane.Open(a.Getenv)
	if err != nil {
		return c, false, nil
	}
	all, err := home.List()
	return c, slices.ContainsFunc(all, func(s controlplane.State) bool { return s.Phase == controlplane.Running && s.URL == c.Server }), err
}

// defaultCertificates is where controller-runtime looks for the certificate of webhooks, below the folder for temporary files.
var defaultCertificates = filepath.Join("k8s-webhook-server", "serving-certs")

// hasCertificate reports whether there is a certificate where managers look for it by default.
func hasCertificate() bool {
	_, err := os.Stat(filepath.Join(os.TempDir(), defaultCertificates, "tls.crt"))
	return err == nil
}

// hasCertificateFlag reports whether the program of a project has a flag for the folder of the certificate. Programs of
// kubebuilder before v4.5 have none.
func hasCertificateFlag(p command.Project) bool {
	src, err := input.ReadFile(filepath.Join(p.Root, filepath.FromSlash(p.Config.MainFile())), input.Text)
	return err != nil || bytes.Contains(src, []byte(`"webhook-cert-path"`))
}

// serve runs the manager with a certificate. Its webhooks are registered while it runs.
func serve(
	ctx context.Context, a *command.App, p command.Project, c *cluster.Cluster, w cluster.ManagerWebhooks, args []string,
) (err error) {
	const host = "127.0.0.1"
	address := net.JoinHostPort(host, cmp.Or(flagValue(args, "webhook-port"), "9443"))
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return &fault.Error{Code: fault.CodeFailed, Err: err, Hint: "choose another port: make run ARGS=--webhook-port=9444"}
	}
	_ = listener.Close()
	certificate, key, err := cert.GenerateSelfSignedCertKey(host, nil, nil)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "operon-webhooks-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }() // a leftover temporary folder does no harm
	of := *a
	dir := folder
	if hasCertificateFlag(p) {
		args = append(slices.Clone(args), "--webhook-cert-path="+folder)
	} else {
		dir, of.Environ = filepath.Join(folder, defaultCertificates), environ.With(a.Environ, "TMPDIR="+folder, "TMP="+folder)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for name, content := range map[string][]byte{"tls.crt": certificate, "tls.key": key} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return err
		}
	}
	defer func() {
		cleanup, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		err = errors.Join(err, c.RemoveManager(cleanup, w))
	}()
	return run(ctx, &of, args, func(ctx context.Context) error {
		if !awaitListening(ctx, address) {
			return nil // the manager has ended
		}
		if err := c.RegisterManager(ctx, w, "https://"+address, certificate); err != nil {
			return err
		}
		a.Notef("the API server calls the webhooks at https://%s", address)
		return nil
	})
}

// awaitListening waits until a server listens, and returns false if ctx ends first.
func awaitListening(ctx context.Context, address string) bool {
	for ctx.Err() == nil {
		if conn, err := net.DialTimeout("tcp", address, time.Second); err == nil {
			return conn.Close() == nil
		}
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
	return false
}

// stopTimeout is how long a manager may take to stop. It is the default of controller-runtime.
const stopTimeout = 30 * time.Second

// run runs a command until it ends or ctx ends. It calls meanwhile, unless that is nil, while the
// command runs, and ends the command if that fails.
func run(ctx context.Context, a *command.App, args []string, meanwhile func(context.Context) error) error {
	running, end := context.WithCancelCause(ctx)
	defer end(nil)
	cmd := environ.Command(running, a.Dir, a.Environ, args[0], args[1:]...)
	cmd.WaitDelay = stopTimeout
	cmd.Stdout, cmd.Stderr = a.Out, a.Err
	wait, err := process.Start(cmd)
	if err != nil {
		return fault.Usage("name a program that you can run", "cannot start %s: %v", args[0], fault.Reason(err))
	}
	called := make(chan struct{})
	go func() {
		defer close(called)
		if meanwhile == nil {
			return
		}
		if err := meanwhile(running); err != nil {
			end(err)
		}
	}()
	err = wait()
	cause := context.Cause(running)
	end(nil)
	<-called
	switch {
	case ctx.Err() != nil:
		return nil // Ctrl-C
	case cause != nil:
		return cause
	case err != nil:
		return fmt.Errorf("%s: %w", args[0], err)
	}
	return nil
}

// flagValue returns the value of a flag in args, or "".
func flagValue(args []string, name string) string {
	for i, arg := range args {
		flag := strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-")
		if flag == arg {
			continue
		}
		if value, ok := strings.CutPrefix(flag, name+"="); ok {
			return value
		}
		if flag == name && i+1 < len(args) {
			return args[i+1]
		}
	}
	return ""
}

// managerWebhooks reads the generated configurations of the webhooks.
func managerWebhooks(p command.Project) (cluster.ManagerWebhooks, error) {
	w := cluster.ManagerWebhooks{Project: p.Config.ProjectName, CRDs: p.Config.CallingObjects().CRDs}
	const name = "config/webhook/manifests.yaml"
	content, err := input.ReadFile(filepath.Join(p.Root, filepath.FromSlash(name)), input.Text)
	if errors.Is(err, fs.ErrNotExist) {
		return w, nil // there is only conversion
	}
	if err != nil {
		return w, err
	}
	for d := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096); ; {
		o := &unstructured.Unstructured{}
		err := d.Decode(&o.Object)
		if errors.Is(err, io.EOF) {
			return w, nil
		}
		if err != nil {
			return w, fault.In(name, err)
		}
		if len(o.Object) > 0 {
			w.Configurations = append(w.Configurations, o)
		}
	}
}
