package kustomize

import (
	"strings"

	"github.com/operon-dev/operon/internal/project"
	"go.yaml.in/yaml/v3"
)

// initValues is what the templates of kustomize/init print. Words that come
// from the user are YAML scalars, in quotes where YAML would otherwise not read
// text: a project may be called "123", and a kind "Null".
type initValues struct {
	Project  *project.Config
	Name     string // the project's name, as a scalar
	RoleKind string // kind of the manager's role
}

func initData(c *project.Config) initValues {
	return initValues{Project: c, Name: scalar(c.ProjectName), RoleKind: roleKind(c.Namespaced)}
}

// apiValues is what the templates of kustomize/api print.
type apiValues struct {
	Project         *project.Config
	Resource        project.Resource
	Name            string // the project's name, as a scalar
	Group           string // the full API group, as a scalar
	Kind            string // the kind, as a scalar
	Plural          string // the plural, as a scalar
	RoleKind        string // kind of the users' roles
	RoleName        string // what names of the users' roles begin with
	SampleNamespace string // where the sample must live, or ""
}

func apiData(c *project.Config, r project.Resource) apiValues {
	// A Role cannot grant access to objects without a namespace.
	limited := c.Namespaced && r.API.Namespaced
	v := apiValues{
		Project:  c,
		Resource: r,
		Name:     scalar(c.ProjectName),
		Group:    scalar(r.QualifiedGroup()),
		Kind:     scalar(r.Kind),
		Plural:   scalar(r.PluralName()),
		RoleKind: roleKind(limited),
		RoleName: strings.Join(c.KindWords(r), "-"),
	}
	if limited {
		v.SampleNamespace = c.Namespace()
	}
	return v
}

func roleKind(limited bool) string {
	if limited {
		return "Role"
	}
	return "ClusterRole"
}

// scalar writes s as a YAML scalar that reads back as text.
func scalar(s string) string {
	b, err := yaml.Marshal(s)
	if err != nil { // a string always has a YAML form
		return s
	}
	return strings.TrimSuffix(string(b), "\n")
}
