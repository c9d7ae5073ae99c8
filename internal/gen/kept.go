package gen

import (
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/crdschema"
	"github.com/operon-dev/operon/internal/scaffold"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// warnKept warns about a CRD that PROJECT keeps and that no longer works with the types.
func (s *settling) warnKept(t target) {
	if t.Generator != "crd" {
		return
	}
	if problem := keptProblem(t.disk, t.Content); problem != "" {
		s.p.Warn(scaffold.Warning{File: t.Path, Rule: "kept", Message: "PROJECT keeps this CRD, but " + problem})
	}
}

// keptProblem returns what is wrong with a CRD beside the one that the types make, or "".
func keptProblem(disk, made []byte) string {
	var kept, wants apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(disk, &kept); err != nil {
		reason, _, _ := strings.Cut(err.Error(), "\n")
		return "it is not a CRD: " + reason
	}
	if errs := crdschema.Refused(kept); len(errs) > 0 {
		return "API servers refuse it: " + errs[0].Field + ": " + crdschema.Reason(errs[0])
	}
	if yaml.Unmarshal(made, &wants) != nil {
		return ""
	}
	for _, v := range wants.Spec.Versions {
		if !slices.ContainsFunc(kept.Spec.Versions, func(k apiextensionsv1.CustomResourceDefinitionVersion) bool { return k.Name == v.Name }) {
			return "it lacks the version " + v.Name + " of the types"
		}
	}
	return ""
}
