package csv

import (
	"encoding/base64"
	"slices"

	"github.com/blang/semver/v4"
	"github.com/operon-dev/operon/internal/jsonvalue"
	"github.com/operon-dev/operon/internal/olm/bundle"
	"github.com/operon-dev/operon/internal/olm/descriptors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

const operators = "operators.coreos.com"

// modes are the install modes in their usual order.
var modes = []string{"OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces"}

// startFromBase begins with the ClusterServiceVersion in the manifests, with the one in the
// options, or with a new one.
func (g *generator) startFromBase() {
	for i, o := range g.of(operators, "ClusterServiceVersion") {
		if i > 0 {
			g.refuse(o, "keep one of them", "the manifests have two ClusterServiceVersions, %s and %s", jsonvalue.String(g.csv, "metadata", "name"), o.GetName())
			continue
		}
		o.inCSV()
		g.csv, g.o.BaseFile = o.Object.Object, o.File
	}
	if g.csv == nil && g.o.Base != nil {
		g.csv = runtime.DeepCopyJSON(g.o.Base)
	}
	if g.csv == nil {
		g.csv = map[string]any{
			"metadata": map[string]any{"annotations": map[string]any{"capabilities": "Basic Install"}},
			"spec":     map[string]any{"displayName": descriptors.Words(g.o.Package), "maturity": "alpha", "keywords": []any{g.o.Package}},
		}
	}
	g.csv["apiVersion"], g.csv["kind"] = operators+"/v1alpha1", "ClusterServiceVersion"
	delete(g.csv, "status")
}

// Name returns the name of the ClusterServiceVersion of a package.
func Name(pkg, version string) string { return pkg + ".v" + version }

// metadata sets what does not depend on objects.
func (g *generator) metadata() {
	meta, spec := jsonvalue.EnsureMap(g.csv, "metadata"), jsonvalue.EnsureMap(g.csv, "spec")
	meta["name"] = Name(g.o.Package, g.o.Version)
	meta["namespace"] = "placeholder"
	delete(meta, "creationTimestamp")
	spec["version"] = g.o.Version
	annotations := jsonvalue.EnsureMap(meta, "annotations")
	for key, value := range g.o.Annotations {
		if _, ok := annotations[key]; !ok {
			annotations[key] = value
		}
	}
	if g.o.Description != "" {
		spec["description"] = g.o.Description
	}
	g.upgrades(meta["name"], spec, annotations)
	g.icon(spec)
	g.installModes(spec)
	g.createdAt(annotations)
}

// upgrades sets what is upgraded to this version, and refuses versions that OLM cannot use.
func (g *generator) upgrades(name any, spec, annotations map[string]any) {
	if spec["replaces"] == nil && g.o.Replaces != "" {
		spec["replaces"] = g.o.Replaces
	}
	if spec["skips"] == nil {
		setList(spec, "skips", jsonvalue.ListOf(g.o.Skips))
	}
	if annotations["olm.skipRange"] == nil && g.o.SkipRange != "" {
		annotations["olm.skipRange"] = g.o.SkipRange
	}
	if spec["replaces"] == name || slices.Contains(jsonvalue.List(spec, "skips"), name) {
		g.refuse(nil, "name the version before it in replaces", "%v replaces or skips itself", name)
	}
	for _, other := range append(jsonvalue.List(spec, "skips"), spec["replaces"]) {
		if text, _ := other.(string); text != "" && !bundle.IsName(text) {
			g.refuse(nil, "use the name of a ClusterServiceVersion, such as "+g.o.Package+".v0.1.0", "%s replaces or skips %q, which is not the name of a bundle", g.o.BaseFile, text)
		}
	}
	if minimum := jsonvalue.String(spec, "minKubeVersion"); minimum != "" {
		if _, err := semver.Parse(minimum); err != nil {
			g.refuse(nil, "use three numbers, as in 1.30.0", "minKubeVersion %q of %s is not a semantic version", minimum, g.o.BaseFile)
		}
	}
}

// icon sets the icon, and removes empty ones, which catalogs refuse.
func (g *generator) icon(spec map[string]any) {
	if i := g.o.Icon; i != nil {
		spec["icon"] = []any{map[string]any{"base64data": base64.StdEncoding.EncodeToString(i.Data), "mediatype": i.MediaType}}
		return
	}
	setList(spec, "icon", slices.DeleteFunc(jsonvalue.List(spec, "icon"), func(i any) bool { return jsonvalue.String(i, "base64data") == "" }))
}

// installModes keeps the modes of the base. Without any, they follow from what the operator
// watches.
func (g *generator) installModes(spec map[string]any) {
	if len(jsonvalue.List(spec, "installModes")) == 0 {
		var list []any
		for _, mode := range modes {
			supported := mode == "AllNamespaces"
			if g.namespaced {
				supported = mode == "OwnNamespace" || mode == "SingleNamespace"
			}
			list = append(list, map[string]any{"type": mode, "supported": supported})
		}
		spec["installModes"] = list
	}
	var others []string
	for _, mode := range jsonvalue.Maps(spec, "installModes") {
		if mode["supported"] == true && mode["type"] != "AllNamespaces" {
			others = append(others, jsonvalue.String(mode, "type"))
		}
	}
	if !g.converts() || len(others) == 0 {
		return
	}
	fix := "support only AllNamespaces in spec.installModes of " + g.o.BaseFile
	if g.namespaced {
		fix = "make the operator watch all namespaces: operon edit --namespaced=false"
	}
	g.refuse(nil, fix, "OLM converts objects only for operators in all namespaces, and the install modes of this one are %s", list(others))
}

// createdAt is the time when something else changed.
func (g *generator) createdAt(annotations map[string]any) {
	delete(annotations, "createdAt")
	now := g.o.CreatedAt
	was := jsonvalue.Map(g.previous, "metadata", "annotations")
	then := jsonvalue.String(was, "createdAt")
	delete(was, "createdAt")
	if then != "" && equal(normal(g.previous), normal(g.csv)) {
		now = then
	}
	annotations["createdAt"] = now
}

// normal returns v as decoding its text results in.
func normal(v map[string]any) any {
	text, err := yaml.Marshal(v)
	if err != nil {
		return nil
	}
	var decoded any
	if yaml.Unmarshal(text, &decoded) != nil {
		return nil
	}
	return decoded
}
