//go:build testall

package cluster

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"github.com/operon-dev/operon/internal/jsonvalue"
)

const upgradable = `{install: {bundle: {name: fleet.v0.1.0, version: 0.1.0}}, conditions: [{type: Installed, status: "True", observedGeneration: 0}]}`

// installedByOperon is what operon has created for version 0.1.0 of package fleet.
const installedByOperon = `---
apiVersion: olm.operatorframework.io/v1
kind: ClusterCatalog
metadata: {name: operon-fleet, labels: {app.kubernetes.io/managed-by: operon, operon.dev/package: fleet}}
spec: {source: {type: Image, image: {ref: example.org/catalog@sha256:1}}}
status:
  resolvedSource: {image: {ref: example.org/catalog@sha256:1}}
  conditions: [{type: Progressing, status: "True", reason: Succeeded, observedGeneration: 0}, {type: Serving, status: "True"}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: fleet-installer, namespace: watched, labels: {app.kubernetes.io/managed-by: operon, operon.dev/package: fleet}}
`

// upgradesV1 makes a cluster do what OLM v1 does when an object changes. It refuses one version, or all.
func (c *fakeCluster) upgradesV1(refused string) {
	c.fake.PrependReactor("update", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
		update, _ := a.(clienttesting.UpdateAction)
		o, _ := update.GetObject().(*unstructured.Unstructured)
		progress := map[string]any{"type": "Progressing", "status": "True", "reason": "Succeeded", "observedGeneration": int64(0)}
		switch version := jsonvalue.String(o.Object, "spec", "source", "catalog", "version"); o.GetKind() {
		case "ClusterCatalog":
			o.Object["status"] = map[string]any{
				"resolvedSource": map[string]any{"image": map[string]any{"ref": jsonvalue.String(o.Object, "spec", "source", "image", "ref")}},
				"conditions":     []any{progress, map[string]any{"type": "Serving", "status": "True"}},
			}
		case "ClusterExtension":
			installed := jsonvalue.Map(o.Object, "status", "install")
			if version == refused || refused == "all" {
				progress["status"], progress["reason"], progress["message"] = "False", "Blocked", "refused"
			} else {
				installed = map[string]any{"bundle": map[string]any{"name": "fleet.v" + version, "version": version}}
			}
			o.Object["status"] = map[string]any{"install": installed, "conditions": []any{progress, map[string]any{"type": "Installed", "status": "True", "observedGeneration": int64(0)}}}
		}
		return false, nil, nil
	})
}

// TestUpgradeExtension expects that an upgrade leaves only the roles that the new version needs, uses the
// account of the installed version, and that a failure restores the previous content.
func TestUpgradeExtension(t *testing.T) {
	t.Parallel()
	theirs := strings.NewReplacer("fleet-installer", "theirs").Replace(ownExtension(upgradable, "x"))
	for name, tt := range map[string]struct {
		extension, account, refused string
		version, used, err          string
		objects                     string
	}{
		"success": {ownExtension(upgradable, "x"), "", "", "0.2.0", "fleet-installer", "",
			"ClusterCatalog operon-fleet, ClusterRoleBinding fleet-installer, ClusterRole fleet-installer, ServiceAccount fleet-installer, ClusterExtension fleet"},
		"failure":       {ownExtension(upgradable, "x"), "", "0.2.0", "0.1.0", "fleet-installer", "OLM cannot install fleet.v0.2.0: refused", "ClusterCatalog operon-fleet, Role fleet-installer, ClusterExtension fleet"},
		"no way back":   {ownExtension(upgradable, "x"), "", "all", "0.1.0", "fleet-installer", "OLM cannot install fleet.v0.2.0: refused", "ClusterCatalog operon-fleet, Role fleet-installer, ClusterExtension fleet"},
		"account":       {theirs, "", "", "0.2.0", "theirs", "", "ClusterCatalog operon-fleet, ClusterExtension fleet"},
		"same account":  {theirs, "theirs", "", "0.2.0", "theirs", "", "ClusterCatalog operon-fleet, ClusterExtension fleet"},
		"other account": {theirs, "other", "", "0.1.0", "theirs", "uses ServiceAccount theirs, which cannot change", "ClusterCatalog operon-fleet, Role fleet-installer, ClusterExtension fleet"},
	} {
		synctest.Test(t, func(t *testing.T) {
			c, o := newFake(t, clusterV1+installedByOperon+tt.extension), extend(t, AllNamespaces)
			c.upgradesV1(tt.refused)
			pushed := false
			o.Catalog = CatalogImage{Bundle: "example.org/fleet@sha256:1", Ref: "example.org/catalog:v1", Account: tt.account, Push: func(context.Context, []byte) (string, error) {
				pushed = true
				return "example.org/catalog@sha256:2", nil
			}}
			ctx, cancel := WithTimeout(t.Context(), time.Minute)
			defer cancel()
			changed, err := c.Upgrade(ctx, o)
			if tt.err == "" && (err != nil || !changed) || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Errorf("%s: changed %v, error %v, notes %q", name, changed, err, c.notes)
			}
			if name == "other account" && (pushed || len(c.changes()) > 0) {
				t.Errorf("%s: pushed %v, changes %v", name, pushed, c.changes())
			}
			if got := strings.Join(c.objectsOf(t), ", "); got != tt.objects {
				t.Errorf("%s: objects %s", name, got)
			}
			c.expectExtension(t, name, tt.version, tt.used)
		})
	}
}

