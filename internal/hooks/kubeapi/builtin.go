package kubeapi

import (
	"strings"
	"sync"

	"github.com/operon-dev/operon/internal/project"
)

// Release is the version of Kubernetes whose kinds Builtin returns.
const Release = project.KubernetesVersion

// Builtin returns the kinds that every API server of the Release serves.
var Builtin = sync.OnceValue(func() *Kinds {
	t := &Kinds{}
	versions := map[string][]string{}
	for _, b := range project.BuiltinKinds() {
		k := Kind{Group: b.Resource().QualifiedGroup(), Version: b.Version, Kind: b.Kind, Singular: strings.ToLower(b.Kind), Resource: b.Plural,
			Namespaced: b.Namespaced, ShortNames: b.ShortNames, Categories: b.Categories, Subresources: b.Subresources, Verbs: b.Verbs}
		versions[k.String()] = append(versions[k.String()], k.Version)
		t.kinds = append(t.kinds, k)
	}
	for i, k := range t.kinds {
		t.kinds[i].Versions = versions[k.String()]
	}
	t.builtin = len(t.kinds)
	return t
})
