// Package e2e proves operators that operon makes on a real control plane: the
// projects of testdata/scenarios and testdata/golden are scaffolded, built,
// installed as config/ says and run as their ServiceAccount.
//
// The tests share one control plane (see cluster) and run side by side, each in
// namespaces of its own.
package e2e

import (
	"os"
	"testing"
)

// cluster is the control plane of the whole run. TestMain starts it with
// `operon envtest start --controllers`.
var cluster *controlPlane

func TestMain(m *testing.M) {
	os.Exit(m.Run())
}
