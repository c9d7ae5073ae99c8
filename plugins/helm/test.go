package helm

import (
	"io/fs"
	"path"
	"slices"

	"github.com/operon-dev/operon/internal/chart"
	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/helm/charttest"
	"github.com/operon-dev/operon/internal/helm/watches"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
	"github.com/operon-dev/operon/plugins/internal/hookscaffold"
	"github.com/operon-dev/operon/templates"
	helmchart "helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// testFile returns the path of the first test file of a chart.
func testFile(w watches.Watch) string { return charttest.Dir + "/" + path.Base(w.Chart) + ".yaml" }

// testValues are the values for the template of a test file.
type testValues struct {
	Kind, Sample string // YAML scalars
	Objects      []testObject
}

// testObject is an expected object, in YAML scalars.
type testObject struct{ APIVersion, Kind, Name string }

// planTest plans a test that the sample of a kind leads to the workloads of the chart, or to all objects
// of a chart without workloads. A chart that the sample cannot install gets none.
func planTest(c *project.Config, r project.Resource, w watches.Watch, p *scaffold.Plan) error {
	if derived, err := derives(p, testFile(w)); err != nil || !derived {
		return err
	}
	content, err := readChart(w.Chart, p)
	if err != nil {
		return err
	}
	known, err := hookscaffold.Kinds(p, hookscaffold.IsYAML, crdBases)
	if err != nil {
		return err
	}
	objects := sampleObjects(content, r.Lower()+"-sample", known)
	if len(objects) == 0 {
		return nil
	}
	v := testValues{Kind: yamledit.Scalar(r.Kind), Sample: yamledit.Scalar("../../" + c.SamplePath(r))}
	sameKind := func(o project.Resource) bool { return o.Kind == r.Kind && o.QualifiedGroup() != r.QualifiedGroup() }
	if slices.ContainsFunc(c.Resources, sameKind) {
		v.Kind = yamledit.Scalar(r.Kind + "." + r.QualifiedGroup())
	}
	for _, o := range objects {
		v.Objects = append(v.Objects, testObject{yamledit.Scalar(o.GetAPIVersion()), yamledit.Scalar(o.GetKind()), yamledit.Scalar(o.GetName())})
	}
	vars := map[string]string{"chart": path.Base(w.Chart)}
	return render.Tree(p.Templates(templates.FS), "helm/test", vars, v, func(name string, mode fs.FileMode, text []byte) error {
		return p.Seed(name, mode, text)
	})
}

// workloads are the kinds whose objects a test expects, rather than all.
var workloads = []string{"DaemonSet", "Deployment", "StatefulSet"}

// sampleObjects returns the objects that a release with the default values must have, or none if it has
// objects of unknown kinds or does not render.
func sampleObjects(c *helmchart.Chart, name string, known *kubeapi.Kinds) []*unstructured.Unstructured {
	for _, file := range c.CRDObjects() {
		if crds, err := kubeapi.ReadCRDs(file.File.Data); err == nil {
			known = known.With(crds...)
		}
	}
	cluster := chart.Cluster{Version: "v" + kubeapi.Release + ".0", APIVersions: known.APIVersions()}
	if chart.CheckVersion(c, cluster.Version) != nil {
		return nil
	}
	rendered, err := chart.Render(c, nil, chart.Release{Name: name, Namespace: "default"}, cluster)
	if err != nil {
		return nil
	}
	all, err := chart.Objects(rendered)
	if err != nil {
		return nil
	}
	all = slices.DeleteFunc(all, func(o *unstructured.Unstructured) bool { return o.GetAnnotations()["helm.sh/hook"] != "" || o.IsList() })
	if slices.ContainsFunc(all, func(o *unstructured.Unstructured) bool {
		_, err := known.FindObject(o.GroupVersionKind())
		return err != nil
	}) {
		return nil
	}
	running := slices.DeleteFunc(slices.Clone(all), func(o *unstructured.Unstructured) bool {
		return !slices.Contains(workloads, o.GetKind())
	})
	if len(running) > 0 {
		return running
	}
	return all
}
