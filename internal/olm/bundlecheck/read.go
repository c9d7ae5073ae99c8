package bundlecheck

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operator-framework/api/pkg/encoding"
	"github.com/operator-framework/api/pkg/manifests"
	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/olm/bundle"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// read reads a bundle, and reports what cannot be read.
func read(files map[string][]byte) *input {
	x := &input{files: files, bundle: &manifests.Bundle{}, crds: map[any]*document{}}
	for _, folder := range []string{bundle.ManifestsDir, bundle.MetadataDir} {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(files)), func(name string) bool { return strings.HasPrefix(name, folder+"/") }) {
			x.report(ruleFolders, place{file: folder}, "the bundle has no folder %s", folder)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		folder, file := path.Split(name)
		switch {
		case folder == bundle.MetadataDir+"/":
			x.readMetadata(name)
		case !strings.HasPrefix(name, bundle.ManifestsDir+"/"):
		case folder != bundle.ManifestsDir+"/":
			x.report(ruleManifestsEntry, place{file: name}, "%s is in a folder below %s", name, bundle.ManifestsDir)
		case strings.HasPrefix(file, "."):
			x.report(ruleManifestsEntry, place{file: name}, "%s is a hidden file", name)
		default:
			x.readManifest(name)
		}
	}
	x.findCSV()
	x.decodeAll()
	return x
}

// readMetadata reads a file in the folder metadata. As for OLM, the name of the file does not
// matter.
func (x *input) readMetadata(name string) {
	d := x.parse(name)
	if err := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(d.src), 30).Decode(&d.Object); err != nil && !errors.Is(err, io.EOF) {
		if kind, _, _ := strings.Cut(path.Base(name), "."); slices.Contains([]string{"annotations", "dependencies", "properties"}, kind) {
			x.reportMistake(ruleMetadataSyntax, name, d.syntax(err))
		}
		return
	}
	x.strict(d)
	if _, ok := d.value("annotations").(map[string]any); ok && x.annotations == nil {
		x.annotations = d
		return
	}
	x.metadata = append(x.metadata, d)
}

// readManifest reads a file in the folder manifests. OLM reads the first document only.
func (x *input) readManifest(name string) {
	d := x.parse(name)
	x.bundle.Size += int64(len(d.src))
	if compressed, err := encoding.GzipBase64Encode(d.src); err == nil {
		x.bundle.CompressedSize += int64(len(compressed))
	}
	dec := yaml.NewYAMLToJSONDecoder(bytes.NewReader(d.src))
	if err := dec.Decode(d.Unstructured); err != nil {
		mistake := d.syntax(err)
		switch {
		case errors.Is(err, io.EOF):
			mistake.Text = "the file is empty"
		case strings.Contains(mistake.Text, "Object 'Kind' is missing"):
			mistake.Text = "the object has no kind"
		}
		x.reportMistake(ruleManifestSyntax, name, mistake)
		return
	}
	var more unstructured.Unstructured
	if dec.Decode(&more) == nil && more.GetKind() != "" {
		at := bundle.Mistake{Text: "OLM ignores " + more.GetKind() + " " + more.GetName() + ", because it is not the first document of the file"}
		if len(d.docs) > 1 {
			at.Line, at.Column = d.docs[1].Line, d.docs[1].Column
		}
		r := ruleManifestDocuments
		if more.GetKind() == v1alpha1.ClusterServiceVersionKind { // other commands cannot tell which one is meant
			r = ruleCSVCount
		}
		x.reportMistake(r, name, at)
	}
	x.strict(d)
	x.manifests = append(x.manifests, d)
	x.bundle.Objects = append(x.bundle.Objects, d.Unstructured)
}

// strict reports why strict parsers refuse a file that OLM can read.
func (x *input) strict(d *document) {
	for _, m := range d.mistakes {
		x.reportMistake(ruleStrictYAML, d.file, m)
	}
}

// reportMistake adds a finding at the place of a mistake in a file.
func (x *input) reportMistake(r Rule, file string, m bundle.Mistake) {
	f := r.At(file, m.Line, m.Column, "%s", m.Text)
	f.Fix = r.Fix
	x.found = append(x.found, f)
}

// findCSV finds the only ClusterServiceVersion.
func (x *input) findCSV() {
	var all []*document
	for _, d := range x.manifests {
		if d.GetKind() == v1alpha1.ClusterServiceVersionKind {
			all = append(all, d)
		}
	}
	if len(all) > 1 {
		x.severalCSVs(all)
		return
	}
	if len(all) == 1 {
		x.csv = all[0]
		return
	}
	if len(x.found) == 0 {
		x.report(ruleCSVCount, place{file: bundle.ManifestsDir}, "the bundle has no ClusterServiceVersion")
	}
}

// severalCSVs reports each ClusterServiceVersion but the one in the usual file for the package, or the first.
func (x *input) severalCSVs(all []*document) {
	meant := all[0]
	if x.annotations != nil {
		pkg, _ := x.annotations.value("annotations", bundle.PackageKey).(string)
		for _, d := range all {
			if path.Base(d.file) == bundle.CSVFile(pkg) {
				meant = d
			}
		}
	}
	for _, d := range all {
		if d != meant {
			x.report(ruleCSVCount, d.at("kind"), "%s has a ClusterServiceVersion, too", meant.file)
		}
	}
}

// decodeAll decodes the ClusterServiceVersion and the CRDs.
func (x *input) decodeAll() {
	for _, d := range x.manifests {
		switch {
		case d == x.csv:
			if csv, ok := decodeAs[v1alpha1.ClusterServiceVersion](x, d, ruleManifestField); ok {
				x.bundle.CSV, x.bundle.Name = csv, csv.Name
				if len(csv.Spec.Icon) == 0 {
					csv.Spec.Icon = nil // the library expects an icon in a list
				}
			}
		case d.GetKind() != "CustomResourceDefinition":
		case d.GetAPIVersion() == apiextensionsv1.SchemeGroupVersion.String():
			if crd, ok := decodeAs[apiextensionsv1.CustomResourceDefinition](x, d, ruleManifestField); ok {
				x.bundle.V1CRDs, x.crds[crd] = append(x.bundle.V1CRDs, crd), d
			}
		case d.GetAPIVersion() == apiextensionsv1beta1.SchemeGroupVersion.String():
			if crd, ok := decodeAs[apiextensionsv1beta1.CustomResourceDefinition](x, d, ruleManifestField); ok {
				x.bundle.V1beta1CRDs, x.crds[crd] = append(x.bundle.V1beta1CRDs, crd), d
			}
		default:
			x.report(ruleCRDAPIVersion, d.at("apiVersion"), "OLM does not know CRDs of version %q", d.GetAPIVersion())
		}
	}
}

// unread are the rules for what cannot be read.
var unread = []string{ruleManifestsEntry.Name, ruleManifestSyntax.Name, ruleManifestField.Name, ruleCSVCount.Name, ruleCRDAPIVersion.Name}

// complete reports whether the whole bundle was read. Otherwise its rules would report
// consequences.
func (x *input) complete() bool {
	return x.bundle.CSV != nil && !slices.ContainsFunc(x.found, func(f finding.Finding) bool {
		return f.IsError() && slices.Contains(unread, f.Rule)
	})
}
