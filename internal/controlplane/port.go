package controlplane

import (
	"fmt"
	"math/rand/v2"
	"net"

	"github.com/operon-dev/operon/internal/fault"
)

// Ports that are chosen come from below the ranges that systems take the ports
// of outgoing connections from (Linux: 32768, others: 49152), so that one stays
// free while the API server gets ready, and while it is started again.
const firstPort, lastPort = 20000, 29999

// choosePort returns a free port, at random so that two control planes that
// start at once hardly meet.
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

// checkPort reports whether the API server could listen on a port.
func checkPort(port int) error {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return fault.Failed("choose another --port, or leave it out for a free one", "port %d: %v", port, err)
	}
	return l.Close()
}
