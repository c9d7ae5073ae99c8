package module

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/operon-dev/operon/internal/input"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// CRDs returns the CRDs that addon-operator installs for the module. They are in .yaml files
// below the folder crds, except files named doc-* or _*. Findings report CRDs that cannot be
// installed, and ignored files.
func (m Module) CRDs() ([]*unstructured.Unstructured, []finding.Finding, error) {
	var all []*unstructured.Unstructured
	var findings []finding.Finding
	err := filepath.WalkDir(filepath.Join(m.Dir, "crds"), func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		rel, err := filepath.Rel(m.Dir, name)
		if err != nil {
			return err
		}
		file := m.path() + "/" + filepath.ToSlash(rel)
		ext := filepath.Ext(name)
		switch {
		case isIgnored(entry.Name()):
			return nil
		case ext == ".yml" || ext == ".json":
			findings = append(findings, ruleCRDIgnored.At(file, 0, 0, "is not installed: addon-operator reads only files named *.yaml"))
			return nil
		case !InstallsCRDs(entry.Name()):
			return nil
		}
		text, err := input.ReadFile(name, input.Text)
		if err != nil {
			return err
		}
		found, problems := parseCRDs(text)
		all = append(all, found...)
		for _, problem := range problems {
			findings = append(findings, ruleCRD.At(file, 0, 0, "%s", problem))
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	return all, findings, err
}

// InstallsCRDs reports whether addon-operator reads a file below the folder crds. name is its
// path with slashes.
func InstallsCRDs(name string) bool { return path.Ext(name) == ".yaml" && !isIgnored(path.Base(name)) }

// isIgnored reports whether addon-operator ignores a file because of its name.
func isIgnored(name string) bool {
	return strings.HasPrefix(name, "doc-") || strings.HasPrefix(name, "_")
}

// parseCRDs returns the CRDs in a file, and the problems of the file.
func parseCRDs(text []byte) (all []*unstructured.Unstructured, problems []string) {
	for dec := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096); ; {
		o := &unstructured.Unstructured{}
		err := dec.Decode(&o.Object)
		switch {
		case errors.Is(err, io.EOF):
			return all, problems
		case err != nil:
			return all, append(problems, parseError("", ruleCRD, err).Message)
		case len(o.Object) == 0: // a document with only comments
		case !kubeapi.IsCRD(o.GroupVersionKind()):
			problems = append(problems, fmt.Sprintf("contains %s %s, but addon-operator installs only CustomResourceDefinitions from this folder", orNoKind(o.GetKind()), o.GetName()))
		default:
			all = append(all, o)
			problems = append(problems, rejections(o)...)
		}
	}
}

// orNoKind returns a kind for messages.
func orNoKind(kind string) string {
	if kind == "" {
		return "an object without a kind"
	}
	return kind
}

// rejections returns the reasons why an API server would reject a CRD. It checks the rules
// that CRDs written by hand often violate.
func rejections(o *unstructured.Unstructured) []string {
	if _, err := kubeapi.ReadCRD(o); err != nil {
		return []string{err.Error()}
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &crd); err != nil {
		return []string{err.Error()}
	}
	var problems []string
	add := func(format string, args ...any) {
		problems = append(problems, fmt.Sprintf("CustomResourceDefinition %s: ", crd.Name)+fmt.Sprintf(format, args...))
	}
	if name := crd.Spec.Names.Plural + "." + crd.Spec.Group; crd.Name != name {
		add("must be named %s: its plural and its group", name)
	}
	if s := crd.Spec.Scope; s != apiextensionsv1.NamespaceScoped && s != apiextensionsv1.ClusterScoped {
		add("spec.scope is %q, but must be Namespaced or Cluster", s)
	}
	stored := 0
	for _, v := range crd.Spec.Versions {
		if v.Storage {
			stored++
		}
		switch {
		case v.Schema == nil || v.Schema.OpenAPIV3Schema == nil:
			add("the version %s lacks schema.openAPIV3Schema", v.Name)
		case v.Schema.OpenAPIV3Schema.Type != "object":
			add("the schema of the version %s must have type: object", v.Name)
		}
	}
	if stored != 1 {
		add("exactly one version must have storage: true, but %d have it", stored)
	}
	return problems
}
