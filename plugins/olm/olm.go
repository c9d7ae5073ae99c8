// Package olm scaffolds what a project needs besides its manifests to be installed by the
// Operator Lifecycle Manager (OLM): the metadata of its bundle, the configuration of the
// scorecard, and targets in the Makefile.
package olm

import (
	"bytes"
	"cmp"
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/pins"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
	"github.com/operon-dev/operon/plugins/internal/kustomizefile"
	"github.com/operon-dev/operon/templates"
)

// Key is the plugin's name in PROJECT. operator-sdk records the same keys in its projects.
const (
	Key          = project.BundlePlugin
	ScorecardKey = "scorecard.sdk.operatorframework.io/v2"
)

const (
	basesDir        = "config/manifests/bases"
	baseSuffix      = ".clusterserviceversion.yaml"
	iconFile        = "icon.svg"
	manifestEntries = "config/manifests/kustomization.yaml"
	sampleEntries   = "config/samples/kustomization.yaml"
)

// Plugin is the olm plugin. It accompanies a layout.
type Plugin struct{}

var _ plugin.Plugin = Plugin{}

// Name implements plugin.Plugin.
func (Plugin) Name() string { return Key }

// Doc implements plugin.Plugin.
func (Plugin) Doc() string { return "bundles for the Operator Lifecycle Manager" }

// Options implements plugin.Plugin. There are none.
func (Plugin) Options() []plugin.Option { return nil }

// Plan implements plugin.Plugin.
func (Plugin) Plan(_ context.Context, e plugin.Event, p *scaffold.Plan) error {
	switch e.Type {
	case plugin.Init:
		return addBundle(e.Project, p)
	case plugin.Edit:
		if _, before := e.Before.Plugins[Key]; !before {
			return addBundle(e.Project, p)
		}
		if e.Before.Namespaced != e.Project.Namespaced {
			return followScope(e.Project.Namespaced, p)
		}
	case plugin.CreateAPI:
		return listFirstSample(p)
	}
	return nil
}

// values are the values for the templates of this plugin.
type values struct {
	Package        string // DNS label; the package in a catalog
	Domain         string
	Text           texts
	Namespaced     bool
	ScorecardImage string
	CatalogBase    string   // with opm
	OLMTests       []string // the built-in tests of the suite olm
	Go             bool     // the layout has Go types
	Initial        string   // for the icon
	Needs          string   // what the target bundle depends on in the Makefile
}

// texts are YAML scalars.
type texts struct{ Keyword, DisplayName, Description, Maintainers, Provider string }

func valuesFor(c *project.Config) values {
	words := strings.FieldsFunc(c.ProjectName, func(r rune) bool { return r == '-' || r == '.' })
	for i, word := range words {
		words[i] = strings.ToUpper(word[:1]) + word[1:]
	}
	v := values{
		Package: c.ProjectName, Domain: cmp.Or(c.Domain, "example.org"), Namespaced: c.Namespaced,
		CatalogBase:    pins.OPMImage,
		ScorecardImage: "quay.io/operator-framework/scorecard-test:" + pins.ScorecardTest,
		OLMTests: []string{
			"olm-bundle-validation", "olm-crds-have-validation", "olm-crds-have-resources", "olm-spec-descriptors", "olm-status-descriptors",
		},
	}
	name := strings.Join(words, " ")
	v.Initial = name[:1]
	v.Go = slices.ContainsFunc(c.Layout, func(key string) bool { return strings.HasPrefix(key, "go.") })
	v.Text = texts{
		Keyword: yamledit.Scalar(v.Package), DisplayName: yamledit.Scalar(name), Provider: yamledit.Scalar(v.Domain),
		Description: yamledit.Scalar(name + " for Kubernetes."), Maintainers: yamledit.Scalar(name + " maintainers"),
	}
	return v
}

// addBundle plans the files for the bundle, and records the plugin. Files of another tool
// stay as they are.
func addBundle(c *project.Config, p *scaffold.Plan) error {
	for _, key := range []string{Key, ScorecardKey} {
		if _, recorded := c.Plugins[key]; !recorded {
			c.EncodePluginConfig(key, struct{}{})
		}
	}
	v := valuesFor(c)
	vars := map[string]string{"package": v.Package}
	err := render.Tree(p.Templates(templates.FS), "olm/init", vars, v, func(name string, mode fs.FileMode, content []byte) error {
		if path.Base(name) == "kustomization.yaml" {
			return p.Share(name, mode, content)
		}
		return seedOwn(p, name, mode, content)
	})
	if err != nil {
		return err
	}
	if p.Creates(manifestEntries) && p.Exists(sampleEntries) {
		if err := listSamples(p); err != nil {
			return err
		}
	}
	if err := describe(p); err != nil {
		return err
	}
	return addTargets(v, p)
}

// seedOwn is plugin.SeedOwn, but seeds nothing if another tool wrote the metadata of another name.
func seedOwn(p *scaffold.Plan, name string, mode fs.FileMode, content []byte) error {
	_, base, err := p.Before(name)
	if err != nil {
		return err
	}
	if base == nil && path.Dir(name) == basesDir {
		others, err := p.Files(basesDir)
		if err != nil || slices.ContainsFunc(others, func(other string) bool { return rivals(path.Base(name), other, p) }) {
			return err
		}
	}
	if base != nil && strings.HasSuffix(name, baseSuffix) {
		content = withHeader(base, content)
	}
	return plugin.SeedOwn(p)(name, mode, content)
}

// withHeader returns the content with the first comment of the base. Users often remove it, and a newer one
// would conflict with that.
func withHeader(base, content []byte) []byte {
	const start = "apiVersion:"
	before, _, found := bytes.Cut(base, []byte(start))
	at := bytes.Index(content, []byte(start))
	if !found || at < 0 {
		return content
	}
	return slices.Concat(before, content[at:])
}

// rivals reports whether another file in the folder is there instead of a file: another base, an icon of the
// user, or a base that existed before operon had icons and may have one.
func rivals(name, other string, p *scaffold.Plan) bool {
	if name == iconFile {
		isIcon := other != name && strings.TrimSuffix(other, path.Ext(other)) == "icon"
		return isIcon || strings.HasSuffix(other, baseSuffix) && !p.Creates(path.Join(basesDir, other))
	}
	return other != name && strings.HasSuffix(other, baseSuffix)
}

// listFirstSample lists config/samples in the manifests of the bundle when the project gets
// its first sample. Later, the list is the user's.
func listFirstSample(p *scaffold.Plan) error {
	if !p.Creates(sampleEntries) || !p.Exists(manifestEntries) {
		return nil
	}
	return listSamples(p)
}

func listSamples(p *scaffold.Plan) error {
	return kustomizefile.Item{File: manifestEntries, Key: "resources", Text: "../samples"}.Add(p)
}
