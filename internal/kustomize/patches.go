package kustomize

import (
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/jsonvalue"
	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// beforePatches are the keys of a kustomization that result in the objects to which patches apply.
var beforePatches = []string{
	"resources", "bases", "components", "configMapGenerator", "secretGenerator", "generatorOptions", "patchesStrategicMerge",
}

// failedPatch returns the patch of the kustomization in dir that does not apply, and the object, as the start of a
// message; "" if the error has another cause. kustomize names neither. It builds with one more patch at a time, and
// then with the failing one for one object at a time.
func (v *view) failedPatch(dir string, cause error) string {
	doc := v.kustomization(dir)
	partly := map[string]any{}
	for _, key := range beforePatches {
		if doc[key] != nil {
			partly[key] = doc[key]
		}
	}
	before, err := v.try(dir, partly)
	if err != nil {
		return ""
	}
	for _, key := range []string{"patches", "patchesJson6902"} {
		for i, item := range jsonvalue.List(doc, key) {
			patch, isMap := item.(map[string]any)
			if !isMap {
				return ""
			}
			applied := jsonvalue.List(partly, key)
			with := func(patch map[string]any) error {
				partly[key] = append(slices.Clone(applied), patch)
				after, err := v.try(dir, partly)
				if err == nil {
					before = after
				}
				return err
			}
			if err := with(patch); err == nil {
				continue
			} else if !strings.Contains(cause.Error(), err.Error()) || strings.Contains(err.Error(), "trouble configuring builtin") {
				return "" // another error, or one that has the patch
			}
			name, isFile := patch["path"].(string)
			if !isFile {
				name = key + "[" + strconv.Itoa(i) + "]"
			}
			return name + " does not apply" + refusing(before, patch, with) + ": "
		}
	}
	return ""
}

// refusing returns " to KIND NAME" for the first object that the target of a patch selects and with refuses it for.
func refusing(objects resmap.ResMap, patch map[string]any, with func(map[string]any) error) string {
	var target types.Selector
	if text, err := yaml.Marshal(patch["target"]); err != nil || yaml.Unmarshal(text, &target) != nil {
		return ""
	}
	selected, err := objects.Select(target)
	if err != nil {
		return ""
	}
	for _, r := range selected {
		one := map[string]any{"kind": r.GetKind(), "name": regexp.QuoteMeta(r.GetName())}
		for key, value := range map[string]string{"group": r.GetGvk().Group, "version": r.GetGvk().Version, "namespace": r.GetNamespace()} {
			if value != "" {
				one[key] = value
			}
		}
		narrowed := map[string]any{"target": one}
		for key, value := range patch {
			if key != "target" {
				narrowed[key] = value
			}
		}
		if with(narrowed) != nil {
			return " to " + r.GetKind() + " " + r.GetName()
		}
	}
	return ""
}

// kustomization returns the content of the kustomization in a folder; nil if there is none.
func (v *view) kustomization(dir string) (doc map[string]any) {
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		if content, err := v.FileSystem.ReadFile(filepath.Join(dir, name)); err == nil {
			_ = yaml.Unmarshal(content, &doc) // explain has checked the syntax
			return doc
		}
	}
	return nil
}

// try builds the kustomization in a folder with another content.
func (v *view) try(dir string, doc map[string]any) (resmap.ResMap, error) {
	content, err := yaml.Marshal(doc)
	if err != nil {
		return nil, err
	}
	options := krusty.MakeDefaultOptions()
	options.LoadRestrictions = types.LoadRestrictionsNone
	return krusty.MakeKustomizer(options).Run(&view{FileSystem: replaced{v.FileSystem, dir, content}, root: v.root, dir: dir}, dir)
}

// replaced is a file system with another kustomization in one folder.
type replaced struct {
	filesys.FileSystem
	dir     string
	content []byte
}

// ReadFile implements filesys.FileSystem.
func (r replaced) ReadFile(name string) ([]byte, error) {
	if filepath.Dir(name) == r.dir && isKustomization(name) {
		if _, err := r.FileSystem.ReadFile(name); err == nil {
			return r.content, nil
		}
	}
	return r.FileSystem.ReadFile(name)
}
