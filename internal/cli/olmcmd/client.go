// Package olmcmd implements the commands that use a cluster with the Operator Lifecycle Manager:
// operon run, operon cleanup and operon olm.
package olmcmd

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/cli/command/clusterflags"
	"github.com/operon-dev/operon/internal/fault"
	kube "github.com/operon-dev/operon/internal/hooks/cluster"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/operon-dev/operon/internal/olm/cluster"
	"github.com/operon-dev/operon/internal/term"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// clusterFlags select a cluster, and limit the time of a command.
type clusterFlags struct {
	where      clusterflags.Flags
	timeout    time.Duration
	hasTimeout bool
}

func (f *clusterFlags) bind(a *command.App, cmd *cobra.Command, timeout time.Duration) {
	f.where.Bind(a, cmd)
	if f.hasTimeout = timeout > 0; f.hasTimeout {
		cmd.Flags().DurationVar(&f.timeout, "timeout", timeout, "how long the command may take")
		command.CompleteNothing(cmd, "timeout")
	}
}

func (f *clusterFlags) bindNamespace(cmd *cobra.Command, usage string) {
	f.where.BindNamespace(cmd, "n", usage+" (default: the namespace of the context)")
}

// connection is a cluster that a command uses.
type connection struct {
	*cluster.Client
	kube *kube.Cluster
}

// open connects to the cluster. The context ends after the time limit; the caller calls cancel.
func (f *clusterFlags) open(
	ctx context.Context, a *command.App,
) (limited context.Context, cancel context.CancelFunc, c connection, err error) {
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
		return nil, nil, fault.Usage("for example: --timeout 2m", "--timeout %s is not greater than zero", f.timeout)
	}
	limited, cancel = cluster.WithTimeout(ctx, f.timeout)
	return limited, cancel, nil
}

// connect connects to the cluster.
func (f *clusterFlags) connect(ctx context.Context, a *command.App) (c connection, err error) {
	k, err := f.where.Connect(ctx, a)
	if err != nil {
		return c, err
	}
	status := term.NewStatus(a.Err, a.Getenv)
	client := &cluster.Client{
		Timeout: f.timeout,
		Objects: k.Objects(),
		Resource: func(ctx context.Context, apiVersion, kind string) (schema.GroupVersionResource, bool, error) {
			found, err := k.Kind(ctx, apiVersion, kind)
			if _, unknown := errors.AsType[*kubeapi.UnknownKindError](err); unknown {
				err = cluster.UnknownKindError{Err: err}
			}
			return found.GVR(), found.Namespaced, err
		},
		Logs: func(ctx context.Context, namespace, pod, container string, previous bool) (string, error) {
			return k.Log(ctx, namespace, pod, container, map[string]string{"tailLines": "20", "previous": strconv.FormatBool(previous)})
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
