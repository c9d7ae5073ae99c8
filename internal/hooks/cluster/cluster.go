// Package cluster connects hooks to a real API server: it discovers kinds, reads,
// watches and patches objects, and serves admission and conversion webhooks over
// HTTPS. Package engine decides which hooks these events run.
//
// It uses client-go's dynamic client. The typed clientset registers the types of all
// APIs, which adds milliseconds to the start of every command.
package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/go-logr/logr"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/operon-dev/operon/internal/input"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/klog/v2"
)

// ClientOptions selects an API server, like the flags of kubectl.
type ClientOptions struct {
	Kubeconfig string // path; "" means the files of KUBECONFIG, or ~/.kube/config
	Context    string // "" means the current one
	Namespace  string // "" means the namespace of the context
}

// Cluster is a connection to an API server as one user.
type Cluster struct {
	Server    string // its URL
	Context   string // of the kubeconfig
	Namespace string // default for programs that set none
	// Kubeconfig has only this context and user, and refers to no other file. It can
	// contain secrets.
	Kubeconfig []byte
	// RevisionOf returns the revision of the last change of a kind, or "" if there was none since the client was made. It is nil
	// if nothing watches the kinds.
	RevisionOf func(kubeapi.Kind) (revision string, known bool)
	// Strict makes the server refuse objects with unknown fields, as kubectl and Helm do, instead of dropping the fields.
	Strict bool

	config  *rest.Config
	objects dynamic.Interface
	raw     rest.Interface // for requests of operon itself
	kinds   *discovered    // shared by the clients of one server
}

func (o ClientOptions) loader(getenv func(string) string) clientcmd.ClientConfig {
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: o.Kubeconfig, Precedence: files(getenv)}
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{
		CurrentContext: o.Context, Context: api.Context{Namespace: o.Namespace},
	})
}

// Contexts returns the names of the contexts of a kubeconfig, or nil if it cannot be read.
func Contexts(o ClientOptions, getenv func(string) string) []string {
	raw, err := o.loader(getenv).RawConfig()
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(raw.Contexts))
}

// Open reads a kubeconfig. It does not connect to the server. Its errors are usage errors.
func Open(o ClientOptions, getenv func(string) string) (*Cluster, error) {
	if err := checkKubeconfigs(o.Kubeconfig, files(getenv)); err != nil {
		return nil, err
	}
	loader := o.loader(getenv)
	raw, err := loader.RawConfig()
	if err != nil {
		return nil, fault.Usage("fix it, or use another one with --kubeconfig", "kubeconfig: %v", err)
	}
	name := cmp.Or(o.Context, raw.CurrentContext)
	_, found := raw.Contexts[name]
	switch {
	case len(raw.Contexts) == 0 && o.Kubeconfig == "" && getenv("KUBECONFIG") != "" && !slices.ContainsFunc(files(getenv), exists):
		return nil, fault.Usage("unset KUBECONFIG, or export KUBECONFIG=\"$(operon envtest start --detach)\"", "no cluster: KUBECONFIG file %s does not exist", getenv("KUBECONFIG"))
	case len(raw.Contexts) == 0 && o.Kubeconfig != "":
		return nil, fault.Usage("export KUBECONFIG=\"$(operon envtest start --detach)\", or name another file", "no cluster: --kubeconfig %s has no context", o.Kubeconfig)
	case len(raw.Contexts) == 0:
		return nil, fault.Usage("export KUBECONFIG=\"$(operon envtest start --detach)\", or name a file with --kubeconfig", "no cluster: no kubeconfig has a context")
	case name == "":
		return nil, fault.Usage("name one with --context", "the kubeconfig has no current context")
	case !found:
		return nil, fault.Usage("contexts: "+strings.Join(slices.Sorted(maps.Keys(raw.Contexts)), ", "), "the kubeconfig has no context %q", name)
	}
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, fault.Usage("fix it, or use another one with --context", "context %s of the kubeconfig: %v", name, err)
	}
	namespace, _, err := loader.Namespace()
	if err != nil {
		return nil, fault.Usage("", "context %s of the kubeconfig: %v", name, err)
	}
	own, err := minify(raw, name, namespace)
	if err != nil {
		return nil, fault.Usage("", "context %s of the kubeconfig: %v", name, err)
	}
	return connect(config, name, namespace, own)
}

