package bundlecheck

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/blang/semver/v4"
	"github.com/operator-framework/api/pkg/constraints"
	"github.com/operon-dev/operon/internal/olm/bundle"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// annotationRules validates the annotations of the bundle.
func (x *input) annotationRules() {
	if x.annotations == nil {
		x.report(ruleAnnotationsFile, place{file: bundle.MetadataDir}, "no file in %s has annotations", bundle.MetadataDir)
		return
	}
	given, _ := x.annotations.value("annotations").(map[string]any)
	texts := map[string]string{}
	for key, value := range given {
		switch value.(type) {
		case map[string]any, []any, nil:
			x.report(ruleAnnotation, x.annotations.at("annotations", key), "%s is not a string", key)
		default: // OLM takes numbers and booleans for strings
			texts[key] = fmt.Sprint(value)
		}
	}
	report := func(key, format string, args ...any) {
		x.report(ruleAnnotation, x.annotations.at("annotations", key), format, args...)
	}
	for _, key := range []string{bundle.MediaTypeKey, bundle.ManifestsKey, bundle.MetadataKey, bundle.PackageKey, bundle.ChannelsKey} {
		if _, ok := given[key]; !ok {
			report(key, "%s is missing", key)
		}
	}
	if format, ok := texts[bundle.MediaTypeKey]; ok && format != bundle.MediaType {
		report(bundle.MediaTypeKey, "the format is %q instead of %s", format, bundle.MediaType)
	}
	for key, folder := range map[string]string{bundle.ManifestsKey: bundle.ManifestsDir, bundle.MetadataKey: bundle.MetadataDir} {
		if other, ok := texts[key]; ok && path.Clean(other) != folder {
			report(key, "the folder is %q instead of %s/", other, folder)
		}
	}
	for _, key := range []string{bundle.ChannelsKey, bundle.DefaultChannelKey} {
		if text, ok := texts[key]; ok && text == "" {
			report(key, "%s is empty", key)
		}
	}
	x.bundle.Package, x.bundle.DefaultChannel = texts[bundle.PackageKey], texts[bundle.DefaultChannelKey]
	x.bundle.Channels = strings.Split(texts[bundle.ChannelsKey], ",")
}

// dependencies returns the dependencies of the bundle, in a file of metadata, or none.
func (x *input) dependencies() []place {
	for _, d := range x.metadata {
		if all := d.items([]any{"dependencies"}, func(map[string]any) bool { return true }); len(all) > 0 {
			return all
		}
	}
	return nil
}

// dependencyRules validates the dependencies of the bundle.
func (x *input) dependencyRules() {
	for _, p := range x.dependencies() {
		item, _ := p.value().(map[string]any)
		kind, _ := item["type"].(string)
		value, _ := item["value"].(map[string]any)
		required := map[string][]string{
			"olm.gvk": {"group", "version", "kind"}, "olm.package": {"packageName", "version"}, "olm.label": {"label"},
			"olm.constraint": nil,
		}
		keys, known := required[kind]
		if !known {
			x.report(ruleDependency, p.child("type"), "OLM does not know dependencies of type %q", kind)
			continue
		}
		for _, key := range keys {
			if text, _ := value[key].(string); text == "" {
				x.report(ruleDependency, p.child("value", key), "the dependency has no %s, a string", key)
			}
		}
		if version, _ := value["version"].(string); kind == "olm.package" && version != "" {
			if _, err := semver.ParseRange(version); err != nil {
				x.report(ruleDependency, p.child("value", "version"), "%q is not a range of versions such as >=1.0.0 <2.0.0", version)
			}
		}
		if kind == "olm.constraint" {
			x.constraint(p, value)
		}
	}
}

// constraint validates a constraint, which has one of several forms.
func (x *input) constraint(p place, value map[string]any) {
	for _, form := range []string{"gvk", "package", "all", "any", "not", "none"} {
		if value[form] != nil {
			return
		}
	}
	cel, _ := value["cel"].(map[string]any)
	rule, _ := cel["rule"].(string)
	if rule == "" {
		x.report(ruleDependency, p.child("value"), "the constraint has no cel.rule")
		return
	}
	if _, err := constraints.NewCelEnvironment().Validate(rule); err != nil {
		x.report(ruleDependency, p.child("value", "cel", "rule"), "the CEL expression is not valid: %s", shortened(err.Error()))
	}
}

// objectRules validates objects besides the ClusterServiceVersion and CRDs.
func (x *input) objectRules() {
	for _, d := range x.manifests {
		kind := d.GetKind()
		switch {
		case d == x.csv || kind == "CustomResourceDefinition":
			continue
		case kind == "":
			x.report(RuleObjectKind, d.at(), "the file has no object with a kind")
			continue
		case !bundle.SupportsKind(kind):
			x.report(RuleObjectKind, d.at("kind"), "OLM does not install objects of kind %s", kind)
			continue
		}
		anyName := func(string, bool) []string { return nil }
		for _, err := range apivalidation.ValidateObjectMetaAccessor(d.Unstructured, false, anyName, field.NewPath("metadata")) {
			x.report(RuleObjectMetadata, d.at(fieldPath(err.Field)...), "%s", shortened(err.Error()))
		}
	}
}

// properties returns the types of properties in metadata/properties.yaml and in the annotation
// olm.properties, with their places.
func (x *input) properties() map[string]place {
	types := map[string]place{}
	for _, d := range x.metadata {
		for _, p := range d.items([]any{"properties"}, func(map[string]any) bool { return true }) {
			item, _ := p.value().(map[string]any)
			name, _ := item["type"].(string)
			types[name] = p
		}
	}
	if text := x.bundle.CSV.Annotations["olm.properties"]; text != "" {
		at := x.csv.at("metadata", "annotations", "olm.properties")
		var list []struct{ Type string }
		if err := json.Unmarshal([]byte(text), &list); err != nil {
			x.report(ruleV1Properties, at, "the properties are not a list in JSON: %v", err)
		}
		for _, p := range list {
			types[p.Type] = at
		}
	}
	return types
}
