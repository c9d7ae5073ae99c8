package loadtest

import (
	"bytes"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// edits are the files that a user of the project would write.
//
//go:embed edits
var edits embed.FS

// OwnedPerFleet is the number of objects that each Fleet owns: a ConfigMap and a Deployment.
const OwnedPerFleet = 2

// CRD is the file of the project with the CRD of Fleet.
const CRD = "config/crd/bases/load.example.org_fleets.yaml"

// Scaffold writes a project to a folder: operon scaffolds a kind Fleet that owns ConfigMaps and
// Deployments, and the user writes the code for them. operon must be in PATH.
func Scaffold(dir string) error {
	for _, args := range [][]string{
		{"init", "--domain", "example.org", "--repo", "example.org/scale", "--license", "none"},
		{"create", "api", "--group", "load", "--version", "v1", "--kind", "Fleet", "--owns", "core/v1/ConfigMap,apps/v1/Deployment"},
	} {
		if err := run(dir, "operon", args...); err != nil {
			return err
		}
	}
	for _, owned := range []string{"fleet_configmap_owned.go", "fleet_deployment_owned.go"} {
		content, err := edits.ReadFile("edits/" + owned + ".txt")
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, "internal", "controller", owned), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Edit replaces a text in a file of the project.
type Edit struct {
	File, Old, New string
}

// Edits of the project that docs/scale.md describes.
var (
	// KeepManagedFields is what operon scaffolded before it removed them from the cache.
	KeepManagedFields = []Edit{{mainFile, "DefaultTransform: cache.TransformStripManagedFields()", ""}}
	// CacheByLabel keeps only ConfigMaps with a label in the cache.
	CacheByLabel = []Edit{
		{mainFile, "DefaultTransform: cache.TransformStripManagedFields()", `
			DefaultTransform: cache.TransformStripManagedFields(),
			ByObject: map[client.Object]cache.ByObject{
				&corev1.ConfigMap{}: {Label: labels.SelectorFromSet(labels.Set{"app.kubernetes.io/managed-by": "scale"})},
			},
		`},
		{mainFile, "\t\"k8s.io/apimachinery/pkg/runtime\"\n", "\tcorev1 \"k8s.io/api/core/v1\"\n\t\"k8s.io/apimachinery/pkg/labels\"\n\t\"k8s.io/apimachinery/pkg/runtime\"\n"},
		{mainFile, "\t\"sigs.k8s.io/controller-runtime/pkg/healthz\"\n", "\t\"sigs.k8s.io/controller-runtime/pkg/client\"\n\t\"sigs.k8s.io/controller-runtime/pkg/healthz\"\n"},
	}
)

const mainFile = "cmd/main.go"

// Workers makes the manager reconcile several objects of each kind at once.
func Workers(n int) []Edit {
	const warmup = "EnableWarmup: &warmup"
	return []Edit{{mainFile, warmup, fmt.Sprintf("%s, MaxConcurrentReconciles: %d", warmup, n)}}
}

// Apply edits the project.
func Apply(dir string, changes ...Edit) error {
	for _, c := range changes {
		name := filepath.Join(dir, filepath.FromSlash(c.File))
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if bytes.Count(content, []byte(c.Old)) != 1 {
			return fmt.Errorf("%s must have the text %q once", c.File, c.Old)
		}
		if err := os.WriteFile(name, bytes.Replace(content, []byte(c.Old), []byte(c.New), 1), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func run(dir, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}
