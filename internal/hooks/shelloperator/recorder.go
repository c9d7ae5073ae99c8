package shelloperator

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/operon-dev/operon/internal/controlplane"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks"
	"github.com/operon-dev/operon/internal/hooks/cluster"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/operon-dev/operon/internal/hooks/output"
	"github.com/operon-dev/operon/internal/hooks/rbac"
	"github.com/operon-dev/operon/internal/input"
)

// Recorder records the requests of each hook that shell-operator runs. All hooks get the environment of
// shell-operator, and it sends the requests for the patch operations of all hooks itself. Therefore it runs a script
// instead of each hook, which runs the hook with a kubeconfig of its own, and keeps the operations.
type Recorder struct {
	cluster *cluster.Cluster
	hooks   string // the folder of the hooks
	dir     string // for files
	proxy   *cluster.Proxy
	all     []recorded // new ones for each start of shell-operator
}

// recorded is a hook whose requests are recorded.
type recorded struct {
	hook     string
	patches  string // the folder for its files of patch operations
	requests *cluster.Recorder
}

// NewRecorder returns a recorder for the hooks in a folder. Its files are in home. The caller closes it.
func NewRecorder(c *cluster.Cluster, home cluster.KubeconfigDir, hooks string) (*Recorder, error) {
	ca, certificate, key, err := controlplane.ServingCertificate()
	if err != nil {
		return nil, err
	}
	proxy, err := cluster.NewProxy(ca, certificate, key)
	return &Recorder{cluster: c, hooks: hooks, dir: filepath.Join(home.Path(), "record"), proxy: proxy}, err
}

// Close ends the connections of hooks.
func (r *Recorder) Close() { r.proxy.Close() }

// writeScripts writes a script for each hook, and returns their folder.
func (r *Recorder) writeScripts() (string, error) {
	scripts := filepath.Join(r.dir, "hooks")
	all, _, err := hooks.Discover(r.hooks)
	if err == nil {
		err = os.RemoveAll(scripts)
	}
	for _, h := range all {
		if err == nil {
			err = r.writeScript(h, filepath.Join(scripts, filepath.FromSlash(h.Name)))
		}
	}
	return scripts, fault.In("record the requests of hooks", err)
}

// script runs a hook. The engine runs it in the folder of the hook, or for --config in the folder of all hooks. The checksum keeps
// equal operations of many runs once.
const script = `#!/bin/sh
export KUBECONFIG=%s KUBECACHEDIR=%s SHELL_OPERATOR_HOOKS_DIR=%s
case $1 in --config) cd "$SHELL_OPERATOR_HOOKS_DIR" ;; *) cd %s ;; esac || exit
%s "$@" || exit
[ ! -s "$KUBERNETES_PATCH_PATH" ] || cp "$KUBERNETES_PATCH_PATH" %s/"$(cksum <"$KUBERNETES_PATCH_PATH" | tr ' ' -)"
`

// writeScript starts to record the requests of a hook.
func (r *Recorder) writeScript(h hooks.Hook, path string) error {
	requests, err := r.cluster.NewRecorder()
	if err != nil {
		return err
	}
	client, err := r.proxy.Add(r.cluster, requests.Wrap)
	if err != nil {
		return err
	}
	dir := filepath.Join(r.dir, fmt.Sprint(len(r.all)))
	kubeconfig, patches := filepath.Join(dir, "kubeconfig"), filepath.Join(dir, "patches")
	r.all = append(r.all, recorded{h.Name, patches, requests})
	words := []any{kubeconfig, filepath.Join(r.dir, "kinds"), r.hooks, filepath.Dir(h.Path), h.Path, patches}
	for i, w := range words {
		words[i] = "'" + strings.ReplaceAll(w.(string), "'", `'\''`) + "'"
	}
	for _, folder := range []string{patches, filepath.Dir(path)} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return err
		}
	}
	if err := os.WriteFile(kubeconfig, client.Kubeconfig, 0o600); err != nil {
		return err
	}
	return os.WriteFile(path, fmt.Appendf(nil, script, words...), 0o700)
}

// Requests returns the requests of hooks, and of shell-operator for their patch operations, by hook. It warns about
// operations whose requests are not known. ctx may have ended.
func (r *Recorder) Requests(ctx context.Context, warn func(error)) map[string][]rbac.Request {
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer done()
	all := map[string][]rbac.Request{}
	for _, own := range r.all {
		if err := r.addOperations(ctx, own); err != nil {
			warn(fmt.Errorf("%s: the requests for its patch operations are not known: %w", own.hook, err))
		}
		sent := own.requests.Take()
		all[own.hook] = append(append(all[own.hook], sent.Refused...), sent.Allowed...)
	}
	return all
}

// addOperations adds the requests for the patch operations that a hook wrote.
func (r *Recorder) addOperations(ctx context.Context, own recorded) error {
	files, err := os.ReadDir(own.patches)
	for _, f := range files {
		text, readErr := input.ReadFile(filepath.Join(own.patches, f.Name()), input.Text)
		err = cmp.Or(err, readErr)
		operations, _ := output.ParsePatches(text) // shell-operator reports mistakes
		for _, op := range operations {
			err = cmp.Or(err, r.addOperation(ctx, own.requests, op))
		}
	}
	return err
}

func (r *Recorder) addOperation(ctx context.Context, to *cluster.Recorder, op output.Operation) error {
	body, err := op.Body()
	if op.Creates() {
		object, invalid := op.Manifest()
		if invalid != nil {
			return invalid
		}
		op.APIVersion, op.Kind, op.Namespace, op.Name = object.GetAPIVersion(), object.GetKind(), object.GetNamespace(), object.GetName()
		body, err = object.MarshalJSON()
	}
	if err != nil {
		return err
	}
	kind, err := r.cluster.Kind(ctx, op.APIVersion, op.Kind)
	if err != nil {
		return err
	}
	for _, request := range requestsFor(op, kind) {
		to.Allowed(request, body)
	}
	return nil
}

// requestsFor returns the requests that shell-operator sends for an operation on an object of a kind. It sends some of
// them only if the object exists, or until it is gone.
func requestsFor(op output.Operation, k kubeapi.Kind) (all []rbac.Request) {
	for _, verb := range map[string][]string{
		"Create": {"create"}, "CreateIfNotExists": {"create"}, "CreateOrUpdate": {"create", "get", "update"},
		"Delete": {"delete", "get"}, "DeleteInBackground": {"delete"}, "DeleteNonCascading": {"delete"},
		"JQPatch": {"get", "update"}, "MergePatch": {"patch"}, "JSONPatch": {"patch"},
	}[op.Operation] {
		r := rbac.Request{Verb: verb, Group: k.Group, Resource: k.Resource, Namespace: op.Namespace, Name: op.Name}
		if !k.Namespaced {
			r.Namespace = ""
		}
		switch {
		case verb == "create":
			r.Name = "" // the API server does not know it yet
		case op.Operation == "JQPatch" && verb == "update" || verb == "patch":
			r.Subresource = strings.Trim(op.Subresource, "/")
		}
		all = append(all, r)
	}
	return all
}
