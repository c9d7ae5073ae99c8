//go:build testall

package peertest

import "testing"

// TestPrograms builds the programs that tests run beside operon. make warm runs it before all other tests: next to them, the
// compilers would take longer than a test may.
func TestPrograms(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"olm", "catalog", "opm"} {
		OLM(t, name)
	}
	for _, name := range []string{"controller-gen", "helm", "kubebuilder"} {
		Find(t, name)
	}
}
