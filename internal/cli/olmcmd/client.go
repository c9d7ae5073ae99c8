// Package olmcmd implements the commands that use a cluster with the Operator Lifecycle Manager:
// operon run, operon cleanup and operon olm.
package olmcmd

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	kube "github.com/operon-dev/operon/internal/hooks/cluster"
	"github.com/operon-dev/operon/internal/hooks/kinds"
	"github.com/operon-dev/operon/internal/olm/cluster"
	"github.com/operon-dev/operon/internal/term"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
)

// clusterFlags select a cluster, and limit the time of a command.
type clusterFlags struct {
	where      kube.ClientOptions
	timeout    time.Duration
	hasTimeout bool
}

func (f *clusterFlags) bind(a *command.App, cmd *cobra.Command, timeout time.Duration) {
	flags := cmd.Flags()
	flags.StringVar(&f.where.Kubeconfig, "kubeconfig", "", "kubeconfig `file` (default: KUBECONFIG, or ~/.kube/config)")
	flags.StringVar(&f.where.Context, "context", "", "context in the kubeconfig (default: its current context)")
	if f.hasTimeout = timeout > 0; f.hasTimeout {
		flags.DurationVar(&f.timeout, "timeout", timeout, "how long the command may take")
		command.CompleteNothing(cmd, "timeout")
	}
	command.CompleteFrom(cmd, "context", func() []string { return kube.Contexts(f.absolute(a), a.Getenv) })
}

func (f *clusterFlags) bindNamespace(cmd *cobra.Command, usage string) {
	cmd.Flags().StringVarP(&f.where.Namespace, "namespace", "n", "", usage+" (default: the namespace of the context)")
	command.CompleteNothing(cmd, "namespace")
}

func (f *clusterFlags) absolute(a *command.App) kube.ClientOptions {
	where := f.where
	if where.Kubeconfig != "" {
		where.Kubeconfig = a.Path(where.Kubeconfig)
	}
	return where
}

// connection is a cluster that a command uses.
type connection struct {
	*cluster.Client
	kube *kube.Cluster
}

// open connects to the cluster. The context ends after the time limit; the caller calls cancel.
func (f *clusterFlags) open(ctx context.Context, a *command.App) (limited context.Context, cancel context.CancelFunc, c connection, err error) {
	if limited, cancel, err = f.limit(ctx); err != nil {
		return nil, nil, c, err
	}
	if c, err = f.connect(limited, a); err != nil {
		cancel()
		return nil, nil, c, err
	}
	return limited, cancel, c, nil
}

// limit returns a context that ends after the time limit; the caller calls cancel.
func (f *clusterFlags) limit(ctx context.Context) (limited context.Context, cancel context.CancelFunc, err error) {
	switch {
	case !f.hasTimeout:
		return ctx, func() {}, nil
	case f.timeout <= 0:
		return nil, nil, fault.Usage("such as --timeout 2m", "--timeout must be greater than zero")
	}
	limited, cancel = cluster.WithTimeout(ctx, f.timeout)
	return limited, cancel, nil
}

// connect connects to the cluster.
func (f *clusterFlags) connect(ctx context.Context, a *command.App) (c connection, err error) {
	if n := f.where.Namespace; n != "" && len(validation.IsDNS1123Label(n)) > 0 {
		return c, fault.Usage("use lowercase letters, digits and hyphens", "--namespace %q is not a valid name", n)
	}
	k, err := kube.Open(f.absolute(a), a.Getenv)
	if err != nil {
		return c, err
	}
	if _, err := k.ServerVersion(ctx); err != nil {
		return c, err
	}
	status := term.NewStatus(a.Err, a.Getenv)
	client := &cluster.Client{
		Objects: k.Objects(),
		Resource: func(ctx context.Context, apiVersion, kind string) (schema.GroupVersionResource, bool, error) {
			found, err := k.Kind(ctx, apiVersion, kind)
			if _, unknown := errors.AsType[*kinds.UnknownError](err); unknown {
				err = cluster.UnknownKindError{Err: err}
			}
			return found.GVR(), found.Namespaced, err
		},
		Logs: func(ctx context.Context, namespace, pod, container string, previous bool) (string, error) {
			return k.Text(ctx, "/api/v1/namespaces/"+namespace+"/pods/"+pod+"/log",
				map[string]string{"container": container, "tailLines": "20", "previous": strconv.FormatBool(previous)})
		},
		Note: func(format string, args ...any) { status.Clear(); a.Notef(format, args...) },
		Wait: func(text string) {
			if text == "" {
				status.Clear()
				return
			}
			status.Show("waiting: " + text)
		},
	}
	return connection{client, k}, nil
}
