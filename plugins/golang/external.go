package golang

import (
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
)

// planExternalObject plans the test data for a kind that Kubernetes or another module
// defines: an object and, unless the kind is built in, a CRD.
func planExternalObject(c *project.Config, r project.Resource, p *scaffold.Plan) error {
	name := strings.TrimSuffix(path.Base(c.SamplePath(r)), ".yaml")
	object := "apiVersion: " + r.QualifiedGroup() + "/" + r.Version + "\nkind: " + r.Kind + "\nmetadata:\n  name: " + r.Lower() + "-sample\n"
	if k, ok := r.Builtin(); ok {
		object = k.Object
	}
	if r.Core && r.Kind == "Pod" {
		object = strings.Replace(object, "  containers:\n", restrictedPod, 1) + restrictedContainer
	}
	if err := tree(p, "object", map[string]string{"sample": name}, struct{ Object string }{object}, p.Seed); err != nil {
		return err
	}
	for _, label := range c.AllFeatures(r).Labels { // controllers ignore objects without these labels
		key, value, _ := strings.Cut(label, "=")
		err := p.Edit(c.SamplePath(r), func(src []byte) ([]byte, error) {
			return yamledit.Set(src, []string{"metadata", "labels"}, key, value)
		})
		if err != nil {
			return fault.In("edit "+c.SamplePath(r), err)
		}
	}
	if r.Core {
		return nil
	}
	crd := strings.TrimSuffix(path.Base(project.ExternalCRDPath(r)), ".yaml")
	return tree(p, "crd", map[string]string{"crd": crd}, crdData(c, r), p.Seed)
}

// The namespaces of managers enforce the restricted pod security standard.
const (
	restrictedPod = `  securityContext:
    runAsNonRoot: true
    seccompProfile:
      type: RuntimeDefault
  containers:
`
	restrictedContainer = `      securityContext:
        allowPrivilegeEscalation: false
        capabilities:
          drop:
          - ALL
`
)

// crdValues are the values for the template of an external kind's CRD.
type crdValues struct {
	Group, Kind, Plural, Singular, Scope string
	Protected                            bool // the group is reserved for Kubernetes
	Versions                             []crdVersion
}

type crdVersion struct {
	Name    string
	Storage bool
}

// crdData returns the CRD of r with all versions that the project uses, in a stable order.
func crdData(c *project.Config, r project.Resource) crdValues {
	v := crdValues{
		Group: r.QualifiedGroup(), Kind: r.Kind, Plural: r.PluralName(), Singular: r.Lower(), Scope: c.Scope(r),
		Protected: isProtected(r.QualifiedGroup()),
	}
	versions := []string{r.Version}
	for _, o := range c.Resources {
		if o.SameKind(r) {
			versions = append(versions, o.Version)
		}
	}
	slices.Sort(versions)
	for i, name := range slices.Compact(versions) {
		v.Versions = append(v.Versions, crdVersion{Name: name, Storage: i == 0})
	}
	return v
}

// isProtected reports whether the group accepts only approved CRDs. See
// https://github.com/kubernetes/enhancements/pull/1111
func isProtected(group string) bool {
	return strings.HasSuffix("."+group, ".k8s.io") || strings.HasSuffix("."+group, ".kubernetes.io")
}
