package runcmd

import (
	"context"
	"crypto/sha256"
	"path/filepath"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/operon-dev/operon/internal/hooks/cluster"
	"github.com/operon-dev/operon/internal/hooks/hookproject"
	"github.com/operon-dev/operon/internal/hooks/kinds"
)

// hashCRDs returns a hash of the files in config/crd/bases of a project.
func hashCRDs(root string) string {
	sum := sha256.New()
	names, _ := filepath.Glob(filepath.Join(root, "config", "crd", "bases", "*.yaml")) // the pattern is valid
	for _, name := range names {
		_ = hashFile(sum, name) // crdWarning ignores what cannot be read
	}
	return string(sum.Sum(nil))
}

// crdTimeout limits how long a slow cluster can delay the start of an operator for a warning.
const crdTimeout = 5 * time.Second

// crdWarning describes the CRDs in config/crd/bases of a project that a cluster lacks, or has with
// another schema, or returns "". CRDs that cannot be read count as equal.
func crdWarning(ctx context.Context, c *cluster.Cluster, root string) string {
	crds, err := hookproject.CRDs(root, root, nil)
	if err != nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, crdTimeout)
	defer cancel()
	var missing, different []string
	for _, crd := range crds {
		installed, err := c.CRD(ctx, crd.GetName())
		switch {
		case apierrors.IsNotFound(err):
			missing = append(missing, crd.GetName())
		case err == nil && !kinds.SameVersions(crd, installed):
			different = append(different, crd.GetName())
		}
	}
	var parts []string
	if len(missing) > 0 {
		parts = append(parts, "the cluster has no CRD "+strings.Join(missing, ", "))
	}
	if len(different) > 0 {
		parts = append(parts, "the cluster has other versions of CRD "+strings.Join(different, ", "))
	}
	return strings.Join(parts, "; ")
}
