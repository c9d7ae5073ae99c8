package kustomize

import (
	"bytes"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/jsonvalue"
	"github.com/operon-dev/operon/internal/lazyregexp"
	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// controllerImage is the name that the Deployment of the manager has for its image.
const controllerImage = "controller"

// view is the file system that kustomize sees: the disk, with changed kustomizations. It
// looks at each file before kustomize does, and refuses what would be fetched or run.
type view struct {
	filesys.FileSystem

	root       string // messages name files relative to it
	dir        string // the kustomization to build
	image      string // replaces the image "controller"; may be empty
	imageInDir bool   // replace the image in dir, because no kustomization does
	quiet      bool   // kustomize warns about no deprecated fields

	read         []string // absolute paths of the files that kustomize read, in order
	refused      error
	imageSet     bool
	originsAdded bool
}

// ReadFile implements filesys.FileSystem.
func (v *view) ReadFile(name string) ([]byte, error) {
	content, err := v.FileSystem.ReadFile(name)
	if err != nil {
		return nil, err
	}
	v.read = append(v.read, name)
	kustomization := isKustomization(name)
	// Other files load files only if they configure one of kustomize's builtin plugins.
	if !kustomization && !bytes.Contains(content, []byte("builtin")) {
		return content, nil
	}
	var doc map[string]any
	if yaml.Unmarshal(content, &doc) != nil || doc == nil {
		return content, nil // kustomize reports it
	}
	if !kustomization && doc["apiVersion"] != "builtin" {
		return content, nil
	}
	if err := refuse(doc); err != nil {
		if v.refused == nil {
			v.refused = fault.In(v.rel(name), err)
		}
		return nil, err
	}
	if kustomization && v.change(doc, filepath.Dir(name) == v.dir) {
		return yaml.Marshal(doc)
	}
	return content, nil
}

// change changes a kustomization in memory, and reports whether anything changed. top is
// the one that is built.
func (v *view) change(doc map[string]any, top bool) bool {
	changed := v.quiet && modernize(doc)
	if v.image != "" {
		images := jsonvalue.List(doc, "images")
		if top && v.imageInDir {
			images = append(images, map[string]any{"name": controllerImage})
			doc["images"] = images
		}
		for _, item := range images {
			if image, ok := item.(map[string]any); ok && image["name"] == controllerImage {
				setImage(image, v.image)
				changed, v.imageSet = true, true
			}
		}
	}
	metadata, isList := doc["buildMetadata"].([]any)
	if top && (isList || doc["buildMetadata"] == nil) && !slices.Contains(metadata, any(types.OriginAnnotations)) {
		doc["buildMetadata"] = append(metadata, types.OriginAnnotations)
		changed, v.originsAdded = true, true
	}
	return changed
}

// modernize replaces the deprecated fields of a kustomization, about which the library always prints warnings.
func modernize(doc map[string]any) bool {
	changed := false
	take := func(key string) []any {
		list, isList := doc[key].([]any)
		if isList { // otherwise kustomize reports the field
			delete(doc, key)
			changed = true
		}
		return list
	}
	if bases := take("bases"); bases != nil {
		doc["resources"] = append(jsonvalue.List(doc, "resources"), bases...)
	}
	var patches []any
	for _, patch := range take("patchesStrategicMerge") { // they come first
		key := "path"
		if text, ok := patch.(string); ok && (strings.Contains(text, "\n") || strings.HasPrefix(text, "{")) {
			key = "patch"
		}
		patches = append(patches, map[string]any{key: patch})
	}
	patches = slices.Concat(patches, jsonvalue.List(doc, "patches"), take("patchesJson6902"))
	if changed && patches != nil {
		doc["patches"] = patches
	}
	if labels := jsonvalue.Map(doc, "commonLabels"); labels != nil {
		doc["labels"] = append(jsonvalue.List(doc, "labels"), map[string]any{"pairs": labels, "includeSelectors": true})
		delete(doc, "commonLabels")
		changed = true
	}
	return changed
}

// setImage sets the fields of an image in a kustomization. The reference has a tag or a
// digest.
func setImage(image map[string]any, reference string) {
	maps.DeleteFunc(image, func(key string, _ any) bool { return key != "name" })
	if name, digest, ok := strings.Cut(reference, "@"); ok {
		image["newName"], image["digest"] = name, digest
		return
	}
	colon := strings.LastIndex(reference, ":")
	image["newName"], image["newTag"] = reference[:colon], reference[colon+1:]
}

// refuse returns an error if kustomize would fetch or run anything for a kustomization or
// the configuration of a plugin.
func refuse(doc map[string]any) error {
	for _, key := range []string{"helmCharts", "helmChartInflationGenerator"} {
		if charts := jsonvalue.List(doc, key); len(charts) > 0 {
			return refuseChart(key)
		}
	}
	if kind := jsonvalue.String(doc, "kind"); kind == "HelmChartInflationGenerator" {
		return refuseChart(kind)
	}
	for _, r := range references(doc) {
		if isRemote(r.value) {
			return fault.Usage("copy it into the project, and list the copy", "operon fetches nothing, and %s has %s", r.key, r.value)
		}
	}
	return nil
}

func refuseChart(field string) error {
	return fault.Usage("write the output of helm template to a file, and list it in resources", "operon does not run helm, which %s needs", field)
}

// reference is a path or URL in a kustomization.
type reference struct{ key, value string }

// loading are the keys of kustomizations and of plugin configurations whose values
// kustomize loads.
var loading = []string{
	"resources", "bases", "components", "crds", "configurations", "generators", "transformers", "validators",
	"patchesStrategicMerge", "path", "paths", "files", "envs", "env",
}

// references returns what value loads, sorted by key.
func references(value any) []reference {
	var found []reference
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if slices.Contains(loading, key) {
				found = append(found, listed(key, value[key])...)
			}
			found = append(found, references(value[key])...)
		}
	case []any:
		for _, item := range value {
			found = append(found, references(item)...)
		}
	}
	return found
}

// listed returns the references in the value of a key: a string or a list of strings.
func listed(key string, value any) []reference {
	switch value := value.(type) {
	case []any:
		var found []reference
		for _, item := range value {
			found = append(found, listed(key, item)...)
		}
		return found
	case string:
		if strings.Contains(value, "\n") { // not a path, but YAML
			var inline map[string]any
			if yaml.Unmarshal([]byte(value), &inline) != nil {
				return nil
			}
			return references(inline)
		}
		if key == "files" {
			if _, file, named := strings.Cut(value, "="); named {
				value = file
			}
		}
		return []reference{{key, value}}
	}
	return nil
}

var remote = lazyregexp.New(`(?i)^(git::|(https?|ssh|file)://|[a-z][a-z0-9-]*@[^/]*[:/]|github\.com[/:])`)

// isRemote reports whether kustomize would fetch a path: from a URL, or from a repository of
// git in any of its notations.
func isRemote(name string) bool { return remote().MatchString(name) }

// rel returns a path relative to the root if it is inside, with slashes.
func (v *view) rel(name string) string {
	if rel, err := filepath.Rel(v.root, name); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return name
}
