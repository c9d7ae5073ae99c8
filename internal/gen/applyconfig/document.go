package applyconfig

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/operon-dev/operon/internal/gen/generate/flatten"
	"github.com/operon-dev/operon/internal/gen/generate/schemas"
	"k8s.io/kube-openapi/pkg/util"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
)

const metav1Path = "k8s.io/apimachinery/pkg/apis/meta/v1"

// document returns an OpenAPI v2 document with the schemas of the package's types and of all types
// that they refer to. It is nil if no type has an apply configuration of its own.
func (p *apiPackage) document(collector *markers.Collector, checker *loader.TypeChecker) (doc []byte, err error) {
	if len(p.enabled) == 0 {
		return nil, nil
	}
	parser := schemas.NewParser(collector, checker, schemas.Options{DangerousTypes: true, ExportedOnly: true})
	known := parser.Presets[metav1Path]
	parser.Presets[metav1Path] = func(pkg *loader.Package) (map[string]schemas.Props, bool) {
		presets, others := known(pkg)
		presets = maps.Clone(presets)
		delete(presets, "ObjectMeta") // with all its fields, unlike in CRDs
		return presets, others
	}
	definitions := map[string]any{}
	err = recovered(func() error {
		for _, name := range p.enabled {
			parser.Schema(schemas.Type{Package: p.root, Name: name})
		}
		for t, s := range parser.Schemas {
			merged := flatten.Embedded(parser, t, s)
			qualify(&merged, t.Package)
			definition, err := definitionOf(merged)
			if err != nil {
				return err
			}
			definitions[definitionName(t.Package.PkgPath, t.Name)] = definition
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, name := range p.enabled {
		if d, ok := definitions[definitionName(p.root.PkgPath, name)].(map[string]any); ok {
			d["x-kubernetes-group-version-kind"] = []any{map[string]any{"group": p.group, "version": p.version, "kind": name}}
		}
	}
	resolveAliases(definitions)
	return json.Marshal(map[string]any{
		"swagger":     "2.0",
		"info":        map[string]any{"title": p.root.PkgPath, "version": p.version},
		"paths":       map[string]any{},
		"definitions": definitions,
	})
}

const definitionPrefix = "#/definitions/"

// definitionName returns the name of a type in the document. The library looks for it.
func definitionName(path, name string) string { return util.ToRESTFriendlyName(path + "." + name) }

// qualify replaces the references of a schema in a package by those of the document.
func qualify(s *schemas.Props, pkg *loader.Package) {
	if s.Ref != nil && *s.Ref != "" {
		path, name := schemas.SplitRef(*s.Ref)
		if path == "" {
			path = pkg.PkgPath
		}
		s.Ref = new(definitionPrefix + definitionName(path, name))
	}
	schemas.Parts(s, func(part *schemas.Props) { qualify(part, pkg) })
}

// definitionOf returns a schema without what OpenAPI v2 does not have.
func definitionOf(s schemas.Props) (definition map[string]any, err error) {
	text, err := json.Marshal(s)
	if err == nil {
		err = json.Unmarshal(text, &definition)
	}
	asVersion2(definition)
	return definition, err
}

func asVersion2(s map[string]any) {
	if _, ok := s["$ref"]; ok {
		delete(s, "type")
		delete(s, "format")
	}
	for _, key := range []string{"nullable", "anyOf", "oneOf", "not"} {
		delete(s, key)
	}
	part := func(v any) {
		if m, ok := v.(map[string]any); ok {
			asVersion2(m)
		}
	}
	if properties, ok := s["properties"].(map[string]any); ok {
		for _, p := range properties {
			part(p)
		}
	}
	part(s["items"])
	part(s["additionalProperties"])
	if all, ok := s["allOf"].([]any); ok {
		for _, p := range all {
			part(p)
		}
	}
}

// resolveAliases replaces definitions that only refer to another, as of `type A B`, by a copy of that:
// the library gives types such as A no type of their own. B can refer to another in turn.
func resolveAliases(definitions map[string]any) {
	resolved := map[string]any{}
	for name, d := range definitions {
		definition, _ := d.(map[string]any)
		for range definitions { // ends also if types refer to each other in a circle
			ref, _ := definition["$ref"].(string)
			target, ok := definitions[strings.TrimPrefix(ref, definitionPrefix)].(map[string]any)
			if !ok {
				break
			}
			merged := maps.Clone(target)
			maps.Copy(merged, definition)
			if delete(merged, "$ref"); target["$ref"] != nil {
				merged["$ref"] = target["$ref"]
			}
			definition, resolved[name] = merged, merged
		}
	}
	maps.Copy(definitions, resolved)
}
