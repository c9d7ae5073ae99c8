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
			x.report(Folders, place{file: folder}, "the bundle has no folder %s", folder)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		switch folder, file := path.Split(name); {
		case folder == bundle.MetadataDir+"/":
			x.readMetadata(name)
		case !strings.HasPrefix(name, bundle.ManifestsDir+"/"):
		case folder != bundle.ManifestsDir+"/":
			x.report(ManifestsEntry, place{file: name}, "%s is in a folder below %s", name, bundle.ManifestsDir)
		case strings.HasPrefix(file, "."):
			x.report(ManifestsEntry, place{file: name}, "%s is a hidden file", name)
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
			line, message := lineOf(err)
			x.reportLine(MetadataSyntax, name, line, "%s", message)
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
		line, message := lineOf(err)
		switch {
		case errors.Is(err, io.EOF):
			message = "the file is empty"
		case strings.Contains(message, "Object 'Kind' is missing"):
			message = "the object has no kind"
		}
		x.reportLine(ManifestSyntax, name, line, "%s", message)
		return
	}
	var more unstructured.Unstructured
	if dec.Decode(&more) == nil && more.GetKind() != "" {
		line := 1 + bytes.Count(d.src[:bytes.LastIndex(d.src, []byte("\n---"))+1], []byte("\n"))
		x.reportLine(ManifestDocuments, name, line, "OLM ignores %s %s, because it is not the first document of the file", more.GetKind(), more.GetName())
	}
	x.strict(d)
	x.manifests = append(x.manifests, d)
	x.bundle.Objects = append(x.bundle.Objects, d.Unstructured)
}

// reportLine adds a finding at a line, or at no line if it is 0.
func (x *input) reportLine(r Rule, file string, line int, format string, args ...any) {
	f := r.At(file, line, min(line, 1), format, args...)
	f.Fix = r.Fix
	x.found = append(x.found, f)
}

// findCSV finds the only ClusterServiceVersion.
func (x *input) findCSV() {
	for _, d := range x.manifests {
		if d.GetKind() != v1alpha1.ClusterServiceVersionKind {
			continue
		}
		if x.csv != nil {
			x.report(CSVCount, d.at("kind"), "%s has a ClusterServiceVersion, too", x.csv.file)
			x.csv = nil
			return
		}
		x.csv = d
	}
	if x.csv == nil && len(x.found) == 0 {
		x.report(CSVCount, place{file: bundle.ManifestsDir}, "the bundle has no ClusterServiceVersion")
	}
}

// decodeAll decodes the ClusterServiceVersion and the CRDs.
func (x *input) decodeAll() {
	for _, d := range x.manifests {
		switch {
		case d == x.csv:
			if csv, ok := decodeAs[v1alpha1.ClusterServiceVersion](x, d); ok {
				x.bundle.CSV, x.bundle.Name = csv, csv.Name
				if len(csv.Spec.Icon) == 0 {
					csv.Spec.Icon = nil // the library expects an icon in a list
				}
			}
		case d.GetKind() != "CustomResourceDefinition":
		case d.GetAPIVersion() == apiextensionsv1.SchemeGroupVersion.String():
			if crd, ok := decodeAs[apiextensionsv1.CustomResourceDefinition](x, d); ok {
				x.bundle.V1CRDs, x.crds[crd] = append(x.bundle.V1CRDs, crd), d
			}
		case d.GetAPIVersion() == apiextensionsv1beta1.SchemeGroupVersion.String():
			if crd, ok := decodeAs[apiextensionsv1beta1.CustomResourceDefinition](x, d); ok {
				x.bundle.V1beta1CRDs, x.crds[crd] = append(x.bundle.V1beta1CRDs, crd), d
			}
		default:
			x.report(CRDAPIVersion, d.at("apiVersion"), "OLM does not know CRDs of version %q", d.GetAPIVersion())
		}
	}
}

// unread are the rules for what cannot be read.
var unread = []string{ManifestsEntry.Name, ManifestSyntax.Name, ManifestField.Name, CSVCount.Name, CRDAPIVersion.Name}

// complete reports whether the whole bundle was read. Otherwise its rules would report
// consequences.
func (x *input) complete() bool {
	return x.bundle.CSV != nil && !slices.ContainsFunc(x.found, func(f finding.Finding) bool { return f.IsError() && slices.Contains(unread, f.Rule) })
}
