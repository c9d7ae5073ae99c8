package helmchart

import (
	"cmp"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	helm "github.com/operon-dev/operon/internal/chart"
	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/pins"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
	"github.com/operon-dev/operon/templates"
)

// generate plans the chart in a folder.
func generate(name, dir string, namespaced bool, p *scaffold.Plan) error {
	b, err := buildObjects(p)
	if err != nil {
		return err
	}
	c, err := newChart(name, namespaced, b)
	if err != nil {
		return err
	}
	files, err := c.files(p)
	if err != nil {
		return err
	}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		if err := p.Seed(path.Join(dir, file), 0o644, files[file]); err != nil {
			return err
		}
	}
	if err := c.workflow(dir, p); err != nil {
		return err
	}
	if err := discard(dir, files, p); err != nil || len(p.Conflicts()) > 0 || !p.Exists(path.Join(dir, "Chart.yaml")) {
		return err // without Chart.yaml, the user deleted the chart
	}
	return check(name, b.namespace, dir, p)
}

// workflow plans the GitHub Actions workflow that tests the chart. The file of another tool stays.
func (c *chart) workflow(dir string, p *scaffold.Plan) error {
	namespace := yamledit.Scalar(cmp.Or(c.build.namespace, c.name))
	data := struct{ Dir, Name, Namespace, CertManager string }{yamledit.Scalar(dir), yamledit.Scalar(c.name), namespace, ""}
	if c.has("certManager") {
		data.CertManager = pins.CertManager
	}
	return render.Tree(p.Templates(templates.FS), "helmchart/project", nil, data, plugin.SeedOwn(p))
}

// files returns the files of the chart by their paths in it.
func (c *chart) files(p *scaffold.Plan) (map[string][]byte, error) {
	files := map[string][]byte{}
	fixed := strings.NewReplacer("[name]", c.name, "[prefix]", strings.TrimSuffix(c.build.prefix, "-"),
		"[account]", strings.TrimPrefix(c.names.account, strings.TrimSuffix(c.build.prefix, "-")),
		"[version]", strconv.Quote(c.version), "[deployment]", c.deploymentName())
	err := render.Tree(p.Templates(templates.FS), "helmchart/chart", nil, nil, func(name string, _ fs.FileMode, content []byte) error {
		files[name] = []byte(fixed.Replace(string(content)))
		return nil
	})
	if err != nil {
		return nil, err
	}
	for name, content := range c.templates {
		files[path.Join("templates", name)] = []byte(content)
	}
	if files["values.yaml"], err = c.values.yaml(); err != nil {
		return nil, err
	}
	files["values.schema.json"], err = c.values.jsonSchema()
	return files, err
}

// deploymentName returns the name of the manager's Deployment in a template.
func (c *chart) deploymentName() string {
	for _, o := range c.build.objects {
		if groupOf(o) == managerGroup {
			if c.names.known == nil {
				return o.GetName()
			}
			return `{{ include "` + c.name + `.fullname" . }}` + strings.TrimPrefix(o.GetName(), strings.TrimSuffix(c.build.prefix, "-"))
		}
	}
	return ""
}

// discard removes the files of objects that no longer exist, unless the user changed them.
func discard(dir string, files map[string][]byte, p *scaffold.Plan) error {
	names, err := p.Below(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, needed := files[strings.TrimPrefix(name, dir+"/")]; needed || !p.HasBase(name) {
			continue
		}
		if err := p.Discard(map[string][]byte{name: nil}); err != nil {
			return err
		}
	}
	return nil
}

// check renders the chart with its default values, as the user edited both.
func check(name, namespace, dir string, p *scaffold.Plan) error {
	files, err := p.ReadBelow(dir)
	if err != nil {
		return err
	}
	located := func(err error) error {
		inProject, isChart := helm.InFolder(dir, err)
		if !isChart {
			return err
		}
		return &fault.Error{Code: fault.CodeUsage, Err: inProject, Hint: "correct the file, or restore it from version control; " +
			"if another tool wrote into the chart, delete " + dir + " and run operon generate --restore " + dir}
	}
	loaded, err := helm.LoadFiles(files)
	if err != nil {
		return located(err)
	}
	if mistakes := helm.LintFiles(loaded); len(mistakes) > 0 {
		return located(mistakes[0])
	}
	rendered, err := helm.Render(loaded, map[string]any{}, helm.Release{Name: name, Namespace: namespace}, helm.Cluster{Version: "v1.30.0"})
	if err != nil {
		return located(err)
	}
	objects, err := helm.Objects(rendered)
	if err != nil {
		return located(err)
	}
	if len(objects) == 0 {
		return fault.Usage("enable some of them, such as manager.enabled; the chart is made of "+configDir+"/default",
			"%s: the chart renders no objects with these values", path.Join(dir, "values.yaml"))
	}
	for _, o := range objects {
		if problems := helm.Lint(o); len(problems) > 0 {
			return located(&helm.Error{Msg: problems[0]})
		}
	}
	return nil
}
