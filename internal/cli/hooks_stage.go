package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/controlplane"
	"github.com/operon-dev/operon/internal/controlplane/assets"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/cluster"
	"github.com/operon-dev/operon/internal/hooks/objects"
	"github.com/operon-dev/operon/internal/hooks/rbac"
	"github.com/operon-dev/operon/internal/hooks/testcluster"
	"github.com/operon-dev/operon/internal/project"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

const aboutCluster = `

With --cluster the tests run on a real API server, one after the other: one is
started for them, of the programs that operon envtest has, or --name names one
that runs. Each test has it to itself, and what it brings about is taken away
after it. There the hooks, and the kubectl that they call, are a ServiceAccount
with the rules of ` + rbac.Path + `, or else those that operon hooks
rbac derives: so a rule that is missing fails the test. What the engine's own
kubectl would wait for, such as the deletion of what an object owns, is done as
kube-controller-manager does it.`

// hooksStage holds the flags of tests on an API server.
type hooksStage struct {
	cluster bool
	name    string
}

func (o *hooksStage) bind(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.cluster, "cluster", false, "run on a real API server, with the rights of the hooks")
	cmd.Flags().StringVar(&o.name, "name", "", "with --cluster: `control-plane` of operon envtest start to run on (default: one is started for the tests)")
}

func (o *hooksStage) validate() error {
	switch {
	case o.name != "" && !o.cluster:
		return fault.Usage("add --cluster", "--name %s: without --cluster the tests run in memory", o.name)
	case o.name != "":
		return controlplane.CheckName(o.name)
	}
	return nil
}

// open prepares an API server for the hooks in dir. done ends what was started.
func (o *hooksStage) open(ctx context.Context, a *command.App, dir string, crds []*unstructured.Unstructured) (s *testcluster.Stage, done func(), err error) {
	roles, namespace, err := rolesOf(a, ctx, dir)
	if err != nil {
		return nil, nil, err
	}
	state, stop, err := o.plane(ctx, a, aroundHooks(dir))
	if err != nil {
		return nil, nil, err
	}
	admin, err := cluster.Open(cluster.Where{Kubeconfig: state.Kubeconfig}, a.Getenv)
	if err == nil {
		s, err = testcluster.Open(ctx, admin, namespace, state.Assets, crds, roles)
	}
	if err != nil {
		stop()
		return nil, nil, fault.In("prepare control plane "+state.Name, err)
	}
	return s, func() { s.Close(); stop() }, nil
}

// plane finds the control plane that is named, or starts one.
func (o *hooksStage) plane(ctx context.Context, a *command.App, root string) (controlplane.State, func(), error) {
	home, err := controlplane.Open(a.Getenv)
	if err != nil {
		return controlplane.State{}, nil, err
	}
	if o.name != "" {
		planes, err := home.List()
		if err != nil {
			return controlplane.State{}, nil, err
		}
		i := slices.IndexFunc(planes, func(s controlplane.State) bool { return s.Name == o.name && s.Phase == controlplane.Running })
		if i < 0 {
			return controlplane.State{}, nil, fault.Failed("start it: operon envtest start --detach --name "+o.name, "control plane %q does not run", o.name)
		}
		return planes[i], func() {}, nil
	}
	folder, err := assets.Find(a.Environ, root, a.Getenv("ENVTEST_K8S_VERSION"))
	if err != nil {
		return controlplane.State{}, nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return controlplane.State{}, nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	options := controlplane.Options{Name: fmt.Sprintf("hooks-%d", os.Getpid()), Assets: folder}
	session, err := home.Start(ctx, options, []string{self, "envtest", "keep"}, a.Environ, a.Progress)
	if err != nil {
		cancel()
		return controlplane.State{}, nil, err
	}
	return session.State, func() { cancel(); _ = session.Wait(ctx) }, nil
}

// rolesOf are the roles of a project, or else those that are derived, and the
// namespace of the operator.
func rolesOf(a *command.App, ctx context.Context, dir string) (roles []*unstructured.Unstructured, namespace string, err error) {
	root := aroundHooks(dir)
	derive := &hooksRBAC{timeout: 10 * time.Second}
	cfg, names, err := derive.names(root)
	if err != nil {
		return nil, "", err
	}
	namespace = cmp.Or(names.Namespace, "shell-operator")
	file := filepath.Join(root, filepath.FromSlash(rbac.Path))
	if _, missing := os.Stat(file); !errors.Is(missing, fs.ErrNotExist) {
		roles, err = objects.Read(file, rbac.Path)
	} else {
		derive.namespace = namespace
		roles, err = derive.objects(ctx, a, root, dir, cfg)
	}
	return slices.DeleteFunc(roles, func(o *unstructured.Unstructured) bool { return o.GetKind() != "Role" && o.GetKind() != "ClusterRole" }), namespace, err
}

// objects are the derived roles.
func (o *hooksRBAC) objects(ctx context.Context, a *command.App, root, dir string, cfg *project.Config) ([]*unstructured.Unstructured, error) {
	derived, err := o.derive(ctx, a, root, dir, cfg)
	if err != nil {
		return nil, err
	}
	var roles []*unstructured.Unstructured
	for _, role := range derived.Objects(rbac.Names{Namespace: o.namespace}) {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(role)
		if err != nil {
			return nil, err
		}
		roles = append(roles, &unstructured.Unstructured{Object: content})
	}
	return roles, nil
}
