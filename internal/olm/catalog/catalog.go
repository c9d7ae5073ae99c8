// Package catalog reads, validates, draws and extends file-based catalogs, the format in
// which the Operator Lifecycle Manager (OLM) finds operators. A catalog is a folder of YAML or
// JSON files. Each document in them has a schema: packages, channels, bundles and
// deprecations.
//
// opm defines the format and its rules (github.com/operator-framework/operator-registry,
// alpha/declcfg). The library itself is not used here: its errors have no files and lines, and it
// drops keys that it does not know. The tests compare the verdicts with it.
package catalog

import (
	"slices"

	"github.com/operon-dev/operon/internal/olm/bundle"
	"go.yaml.in/yaml/v3"
)

// The schemas of documents. A catalog may have others, which are kept and not validated.
const (
	SchemaPackage      = "olm.package"
	SchemaChannel      = "olm.channel"
	SchemaBundle       = "olm.bundle"
	SchemaDeprecations = "olm.deprecations"
)

// Package is an operator in a catalog.
type Package struct {
	Schema         string            `json:"schema" yaml:"schema"`
	Name           string            `json:"name" yaml:"name"`
	DefaultChannel string            `json:"defaultChannel" yaml:"defaultChannel"`
	Description    string            `json:"description,omitempty" yaml:"description,omitempty"`
	Icon           *Icon             `json:"icon,omitempty" yaml:"icon,omitempty"`
	Properties     []bundle.Property `json:"properties,omitempty" yaml:"properties,omitempty"`
}

// Icon is the picture of a package.
type Icon struct {
	Data      string `json:"base64data" yaml:"base64data"` // base64
	MediaType string `json:"mediatype" yaml:"mediatype"`   // such as image/svg+xml
}

// Channel is a sequence of versions of a package that users subscribe to.
type Channel struct {
	Schema  string  `json:"schema" yaml:"schema"`
	Package string  `json:"package" yaml:"package"`
	Name    string  `json:"name" yaml:"name"`
	Entries []Entry `json:"entries" yaml:"entries"`
}

// Entry is a bundle in a channel, and the versions that are upgraded to it.
type Entry struct {
	Name      string   `json:"name" yaml:"name"`                               // of the bundle
	Replaces  string   `json:"replaces,omitempty" yaml:"replaces,omitempty"`   // the bundle that is upgraded to this one
	Skips     []string `json:"skips,omitempty" yaml:"skips,omitempty"`         // bundles that are never installed, and upgraded to this one
	SkipRange string   `json:"skipRange,omitempty" yaml:"skipRange,omitempty"` // of versions that are upgraded to this one, such as ">=1.0.0 <1.2.0"
}

// Bundle is one version of an operator.
type Bundle struct {
	Schema        string            `json:"schema" yaml:"schema"`
	Package       string            `json:"package" yaml:"package"`
	Name          string            `json:"name" yaml:"name"` // of the ClusterServiceVersion
	Image         string            `json:"image,omitempty" yaml:"image,omitempty"`
	Properties    []bundle.Property `json:"properties,omitempty" yaml:"properties,omitempty"`
	RelatedImages []RelatedImage    `json:"relatedImages,omitempty" yaml:"relatedImages,omitempty"`
}

// RelatedImage is an image that the operator runs.
type RelatedImage struct {
	Name  string `json:"name" yaml:"name"`
	Image string `json:"image" yaml:"image"`
}

// Deprecations are the deprecated parts of a package.
type Deprecations struct {
	Schema  string        `json:"schema" yaml:"schema"`
	Package string        `json:"package" yaml:"package"`
	Entries []Deprecation `json:"entries" yaml:"entries"`
}

// Deprecation tells users to leave a package, a channel or a bundle.
type Deprecation struct {
	Reference struct {
		Schema string `json:"schema" yaml:"schema"`
		Name   string `json:"name,omitempty" yaml:"name,omitempty"` // empty for the package
	} `json:"reference" yaml:"reference"`
	Message string `json:"message" yaml:"message"`
}

// Catalog is a catalog that was read.
type Catalog struct {
	Packages     []Doc[Package]
	Channels     []Doc[Channel]
	Bundles      []Doc[Bundle]
	Deprecations []Doc[Deprecations]
	Others       []Doc[struct{}]
}

// Doc is a document of a catalog and its position.
type Doc[T any] struct {
	Value T
	File  string // relative to the folder of the catalog, with slashes
	Line  int    // of the first line of the document, from 1
	node  *yaml.Node
	lines int // before the node's first line
}

// lineOf returns the line of the value at a path of keys and indexes in the document, or of
// its closest parent.
func (d Doc[T]) lineOf(path ...any) int {
	node := d.node
	for _, key := range path {
		next := child(node, key)
		if next == nil {
			break
		}
		node = next
	}
	if node == nil {
		return d.Line
	}
	return d.lines + node.Line
}

// child returns the value of a key, or the item of an index, or nil.
func child(node *yaml.Node, key any) *yaml.Node {
	switch key := key.(type) {
	case string:
		for i := 0; node.Kind == yaml.MappingNode && i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == key {
				return node.Content[i+1]
			}
		}
	case int:
		if node.Kind == yaml.SequenceNode && key < len(node.Content) {
			return node.Content[key]
		}
	}
	return nil
}

// Documents returns all documents as YAML nodes: packages, channels, bundles, deprecations,
// others. They have all keys, also those that the types lack.
func (c *Catalog) Documents() []any {
	return slices.Concat(nodes(c.Packages), nodes(c.Channels), nodes(c.Bundles), nodes(c.Deprecations), nodes(c.Others))
}

func nodes[T any](docs []Doc[T]) []any {
	var all []any
	for _, d := range docs {
		all = append(all, d.node)
	}
	return all
}

// Files returns the files with documents.
func (c *Catalog) Files() []string {
	return slices.Concat(files(c.Packages), files(c.Channels), files(c.Bundles), files(c.Deprecations), files(c.Others))
}

func files[T any](docs []Doc[T]) []string {
	var all []string
	for _, d := range docs {
		all = append(all, d.File)
	}
	return all
}
