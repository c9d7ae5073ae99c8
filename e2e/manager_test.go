package e2e

import "testing"

// manager is a running manager process.
type manager struct {
	metricsURL string // https://127.0.0.1:PORT/metrics
	probeURL   string // http://127.0.0.1:PORT
}

// run starts the manager with the flags of its Deployment, a token of its
// ServiceAccount and nothing else, and waits until it is ready. It ends with the
// test, which fails when the manager logged "forbidden".
func (i *installation) run(t *testing.T, flags ...string) *manager {
	t.Helper()
	panic("D")
}

// stop ends the manager with SIGTERM and waits for it; kill does not let it say
// good-bye.
func (m *manager) stop(t *testing.T) { t.Helper(); panic("D") }
func (m *manager) kill(t *testing.T) { t.Helper(); panic("D") }

// logs is what the manager wrote so far.
func (m *manager) logs() string { panic("D") }
