// Package cluster connects hooks to a real API server: its kinds, its objects and their
// changes, patches, and admission and conversion requests over HTTPS. Package engine decides
// what to do about them.
//
// It uses client-go without the types of all APIs, because registering them takes
// milliseconds in every command.
package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/klog/v2"
)

// ClientOptions says which API server is meant, in kubectl's terms.
type ClientOptions struct {
	Kubeconfig string // path; "" means the files of KUBECONFIG, or ~/.kube/config
	Context    string // "" means the current one
	Namespace  string // "" means that of the context
}

// Cluster is an API server, as one user sees it.
type Cluster struct {
	Server    string // its URL
	Context   string // of the kubeconfig
	Namespace string // for programs that name none
	// Kubeconfig is one with nothing but this context and user, which needs no
	// other file. It may hold secrets.
	Kubeconfig []byte

	config  *rest.Config
	objects dynamic.Interface
	raw     rest.Interface // for what operon asks on its own
	kinds   *discovered    // that clients of one server share
}

func (w ClientOptions) loader(getenv func(string) string) clientcmd.ClientConfig {
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: w.Kubeconfig, Precedence: files(getenv)}
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{
		CurrentContext: w.Context, Context: api.Context{Namespace: w.Namespace},
	})
}

// Contexts are the names of those that a kubeconfig has, or none when it cannot be read.
func Contexts(w ClientOptions, getenv func(string) string) []string {
	raw, err := w.loader(getenv).RawConfig()
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(raw.Contexts))
}

// Open reads a kubeconfig. It does not ask the server. Errors are the user's.
func Open(w ClientOptions, getenv func(string) string) (*Cluster, error) {
	if w.Kubeconfig != "" {
		if _, err := os.Stat(w.Kubeconfig); err != nil {
			return nil, fault.Usage("name a file that kubectl takes, too", "--kubeconfig %s: %v", w.Kubeconfig, fault.Reason(err))
		}
	}
	loader := w.loader(getenv)
	raw, err := loader.RawConfig()
	if err != nil {
		return nil, fault.Usage("mend it, or name another with --kubeconfig", "kubeconfig: %v", err)
	}
	name := cmp.Or(w.Context, raw.CurrentContext)
	switch _, there := raw.Contexts[name]; {
	case len(raw.Contexts) == 0 && w.Kubeconfig == "" && getenv("KUBECONFIG") != "" && !slices.ContainsFunc(files(getenv), isThere):
		return nil, fault.Usage("unset KUBECONFIG, or export KUBECONFIG=\"$(operon envtest start --detach)\"", "there is no cluster to talk to: KUBECONFIG names %s, which is not there", getenv("KUBECONFIG"))
	case len(raw.Contexts) == 0:
		return nil, fault.Usage("export KUBECONFIG=\"$(operon envtest start --detach)\", or name a file with --kubeconfig", "there is no cluster to talk to: no kubeconfig has a context")
	case name == "":
		return nil, fault.Usage("name one with --context", "the kubeconfig has no current context")
	case !there:
		return nil, fault.Usage("contexts: "+strings.Join(slices.Sorted(maps.Keys(raw.Contexts)), ", "), "the kubeconfig has no context %q", name)
	}
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, fault.Usage("mend it, or name another with --context", "context %s of the kubeconfig: %v", name, err)
	}
	namespace, _, err := loader.Namespace()
	if err != nil {
		return nil, fault.Usage("", "context %s of the kubeconfig: %v", name, err)
	}
	own, err := alone(raw, name, namespace)
	if err != nil {
		return nil, fault.Usage("", "context %s of the kubeconfig: %v", name, err)
	}
	return connect(config, name, namespace, own)
}

// silence keeps what client-go logs off stderr: errors are returned, and a request that
// ends with a test is none.
var silence = sync.OnceFunc(func() { klog.SetLogger(logr.Discard()) })

// connect makes the clients. They are not slowed down: see Limited.
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
	return &Cluster{Server: config.Host, Context: name, Namespace: namespace, Kubeconfig: own, config: config, objects: objects, raw: raw, kinds: &discovered{}}, nil
}

// Reach asks the server whether it is there, and for its version, such as
// v1.37.1.
func (c *Cluster) Reach(ctx context.Context) (version string, err error) {
	var v struct{ GitVersion string }
	if err := c.get(ctx, "/version", "application/json", &v); err != nil {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		return "", fault.Failed("is it the right one? see kubectl --context "+c.Context+" cluster-info", "the API server %s of context %s does not answer: %v", c.Server, c.Context, fault.Reason(err))
	}
	return v.GitVersion, nil
}

// files are those that kubectl reads without --kubeconfig.
func files(getenv func(string) string) []string {
	if list := filepath.SplitList(getenv("KUBECONFIG")); len(list) > 0 {
		return list
	}
	if home := cmp.Or(getenv("HOME"), getenv("USERPROFILE")); home != "" {
		return []string{filepath.Join(home, ".kube", "config")}
	}
	return nil
}

func isThere(file string) bool {
	_, err := os.Stat(file)
	return !errors.Is(err, os.ErrNotExist)
}

// alone is a kubeconfig with one context, which is its current one.
func alone(c api.Config, name, namespace string) ([]byte, error) {
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

// Address is where the API server finds this machine, and where to listen for it.
// A host that is not given is found as far as that can be known: where the server
// is on this machine it is its loopback address, and else the address that packets
// to it come from. What is reached on this machine alone serves nobody else.
func (c *Cluster) Address(host string) (found, listen string, err error) {
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
