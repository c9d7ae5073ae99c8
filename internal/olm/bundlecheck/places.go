package bundlecheck

import (
	"cmp"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	"github.com/operon-dev/operon/internal/lazyregexp"
	"go.yaml.in/yaml/v3"
)

func subjects(places ...place) []subject {
	var all []subject
	for _, p := range places {
		all = append(all, subject{place: p})
	}
	return all
}

// lastOf returns the last of some places.
func lastOf(places func(*input, []string) []subject) func(*input, []string) []subject {
	return func(x *input, groups []string) []subject {
		all := places(x, groups)
		return all[max(0, len(all)-1):]
	}
}

// crdVersions returns the places in CRDs of a kind; groups are group/version and the kind.
func crdVersions(x *input, groups []string) []subject {
	group, version, _ := strings.Cut(groups[1], "/")
	var found []subject
	for _, d := range x.manifests {
		if d.GetKind() != "CustomResourceDefinition" || d.value("spec", "group") != group || d.value("spec", "names", "kind") != groups[2] {
			continue
		}
		versions := d.items([]any{"spec", "versions"}, func(v map[string]any) bool { return v["name"] == version })
		if len(versions) == 0 && d.value("spec", "version") == version {
			versions = []place{d.at("spec", "version")}
		}
		found = append(found, subjects(versions...)...)
	}
	return found
}

var ownedCRDs, ownedAPIs = fieldPath("spec.customresourcedefinitions.owned"), fieldPath("spec.apiservicedefinitions.owned")

// ownedVersions returns the entries of a kind that the operator owns.
func ownedVersions(x *input, groups []string) []subject {
	group, version, _ := strings.Cut(groups[1], "/")
	found := x.csv.items(ownedCRDs, func(o map[string]any) bool {
		name, _ := o["name"].(string)
		_, suffix, ok := strings.Cut(name, ".")
		return (suffix == group || !ok && name == group) && cmp.Or(o["version"], any("")) == version && o["kind"] == groups[2]
	})
	return subjects(append(found, x.csv.items(ownedAPIs, func(o map[string]any) bool {
		return o["group"] == group && o["version"] == version && o["kind"] == groups[2]
	})...)...)
}

// ownedNames returns the entries of owned CRDs with a name.
func ownedNames(x *input, groups []string) []subject {
	return subjects(x.csv.items(ownedCRDs, func(o map[string]any) bool { return cmp.Or(o["name"], any("")) == groups[1] })...)
}

func serviceAccount(x *input, groups []string) []subject {
	if d := x.object("ServiceAccount", groups[1]); d != nil {
		return subjects(d.at("metadata", "name"))
	}
	return subjects(x.csv.at())
}

func largestFile(x *input, _ []string) []subject {
	d := slices.MaxFunc(x.manifests, func(a, b *document) int { return cmp.Compare(len(a.src), len(b.src)) })
	return subjects(place{file: d.file})
}

func relatedImage(x *input, groups []string) []subject {
	i, _ := strconv.Atoi(groups[1])
	return subjects(x.csv.at("spec", "relatedImages", i, "image"))
}

// examplesKey returns the annotation with the examples that count.
func (x *input) examplesKey() string {
	if _, ok := x.bundle.CSV.Annotations["alm-examples"]; ok {
		return "alm-examples"
	}
	return "olm.examples"
}

func examples(x *input, _ []string) []subject {
	return subjects(x.csv.at("metadata", "annotations", x.examplesKey()))
}

// invalidExample returns the place of a byte in the examples.
func invalidExample(x *input, groups []string) []subject {
	key := x.examplesKey()
	text := x.bundle.CSV.Annotations[key]
	offset, _ := strconv.Atoi(groups[1])
	before := text[:min(max(offset-1, 0), len(text))]
	p := x.csv.at("metadata", "annotations", key)
	p.text = &textPosition{1 + strings.Count(before, "\n"), len(before) - strings.LastIndex(before, "\n")}
	return subjects(p)
}

// exampleOf returns the examples of a kind.
func exampleOf(x *input, groups []string) []subject {
	key := x.examplesKey()
	whole := x.csv.at("metadata", "annotations", key)
	var list yaml.Node
	if yaml.Unmarshal([]byte(x.bundle.CSV.Annotations[key]), &list) != nil || len(list.Content) == 0 {
		return subjects(whole)
	}
	var found []subject
	for _, item := range list.Content[0].Content {
		_, version := child(item, "apiVersion")
		_, kind := child(item, "kind")
		if version == nil || kind == nil || strings.TrimPrefix(groups[1], "/") != version.Value || kind.Value != groups[2] {
			continue
		}
		p := whole
		p.text = &textPosition{version.Line, version.Column}
		found = append(found, subject{place: p})
	}
	if len(found) == 0 {
		return subjects(whole)
	}
	return found
}

func misspelledAnnotation(x *input, groups []string) []subject {
	return subjects(x.csv.at("metadata", "annotations", groups[1]))
}

// lacks is a condition for objects without one of some values.
func lacks(keys ...string) func(map[string]any) bool {
	return func(item map[string]any) bool {
		return slices.ContainsFunc(keys, func(key string) bool { return item[key] == nil || item[key] == "" })
	}
}

// items returns the items of a list in the spec that fulfil a condition.
func items(list string, condition func(map[string]any) bool) func(*input, []string) []subject {
	return func(x *input, _ []string) []subject { return subjects(x.csv.items([]any{"spec", list}, condition)...) }
}

