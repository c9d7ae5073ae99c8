package shell

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
	"github.com/operon-dev/operon/plugins/internal/hookscaffold"
	"github.com/operon-dev/operon/templates"
	"go.yaml.in/yaml/v3"
)

// crdValues are the values for the template of a CRD, as YAML scalars.
type crdValues struct {
	Name, Group, Kind, List, Plural, Singular, Scope, Version string
}

// createAPI plans the CRD of a kind, or adds a version to it.
func createAPI(e plugin.Event, p *scaffold.Plan) error {
	r := *e.Resource
	if r.API == nil {
		return nil
	}
	first := slices.IndexFunc(e.Project.Resources, func(o project.Resource) bool { return o.SameKind(r) && o.API != nil })
	if first >= 0 && !e.Project.Resources[first].SameVersion(r) {
		return addVersion(r, p)
	}
	group, plural := r.QualifiedGroup(), r.PluralName()
	v := crdValues{
		Name: yamledit.Scalar(plural + "." + group), Group: yamledit.Scalar(group),
		Kind: yamledit.Scalar(r.Kind), List: yamledit.Scalar(r.Kind + "List"),
		Plural: yamledit.Scalar(plural), Singular: yamledit.Scalar(r.Lower()), Scope: e.Project.Scope(r), Version: r.Version,
	}
	return render.Tree(p.Templates(templates.FS), "shell/crd", map[string]string{"crd": group + "_" + plural}, v, hookscaffold.SeedOnce(p))
}

// addVersion adds a version to the CRD of r. It starts as a copy of the last version, and is
// served but not stored.
func addVersion(r project.Resource, p *scaffold.Plan) error {
	name := crdBases + "/" + r.QualifiedGroup() + "_" + r.PluralName() + ".yaml"
	if src, err := p.Read(name); err == nil {
		if err := yamledit.CheckSyntax(name, src); err != nil {
			return err
		}
	}
	err := p.Edit(name, func(src []byte) ([]byte, error) {
		var crd struct {
			Spec struct{ Versions []yaml.Node }
		}
		if err := yaml.Unmarshal(src, &crd); err != nil {
			return nil, err
		}
		if len(crd.Spec.Versions) == 0 {
			return nil, fmt.Errorf("spec.versions is empty")
		}
		for _, v := range crd.Spec.Versions {
			if value(&v, "name") == r.Version {
				return src, nil
			}
		}
		next := crd.Spec.Versions[len(crd.Spec.Versions)-1]
		put(&next, "name", r.Version, "!!str")
		put(&next, "served", "true", "!!bool")
		put(&next, "storage", "false", "!!bool")
		var item bytes.Buffer
		enc := yaml.NewEncoder(&item)
		enc.SetIndent(2)
		enc.CompactSeqIndent()
		if err := enc.Encode(&next); err != nil {
			return nil, err
		}
		return yamledit.Append(src, item.String(), yamledit.ListAnchor{Path: []string{"spec", "versions"}})
	})
	if err == nil {
		return nil
	}
	return &fault.Error{Code: fault.Code(err), Msg: "edit " + name, Err: err,
		Hint: "restore it from version control, or add the version " + r.Version + " below spec.versions by hand, then repeat the command"}
}

// value returns the string at a key of a mapping, or "".
func value(m *yaml.Node, key string) string {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == key {
			return m.Content[i+1].Value
		}
	}
	return ""
}

// put sets the scalar at an existing key of a mapping. A missing key is not added.
func put(m *yaml.Node, key, value, tag string) {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == key {
			m.Content[i+1] = &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value}
		}
	}
}
