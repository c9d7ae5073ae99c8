package runcmd

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/operon-dev/operon/internal/hooks/cluster"
	"github.com/operon-dev/operon/internal/hooks/kinds"
	"github.com/operon-dev/operon/internal/kustomize"
)

// crdTimeout limits how long a slow cluster can delay the start of an operator for a warning.
const crdTimeout = 2 * time.Second

// crdWarning describes the CRDs that make install would create or change in a cluster, or returns "". It is
// silent about what it cannot build or read.
func crdWarning(ctx context.Context, c *cluster.Cluster, root string) string {
	folder := filepath.Join("config", "crd")
	if !kustomize.HasKustomization(filepath.Join(root, folder)) {
		return ""
	}
	built, err := kustomize.Build(root, folder, kustomize.Options{AnyPath: true})
	if err != nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, crdTimeout)
	defer cancel()
	var missing, different []string
	for _, o := range built.Objects {
		if !kinds.IsCRD(o.GroupVersionKind()) {
			continue
		}
		installed, err := c.CRD(ctx, o.GetName())
		switch {
		case apierrors.IsNotFound(err):
			missing = append(missing, o.GetName())
		case err == nil && !kinds.SameVersions(o.Unstructured, installed):
			different = append(different, o.GetName())
		}
	}
	var parts []string
	if len(missing) > 0 {
		parts = append(parts, "the cluster has no CRD "+strings.Join(missing, ", "))
	}
	if len(different) > 0 {
		parts = append(parts, "the cluster has another schema of CRD "+strings.Join(different, ", "))
	}
	return strings.Join(parts, "; ")
}
