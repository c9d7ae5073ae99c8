package generate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/operon-dev/operon/internal/gen/generate/flatten"
	"github.com/operon-dev/operon/internal/gen/generate/schemas"
	"github.com/operon-dev/operon/internal/gen/request"
	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-tools/pkg/genall"
	kyaml "sigs.k8s.io/yaml"
)

// schemaPatcher is the generator schemapatch. It replaces the schemas of existing CRDs and
// keeps all other values, and comments; the layout is that of the encoder. controller-gen's
// removes all documents of a file but the first: this one refuses such a file.
type schemaPatcher struct{ request.SchemaPatch }

// Generate implements genall.Generator.
func (g schemaPatcher) Generate(ctx *genall.GenerationContext) error {
	parser := schemas.NewParser(ctx.Collector, ctx.Checker, schemas.Options{EmbeddedMeta: request.IsTrue(g.GenerateEmbeddedObjectMeta)})
	for _, root := range ctx.Roots {
		parser.Read(root)
	}
	if schemas.Meta(ctx.Roots) == nil {
		return nil
	}
	existing, err := g.manifests(ctx)
	if err != nil {
		return err
	}
	flat := &flatten.Flattener{Parser: parser, MaxDescLen: g.MaxDescLen}
	generated := map[schema.GroupKind]map[string]*schemas.Props{}
	for _, kind := range parser.Kinds(ctx.Roots) {
		generated[kind] = map[string]*schemas.Props{}
		for _, t := range parser.InGroup(kind) {
			version := parser.Groups[t.Package].Version
			if slices.ContainsFunc(existing, func(m *manifest) bool { return m.kind == kind && m.versions[version] }) {
				generated[kind][version] = rootOf(t, flat)
			}
		}
	}
	for _, m := range existing {
		if len(generated[m.kind]) == 0 {
			continue
		}
		if err := m.patch(generated[m.kind]); err != nil {
			return fmt.Errorf("cannot set the schemas of %s: %w", m.kind, err)
		}
	}
	for _, m := range existing {
		if err := m.write(ctx); err != nil {
			return err
		}
	}
	return nil
}

// manifest is an existing CRD.
type manifest struct {
	file     string
	kind     schema.GroupKind
	versions map[string]bool
	tree     yaml.Node
}

// manifests returns the CRDs in the files of a folder, sorted by kind. It ignores other
// objects and files that are not YAML.
func (g schemaPatcher) manifests(ctx *genall.GenerationContext) ([]*manifest, error) {
	files, err := os.ReadDir(g.ManifestsPath)
	if err != nil {
		return nil, err
	}
	var all []*manifest
	for _, f := range files {
		if f.IsDir() || filepath.Ext(f.Name()) != ".yaml" {
			continue
		}
		path := filepath.Join(g.ManifestsPath, f.Name())
		content, err := ctx.ReadFile(path)
		if err != nil {
			return nil, err
		}
		var c struct {
			APIVersion string `json:"apiVersion"`
			Kind       string `json:"kind"`
		}
		if kyaml.Unmarshal(content, &c) != nil || c.APIVersion == "" || c.Kind != "CustomResourceDefinition" {
			continue
		}
		if c.APIVersion != apiextensionsv1.SchemeGroupVersion.String() {
			return nil, fmt.Errorf("load %q: apiVersion %q not supported", path, c.APIVersion)
		}
		m := &manifest{file: f.Name()}
		if m.read(content) != nil {
			continue
		}
		if severalDocuments(content) {
			return nil, fmt.Errorf("%s: schemapatch would remove all YAML documents but the first", path)
		}
		all = append(all, m)
	}
	slices.SortStableFunc(all, func(a, b *manifest) int { return cmp.Compare(a.kind.String(), b.kind.String()) })
	return all, nil
}

