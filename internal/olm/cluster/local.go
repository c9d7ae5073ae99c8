package cluster

import (
	"context"
	"fmt"
	"net"

	"github.com/operon-dev/operon/internal/olm/registry"
)

// Local serves the catalog from this machine, with the manifests of the bundle in it. The
// cluster runs no pod for the catalog, and pulls no image of the bundle.
type Local struct {
	Address string // at which the cluster reaches this machine
	Listen  string // host to listen on; "" means all addresses
}

func (Local) bundleImage() string { return "" }

func (l Local) serve(_ context.Context, t *task, _ string, catalog []byte) (string, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(l.Listen, "0"))
	if err != nil {
		return "", fmt.Errorf("serve the catalog: %w", err)
	}
	stop, err := registry.Serve(listener, catalog)
	if err != nil {
		_ = listener.Close()
		return "", err
	}
	t.close = append(t.close, stop)
	_, port, err := net.SplitHostPort(listener.Addr().String())
	return net.JoinHostPort(l.Address, port), err
}
