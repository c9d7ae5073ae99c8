package csv

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/jsonvalue"
	"github.com/operon-dev/operon/internal/olm/descriptors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const extensions = "apiextensions.k8s.io"

// internalObjects is the annotation with the CRDs that users do not create objects of: a
// list in JSON.
const internalObjects = "operators.operatorframework.io/internal-objects"

// crds returns the CustomResourceDefinitions of the manifests.
func (g *generator) crds() []*object {
	return slices.DeleteFunc(slices.Clone(g.objects), func(o *object) bool {
		return o.group() != extensions || o.GetKind() != "CustomResourceDefinition" || o.place == leftOut
	})
}

// versions returns the versions that a CRD serves. OLM does not install an operator that
// owns another version.
func versions(crd *object) []string {
	var names []string
	for _, v := range jsonvalue.Maps(crd.Object.Object, "spec", "versions") {
		if v["served"] != false {
			names = append(names, jsonvalue.String(v, "name"))
		}
	}
	return names
}

// customResources puts the owned kinds and their samples into the ClusterServiceVersion.
func (g *generator) customResources() {
	definitions := jsonvalue.EnsureMap(g.csv, "spec", "customresourcedefinitions")
	described := jsonvalue.Maps(definitions, "owned")
	var owned []any
	order := map[string]int{} // of marked kinds
	for _, crd := range g.crds() {
		if crd.GroupVersionKind().Version != "v1" {
			g.refuse(crd, "use apiextensions.k8s.io/v1", "%s has the version %s, which API servers no longer serve", crd, crd.GetAPIVersion())
			continue
		}
		for _, version := range versions(crd) {
			entry, position := g.owned(crd, version, described)
			owned = append(owned, entry)
			order[crd.GetName()+"\n"+version] = position
		}
	}
	position := func(entry any) int {
		return order[jsonvalue.String(entry, "name")+"\n"+jsonvalue.String(entry, "version")]
	}
	slices.SortStableFunc(owned, func(a, b any) int { return cmp.Compare(position(a), position(b)) })
	for _, d := range described {
		if !slices.ContainsFunc(owned, func(o any) bool { return equalKeys(o, d, "name", "version", "kind") }) {
			g.result.Warnings = append(g.result.Warnings, Warning{g.o.BaseFile, "unknown-crd",
				"the bundle does not describe the CRD " + jsonvalue.String(d, "name") + " in version " +
					jsonvalue.String(d, "version") + ", which the manifests do not serve"})
		}
	}
	setList(definitions, "owned", owned)
	if len(definitions) == 0 {
		delete(jsonvalue.EnsureMap(g.csv, "spec"), "customresourcedefinitions")
	}
	g.examples()
}

// owned returns the entry of a version of a CRD, and its position if markers give it one.
func (g *generator) owned(crd *object, version string, described []map[string]any) (entry map[string]any, order int) {
	kind := jsonvalue.String(crd.Object.Object, "spec", "names", "kind")
	entry = map[string]any{"name": crd.GetName(), "version": version, "kind": kind}
	if i := slices.IndexFunc(described, func(d map[string]any) bool { return equalKeys(d, entry, "name", "version", "kind") }); i >= 0 {
		entry = described[i]
	}
	markers := g.o.Markers[schema.GroupVersionKind{Group: jsonvalue.String(crd.Object.Object, "spec", "group"), Version: version, Kind: kind}]
	order = descriptors.Unordered
	if markers != nil {
		order = markers.Order
	}
	for _, v := range jsonvalue.Maps(crd.Object.Object, "spec", "versions") {
		if v["name"] == version {
			descriptors.Complete(entry, kind, markers, jsonvalue.Map(v, "schema", "openAPIV3Schema"))
		}
	}
	return entry, order
}

func equalKeys(a, b any, keys ...string) bool {
	return !slices.ContainsFunc(keys, func(key string) bool { return jsonvalue.At(a, key) != jsonvalue.At(b, key) })
}

