package module

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks/kinds"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// CRDs are what addon-operator installs for the module before anything else: those in
// the .yaml files below crds, but for files whose names begin with doc- or _. Findings
// are about what keeps it from that.
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
		file := m.at() + "/" + filepath.ToSlash(rel)
		switch ext := filepath.Ext(name); {
		case unread(entry.Name()):
			return nil
		case ext == ".yml" || ext == ".json":
			findings = append(findings, finding.Finding{File: file, Rule: ruleCRDUnread, Message: "is not installed: addon-operator reads only files named *.yaml"})
			return nil
		case !InstallsCRDs(entry.Name()):
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		found, wrong := crdsOf(text)
		all = append(all, found...)
		for _, message := range wrong {
			findings = append(findings, finding.Finding{File: file, Rule: ruleCRD, Severity: finding.Error, Message: message})
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	return all, findings, err
}

// InstallsCRDs reports whether addon-operator installs what a file below crds holds, by
// the path of the file, with slashes.
func InstallsCRDs(name string) bool { return path.Ext(name) == ".yaml" && !unread(path.Base(name)) }

// unread reports whether the name of a file says that it is not for addon-operator.
func unread(name string) bool {
	return strings.HasPrefix(name, "doc-") || strings.HasPrefix(name, "_")
}

// crdsOf are the CRDs in a file, and what is wrong there.
func crdsOf(text []byte) (all []*unstructured.Unstructured, wrong []string) {
	for dec := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096); ; {
		o := &unstructured.Unstructured{}
		switch err := dec.Decode(&o.Object); {
		case errors.Is(err, io.EOF):
			return all, wrong
		case err != nil:
			return all, append(wrong, unreadable("", ruleCRD, err).Message)
		case len(o.Object) == 0: // a document with comments alone
		case !kinds.IsCRD(o.GroupVersionKind()):
			wrong = append(wrong, fmt.Sprintf("holds %s %s, but addon-operator installs only CustomResourceDefinitions from this folder", orNothing(o.GetKind()), o.GetName()))
		default:
			all = append(all, o)
			wrong = append(wrong, refused(o)...)
		}
	}
}

func orNothing(kind string) string {
	if kind == "" {
		return "an object without a kind"
	}
	return kind
}

// refused tells why an API server would not take a CRD, by the rules that are broken
// by hand.
func refused(o *unstructured.Unstructured) []string {
	if _, err := kinds.FromObject(o); err != nil {
		return []string{err.Error()}
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &crd); err != nil {
		return []string{err.Error()}
	}
	var wrong []string
	say := func(format string, args ...any) {
		wrong = append(wrong, fmt.Sprintf("CustomResourceDefinition %s: ", crd.Name)+fmt.Sprintf(format, args...))
	}
	if name := crd.Spec.Names.Plural + "." + crd.Spec.Group; crd.Name != name {
		say("must be named %s, after its plural and its group", name)
	}
	if s := crd.Spec.Scope; s != apiextensionsv1.NamespaceScoped && s != apiextensionsv1.ClusterScoped {
		say("spec.scope must be Namespaced or Cluster, and is %q", s)
	}
	stored := 0
	for _, v := range crd.Spec.Versions {
		if v.Storage {
			stored++
		}
		switch {
		case v.Schema == nil || v.Schema.OpenAPIV3Schema == nil:
			say("the version %s needs schema.openAPIV3Schema", v.Name)
		case v.Schema.OpenAPIV3Schema.Type != "object":
			say("the schema of the version %s must be of type object", v.Name)
		}
	}
	if stored != 1 {
		say("one version must have storage: true, and %d have", stored)
	}
	return wrong
}
