package bundlecheck

import (
	"encoding/json"
	"slices"

	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/olm/crdupgrade"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Previous is the bundle that is upgraded.
type Previous struct {
	Name    string // of its ClusterServiceVersion; "" if there is none
	CRDs    []*apiextensionsv1.CustomResourceDefinition
	Lacking string // the catalog that lacks the bundle in spec.replaces, or ""
}

// ReadPrevious reads the previous bundle from its files.
func ReadPrevious(files map[string][]byte) (Previous, []finding.Finding) {
	x := read(files)
	return Previous{Name: x.bundle.Name, CRDs: x.bundle.V1CRDs}, finding.Errors(x.found)
}

// NameOf returns the name of the ClusterServiceVersion in a bundle, or "" if it cannot be read.
func NameOf(files map[string][]byte) string { return read(files).bundle.Name }

// AddObject adds an object of the previous bundle in JSON, as catalogs have it.
func (p *Previous) AddObject(src []byte) error {
	var object apiextensionsv1.CustomResourceDefinition
	crd := apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition")
	if err := json.Unmarshal(src, &object.TypeMeta); err != nil || object.GroupVersionKind() != crd {
		return err
	}
	if err := json.Unmarshal(src, &object); err != nil {
		return err
	}
	p.CRDs = append(p.CRDs, &object)
	return nil
}

// upgradeRules compares CRDs with the previous bundle's.
func (x *input) upgradeRules(previous Previous) {
	if previous.Lacking != "" {
		x.report(ruleReplaces, x.csv.at("spec", "replaces"), "%s has no bundle %s to be replaced", previous.Lacking, x.bundle.CSV.Spec.Replaces)
	}
	for _, older := range previous.CRDs {
		i := slices.IndexFunc(x.bundle.V1CRDs, func(crd *apiextensionsv1.CustomResourceDefinition) bool { return crd.Name == older.Name })
		if i < 0 {
			at := x.csv.at("spec", "customresourcedefinitions", "owned")
			x.report(ruleCRDRemoved, at, "the bundle lacks the CRD %s of %s", older.Name, previous.Name)
			continue
		}
		newer := x.bundle.V1CRDs[i]
		for _, change := range crdupgrade.Compare(older, newer) {
			x.report(ruleCRDUpgrade, x.crds[newer].at("spec"), "the upgrade from %s is not safe: %s", previous.Name, change)
		}
	}
}
