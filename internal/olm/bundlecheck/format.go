package bundlecheck

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/operator-framework/api/pkg/constraints"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/olm/bundle"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
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
			at := x.annotations.at("annotations", key)
			if text := at.text(); text != "" && text != texts[key] {
				x.add(ruleNumber, finding.Error, at, "OLM reads %s: %s as %s", key, text, texts[key])
			}
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
	if text, ok := texts[bundle.PackageKey]; ok && len(validation.IsDNS1123Label(text)) > 0 {
		x.report(rulePackage, x.annotations.at("annotations", bundle.PackageKey), "the package name %q is not a DNS label", text)
	}
	x.bundle.Package, x.bundle.DefaultChannel = texts[bundle.PackageKey], texts[bundle.DefaultChannelKey]
	x.bundle.Channels = strings.Split(texts[bundle.ChannelsKey], ",")
}

// listed returns the items of a list in a file of metadata. What is not an object is a finding.
func (x *input) listed(key string, r Rule) []place {
	var all []place
	for _, d := range x.metadata {
		list, isList := d.value(key).([]any)
		if !isList && d.value(key) != nil {
			x.report(r, d.at(key), "%s is not a list", key)
		}
		for i, item := range list {
			if _, isObject := item.(map[string]any); !isObject {
				x.report(r, d.at(key, i), "an item of %s is not an object with a type and a value", key)
				continue
			}
			all = append(all, d.at(key, i))
		}
	}
	return all
}

// dependencyRules validates the dependencies of the bundle.
func (x *input) dependencyRules() {
	for _, p := range x.listed("dependencies", ruleDependency) {
		x.dependencies = append(x.dependencies, propertyAt(p))
	}
	for _, d := range x.dependencies {
		p, kind := d.at, d.Type
		value, _ := d.Value.(map[string]any)
		required := map[string][]string{
			"olm.gvk": {"group", "version", "kind"}, "olm.package": {"packageName", "version"}, "olm.label": {"label"},
			"olm.constraint": nil,
		}
		keys, known := required[kind]
		if !known {
			x.report(ruleDependencyType, p.child("type"), "OLM does not know dependencies of type %q", kind)
			continue
		}
		for _, key := range keys {
			if text, _ := value[key].(string); text == "" {
				x.report(ruleDependency, p.child("value", key), "the dependency has no %s, a string", key)
			}
		}
		if version, _ := value["version"].(string); kind == "olm.package" && version != "" && !bundle.IsRange(version) {
			x.report(ruleDependency, p.child("value", "version"), "%q is not a range of versions such as >=1.0.0 <2.0.0", version)
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
		case kind == "PodMonitor": // opm knows it
			x.add(RuleObjectKind, finding.Warning, d.at("kind"), "OLM v1 installs a PodMonitor, and OLM v0 refuses the bundle")
		}
		anyName := func(string, bool) []string { return nil }
		for _, err := range apivalidation.ValidateObjectMetaAccessor(d.Unstructured, false, anyName, field.NewPath("metadata")) {
			x.report(RuleObjectMetadata, d.at(fieldPath(err.Field)...), "%s", shortened(err.Error()))
		}
	}
}

// The size in bytes of objects that etcd takes by default, and of ConfigMaps and Secrets that the API server takes.
const (
	maxObject = 3 << 19
	maxData   = 1 << 20
)

// sizeRules reports objects that the cluster cannot store.
func (x *input) sizeRules() {
	for _, d := range x.manifests {
		size, limit := 0, maxObject
		switch d.GetKind() {
		case "ConfigMap", "Secret":
			size, limit = dataSize(d.Object), maxData
		default:
			if src, err := json.Marshal(d.Object); err == nil {
				size = len(src)
			}
		}
		if size > limit {
			x.report(ruleObjectSize, d.at(), "the object has %.1f MiB, and the cluster takes %.1f MiB", float64(size)/(1<<20), float64(limit)/(1<<20))
		}
	}
}

// dataSize returns the size of the values of a ConfigMap or a Secret, which the API server limits, in bytes.
func dataSize(object map[string]any) (size int) {
	for _, key := range []string{"data", "binaryData", "stringData"} {
		values, _ := object[key].(map[string]any)
		for _, value := range values {
			text, _ := value.(string)
			if key == "binaryData" || key == "data" && object["kind"] == "Secret" {
				size += base64.StdEncoding.DecodedLen(len(text))
			} else {
				size += len(text)
			}
		}
	}
	return size
}

// located is a property or a dependency, and its place.
type located struct {
	bundle.Property

	at place
}

// propertyAt returns the property at a place.
func propertyAt(p place) located {
	item, _ := p.value().(map[string]any)
	kind, _ := item["type"].(string)
	return located{bundle.Property{Type: kind, Value: item["value"]}, p}
}

// propertyRules reads and validates the properties in metadata/properties.yaml, and in the annotation olm.properties.
func (x *input) propertyRules() {
	for _, p := range x.listed("properties", ruleProperty) {
		x.properties = append(x.properties, propertyAt(p))
	}
	if x.csv != nil {
		at := x.csv.at("metadata", "annotations", "olm.properties")
		text, _ := at.value().(string)
		var list []bundle.Property
		if err := json.Unmarshal([]byte(text), &list); text != "" && err != nil {
			x.report(ruleProperty, at, "the annotation olm.properties is not a list in JSON: %v", err)
			list = nil
		}
		for _, p := range list {
			x.properties = append(x.properties, located{p, at})
		}
	}
	for _, p := range x.properties {
		if problem := p.Problem(); problem != "" {
			x.report(ruleProperty, p.at, "%s", problem)
		} else if warning := p.Warning(); warning != "" {
			x.report(ruleNumber, p.at, "%s", warning)
		}
	}
}

// iconRule validates the icon that catalogs show, the first one.
func (x *input) iconRule() {
	if icons := x.bundle.CSV.Spec.Icon; len(icons) > 0 {
		if _, err := bundle.DecodeIcon(icons[0].Data); err != nil {
			x.report(ruleIcon, x.csv.at("spec", "icon", 0, "base64data"), "the data is not base64: %v", err)
		}
	}
}