func (m *manifest) read(content []byte) error {
	var c struct {
		Spec struct {
			Group string `json:"group"`
			Names struct {
				Kind string `json:"kind"`
			} `json:"names"`
			Versions []struct {
				Name string `json:"name"`
			} `json:"versions"`
		} `json:"spec"`
	}
	if err := kyaml.Unmarshal(content, &c); err != nil {
		return err
	}
	m.kind = schema.GroupKind{Group: c.Spec.Group, Kind: c.Spec.Names.Kind}
	m.versions = map[string]bool{}
	for _, v := range c.Spec.Versions {
		m.versions[v.Name] = true
	}
	return yaml.Unmarshal(content, &m.tree)
}

// severalDocuments reports whether there is more than the first document of a file, which is
// all that a manifest has. Empty documents do not count.
func severalDocuments(content []byte) bool {
	dec := yaml.NewDecoder(bytes.NewReader(content))
	for first := true; ; first = false {
		var document yaml.Node
		if err := dec.Decode(&document); err != nil {
			return !errors.Is(err, io.EOF)
		}
		if !first && document.Content[0].ShortTag() != "!!null" {
			return true
		}
	}
}

// patch sets the schemas of all versions. A version without a generated schema loses its
// own.
func (m *manifest) patch(generated map[string]*schemas.Props) error {
	root := &m.tree
	if root.Kind == yaml.DocumentNode && len(root.Content) > 0 {
		root = root.Content[0]
	}
	spec, err := child(root, "spec")
	if err != nil || spec == nil {
		return cmp.Or(err, errors.New("unexpected missing versions"))
	}
	if err := remove(spec, "validation"); err != nil {
		return err
	}
	versions, err := child(spec, "versions")
	switch {
	case err != nil:
		return err
	case versions == nil:
		return errors.New("unexpected missing versions")
	case versions.Kind != yaml.SequenceNode:
		return errors.New("unexpected non-sequence versions")
	}
	for i, v := range versions.Content {
		name, err := child(v, "name")
		if err != nil || name == nil || name.Kind != yaml.ScalarNode || name.ShortTag() != "!!str" {
			return fmt.Errorf("version name was not a string at spec.versions[%d]", i)
		}
		if name.Value == "" {
			return fmt.Errorf("unexpected empty name at spec.versions[%d]", i)
		}
		if s := generated[name.Value]; s == nil {
			err = remove(v, "schema")
		} else {
			err = setSchema(v, s)
		}
		if err != nil {
			return fmt.Errorf("spec.versions[%d]: %w", i, err)
		}
	}
	return nil
}

func setSchema(version *yaml.Node, s *schemas.Props) error {
	content, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("failed to convert schema to YAML: failed to marshal object: %w", err)
	}
	var tree yaml.Node
	if err := yaml.Unmarshal(content, &tree); err != nil {
		return fmt.Errorf("failed to convert schema to YAML: unable to unmarshal marshalled object: %w", err)
	}
	plain(tree.Content[0])
	at := version
	for _, key := range []string{"schema", "openAPIV3Schema"} {
		next, err := child(at, key)
		if err != nil {
			return err
		}
		if next == nil {
			next = &yaml.Node{Kind: yaml.MappingNode}
			at.Content = append(at.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: key}, next)
		}
		at = next
	}
	*at = *tree.Content[0]
	return nil
}

// plain removes the style of JSON.
func plain(n *yaml.Node) {
	n.Style = 0
	for _, c := range n.Content {
		plain(c)
	}
}

// child returns the value of a key, or nil.
func child(n *yaml.Node, key string) (*yaml.Node, error) {
	if n.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("unexpected non-mapping (%v) before path [%s]", n.Kind, key)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1], nil
		}
	}
	return nil, nil
}

func remove(n *yaml.Node, key string) error {
	if n.Kind != yaml.MappingNode {
		return errors.New("unexpected non-mapping node")
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			n.Content = slices.Delete(n.Content, i, i+2)
			break
		}
	}
	return nil
}

// write writes the manifest to the file of the same name in the output folder.
func (m *manifest) write(ctx *genall.GenerationContext) error {
	out, err := ctx.Open(nil, m.file)
	if err != nil {
		return err
	}
	enc := yaml.NewEncoder(out)
	enc.SetIndent(2)
	return errors.Join(enc.Encode(&m.tree), out.Close())
}
