// Package crdyaml writes CustomResourceDefinitions as YAML: the bytes that
// controller-tools v0.23.0 writes, in a fraction of the time.
//
// The library turns a CRD into JSON, that into a tree, that into JSON again,
// which it reads as YAML and prints. Here only what surrounds the schemas, and
// the rare scalar that needs more than plain or literal style, goes that way. A
// schema is printed from its struct. Whatever the short way does not know takes
// the library's for that CRD as a whole.
//
// It is no YAML library: it knows one type.
package crdyaml

import (
	"bytes"
	"errors"
	"io"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/genall"
	"sigs.k8s.io/controller-tools/pkg/loader"
)

// Emitter writes CRDs. It remembers what was costly to render, which the CRDs
// of one project share much of. It is not safe for use by several goroutines.
// The zero value is ready.
type Emitter struct {
	// Shared says that schemas share their maps of properties, and that nobody
	// changes these while the emitter is in use: what a map was printed as at one
	// depth is then remembered.
	Shared bool

	out    []byte
	memo   map[memoKey]string
	blocks map[blockKey]block
}

// usual is how many bytes many CRDs have no more than: one with a pod template.
const usual = 1 << 19

// errUnknown says that the short way does not know how a value is written.
var errUnknown = errors.New("not known to the emitter")

// CRD returns c as [genall.GenerationContext.WriteYAML] writes it after
// [crd.AsVersion] for v1, "---" line included, header text not. The options
// must leave schemas alone. The caller must not use the bytes after the next
// call.
func (e *Emitter) CRD(c apiextensionsv1.CustomResourceDefinition, options ...*genall.WriteYAMLOptions) ([]byte, error) {
	e.out = slices.Grow(e.out[:0], usual)
	if err := e.crd(c, options); err == nil {
		return e.out, nil
	}
	// Where the fault is the CRD's, the library words it.
	return library(c, options...)
}

// Schema returns a schema as it is printed within a CRD: two that are printed
// alike make the same CRDs. It is not ok for one that the short way does not
// know. The caller must not use the bytes after the next call.
func (e *Emitter) Schema(s *apiextensionsv1.JSONSchemaProps) (text []byte, ok bool) {
	e.out = e.out[:0]
	err := e.schema(s, 0)
	return e.out, err == nil
}

// The schemas of all versions are left out of the frame, and these lines put
// in their place. A user's text is never mistaken for them: were it equal,
// there would be more places than versions.
const (
	placeType = "operon puts the schema here"
	place     = "\n    schema:\n      openAPIV3Schema:\n        type: " + placeType + "\n"
	placeHead = "\n    schema:\n      openAPIV3Schema:"

	schemaIndent = 6 // of the key openAPIV3Schema
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

// library is the long way: controller-tools' own.
func library(c apiextensionsv1.CustomResourceDefinition, options ...*genall.WriteYAMLOptions) ([]byte, error) {
	converted, err := crd.AsVersion(c, apiextensionsv1.SchemeGroupVersion)
	if err != nil {
		return nil, err
	}
	var b buffer
	err = genall.GenerationContext{OutputRule: &b}.WriteYAML("", "", []any{converted}, options...)
	return b.Bytes(), err
}

// buffer is the output rule of [library].
type buffer struct{ bytes.Buffer }

// Open implements genall.OutputRule.
func (b *buffer) Open(*loader.Package, string) (io.WriteCloser, error) { return b, nil }

// Close implements io.Closer.
func (b *buffer) Close() error { return nil }
