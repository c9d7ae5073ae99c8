package testcluster

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/operon-dev/operon/internal/controlplane"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/cluster"
	"github.com/operon-dev/operon/internal/hooks/engine"
	"github.com/operon-dev/operon/internal/hooks/hookproject"
	"github.com/operon-dev/operon/internal/hooks/hooktest"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/operon-dev/operon/internal/hooks/objects"
	"github.com/operon-dev/operon/internal/hooks/rbac"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/roles"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Options are the API server that tests run on, and the permissions of the hooks there.
type Options struct {
	// Name is the name of a running control plane, and Kubeconfig the file of another one. Without both, Start starts
	// one for the tests.
	Name, Kubeconfig string

	Programs func(projectRoot string) (string, error) // returns the folder with the programs of a control plane
	Program  string                                   // the path of operon
	Environ  []string                                 // in the form of os.Environ
	Getenv   func(string) string
	Progress func(line string)
	Warn     func(message string)

	Config *project.Config // of the project around the hooks, or nil
	Roles  hookproject.RoleOptions
	// Record sends requests that no rule allows again, as the administrator.
	Record bool
}

// Start opens a backend on a control plane for the hooks in hooksDir. Each hook of a shell-operator has its derived roles. The
// hooks of an addon-operator have those in the role file of their project. The returned function closes the backend. It removes
// what was created on a control plane that continues to run, and stops a new one.
func Start(
	ctx context.Context, o Options, hooksDir string, hooks []engine.Hook, crds []*unstructured.Unstructured,
) (*Backend, func(), error) {
	root := hookproject.Root(hooksDir)
	namespace := roles.Scaffolded.Namespace
	if o.Config != nil {
		namespace = o.Config.Namespace()
	}
	namespace = cmp.Or(namespace, "shell-operator")
	accounts, err := o.accounts(root, hooksDir, namespace, hooks)
	if err != nil {
		return nil, nil, err
	}
	return o.Open(ctx, root, namespace, crds, accounts)
}

// Open is Start for an operator in a namespace with accounts. root is the project. It uses neither Config nor Roles.
func (o Options) Open(
	ctx context.Context, root, namespace string, crds []*unstructured.Unstructured, accounts []Account,
) (*Backend, func(), error) {
	state, stop, err := o.controlPlane(ctx, root)
	if err != nil {
		return nil, nil, err
	}
	admin, err := cluster.Open(cluster.ClientOptions{Kubeconfig: state.Kubeconfig}, o.Getenv)
	if err == nil {
		err = o.checkIsForTests(ctx, admin)
	}
	if err != nil {
		stop()
		return nil, nil, err
	}
	var j *journal
	if o.continues() {
		j, err = openJournal(ctx, journalFolder(state, admin), func() { o.Progress("waiting for other tests on control plane " + state.Name) })
	}
	backend := &Backend{admin: admin, namespace: namespace, kubectl: state.Assets, accounts: newAccounts(accounts), journal: j}
	if err == nil && o.Record {
		backend.administrator, err = admin.Transport()
	}
	if err == nil {
		backend, err = backend.open(ctx, state.Kubeconfig, crds)
	}
	if err != nil {
		if j != nil {
			j.close()
		}
		stop()
		return nil, nil, fault.In("prepare control plane "+state.Name, err)
	}
	return backend, func() { o.release(ctx, backend, j, state.Name); stop() }, nil
}

// continues reports whether the control plane continues to run after the tests.
func (o Options) continues() bool { return o.Name != "" || o.Kubeconfig != "" }

// checkIsForTests returns an error for a cluster with nodes: its programs create objects, which tests would remove.
func (o Options) checkIsForTests(ctx context.Context, admin *cluster.Cluster) error {
	if o.Kubeconfig == "" {
		return nil
	}
	nodes, err := admin.List(ctx, nodeKind, "", metav1.ListOptions{Limit: 1})
	if err == nil && len(nodes.Items) > 0 {
		err = fault.Usage("use a control plane without nodes: operon envtest start --detach, then --name default",
			"the cluster of %s has nodes, and tests remove all objects that appear while they run", o.Kubeconfig)
	}
	return err
}

var nodeKind = kubeapi.Kind{Version: "v1", Kind: "Node", Resource: "nodes"}

// journalFolder returns the folder for the journal of a control plane: its own, or one of its URL.
func journalFolder(state controlplane.State, admin *cluster.Cluster) string {
	if state.Name != "" {
		return filepath.Dir(state.Kubeconfig)
	}
	sum := sha256.Sum256([]byte(admin.Server))
	return filepath.Join(os.TempDir(), "operon-hook-tests-"+hex.EncodeToString(sum[:6]))
}

// release closes the backend. It restores a control plane that continues to run.
func (o Options) release(ctx context.Context, b *Backend, j *journal, name string) {
	defer b.Close()
	if j == nil {
		return
	}
	defer j.close()
	if err := b.restore(ctx); err != nil && !errors.Is(err, hooktest.ErrStopped) {
		o.Warn(fmt.Sprintf("control plane %s still has objects of the tests: %v", name, err))
	}
}

// accounts returns an account for each hook of a shell-operator, or one for all hooks of an addon-operator.
func (o Options) accounts(root, hooksDir, namespace string, hooks []engine.Hook) ([]Account, error) {
	if _, isAddon := hookproject.FindAddon(root); isAddon {
		shared := Account{}
		file := filepath.Join(root, filepath.FromSlash(rbac.Path))
		_, err := os.Stat(file)
		if err == nil {
			shared.Roles, err = objects.Read(file, rbac.Path)
		} else if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return []Account{shared}, err
	}
	o.Roles.Namespace = namespace
	roles, err := hookproject.HookRoles(root, hooksDir, hooks, o.Roles)
	if err != nil {
		return nil, err
	}
	var all []Account
	for _, h := range hooks {
		objects, err := hookproject.RoleObjects(roles[h.Name], namespace)
		if err != nil {
			return nil, err
		}
		all = append(all, Account{Hook: h.Name, Roles: objects})
	}
	return all, nil
}

// started counts the control planes of this process.
var started atomic.Int64

// controlPlane returns the control plane with the name o.Name, or starts one. The returned
// function stops the one that it started.
func (o Options) controlPlane(ctx context.Context, root string) (controlplane.State, func(), error) {
	var none controlplane.State
	home, err := controlplane.Open(o.Getenv)
	if err != nil {
		return none, nil, err
	}
	if o.Kubeconfig != "" {
		folder, err := o.Programs(root)
		return controlplane.State{Options: controlplane.Options{Assets: folder}, Kubeconfig: o.Kubeconfig}, func() {}, err
	}
	if o.Name != "" {
		planes, err := home.List()
		if err != nil {
			return none, nil, err
		}
		i := slices.IndexFunc(planes, func(s controlplane.State) bool { return s.Name == o.Name && s.Phase == controlplane.Running })
		if i < 0 {
			return none, nil, fault.Failed("start it: operon envtest start --detach --name "+o.Name, "control plane %q is not running", o.Name)
		}
		return planes[i], func() {}, nil
	}
	folder, err := o.Programs(root)
	if err != nil {
		return none, nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	options := controlplane.Options{Name: fmt.Sprintf("tests-%d-%d", os.Getpid(), started.Add(1)), Assets: folder}
	session, err := home.Start(ctx, options, []string{o.Program, "envtest", "keep"}, o.Environ, o.Progress)
	if err != nil {
		cancel()
		return none, nil, err
	}
	return session.State, func() { cancel(); _ = session.Wait(ctx) }, nil
}
