package hookscmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/atomicfile"
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/cli/command/clusterflags"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/cluster"
	"github.com/operon-dev/operon/internal/hooks/hookproject"
	"github.com/operon-dev/operon/internal/input"
	"github.com/operon-dev/operon/internal/roles"
	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
)

// kubeconfigOptions holds the flags of operon hooks kubeconfig.
type kubeconfigOptions struct {
	where   clusterflags.Flags
	account string
	valid   time.Duration
}

func newKubeconfig(a *command.App) *cobra.Command {
	o := &kubeconfigOptions{}
	cmd := &cobra.Command{
		Use:   "kubeconfig file",
		Short: "Write a kubeconfig for the ServiceAccount of the hooks",
		Long: `Request a token for the ServiceAccount that the hooks use in a cluster, and
write a kubeconfig with the token to a file that only you can read. With it,
operon hooks run and kubectl have the permissions in config/rbac, so you notice
missing permissions before you deploy.

The ServiceAccount is the one of the project, which make deploy creates. The
command needs the permission to create tokens for it, which an administrator
has.`,
		Example: `  operon hooks kubeconfig hooks.kubeconfig
  operon hooks run --kubeconfig hooks.kubeconfig
  kubectl --kubeconfig hooks.kubeconfig auth can-i --list`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), a, args) },
	}
	f := cmd.Flags()
	f.StringVar(&o.account, "service-account", "", "`namespace/name` of another ServiceAccount")
	f.DurationVar(&o.valid, "duration", time.Hour, "how long the token is valid; the API server may limit it")
	o.where.Bind(a, cmd)
	o.where.BindNamespace(cmd, "", "namespace of the new context (default: the namespace of the ServiceAccount)")
	command.CompleteNothing(cmd, "service-account", "duration")
	return cmd
}

func (o *kubeconfigOptions) run(ctx context.Context, a *command.App, args []string) error {
	switch {
	case len(args) != 1:
		return fault.Usage("for example: operon hooks kubeconfig hooks.kubeconfig", "operon hooks kubeconfig needs one file, got %d", len(args))
	case o.valid < 10*time.Minute:
		return fault.Usage("for example: --duration 1h", "--duration %s is less than 10m, which API servers reject", o.valid)
	}
	file := hookproject.Abs(a.Dir, args[0])
	account, err := o.serviceAccount(a)
	if err != nil {
		return err
	}
	if err := checkOverwrite(file, args[0], account.Name); err != nil {
		return err
	}
	where := o.where.Options(a)
	where.Namespace = "" // of the new context
	admin, err := cluster.Open(where, a.Getenv)
	if err != nil {
		return err
	}
	namespace := account.Namespace
	if o.where.Namespace != "" {
		namespace = o.where.Namespace
	}
	hooks, err := admin.As(ctx, account, namespace, o.valid)
	if apierrors.IsNotFound(err) {
		return fault.Failed("deploy the operator, or create the account and its roles:\n"+
			"  kubectl create namespace "+account.Namespace+"\n"+
			"  kubectl create serviceaccount --namespace "+account.Namespace+" "+account.Name+"\n"+
			"  operon hooks rbac --output yaml | kubectl apply -f -", "ServiceAccount %s does not exist in context %s", account, admin.Context)
	}
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return fmt.Errorf("context %s: %w", admin.Context, err)
	}
	if err := atomicfile.WritePrivate(file, hooks.Kubeconfig); err != nil {
		return err
	}
	a.Notef("%s: ServiceAccount %s on %s, for %s", args[0], account, admin.Server, o.valid)
	return nil
}

// serviceAccount returns the ServiceAccount of the project, or the one that the user names.
func (o *kubeconfigOptions) serviceAccount(a *command.App) (types.NamespacedName, error) {
	if o.account != "" {
		namespace, name, found := strings.Cut(o.account, "/")
		if !found || namespace == "" || name == "" {
			return types.NamespacedName{}, fault.Usage("for example: --service-account web-system/web-controller-manager", "--service-account %s is not of the form NAMESPACE/NAME", o.account)
		}
		return types.NamespacedName{Namespace: namespace, Name: name}, nil
	}
	p, err := a.OpenProject()
	if err != nil {
		return types.NamespacedName{}, err
	}
	return types.NamespacedName{Namespace: p.Config.Namespace(), Name: p.Config.ProjectName + "-" + roles.Scaffolded.Account}, nil
}

// checkOverwrite returns an error if a file exists that is not a kubeconfig of the account.
func checkOverwrite(file, shown, account string) error {
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	content, err := input.ReadFile(file, input.Text)
	if err != nil {
		return fault.Usage("name another file", "%s: %v", shown, fault.Reason(err))
	}
	existing, err := clientcmd.Load(content)
	if err != nil || len(existing.AuthInfos) != 1 || existing.AuthInfos[account] == nil {
		return fault.Usage("name another file", "%s exists, and is not a kubeconfig of the ServiceAccount", shown)
	}
	return nil
}
