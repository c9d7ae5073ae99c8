//go:build testall

package cluster

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/operon-dev/operon/internal/fault"
)

// TestPushAfterChecks expects that a catalog is pushed only if no object of a user is in the way.
func TestPushAfterChecks(t *testing.T) {
	t.Parallel()
	for name, manifest := range map[string]string{
		"ServiceAccount fleet-installer": "{apiVersion: v1, kind: ServiceAccount, metadata: {name: fleet-installer, namespace: ships}}",
		"ClusterRole fleet-installer":    "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: fleet-installer}}",
		"ClusterCatalog operon-fleet":    "{apiVersion: olm.operatorframework.io/v1, kind: ClusterCatalog, metadata: {name: operon-fleet}}",
		"ClusterExtension fleet":         "{apiVersion: olm.operatorframework.io/v1, kind: ClusterExtension, metadata: {name: fleet}, spec: {source: {catalog: {packageName: other}}}}",
		"":                               "",
	} {
		synctest.Test(t, func(t *testing.T) {
			c, o := newFake(t, clusterV1+"---\n"+manifest), extend(t, AllNamespaces)
			pushed := false
			image, _ := o.Catalog.(CatalogImage)
			image.Push = func(context.Context, []byte) (string, error) {
				pushed = true
				return "", errors.New("the registry refuses it")
			}
			o.Catalog = image
			_, err := c.Install(t.Context(), o)
			if name == "" {
				if err == nil || !pushed {
					t.Errorf("without conflicts: pushed %v, error %v", pushed, err)
				}
				return
			}
			if err == nil || err.Error() != name+" exists, and operon did not create it" || pushed || len(c.changes()) > 0 {
				t.Errorf("%s: error %v, pushed %v, changes %v", name, err, pushed, c.changes())
			}
		})
	}
}

// TestPushedImageStays expects that a failure does not claim to have undone the push.
func TestPushedImageStays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newFake(t, clusterV1)
		c.olmV1("Blocked", "no")
		if _, err := c.Install(t.Context(), extend(t, AllNamespaces)); err == nil {
			t.Fatal("no error")
		}
		if got := c.notes[len(c.notes)-1]; got != "undid all changes in the cluster; the image of the catalog stays in its registry" {
			t.Errorf("the last line is %q", got)
		}
	})
}

// TestModeHints expects that hints name only flags that the command has.
func TestModeHints(t *testing.T) {
	t.Parallel()
	installed := strings.NewReplacer("LABEL", managedBy, "NAMESPACE", testNamespace, "name: mine", "name: fleet").Replace(userExtension)
	for name, tt := range map[string]struct {
		cluster, supported, hint string
		do                       func(*Client, context.Context, Options) (bool, error)
	}{
		"install": {clusterV1, SingleNamespace, "choose with --install-mode: AllNamespaces, OwnNamespace or SingleNamespace=OTHER", (*Client).Install},
		"upgrade": {clusterV1 + installed, SingleNamespace, "remove the installed version: operon cleanup fleet -n ships; then operon run bundle BUNDLE --install-mode MODE", (*Client).Upgrade},
		"upgrade of an operator for one namespace": {
			clusterV1 + strings.Replace(installed, "spec: {", "spec: {config: {inline: {watchNamespace: ships}}, ", 1), AllNamespaces,
			"remove the installed version: operon cleanup fleet -n ships; then operon run bundle BUNDLE --install-mode MODE", (*Client).Upgrade,
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := newFake(t, strings.ReplaceAll(tt.cluster, "CONFIG", "config"))
			_, err := tt.do(c.Client, t.Context(), extend(t, tt.supported))
			if err == nil || fault.HintOf(err) != tt.hint || len(c.changes()) > 0 {
				t.Errorf("%s: error %v, hint %q, changes %v", name, err, fault.HintOf(err), c.changes())
			}
		})
	}
}
