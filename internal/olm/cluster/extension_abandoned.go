package cluster

import (
	"cmp"
	"context"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/jsonvalue"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// resume handles a ClusterExtension of operon that reports no installed bundle. It removes one that
// never installed anything, which is what a killed command leaves, and waits for one that installs the
// bundle already. A missing report alone says nothing: OLM also clears it when it cannot read what is
// installed.
func (t *task) resume(ctx context.Context, found *unstructured.Unstructured) (installed bool, err error) {
	never, err := t.neverInstalled(ctx, found)
	if err != nil {
		return false, err
	}
	if never {
		if err := t.removeExtension(ctx, found.GetName(), found.GetUID()); err != nil {
			return false, err
		}
		_, err := t.removeInstaller(ctx, t.bundle.Package())
		return false, err
	}
	sum, err := digest(t.bundle)
	if err != nil {
		return false, err
	}
	if found.GetLabels()[digestKey] != sum {
		return false, unknownInstalled(found)
	}
	return true, t.extended(ctx)
}

// neverInstalled reports whether OLM says of the current spec that nothing is installed, and the cluster
// has no CRD of the ClusterExtension, whose objects would be lost with it.
func (t *task) neverInstalled(ctx context.Context, found *unstructured.Unstructured) (bool, error) {
	c := condition(found.Object, "Installed")
	if c["status"] != "False" || jsonvalue.Int(c, "observedGeneration") != found.GetGeneration() || installedBundle(found) != "" {
		return false, nil
	}
	owned, err := t.list(ctx, crds, "", ownedByExtension(found.GetName()))
	return err == nil && len(owned) == 0, err
}

// unknownInstalled is the error about a ClusterExtension that does not report what it has installed.
func unknownInstalled(found *unstructured.Unstructured) error {
	why := cmp.Or(
		oneLine(jsonvalue.String(condition(found.Object, "Progressing"), "message")),
		oneLine(jsonvalue.String(condition(found.Object, "Installed"), "message")),
		"its status has no message",
	)
	return fault.Failed("wait until OLM reports the installed version, and repeat the command: kubectl describe clusterextension "+found.GetName(),
		"OLM does not report what %s %s has installed: %s", clusterExtensions.kind, found.GetName(), why)
}
