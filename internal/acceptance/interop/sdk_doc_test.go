//go:build unix

package interop

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/treetest"
)

// TestSDKFlags compares the table of commands and flags with operator-sdk's.
func TestSDKFlags(t *testing.T) {
	t.Parallel()
	want := map[string]bool{}
	for line := range strings.Lines(treetest.ReadFile(t, filepath.Join("testdata", "operator-sdk.txt"))) {
		if !strings.HasPrefix(line, "#") {
			want[strings.TrimSpace(line)] = true
		}
	}
	compareRows(t, docTable(t, sdkDoc, "flags"), want)
}

// TestSDKTry runs the command lines in the last column: supported ones must work or ask for a
// cluster, and others must fail with a hint. Rows that TestKubebuilderTry runs must have the
// same status.
func TestSDKTry(t *testing.T) {
	t.Parallel()
	fleet := newFleet(t, "init --domain example.org --repo example.org/fleet --plugins olm", "bundle generate --version 0.1.0 --image example.org/fleet:v0.1.0")
	treetest.WriteFile(t, filepath.Join(fleet, "olm-manifests", "crd.yaml"), `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: subscriptions.operators.coreos.com}
spec: {group: operators.coreos.com}
`)
	status := map[string]string{}
	for _, cells := range docTable(t, kubebuilderDoc, "flags") {
		status[cells[0]+cells[3]] = cells[1]
	}
	for _, cells := range docTable(t, sdkDoc, "flags") {
		if known := status[cells[0]+cells[3]]; known != "" {
			if known != cells[1] {
				t.Errorf("%s: status %s, and in %s %s", cells[0], cells[1], kubebuilderDoc, known)
			}
			continue
		}
		t.Run(cells[0], func(t *testing.T) {
			t.Parallel()
			runTry(t, fleet, cells)
		})
	}
}

// TestSDKPlugins runs init with each plugin in the table.
func TestSDKPlugins(t *testing.T) {
	t.Parallel()
	rows := docTable(t, sdkDoc, "plugins")
	compareRows(t, rows, map[string]bool{
		"ansible.sdk.operatorframework.io/v1": true, "deploy-image.go.kubebuilder.io/v1-alpha": true, "go.kubebuilder.io/v4": true,
		"grafana.kubebuilder.io/v1-alpha": true, "helm.sdk.operatorframework.io/v1": true, "kustomize.common.kubebuilder.io/v2": true,
		"manifests.sdk.operatorframework.io/v2": true, "scorecard.sdk.operatorframework.io/v2": true,
	})
	for _, cells := range rows {
		t.Run(cells[0], func(t *testing.T) {
			t.Parallel()
			repo := " --repo example.org/fleet"
			if strings.HasPrefix(cells[0], "helm.") {
				repo = ""
			}
			runTry(t, "", []string{"init --plugins", cells[1], cells[2], "`operon init --domain example.org" + repo + " --plugins " + cells[0] + "`"})
		})
	}
}
