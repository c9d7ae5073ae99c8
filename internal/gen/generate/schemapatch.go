package generate

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-tools/pkg/genall"
	"sigs.k8s.io/controller-tools/pkg/schemapatcher"
	kyaml "sigs.k8s.io/yaml"
)

// schemaPatcher is the generator schemapatch. controller-gen's removes all documents of a file but the first: this one
// refuses such a file.
type schemaPatcher struct{ schemapatcher.Generator }

// Generate implements genall.Generator.
func (g schemaPatcher) Generate(ctx *genall.GenerationContext) error {
	files, err := os.ReadDir(g.ManifestsPath)
	if err != nil {
		return g.Generator.Generate(ctx) // without kinds, it needs no folder
	}
	for _, f := range files {
		if f.IsDir() || filepath.Ext(f.Name()) != ".yaml" {
			continue
		}
		path := filepath.Join(g.ManifestsPath, f.Name())
		content, err := ctx.ReadFile(path)
		if err != nil {
			return err
		}
		var first metav1.TypeMeta
		isCRD := kyaml.Unmarshal(content, &first) == nil && first.APIVersion != "" && first.Kind == "CustomResourceDefinition"
		if isCRD && severalDocuments(content) {
			return fmt.Errorf("%s: schemapatch would remove all YAML documents but the first", path)
		}
	}
	return g.Generator.Generate(ctx)
}

// severalDocuments reports whether there is more than the first document of a file. Empty documents do not count.
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
