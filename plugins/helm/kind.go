package helm

import (
	"io/fs"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/helm/schema"
	"github.com/operon-dev/operon/internal/helm/watches"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
	"github.com/operon-dev/operon/templates"
	"sigs.k8s.io/yaml"
)

// kindValues are the values for the templates of helm/api. All but Spec and Values are YAML scalars.
type kindValues struct {
	ProjectName, Chart, Name, Group, Version, Kind, List, Plural, Singular string

	Description string
	Spec        string // the schema of spec, indented
	SampleName  string
	Namespace   string // the required namespace of the sample, or ""
	Values      string // of the sample, indented, after a line break
}

// planKind plans the CRD and the sample of a kind from its chart. The findings are about the CRD.
func planKind(c *project.Config, r project.Resource, w watches.Watch, p *scaffold.Plan) ([]finding.Finding, error) {
	content, err := readChart(w.Chart, p)
	if err != nil {
		return []finding.Finding{}, err
	}
	result, err := schema.Of(schema.ChartOf(w.Chart, content))
	if err != nil {
		return []finding.Finding{}, err
	}
	spec, err := yaml.Marshal(result.Schema)
	if err != nil {
		return []finding.Finding{}, err
	}
	group, plural := r.QualifiedGroup(), r.PluralName()
	v := kindValues{
		ProjectName: yamledit.Scalar(c.ProjectName), Chart: w.Chart,
		Name: yamledit.Scalar(plural + "." + group), Group: yamledit.Scalar(group), Version: r.Version,
		Kind: yamledit.Scalar(r.Kind), List: yamledit.Scalar(r.Kind + "List"),
		Plural: yamledit.Scalar(plural), Singular: yamledit.Scalar(r.Lower()),
		Description: yamledit.Scalar(r.Kind + " is a release of the chart " + content.Name() + "."),
		Spec:        indent(string(spec), 12), SampleName: yamledit.Scalar(r.Lower() + "-sample"), Values: " {}",
	}
	if c.Namespaced {
		v.Namespace = c.Namespace()
	}
	if sample := strings.TrimSpace(string(result.Sample)); sample != "" && sample != "{}" {
		v.Values = "\n" + indent(string(result.Sample), 2)
	}
	several := slices.ContainsFunc(c.Resources, func(o project.Resource) bool { return o.SameKind(r) && !o.SameVersion(r) && o.API != nil })
	sample := strings.TrimSuffix(strings.TrimPrefix(c.SamplePath(r), "config/samples/"), ".yaml")
	vars := map[string]string{"crd": group + "_" + plural, "sample": sample}
	err = render.Tree(p.Templates(templates.FS), "helm/api", vars, v, func(name string, _ fs.FileMode, text []byte) error {
		if several && strings.HasPrefix(name, crdBases) {
			return nil // the user wrote it: charts have one version
		}
		if derived, err := derives(p, name); err != nil || !derived {
			return err
		}
		return p.Seed(name, 0o644, text)
	})
	if err != nil {
		return []finding.Finding{}, err
	}
	if derived, err := derives(p, crdBases+"/"+vars["crd"]+".yaml"); err != nil || !derived {
		return []finding.Finding{}, err
	}
	return result.Findings, nil
}

// indent indents the lines of a YAML document that are not empty.
func indent(text string, width int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = strings.Repeat(" ", width) + line
		}
	}
	return strings.Join(lines, "\n")
}
