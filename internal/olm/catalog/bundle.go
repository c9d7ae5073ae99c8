package catalog

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/jsonvalue"
	"github.com/operon-dev/operon/internal/olm/bundle"
)

// FromBundle returns a bundle as a catalog has it. With an image, the catalog refers to it, and
// has the metadata that consoles show. Without one, it has the manifests of the bundle, and OLM
// pulls no image.
func FromBundle(b *bundle.Bundle, image string) (Rendered, error) {
	if _, err := semver.Parse(b.Version()); err != nil {
		return Rendered{}, fault.Usage("correct spec.version", "%s has the version %q, which is not a semantic version", b.CSV.File, b.Version())
	}
	properties, err := bundleProperties(b)
	if err != nil {
		return Rendered{}, err
	}
	if image != "" {
		properties = append(properties, bundle.Property{Type: bundle.PropertyCSVMetadata, Value: csvMetadata(b)})
	} else {
		for _, m := range b.Manifests {
			data, err := json.Marshal(m.Object)
			if err != nil {
				return Rendered{}, fault.In(m.File, err)
			}
			value := map[string]any{"data": base64.StdEncoding.EncodeToString(data)}
			properties = append(properties, bundle.Property{Type: bundle.PropertyObject, Value: value})
		}
	}
	r := Rendered{Bundle: Bundle{
		Schema: SchemaBundle, Package: b.Package(), Name: b.Name(), Image: image,
		Properties: properties, RelatedImages: relatedImages(b, image),
	}}
	r.Description = jsonvalue.String(b.Spec(), "description")
	if icons := jsonvalue.List(b.Spec(), "icon"); len(icons) > 0 {
		if data, err := bundle.DecodeIcon(jsonvalue.String(icons[0], "base64data")); err == nil && len(data) > 0 {
			r.Icon = &Icon{base64.StdEncoding.EncodeToString(data), jsonvalue.String(icons[0], "mediatype")}
		}
	}
	return r, nil
}

// bundleProperties returns what a bundle provides and needs, sorted.
func bundleProperties(b *bundle.Bundle) ([]bundle.Property, error) {
	all := []bundle.Property{{Type: bundle.PropertyPackage, Value: map[string]any{"packageName": b.Package(), "version": b.Version()}}}
	for _, role := range []struct{ key, property string }{{"owned", bundle.PropertyGVK}, {"required", bundle.PropertyGVKRequired}} {
		for _, d := range jsonvalue.Maps(b.Spec(), "customresourcedefinitions", role.key) {
			_, group, _ := strings.Cut(jsonvalue.String(d, "name"), ".") // plural.group
			gvk := map[string]any{"group": group, "kind": d["kind"], "version": d["version"]}
			all = append(all, bundle.Property{Type: role.property, Value: gvk})
		}
		for _, d := range jsonvalue.Maps(b.Spec(), "apiservicedefinitions", role.key) {
			gvk := map[string]any{"group": d["group"], "kind": d["kind"], "version": d["version"]}
			all = append(all, bundle.Property{Type: role.property, Value: gvk})
		}
	}
	for _, d := range b.Dependencies {
		value, _ := d.Value.(map[string]any)
		switch d.Type {
		case bundle.PropertyPackage:
			required := map[string]any{"packageName": value["packageName"], "versionRange": value["version"]}
			all = append(all, bundle.Property{Type: bundle.PropertyPackageRequired, Value: required})
		case bundle.PropertyGVK:
			all = append(all, bundle.Property{Type: bundle.PropertyGVKRequired, Value: d.Value})
		default:
			all = append(all, d)
		}
	}
	for _, p := range b.Properties {
		if p.Type != bundle.PropertyPackage {
			all = append(all, p)
		}
	}
	if text := b.CSVAnnotation("olm.properties"); text != "" {
		var more []bundle.Property
		if err := json.Unmarshal([]byte(text), &more); err != nil {
			return nil, fault.Usage("write a JSON list of objects with type and value", "%s has the annotation olm.properties, which is not valid: %v", b.CSV.File, err)
		}
		all = append(all, more...)
	}
	return distinct(all)
}

// distinct returns each property once, sorted by type and value.
func distinct(all []bundle.Property) ([]bundle.Property, error) {
	byText := map[string]bundle.Property{}
	for _, p := range all {
		value, err := json.Marshal(p.Value)
		if err != nil {
			return nil, fault.Usage("use string keys", "property %s: %v", p.Type, err)
		}
		byText[p.Type+" "+string(value)] = p
	}
	sorted := make([]bundle.Property, 0, len(byText))
	for _, key := range slices.Sorted(maps.Keys(byText)) {
		sorted = append(sorted, byText[key])
	}
	return sorted, nil
}

// csvMetadata returns the value of the property olm.csv.metadata. It has the keys of the
// ClusterServiceVersion, but for two.
func csvMetadata(b *bundle.Bundle) map[string]any {
	value := map[string]any{}
	take := func(from map[string]any, keys ...string) {
		for _, key := range keys {
			if v, ok := from[key]; ok {
				value[key] = v
			}
		}
	}
	take(jsonvalue.Map(b.CSV.Object, "metadata"), "annotations", "labels")
	take(b.Spec(), "description", "displayName", "installModes", "keywords", "links",
		"maintainers", "maturity", "minKubeVersion", "nativeAPIs", "provider")
	for key, name := range map[string]string{
		"customresourcedefinitions": "crdDescriptions", "apiservicedefinitions": "apiServiceDefinitions",
	} {
		if v, ok := b.Spec()[key]; ok {
			value[name] = v
		}
	}
	return value
}

// relatedImages returns the images that the ClusterServiceVersion names, the images of its
// containers, and the bundle's, each once.
func relatedImages(b *bundle.Bundle, image string) []RelatedImage {
	var all []RelatedImage
	seen := map[string]bool{"": true}
	add := func(name, image string) {
		if !seen[image] {
			seen[image] = true
			all = append(all, RelatedImage{name, image})
		}
	}
	for _, r := range jsonvalue.Maps(b.Spec(), "relatedImages") {
		add(jsonvalue.String(r, "name"), jsonvalue.String(r, "image"))
	}
	add("", image)
	for _, d := range b.Deployments() {
		pod := jsonvalue.Map(d, "spec", "template", "spec")
		for _, c := range slices.Concat(jsonvalue.Maps(pod, "containers"), jsonvalue.Maps(pod, "initContainers")) {
			add("", jsonvalue.String(c, "image"))
		}
	}
	slices.SortStableFunc(all, func(a, b RelatedImage) int { return cmp.Compare(a.Image, b.Image) })
	return all
}
