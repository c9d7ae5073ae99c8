// Package clusterflags has the flags that select a cluster, with the names of kubectl.
package clusterflags

import (
	"context"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/cluster"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Flags are the values of the flags.
type Flags struct{ cluster.ClientOptions }

// Bind declares --kubeconfig and --context.
func (f *Flags) Bind(a *command.App, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.Kubeconfig, "kubeconfig", "", "kubeconfig `file` (default: KUBECONFIG, or ~/.kube/config)")
	flags.StringVar(&f.Context, "context", "", "context in the kubeconfig (default: its current context)")
	command.CompleteFrom(cmd, "context", func() []string { return cluster.Contexts(f.Options(a), a.Getenv) })
}

// BindNamespace declares --namespace with a shorthand, or "" for none.
func (f *Flags) BindNamespace(cmd *cobra.Command, shorthand, usage string) {
	cmd.Flags().StringVarP(&f.Namespace, "namespace", shorthand, "", usage)
	command.CompleteNothing(cmd, "namespace")
}

// Options returns the values with an absolute path of the kubeconfig.
func (f *Flags) Options(a *command.App) cluster.ClientOptions {
	options := f.ClientOptions
	if options.Kubeconfig != "" {
		options.Kubeconfig = a.Path(options.Kubeconfig)
	}
	return options
}

// Connect connects to the cluster, which must answer.
func (f *Flags) Connect(ctx context.Context, a *command.App) (*cluster.Cluster, error) {
	if n := f.Namespace; n != "" && len(validation.IsDNS1123Label(n)) > 0 {
		return nil, fault.Usage("use lowercase letters, digits and hyphens", "--namespace %q is not a valid name", n)
	}
	c, err := cluster.Open(f.Options(a), a.Getenv)
	if err != nil {
		return nil, err
	}
	_, err = c.ServerVersion(ctx)
	return c, err
}