// examples puts the samples into the annotation alm-examples, after which come the examples in the
// base for other objects.
func (g *generator) examples() {
	annotations := jsonvalue.EnsureMap(g.csv, "metadata", "annotations")
	var internal []string
	if text := jsonvalue.String(annotations, internalObjects); text != "" {
		if err := json.Unmarshal([]byte(text), &internal); err != nil {
			g.refuse(nil, `write a list in JSON, such as ["frigates.ship.example.org"]`, "the annotation %s of %s is not a list", internalObjects, g.o.BaseFile)
		}
	}
	var before []any
	if text := jsonvalue.String(annotations, "alm-examples"); text != "" {
		if err := json.Unmarshal([]byte(text), &before); err != nil {
			g.refuse(nil, "correct it, or remove it: the samples replace it", "the annotation alm-examples of %s is not a list in JSON", g.o.BaseFile)
		}
	}
	samples := []any{}
	have := map[schema.GroupVersionKind]bool{}
	for _, crd := range g.crds() {
		kind := jsonvalue.String(crd.Object.Object, "spec", "names", "kind")
		for _, o := range g.of(jsonvalue.String(crd.Object.Object, "spec", "group"), kind) {
			if version := o.GroupVersionKind().Version; !slices.Contains(versions(crd), version) {
				g.refuse(o, "use "+strings.Join(versions(crd), " or "), "%s has the version %s, which its CRD does not serve", o, version)
				continue
			}
			o.inCSV()
		}
	}
	for _, o := range g.objects { // in the order of the manifests
		if o.place == inCSV && g.isCustom(o) {
			samples = append(samples, o.Object.Object)
			have[o.GroupVersionKind()] = true
		}
	}
	for _, example := range before {
		if !slices.ContainsFunc(samples, func(s any) bool {
			return equalKeys(s, example, "apiVersion", "kind") &&
				jsonvalue.String(s, "metadata", "name") == jsonvalue.String(example, "metadata", "name")
		}) {
			samples = append(samples, example)
			have[schema.FromAPIVersionAndKind(jsonvalue.String(example, "apiVersion"), jsonvalue.String(example, "kind"))] = true
		}
	}
	g.requireSamples(have, internal)
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(samples); err != nil {
		g.refuse(nil, "report this", "cannot print the samples: %v", err)
	}
	annotations["alm-examples"] = strings.TrimSuffix(text.String(), "\n")
}

// isCustom reports whether o is an object of a kind in the manifests.
func (g *generator) isCustom(o *object) bool {
	return slices.ContainsFunc(g.crds(), func(crd *object) bool {
		return o.group() == jsonvalue.String(crd.Object.Object, "spec", "group") &&
			o.GetKind() == jsonvalue.String(crd.Object.Object, "spec", "names", "kind")
	})
}

// requireSamples refuses kinds without a sample: users would not see an example of them.
func (g *generator) requireSamples(have map[schema.GroupVersionKind]bool, internal []string) {
	for _, crd := range g.crds() {
		if slices.Contains(internal, crd.GetName()) {
			continue
		}
		gvk := schema.GroupVersionKind{
			Group: jsonvalue.String(crd.Object.Object, "spec", "group"),
			Kind:  jsonvalue.String(crd.Object.Object, "spec", "names", "kind"),
		}
		var missing []string
		for _, version := range versions(crd) {
			gvk.Version = version
			if !have[gvk] {
				missing = append(missing, version)
			}
		}
		switch {
		case len(missing) == len(versions(crd)) && len(missing) > 0:
			g.refuse(crd, "add one to config/samples and its kustomization, or list "+crd.GetName()+" in the annotation "+internalObjects+" of the base ClusterServiceVersion",
				"the kind %s has no sample, which catalogs show", gvk.Kind)
		case len(missing) > 0:
			g.warn(crd, "missing-sample", "the kind "+gvk.Kind+" has no sample of the version "+list(missing))
		}
	}
}