// itemsWith returns the values of a key that are the captured text.
func itemsWith(list, key string) func(*input, []string) []subject {
	return func(x *input, groups []string) []subject {
		all := x.csv.items([]any{"spec", list}, func(item map[string]any) bool { return item[key] == groups[1] })
		for i := range all {
			all[i].path = append(all[i].path, key)
		}
		return subjects(all...)
	}
}

// containers returns the containers with a name that have no resource requests.
func containers(x *input, groups []string) []subject {
	var found []place
	for i := range x.bundle.CSV.Spec.InstallStrategy.StrategySpec.DeploymentSpecs {
		path := append(fieldPath("spec.install.spec.deployments"), i, "spec", "template", "spec", "containers")
		found = append(found, x.csv.items(path, func(c map[string]any) bool {
			resources, _ := c["resources"].(map[string]any)
			return cmp.Or(c["name"], any("")) == groups[1] && resources["requests"] == nil
		})...)
	}
	return subjects(found...)
}

// describedCRDs returns the entries of owned or required CRDs without a description.
func describedCRDs(x *input, groups []string) []subject {
	path := []any{"spec", "customresourcedefinitions", groups[1]}
	return subjects(x.csv.items(path, func(c map[string]any) bool {
		return cmp.Or(c["name"], any("")) == groups[2] && lacks("description")(c)
	})...)
}

func channels(x *input, groups []string) []subject {
	names := strings.Fields(strings.ReplaceAll(groups[1], `"`, ""))
	slices.Sort(names)
	return []subject{{place: x.channelsAt(), what: strings.Join(names, ", ")}}
}

// crdPermission returns the first rule about CRDs.
func crdPermission(x *input, _ []string) []subject {
	for _, list := range []string{"permissions", "clusterPermissions"} {
		permissions, _ := x.csv.value("spec", "install", "spec", list).([]any)
		for i := range permissions {
			rules := x.csv.items([]any{"spec", "install", "spec", list, i, "rules"}, func(rule map[string]any) bool {
				groups, _ := rule["apiGroups"].([]any)
				resources, _ := rule["resources"].([]any)
				return slices.Contains(groups, any("apiextensions.k8s.io")) && (slices.Contains(resources, any("customresourcedefinitions")) || slices.Contains(resources, any("*")))
			})
			if len(rules) > 0 {
				return subjects(rules[0])
			}
		}
	}
	return subjects(x.csv.at("spec", "install", "spec"))
}

// image returns the first container or related image whose reference occurs in a text.
func image(x *input, groups []string) []subject {
	text := groups[0]
	for i, d := range x.bundle.CSV.Spec.InstallStrategy.StrategySpec.DeploymentSpecs {
		for j, c := range d.Spec.Template.Spec.Containers {
			if c.Image != "" && strings.Contains(text, c.Image) {
				return subjects(x.csv.at(append(fieldPath("spec.install.spec.deployments"), i, "spec", "template", "spec", "containers", j, "image")...))
			}
		}
	}
	for i, r := range x.bundle.CSV.Spec.RelatedImages {
		if r.Image != "" && strings.Contains(text, r.Image) {
			return subjects(x.csv.at("spec", "relatedImages", i, "image"))
		}
	}
	return subjects(x.csv.at("metadata", "labels"))
}

var (
	removedKind = lazyregexp.New(`(\w+): \(\[((?:"(?:[^"\\]|\\.)*" ?)*)\]\)`)
	quoted      = lazyregexp.New(`"(?:[^"\\]|\\.)*"`)
)

// removedAPIs returns the objects, and the fields of the ClusterServiceVersion, that the library
// lists by kind or resource.
//
// The library also lists permissions for a resource if Kubernetes removed a version of it, such as events. But a
// permission names no version, and is for the current one, too. Only podsecuritypolicies are gone.
func removedAPIs(x *input, groups []string) []subject {
	lists := removedKind().FindAllStringSubmatch(groups[2], -1)
	if lists == nil {
		return subjects(x.csv.at())
	}
	var found []subject
	for _, list := range lists {
		kind := strings.Replace(list[1], "CRD", "CustomResourceDefinition", 1)
		for _, text := range quoted().FindAllString(list[2], -1) {
			name, _ := strconv.Unquote(text)
			path, inCSV := strings.CutPrefix(name, "ClusterServiceVersion.")
			switch d := x.object(kind, name); {
			case inCSV && isPermission(path) && kind != "podsecuritypolicies":
			case inCSV:
				found = append(found, subject{place: x.csv.at(jsonPath(path)...), what: kind + ", which the operator may use"})
			case d != nil:
				found = append(found, subject{place: d.at("apiVersion"), what: "the API of " + kind + " " + name})
			default:
				found = append(found, subject{place: x.csv.at(), what: "the API of " + kind + " " + name})
			}
		}
	}
	return found
}

// isPermission reports whether a path in Go is that of a rule of RBAC.
func isPermission(path string) bool { return strings.HasPrefix(path, "Spec.InstallStrategy.") }

// jsonPath returns the path of a field of the ClusterServiceVersion from its path in Go, such as
// Spec.InstallStrategy.StrategyName.
func jsonPath(text string) []any {
	var path []any
	t := reflect.TypeFor[v1alpha1.ClusterServiceVersion]()
	for _, step := range fieldPath(text) {
		name, isName := step.(string)
		switch {
		case !isName && t.Kind() == reflect.Slice:
			path, t = append(path, step), t.Elem()
			continue
		case t.Kind() != reflect.Struct:
			return path
		}
		field, ok := t.FieldByName(name)
		if !ok {
			if field, ok = t.FieldByName(name + "s"); !ok { // the library writes Resource for Resources
				return path
			}
		}
		key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		path, t = append(path, key), field.Type
	}
	return path
}
