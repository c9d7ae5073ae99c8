package hookproject

import (
	"path"
	"path/filepath"
	"slices"

	"github.com/operon-dev/operon/internal/crdschema"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/operon-dev/operon/internal/hooks/objects"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// CRDs returns the CRDs in config/crd/bases of the project at root, followed by those in
// files that the user names relative to the working folder. Each file must contain a CRD.
func CRDs(root, workDir string, files []string) ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	bases := filepath.Join("config", "crd", "bases")
	if names, err := filepath.Glob(filepath.Join(root, bases, "*.yaml")); err == nil && len(names) > 0 {
		read, err := objects.Read(filepath.Join(root, bases), bases)
		if err != nil {
			return nil, err
		}
		all = onlyCRDs(read)
	}
	for _, name := range files {
		read, err := objects.Read(Abs(workDir, name), name)
		if err != nil {
			return nil, err
		}
		crds := onlyCRDs(read)
		if len(crds) == 0 {
			return nil, fault.Usage("name a file with a CustomResourceDefinition", "%s has no CustomResourceDefinition", name)
		}
		all = append(all, crds...)
	}
	return all, nil
}

// RuleInvalidCRD is the rule about CRDs in config/crd/bases.
var RuleInvalidCRD = finding.Rule{Name: "invalid-crd", Severity: finding.Error, Summary: "a CRD that an API server rejects"}

// InvalidCRDs returns a finding for each CRD in config/crd/bases of the project at root that an
// API server rejects.
func InvalidCRDs(root string) ([]finding.Finding, error) {
	names, err := filepath.Glob(filepath.Join(root, "config", "crd", "bases", "*.yaml"))
	if err != nil {
		return nil, fault.In("look for CRDs", err)
	}
	var all []finding.Finding
	for _, name := range names {
		file := path.Join("config/crd/bases", filepath.Base(name))
		read, err := objects.Read(name, file)
		if err != nil {
			return nil, err
		}
		for _, crd := range onlyCRDs(read) {
			for _, err := range rejected(crd) {
				all = append(all, RuleInvalidCRD.At(file, 0, 0, "%v", err))
			}
		}
	}
	return all, nil
}

// rejected returns the errors for which an API server rejects a CRD.
func rejected(o *unstructured.Unstructured) []error {
	if _, err := kubeapi.ReadCRD(o); err != nil {
		return []error{err}
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &crd); err != nil {
		return []error{err}
	}
	var all []error
	for _, err := range crdschema.Refused(crd) {
		all = append(all, err)
	}
	return all
}

func onlyCRDs(all []*unstructured.Unstructured) []*unstructured.Unstructured {
	return slices.DeleteFunc(all, func(o *unstructured.Unstructured) bool { return !kubeapi.IsCRD(o.GroupVersionKind()) })
}

// Kinds returns the built-in kinds and the kinds of the CRDs that CRDs returns.
func Kinds(root, workDir string, files []string) (*kubeapi.Kinds, error) {
	crds, err := CRDs(root, workDir, files)
	if err != nil {
		return nil, err
	}
	var all []kubeapi.CRD
	for _, o := range crds {
		crd, err := kubeapi.ReadCRD(o)
		if err != nil {
			return nil, fault.Usage("correct the CRD", "%v", err)
		}
		all = append(all, crd)
	}
	return kubeapi.Builtin().With(all...), nil
}

// CRDs returns the CRDs for tests of the hooks: the CRDs of all modules, or the CRDs in
// config/crd/bases of the working folder.
func (h *Hooks) CRDs(workDir string) ([]*unstructured.Unstructured, error) {
	if h.Addon != nil {
		return h.Addon.CRDs()
	}
	return CRDs(workDir, workDir, nil)
}
