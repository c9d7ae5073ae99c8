//go:build testall

package crdupgrade

import (
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/operator-framework/api/crds"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// TestRandom compares the verdicts on thousands of random changes of real CRDs with crdify's.
func TestRandom(t *testing.T) {
	t.Parallel()
	roots := realSchemas(t)
	pairs := 2000
	var refused, accepted, unclear int
	for i := range pairs {
		m := mutator{rand.New(rand.NewPCG(uint64(i), 16))}
		crd := m.crd(roots)
		older, newer := crd.DeepCopy(), crd
		for range 1 + m.IntN(3) {
			m.mutate(newer)
		}
		if m.IntN(3) == 0 {
			m.mutate(older)
		}
		if m.IntN(2) == 0 {
			older, newer = newer, older
		}
		n, f := checkVerdicts(t, older, newer)
		if unclear += f; n > 0 {
			refused++
		} else {
			accepted++
		}
		if t.Failed() {
			for _, crd := range []*apiextensionsv1.CustomResourceDefinition{older, newer} {
				src, _ := yaml.Marshal(crd.Spec)
				t.Logf("seed %d:\n%s", i, src)
			}
			t.FailNow()
		}
	}
	t.Logf("%d refused, %d accepted, %d verdicts may differ", refused, accepted, unclear)
	if refused < pairs/4 || accepted < pairs/10 {
		t.Errorf("%d refused and %d accepted are too few", refused, accepted)
	}
}

// realSchemas returns the objects in schemas of the golden projects and of OLM.
func realSchemas(t *testing.T) []*apiextensionsv1.JSONSchemaProps {
	t.Helper()
	all := []*apiextensionsv1.CustomResourceDefinition{crds.ClusterServiceVersion(), crds.CatalogSource(), crds.Subscription(), crds.InstallPlan(), crds.OperatorGroup()}
	files, err := filepath.Glob("../../../testdata/golden/*/config/crd/bases/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no golden projects", err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		crd := new(apiextensionsv1.CustomResourceDefinition)
		if err := yaml.Unmarshal(src, crd); err != nil {
			t.Fatal(err)
		}
		all = append(all, crd)
	}
	var roots []*apiextensionsv1.JSONSchemaProps
	for _, crd := range all {
		for i, v := range crd.Spec.Versions {
			named := properties(v, i)
			for _, name := range slices.Sorted(maps.Keys(named)) {
				s := named[name].JSONSchemaProps
				if n := len(properties(version(s), 0)); len(s.Properties) > 0 && n < 20 {
					roots = append(roots, s)
				}
			}
		}
	}
	return roots
}

// version returns a version with a schema.
func version(s *apiextensionsv1.JSONSchemaProps) apiextensionsv1.CustomResourceDefinitionVersion {
	return apiextensionsv1.CustomResourceDefinitionVersion{Name: "v1", Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: s}}
}
