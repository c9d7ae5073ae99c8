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
		properties = append(properties, Property{PropertyCSVMetadata, csvMetadata(b)})
	} else {
		for _, m := range b.Manifests {
			data, err := json.Marshal(m.Object)
			if err != nil {
				return Rendered{}, fault.In(m.File, err)
			}
			properties = append(properties, Property{PropertyObject, map[string]any{"data": base64.StdEncoding.EncodeToString(data)}})
		}
	}
	r := Rendered{Bundle: Bundle{
		Schema: SchemaBundle, Package: b.Package(), Name: b.Name(), Image: image,
		Properties: properties, RelatedImages: relatedImages(b, image),
	}}
	r.Description, _ = b.Spec()["description"].(string)
	if icons, _ := b.Spec()["icon"].([]any); len(icons) > 0 {
		icon, _ := icons[0].(map[string]any)
		data, _ := icon["base64data"].(string)
		mediaType, _ := icon["mediatype"].(string)
		if data != "" {
			r.Icon = &Icon{data, mediaType}
		}
	}
	return r, nil
}

// bundleProperties returns what a bundle provides and needs, sorted.
func bundleProperties(b *bundle.Bundle) ([]Property, error) {
	all := []Property{{PropertyPackage, map[string]any{"packageName": b.Package(), "version": b.Version()}}}
	crds, _ := b.Spec()["customresourcedefinitions"].(map[string]any)
	services, _ := b.Spec()["apiservicedefinitions"].(map[string]any)
	for _, role := range []struct{ key, property string }{{"owned", PropertyGVK}, {"required", PropertyGVKRequired}} {
		for _, d := range objects(crds[role.key]) {
			name, _ := d["name"].(string)
			_, group, _ := strings.Cut(name, ".") // plural.group
			all = append(all, Property{role.property, map[string]any{"group": group, "kind": d["kind"], "version": d["version"]}})
		}
		for _, d := range objects(services[role.key]) {
			all = append(all, Property{role.property, map[string]any{"group": d["group"], "kind": d["kind"], "version": d["version"]}})
		}
	}
	for _, d := range b.Dependencies {
		value, _ := d.Value.(map[string]any)
		switch d.Type {
		case PropertyPackage:
			all = append(all, Property{PropertyPackageRequired, map[string]any{"packageName": value["packageName"], "versionRange": value["version"]}})
		case PropertyGVK:
			all = append(all, Property{PropertyGVKRequired, d.Value})
		default:
			all = append(all, Property(d))
		}
	}
	for _, p := range b.Properties {
		if p.Type != PropertyPackage {
			all = append(all, Property(p))
		}
	}
	metadata, _ := b.CSV.Object["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	if text, ok := annotations["olm.properties"].(string); ok {
		var more []Property
		if err := json.Unmarshal([]byte(text), &more); err != nil {
			return nil, fault.Usage("write a JSON list of objects with type and value", "%s has the annotation olm.properties, which is not valid: %v", b.CSV.File, err)
		}
		all = append(all, more...)
	}
	return distinct(all)
}

// distinct returns each property once, sorted by type and value.
func distinct(all []Property) ([]Property, error) {
	byText := map[string]Property{}
	for _, p := range all {
		value, err := json.Marshal(p.Value)
		if err != nil {
			return nil, fault.Usage("use string keys", "property %s: %v", p.Type, err)
		}
		byText[p.Type+" "+string(value)] = p
	}
	sorted := make([]Property, 0, len(byText))
	for _, key := range slices.Sorted(maps.Keys(byText)) {
		sorted = append(sorted, byText[key])
	}
	return sorted, nil
}

// objects returns the objects in a list.
func objects(list any) []map[string]any {
	var found []map[string]any
	items, _ := list.([]any)
	for _, item := range items {
		if object, ok := item.(map[string]any); ok {
			found = append(found, object)
		}
	}
	return found
}

// csvMetadata returns the value of the property olm.csv.metadata. Its keys are those of the
// ClusterServiceVersion, but for two.
func csvMetadata(b *bundle.Bundle) map[string]any {
	value := map[string]any{}
	metadata, _ := b.CSV.Object["metadata"].(map[string]any)
	take := func(from map[string]any, keys ...string) {
		for _, key := range keys {
			if v, ok := from[key]; ok {
				value[key] = v
			}
		}
	}
	take(metadata, "annotations", "labels")
	take(b.Spec(), "description", "displayName", "installModes", "keywords", "links", "maintainers", "maturity", "minKubeVersion", "nativeAPIs", "provider")
	for key, name := range map[string]string{"customresourcedefinitions": "crdDescriptions", "apiservicedefinitions": "apiServiceDefinitions"} {
		if v, ok := b.Spec()[key]; ok {
			value[name] = v
		}
	}
	return value
}

// relatedImages returns the images that the ClusterServiceVersion names, those of its
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
	for _, r := range objects(b.Spec()["relatedImages"]) {
		name, _ := r["name"].(string)
		image, _ := r["image"].(string)
		add(name, image)
	}
	add("", image)
	install, _ := b.Spec()["install"].(map[string]any)
	strategy, _ := install["spec"].(map[string]any)
	for _, d := range objects(strategy["deployments"]) {
		for _, image := range containerImages(d) {
			add("", image)
		}
	}
	slices.SortStableFunc(all, func(a, b RelatedImage) int { return cmp.Compare(a.Image, b.Image) })
	return all
}

// containerImages returns the images of a deployment in a ClusterServiceVersion.
func containerImages(deployment map[string]any) []string {
	spec, _ := deployment["spec"].(map[string]any)
	template, _ := spec["template"].(map[string]any)
	pod, _ := template["spec"].(map[string]any)
	var images []string
	for _, c := range slices.Concat(objects(pod["containers"]), objects(pod["initContainers"])) {
		image, _ := c["image"].(string)
		images = append(images, image)
	}
	return images
}
