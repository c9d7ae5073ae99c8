// Package crdyaml writes CustomResourceDefinitions as YAML: the same bytes as
// controller-tools v0.23.0, in a fraction of the time.
//
// controller-tools converts a CRD to JSON, to a tree, to JSON again, and then to YAML.
// This package uses the library only for the CRD without its schemas, and for the rare
// scalars that need a style other than plain or literal. It writes schemas directly. If
// it cannot tell how controller-tools writes a value, the library writes the whole CRD.
package crdyaml

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-tools/pkg/genall"
	"sigs.k8s.io/controller-tools/pkg/loader"
)

// Emitter writes CRDs. It caches texts that are expensive to render, because the CRDs of
// a project have much in common. It is not safe for concurrent use. The zero value is
// ready to use.
type Emitter struct {
	// Shared means that schemas share their maps of properties, and that these maps do
	// not change while the emitter is in use. The emitter then caches the text of each
	// map and depth.
	Shared bool

	out      []byte
	unstyled bool // strings are written as in Go, without asking the library: this is not YAML, and faster
	memo     map[memoKey]string
	blocks   map[blockKey]block
}

// usual is the size in bytes that most CRDs do not exceed, even with a pod template.
const usual = 1 << 19

// errUnknown means that this package cannot write a value.
var errUnknown = errors.New("not supported by the emitter")

// CRD returns the bytes that controller-tools writes for c, with the line "---" and without header. The options must not
// change schemas. The bytes are valid until the next call.
func (e *Emitter) CRD(c apiextensionsv1.CustomResourceDefinition, options ...*genall.WriteYAMLOptions) ([]byte, error) {
	e.out = slices.Grow(e.out[:0], usual)
	if err := e.crd(c, options); err == nil {
		return e.out, nil
	}
	// If the CRD is invalid, the error is the library's.
	return library(c, options...)
}

// Fingerprint returns a text for a schema. Schemas with the same text result in the same CRDs. ok is false if
// this package cannot write the schema. The text is valid until the next call.
func (e *Emitter) Fingerprint(s *apiextensionsv1.JSONSchemaProps) (text []byte, ok bool) {
	e.out, e.unstyled = e.out[:0], true
	err := e.schema(s, 0)
	e.unstyled = false
	return e.out, err == nil
}

// The library writes the CRD with these lines in place of the schemas of its versions. If
// a text of the user contains the same lines, there are more places than versions.
const (
	placeType = "operon puts the schema here"
	place     = "\n    schema:\n      openAPIV3Schema:\n        type: " + placeType + "\n"
	placeHead = "\n    schema:\n      openAPIV3Schema:"

	schemaIndent = 6 // the indentation of the key openAPIV3Schema
)

func (e *Emitter) crd(c apiextensionsv1.CustomResourceDefinition, options []*genall.WriteYAMLOptions) error {
	versions := c.Spec.Versions
	c.Spec.Versions = slices.Clone(versions)
	for i, v := range versions {
		if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
			return errUnknown
		}
		v.Schema = &apiextensionsv1.CustomResourceValidation{
			OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: placeType},
		}
		c.Spec.Versions[i] = v
	}
	frame, err := library(c, options...)
	if err != nil {
		return err
	}
	parts := bytes.Split(frame, []byte(place))
	if len(parts) != len(versions)+1 {
		return errUnknown
	}
	for i, v := range versions {
		e.out = append(e.out, parts[i]...)
		e.out = append(e.out, placeHead...)
		if err := e.schema(v.Schema.OpenAPIV3Schema, schemaIndent); err != nil {
			return err
		}
	}
	e.out = append(e.out, parts[len(versions)]...)
	return nil
}

// library writes a CRD with controller-tools, which first converts it to the internal
// version of the API server and back.
func library(c apiextensionsv1.CustomResourceDefinition, options ...*genall.WriteYAMLOptions) ([]byte, error) {
	var internal apiextensions.CustomResourceDefinition
	converted := apiextensionsv1.CustomResourceDefinition{}
	err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&c, &internal, nil)
	if err == nil {
		err = apiextensionsv1.Convert_apiextensions_CustomResourceDefinition_To_v1_CustomResourceDefinition(&internal, &converted, nil)
	}
	if err != nil {
		return nil, err
	}
	converted.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	var b buffer
	err = genall.GenerationContext{OutputRule: &b}.WriteYAML("", "", []any{&converted}, options...)
	return b.Bytes(), err
}

// buffer is the output rule of [library].
type buffer struct{ bytes.Buffer }

// Open implements genall.OutputRule.
func (b *buffer) Open(*loader.Package, string) (io.WriteCloser, error) { return b, nil }

// Close implements io.Closer.
func (b *buffer) Close() error { return nil }
