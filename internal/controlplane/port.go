package controlplane

import (
	"fmt"
	"math/rand/v2"
	"net"

	"github.com/operon-dev/operon/internal/fault"
)

// Chosen ports are below the ranges from which systems take the ports of outgoing
// connections (Linux: 32768, others: 49152), so that a port stays free until the API
// server listens, and during a restart.
const firstPort, lastPort = 20000, 29999

// choosePort returns a free port. It is random, so that control planes that start at the
// same time rarely choose the same one.
func choosePort() (int, error) {
	var err error
	for range 100 {
		port := firstPort + rand.IntN(lastPort-firstPort+1)
		if err = checkPort(port); err == nil {
			return port, nil
		}
	}
	return 0, err
}

// checkPort returns an error if the API server could not listen on the port.
func checkPort(port int) error {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return fault.Failed("choose another --port, or omit it for a free one", "port %d: %v", port, err)
	}
	return l.Close()
}