// silence discards the log of client-go. Its errors are returned, and a request that
// is canceled at the end of a test is not an error.
var silence = sync.OnceFunc(func() { klog.SetLogger(logr.Discard()) })

// connect creates the clients. They are not rate-limited.
func connect(config *rest.Config, name, namespace string, own []byte) (*Cluster, error) {
	config.QPS = -1
	silence()
	config.WarningHandlerWithContext = rest.NoWarnings{}
	config = dynamic.ConfigFor(config)
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fault.Usage("", "context %s of the kubeconfig: %v", name, err)
	}
	objects, err := dynamic.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, fault.Usage("", "context %s of the kubeconfig: %v", name, err)
	}
	raw, err := rest.UnversionedRESTClientForConfigAndClient(config, client)
	if err != nil {
		return nil, fault.Usage("", "context %s of the kubeconfig: %v", name, err)
	}
	return &Cluster{
		Server: config.Host, Context: name, Namespace: namespace, Kubeconfig: own,
		config: config, objects: objects, raw: raw, kinds: &discovered{},
	}, nil
}

// ServerVersion returns the version of the server, such as v1.37.1. It fails if the
// server cannot be reached.
func (c *Cluster) ServerVersion(ctx context.Context) (version string, err error) {
	var v struct{ GitVersion string }
	if err := c.get(ctx, "/version", "application/json", &v); err != nil {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		return "", fault.Failed("check that the context is correct: kubectl --context "+c.Context+" cluster-info", "the API server %s of context %s does not answer: %v", c.Server, c.Context, fault.Reason(err))
	}
	return v.GitVersion, nil
}

// checkKubeconfigs returns an error if a kubeconfig cannot be read: the library would wait for a named pipe. It ignores missing files
// of the environment, as kubectl does.
func checkKubeconfigs(named string, usual []string) error {
	const hint = "use a kubeconfig that kubectl accepts"
	if named != "" {
		if _, err := input.ReadFile(named, input.Text); err != nil {
			return fault.Usage(hint, "--kubeconfig %s: %v", named, fault.Reason(err))
		}
		return nil
	}
	for _, file := range usual {
		if _, err := input.ReadFile(file, input.Text); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fault.Usage(hint, "kubeconfig %s: %v", file, fault.Reason(err))
		}
	}
	return nil
}

// files returns the kubeconfig files that kubectl reads without --kubeconfig.
func files(getenv func(string) string) []string {
	if list := filepath.SplitList(getenv("KUBECONFIG")); len(list) > 0 {
		return list
	}
	if home := cmp.Or(getenv("HOME"), getenv("USERPROFILE")); home != "" {
		return []string{filepath.Join(home, ".kube", "config")}
	}
	return nil
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return !errors.Is(err, os.ErrNotExist)
}

// minify returns the kubeconfig reduced to one context, which becomes the current one.
func minify(c api.Config, name, namespace string) ([]byte, error) {
	own := *c.DeepCopy()
	own.CurrentContext = name
	own.Contexts[name].Namespace = namespace
	if err := api.MinifyConfig(&own); err != nil {
		return nil, err
	}
	if err := api.FlattenConfig(&own); err != nil {
		return nil, err
	}
	return clientcmd.Write(own)
}

// Address returns the host at which the API server reaches this machine, and the host
// to listen on. An empty host means the source address of packets to the server, which
// is the loopback address for a server on this machine. A server at a loopback address
// listens there only; any other listens on all addresses.
func (c *Cluster) Address(host string) (address, listen string, err error) {
	if host == "" {
		if host, err = c.outbound(); err != nil {
			return "", "", fmt.Errorf("find the address of this machine: %w", err)
		}
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() || host == "localhost" {
		return host, host, nil
	}
	return host, "", nil
}

func (c *Cluster) outbound() (string, error) {
	server, err := url.Parse(c.Server)
	if err != nil {
		return "", err
	}
	conn, err := net.Dial("udp", net.JoinHostPort(server.Hostname(), cmp.Or(server.Port(), "443"))) // sends nothing
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	own, _, err := net.SplitHostPort(conn.LocalAddr().String())
	return own, err
}
