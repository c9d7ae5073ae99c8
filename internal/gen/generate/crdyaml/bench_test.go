//go:build testall

package crdyaml

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/operon-dev/operon/internal/testkit/corpus"
	"github.com/operon-dev/operon/internal/testkit/goldentest"
	"golang.org/x/tools/go/packages"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
)

// BenchmarkCRD writes the CRDs of 600 kinds, with the library and with the emitter.
func BenchmarkCRD(b *testing.B) {
	crds := corpusCRDs(b, 600)
	var theirs, ours time.Duration
	var size int
	for b.Loop() {
		start := time.Now()
		for _, c := range crds {
			if _, err := library(c); err != nil {
				b.Fatal(err)
			}
		}
		middle := time.Now()
		var e Emitter
		size = 0
		for _, c := range crds {
			written, err := e.CRD(c)
			if err != nil {
				b.Fatal(err)
			}
			size += len(written)
		}
		theirs, ours = theirs+middle.Sub(start), ours+time.Since(middle)
	}
	b.ReportMetric(float64(theirs)/float64(ours), "x-library")
	b.ReportMetric(float64(ours.Milliseconds())/float64(b.N), "ms-emitter")
	b.ReportMetric(float64(size)/1e6, "MB")
}

// corpusCRDs parses the types of a corpus.
func corpusCRDs(b *testing.B, kinds int) []apiextensionsv1.CustomResourceDefinition {
	b.Helper()
	dir := b.TempDir()
	files, err := corpus.Files(kinds)
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		src, err := os.ReadFile(filepath.Join(goldentest.Dir("fleet"), name))
		if err != nil {
			b.Fatal(err)
		}
		files[name] = bytes.Replace(src, []byte("module example.org/fleet\n"), []byte("module "+corpus.Repo+"\n"), 1)
	}
	for name, src := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(name, src, 0o644); err != nil {
			b.Fatal(err)
		}
	}
	roots, err := loader.LoadRootsWithConfig(&packages.Config{Dir: dir}, "./api/...")
	if err != nil {
		b.Fatal(err)
	}
	registry := &markers.Registry{}
	if err := (crd.Generator{}).RegisterMarkers(registry); err != nil {
		b.Fatal(err)
	}
	parser := &crd.Parser{
		Collector: &markers.Collector{Registry: registry},
		Checker:   &loader.TypeChecker{NodeFilters: []loader.NodeFilter{crd.Generator{}.CheckFilter()}},
	}
	crd.AddKnownTypes(parser)
	for _, root := range roots {
		parser.NeedPackage(root)
	}
	var crds []apiextensionsv1.CustomResourceDefinition
	for _, kind := range crd.FindKubeKinds(parser, crd.FindMetav1(roots)) {
		parser.NeedCRDFor(kind, nil)
		c := parser.CustomResourceDefinitions[kind]
		crd.FixTopLevelMetadata(c)
		crds = append(crds, c)
	}
	return crds
}
