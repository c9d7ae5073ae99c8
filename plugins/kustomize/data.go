package kustomize

import (
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
)

// initValues are the values for the templates of kustomize/init. Text from the user is a YAML
// scalar, quoted if necessary: a project can have the name "123", and a kind the name "Null".
type initValues struct {
	Project  *project.Config
	Name     string // the project's name, as a scalar
	RoleKind string // kind of the manager's role

	SelfCerts bool // the manager makes the certificate of its webhook server
	Objects   project.CallingObjects
	Manager   managerPatch // of webhooks
}

func initData(c *project.Config) initValues {
	return initValues{Project: c, Name: yamledit.Scalar(c.ProjectName), RoleKind: roleKind(c.Namespaced),
		SelfCerts: c.WebhookCerts() == project.SelfCerts, Objects: c.CallingObjects()}
}

// apiValues are the values for the templates of kustomize/api.
type apiValues struct {
	Project         *project.Config
	Resource        project.Resource
	Name            string // the project's name, as a scalar
	Group           string // the full API group, as a scalar
	Kind            string // the kind, as a scalar
	Plural          string // the plural, as a scalar
	RoleKind        string // kind of the users' roles
	RoleName        string // prefix of the names of the users' roles
	SampleName      string
	SampleNamespace string  // the required namespace of the sample, or ""
	CRDs            string  // where the CRDs come from, in words
	Patches         bool    // converted CRDs get a patch; the engine of hooks registers itself instead
	Sample          *sample // derived from the CRD; nil: the user writes the content
}

func (k Plugin) apiData(c *project.Config, r project.Resource, p *scaffold.Plan) (apiValues, error) {
	// A Role cannot grant access to objects without a namespace.
	limited := c.Namespaced && r.API.Namespaced
	v := apiValues{
		Project:  c,
		Resource: r,
		Name:     yamledit.Scalar(c.ProjectName),
		Group:    yamledit.Scalar(r.QualifiedGroup()),
		Kind:     yamledit.Scalar(r.Kind),
		Plural:   yamledit.Scalar(r.PluralName()),
		RoleKind: roleKind(limited),
		RoleName: strings.Join(roleWords(c, r, p), "-"),

		SampleName: sampleName(c, r),
		CRDs:       "generated into bases from the Go types",
		Patches:    true,
	}
	if limited {
		v.SampleNamespace = c.Namespace()
	}
	if k.Charts {
		v.CRDs, v.Patches = "generated into bases from the charts", false
		return v, nil
	}
	if k.KindsOnly { // and no plugin for Go
		v.CRDs, v.Patches = "written by hand in bases", false
		s, ok, err := sampleOf(r, p)
		if err != nil {
			return v, err
		}
		if ok {
			v.Sample = &s
		}
		return v, nil
	}
	s, ok, err := sampleOfFields(c, r)
	if ok {
		v.Sample = &s
	}
	return v, err
}

// conversionValues are the values for the templates of kustomize/conversion.
type conversionValues struct {
	Kind string
	CRD  string // the CRD's name, as a scalar

	SelfCerts bool // the manager makes the certificate of its webhook server
}

func conversionData(c *project.Config, r project.Resource) conversionValues {
	return conversionValues{Kind: r.Kind, CRD: yamledit.Scalar(r.CRDName()), SelfCerts: c.WebhookCerts() == project.SelfCerts}
}

// sampleName returns a name that differs between versions of a kind. They are the same kind in
// the cluster, so with one name the last sample would replace the others.
func sampleName(c *project.Config, r project.Resource) string {
	if further(c, r) {
		return r.Lower() + "-" + r.Version + "-sample"
	}
	return r.Lower() + "-sample"
}

// further reports whether the project had another version of r's kind before r.
func further(c *project.Config, r project.Resource) bool {
	first := slices.IndexFunc(c.Resources, func(o project.Resource) bool { return o.SameKind(r) && o.API != nil })
	return first >= 0 && !c.Resources[first].SameVersion(r)
}

func roleKind(limited bool) string {
	if limited {
		return "Role"
	}
	return "ClusterRole"
}
