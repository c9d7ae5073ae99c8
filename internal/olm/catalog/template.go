package catalog

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/operator-framework/operator-registry/alpha/declcfg"
	"github.com/operator-framework/operator-registry/alpha/property"
	"github.com/operator-framework/operator-registry/alpha/template/api"
	"github.com/operator-framework/operator-registry/alpha/template/basic"
	"github.com/operator-framework/operator-registry/alpha/template/semver"
	"github.com/operon-dev/operon/internal/fault"
	k8syaml "sigs.k8s.io/yaml"
)

// schemaSemver is the schema of templates whose channels follow from the versions of bundles.
const schemaSemver = "olm.semver"

// templates are the templates that operon renders, by schema.
var templates = map[string]api.Factory{schemaSemver: &semver.Factory{}, "olm.template.basic": &basic.Factory{}}

// Rendered is a bundle as a catalog has it, with what its package takes from the
// ClusterServiceVersion.
type Rendered struct {
	Bundle      Bundle
	Description string
	Icon        *Icon
}

// Render returns the bundle that a template refers to by image.
type Render func(image string) (Rendered, error)

// IsTemplate reports whether a document is a template.
func IsTemplate(src []byte) bool {
	schema, err := templateSchema(src)
	return err == nil && templates[schema] != nil
}

// templateSchema returns the schema of a template. Keys of templates may begin with capitals.
func templateSchema(src []byte) (string, error) {
	var header struct{ Schema string }
	err := k8syaml.Unmarshal(src, &header)
	return header.Schema, err
}

// RenderTemplate returns the documents of the catalog that a template describes, with the library of opm.
//
// A basic template (olm.template.basic) lists the documents of a catalog in entries; a bundle in
// it has an image only. A semver template (olm.semver) lists the images of bundles in
// candidate, fast and stable, and the channels follow from their versions.
func RenderTemplate(ctx context.Context, src []byte, render Render) ([]any, error) {
	schema, err := templateSchema(src)
	if err != nil {
		return nil, fault.Usage("correct the YAML of the template", "%v", err)
	}
	factory := templates[schema]
	if factory == nil {
		return nil, fault.Usage("use olm.semver or olm.template.basic", "the template has the unknown schema %q", schema)
	}
	rendered := map[string]Rendered{} // by image
	var failed error
	config, err := factory.CreateTemplate(func(_ context.Context, image string) (*declcfg.DeclarativeConfig, error) {
		r, err := render(image)
		rendered[image], failed = r, err
		return identity(r.Bundle, image), err
	}).Render(ctx, bytes.NewReader(src))
	if failed == nil {
		failed = checkNames(rendered)
	}
	switch {
	case failed != nil:
		return nil, failed
	case err != nil:
		return nil, fault.Usage("correct the template", "%s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	if schema == schemaSemver { // in random order
		slices.SortFunc(config.Bundles, func(a, b declcfg.Bundle) int { return cmp.Compare(a.Name, b.Name) })
	}
	return documents(config, rendered)
}

// checkNames refuses two images of one bundle, of which a channel would have two entries.
func checkNames(rendered map[string]Rendered) error {
	known := map[string]string{} // images by name
	for _, image := range slices.Sorted(maps.Keys(rendered)) {
		name := rendered[image].Bundle.Name
		if other := known[name]; other != "" {
			return fault.Usage("change metadata.name of the ClusterServiceVersion along with its version", "%s and %s both have the bundle %s", other, image, name)
		}
		known[name] = image
	}
	return nil
}

// identity returns what a template needs to know of a bundle. The image tells bundles on this machine apart, too.
func identity(b Bundle, image string) *declcfg.DeclarativeConfig {
	id, _ := b.packageProperty()
	return &declcfg.DeclarativeConfig{Bundles: []declcfg.Bundle{{
		Schema: SchemaBundle, Name: b.Name, Package: id.name, Image: image,
		Properties: []property.Property{property.MustBuildPackage(id.name, id.version)},
	}}}
}

// documents returns the documents of a catalog, with whole bundles.
func documents(config *declcfg.DeclarativeConfig, rendered map[string]Rendered) ([]any, error) {
	bundles := config.Bundles
	config.Bundles = nil
	var text bytes.Buffer
	if err := declcfg.WriteJSON(*config, &text); err != nil {
		return nil, err
	}
	var c Catalog
	if found := c.AddFile("", text.Bytes()); len(found) > 0 {
		return nil, fault.Usage("correct the template", "%s", found[0].Message)
	}
	heads := map[string]string{} // the last bundle of each channel
	for _, ch := range c.Channels {
		if entries := ch.Value.Entries; len(entries) > 0 {
			heads[ch.Value.Package+" "+ch.Value.Name] = entries[len(entries)-1].Name
		}
	}
	var docs []any
	for _, p := range c.Packages {
		for _, r := range rendered {
			if p.Value.Description == "" && p.Value.Icon == nil && r.Bundle.Name == heads[p.Value.Name+" "+p.Value.DefaultChannel] {
				p.Value.Description, p.Value.Icon = r.Description, r.Icon
			}
		}
		docs = append(docs, p.Value)
	}
	for _, ch := range c.Channels {
		docs = append(docs, ch.Value)
	}
	for _, b := range bundles {
		docs = append(docs, rendered[b.Image].Bundle)
	}
	for _, d := range c.Deprecations {
		docs = append(docs, d.Value)
	}
	for _, o := range config.Others {
		var doc map[string]any
		if err := json.Unmarshal(o.Blob, &doc); err != nil {
			return nil, err
		}
		docs = append(docs, doc)
	}
	return docs, nil
}
