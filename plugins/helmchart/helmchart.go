// Package helmchart makes a Helm chart of the manifests in config/default. The files of the chart belong to
// the user: every command that generates merges what changed into them.
package helmchart

import (
	"cmp"
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
)

// Key is the plugin's name in PROJECT. kubebuilder records the same key.
const Key = "helm.kubebuilder.io/v2-alpha"

// The defaults of the configuration. The manifests are the file of kubebuilder's build-installer, which has the
// objects of config/default.
const (
	defaultManifests = "dist/install.yaml"
	defaultOutput    = "dist"
)

// The flags.
const (
	manifestsFlag = "manifests"
	outputFlag    = "output-dir"
)

// Plugin is the helm chart plugin. It accompanies a layout.
type Plugin struct{}

var _ plugin.Plugin = Plugin{}

// Name implements plugin.Plugin.
func (Plugin) Name() string { return Key }

// Doc implements plugin.Plugin.
func (Plugin) Doc() string { return "a Helm chart of config/default" }

// Options implements plugin.Plugin.
func (Plugin) Options() []plugin.Option {
	edit := []plugin.EventType{plugin.Edit}
	return []plugin.Option{
		{Name: outputFlag, Default: defaultOutput, Events: edit, Usage: "`folder` that gets the Helm chart, in its subfolder chart"},
		{Name: manifestsFlag, Default: defaultManifests, Events: edit, Values: []string{defaultManifests},
			Usage: "file from which kubebuilder generates the chart; operon reads config/default, so only the default is valid"},
	}
}

// record is the configuration of the plugin in PROJECT.
type record struct {
	Manifests string `json:"manifests"`
	Output    string `json:"output"`
}

// recorded returns the configuration of a project, with the defaults for missing keys.
func recorded(c *project.Config) (record, error) {
	var r record
	if err := c.DecodePluginConfig(Key, &r); err != nil {
		return r, err
	}
	r.Manifests, r.Output = cmp.Or(r.Manifests, defaultManifests), cmp.Or(r.Output, defaultOutput)
	return r, nil
}

// dir returns the folder of the chart.
func (r record) dir() string { return path.Join(r.Output, "chart") }

// validate checks both keys.
func (r record) validate() error {
	if r.Manifests != defaultManifests {
		return fault.Usage("use "+defaultManifests+": the chart is made of config/default, whose objects are in that file",
			"%s is not the file of all manifests", r.Manifests)
	}
	if first, _, _ := strings.Cut(r.Output, "/"); !fs.ValidPath(r.Output) || slices.Contains([]string{".git", ".operon", "config"}, first) {
		return fault.Usage("use a folder such as dist or charts", "%q is not a folder of the project for charts", r.Output)
	}
	return nil
}

// Folder returns the folder of a project's chart.
func Folder(c *project.Config) (string, error) {
	r, err := recorded(c)
	if err == nil {
		err = project.InPluginConfig(Key, r.validate())
	}
	return r.dir(), err
}

// Plan implements plugin.Plugin.
func (Plugin) Plan(_ context.Context, e plugin.Event, p *scaffold.Plan) error {
	switch e.Type {
	case plugin.Init:
		if err := checkLayout(e.Project.Layout); err != nil {
			return err
		}
		dir, err := Folder(e.Project)
		if err != nil || unmanaged(dir, p) {
			return err
		}
		return addTargets(e.Project, dir, p)
	case plugin.Edit:
		return edit(e, p)
	case plugin.Generate:
		if e.Explain != nil {
			return nil
		}
		dir, err := Folder(e.Project)
		if err != nil || unmanaged(dir, p) {
			return err
		}
		return generate(e.Project.ProjectName, dir, e.Project.Namespaced, p)
	}
	return nil
}

// edit records the flags, and moves the chart to another folder. The event Generate, which follows, makes
// the chart.
func edit(e plugin.Event, p *scaffold.Plan) error {
	_, was := e.Before.Plugins[Key]
	_, givenOutput := e.Options[outputFlag]
	_, givenManifests := e.Options[manifestsFlag]
	if was && !givenOutput && !givenManifests {
		return warnUnmanaged(e.Project, p)
	}
	if err := checkLayout(e.Project.Layout); err != nil {
		return err
	}
	before, err := recorded(e.Project)
	if err != nil {
		return err
	}
	r := before
	if givenOutput {
		r.Output = path.Clean(strings.ReplaceAll(e.String(outputFlag), "\\", "/"))
	}
	if givenManifests {
		r.Manifests = path.Clean(e.String(manifestsFlag))
	}
	if err := r.validate(); err != nil {
		return err
	}
	if unmanaged(r.dir(), p) {
		return fault.Usage("move it away, or choose another folder with --"+outputFlag, "another tool made the chart in %s", r.dir())
	}
	e.Project.EncodePluginConfig(Key, r)
	if !was {
		return addTargets(e.Project, r.dir(), p)
	}
	if before.dir() == r.dir() {
		return nil
	}
	if err := moveTargets(before.dir(), r.dir(), p); err != nil || unmanaged(before.dir(), p) {
		return err
	}
	files, err := p.ReadBelow(before.dir())
	if err != nil {
		return err
	}
	for name := range files {
		if err := p.Move(path.Join(before.dir(), name), path.Join(r.dir(), name)); err != nil {
			return err
		}
	}
	return nil
}

// warnUnmanaged warns if another tool made the chart that PROJECT records.
func warnUnmanaged(c *project.Config, p *scaffold.Plan) error {
	dir, err := Folder(c)
	if err == nil && unmanaged(dir, p) {
		p.Warn(scaffold.Warning{File: dir, Rule: "foreign-chart",
			Message: "another tool made this chart, so operon does not update it: repeat the command of that tool, or move the chart away and run operon generate"})
	}
	return err
}

// unmanaged reports whether another tool, or the user, made the chart.
func unmanaged(dir string, p *scaffold.Plan) bool { return p.Unmanaged(path.Join(dir, "Chart.yaml")) }

// checkLayout returns an error for a layout whose operator is not a manager in Go.
func checkLayout(layout []string) error {
	for _, key := range layout {
		if strings.HasPrefix(strings.TrimPrefix(key, "base."), "go.") { // also in a repository that operon did not start
			return nil
		}
	}
	return fault.Usage("deploy the operator with make deploy, or write its manifests with operon installer",
		"the plugin %s is for operators in Go, and the layout is %s", Key, strings.Join(layout, ", "))
}
