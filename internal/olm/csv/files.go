package csv

import (
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/jsonvalue"
	"github.com/operon-dev/operon/internal/olm/bundle"
)

// files makes a file of each object that is not in the ClusterServiceVersion.
func (g *generator) files() {
	for _, o := range g.objects {
		switch {
		case o.place != "":
		case o.group() == "" && o.GetKind() == "Namespace":
			o.leaveOut("the user selects the namespace")
		case o.group() == "scorecard.operatorframework.io" && o.GetKind() == "Configuration":
			g.scorecard(o)
		case !bundle.Supports(o.group(), o.GetKind()):
			g.refuse(o, "remove it from the kustomization of the bundle, and let the operator create it if it needs it",
				"a bundle cannot have %s: OLM does not install objects of %s", o, o.GetAPIVersion())
		case !g.inOperatorNamespace(o.GetNamespace()):
			g.refuse(o, "remove it from the kustomization of the bundle, or from the namespace",
				"%s is in the namespace %s, and OLM creates objects only in the namespace of the operator", o, o.GetNamespace())
		default:
			g.file(o)
		}
	}
	for _, w := range g.workloads {
		g.warnFixedNamespace(w.object, w.spec)
	}
}

func (g *generator) scorecard(o *object) {
	if g.result.Scorecard != nil {
		g.refuse(o, "keep one of them", "the manifests have two configurations of the scorecard")
		return
	}
	o.place = inFile
	g.result.Scorecard = o.Object.Object
}

// file adds an object as a file. OLM sets its namespace.
func (g *generator) file(o *object) {
	name := fileName(o)
	if g.result.Manifests[name] != nil {
		g.refuse(o, "rename one of them", "two objects need the file %s", name)
		return
	}
	o.place = inFile
	content := o.Object.Object
	metadata := jsonvalue.Map(content, "metadata")
	delete(metadata, "namespace")
	if metadata["creationTimestamp"] == nil {
		delete(metadata, "creationTimestamp")
	}
	delete(content, "status")
	g.result.Manifests[name] = content
	g.warnFixedNamespace(o, content)
	for secret := range g.dropped {
		if hasText(content, func(s string) bool { return s == secret }) {
			g.warn(o, "missing-secret", o.String()+" names the Secret "+secret+", which OLM does not make")
		}
	}
}

// warnFixedNamespace warns about values that are right only in the namespace of the
// manifests. The conversion of CRDs is OLM's.
func (g *generator) warnFixedNamespace(o *object, content map[string]any) {
	if g.namespace == "" || o.group() == extensions {
		return
	}
	fixed := func(s string) bool { return s == g.namespace || slices.Contains(strings.Split(s, "."), g.namespace) }
	if hasText(content, fixed) {
		g.warn(o, "fixed-namespace", o.String()+" names the namespace "+g.namespace+", but the user selects another one")
	}
}

// fileName returns the usual name of the file of an object.
func fileName(o *object) string {
	content := o.Object.Object
	if o.group() == extensions {
		return jsonvalue.String(content, "spec", "group") + "_" + jsonvalue.String(content, "spec", "names", "plural") + ".yaml"
	}
	gvk := o.GroupVersionKind()
	parts := []string{o.GetName()}
	if gvk.Group != "" {
		parts = append(parts, gvk.Group)
	}
	parts = append(parts, gvk.Version, strings.ToLower(gvk.Kind))
	return strings.ReplaceAll(strings.Join(parts, "_"), ":", "-") + ".yaml" // not all systems allow colons
}