// TestKilledUpgrade expects that the next command restores what a killed upgrade has replaced, whether it
// was killed before OLM installed the new version, after it, or while it went back.
func TestKilledUpgrade(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		installed, version, policy string // what the killed command has left
		next                       string // the version of the next command
	}{
		"before the new version": {"0.1.0", "0.3.0", "", "0.2.0"},
		"after it":               {"0.3.0", "0.3.0", "", "0.2.0"},
		"on the way back":        {"0.3.0", "0.1.0", selfCertified, "0.2.0"},
		"repeated":               {"0.2.0", "0.2.0", "", "0.2.0"},
		"previous version":       {"0.1.0", "0.1.0", selfCertified, "0.1.0"},
	} {
		synctest.Test(t, func(t *testing.T) {
			c, o := newFake(t, clusterV1+installedByOperon+ownExtension(upgradable, "")), extend(t, AllNamespaces)
			c.upgradesV1("")
			before := c.task()
			found, err := c.get(t.Context(), clusterExtensions, "", "fleet")
			if err != nil {
				t.Fatal(err)
			}
			catalog, err := c.get(t.Context(), clusterCatalogs, "", "operon-fleet")
			if err != nil {
				t.Fatal(err)
			}
			if err := before.recordPrevious(t.Context(), found, catalog); err != nil {
				t.Fatal(err)
			}
			source := map[string]any{"packageName": "fleet", "version": tt.installed}
			next := found.DeepCopy()
			next.Object["spec"] = map[string]any{"namespace": testNamespace, "serviceAccount": map[string]any{"name": "fleet-installer"}, "source": map[string]any{"catalog": source}}
			if err := c.change(t.Context(), clusterExtensions, *next); err != nil { // OLM installs it
				t.Fatal(err)
			}
			if source["version"] = tt.version; tt.policy != "" {
				source["upgradeConstraintPolicy"] = tt.policy
			}
			c.fake.ReactionChain = c.fake.ReactionChain[1:] // OLM has not read the last change
			if err := c.change(t.Context(), clusterExtensions, *next); err != nil {
				t.Fatal(err)
			}
			c.upgradesV1("")
			o.Catalog = CatalogImage{Bundle: "example.org/fleet@sha256:1", Ref: "example.org/catalog:v1", Push: func(context.Context, []byte) (string, error) {
				return "example.org/catalog@sha256:2", nil
			}}
			run := c.Upgrade
			if tt.next == "0.1.0" {
				run = c.Install
				o.Bundle.CSV.Object["metadata"].(map[string]any)["name"] = "fleet.v0.1.0"
				o.Bundle.CSV.Object["spec"].(map[string]any)["version"] = "0.1.0"
			}
			ctx, cancel := WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if _, err := run(ctx, o); err != nil {
				t.Errorf("%s: %v, notes %q", name, err, c.notes)
			}
			now, err := c.get(t.Context(), clusterExtensions, "", "fleet")
			if err != nil {
				t.Fatal(err)
			}
			source = jsonvalue.Map(now.Object, "spec", "source", "catalog")
			if source["version"] != tt.next || source["upgradeConstraintPolicy"] != nil || len(now.GetAnnotations()) > 0 || installedBundle(now) != "fleet.v"+tt.next {
				t.Errorf("%s: %v, annotations %v, installed %s", name, now.Object["spec"], now.GetAnnotations(), installedBundle(now))
			}
		})
	}
}

// expectExtension expects a ClusterExtension with a version and an account, without weakened policies.
func (c *fakeCluster) expectExtension(t *testing.T, name, version, account string) {
	t.Helper()
	o, err := c.get(t.Context(), clusterExtensions, "", "fleet")
	if err != nil || o == nil {
		t.Fatalf("%s: %v, error %v", name, o, err)
	}
	source := jsonvalue.Map(o.Object, "spec", "source", "catalog")
	if source["version"] != version || source["upgradeConstraintPolicy"] != nil || jsonvalue.Map(o.Object, "spec", "install") != nil || jsonvalue.String(o.Object, "spec", "serviceAccount", "name") != account {
		t.Errorf("%s: spec %v", name, o.Object["spec"])
	}
	if left := o.GetAnnotations(); len(left) > 0 {
		t.Errorf("%s: annotations %v", name, left)
	}
	image, want := "example.org/catalog@sha256:2", version == "0.2.0"
	catalog, err := c.get(t.Context(), clusterCatalogs, "", "operon-fleet")
	if err != nil || (jsonvalue.String(catalog.Object, "spec", "source", "image", "ref") == image) != want {
		t.Errorf("%s: catalog %v, error %v", name, catalog.Object["spec"], err)
	}
}
