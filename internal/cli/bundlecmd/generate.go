package bundlecmd

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/blang/semver/v4"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/olm/bundle"
	"github.com/operon-dev/operon/internal/olm/csv"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"
)

// generator is the name of this command in the records of generated files.
const generator = "bundle"

// generate holds the flags of `operon bundle generate`.
type generate struct {
	command.WriteFlags
	version, pkg   string
	channels       []string
	defaultChannel string
	outputDir      string
	kustomizeDir   string
	image          string
	accounts       []string

	cmd    *cobra.Command
	placed []csv.Placement // what became of each object
}

func newGenerate(a *command.App) *cobra.Command {
	o := &generate{}
	cmd := &cobra.Command{
		Use:   "generate",
		Short: "Generate a bundle for the Operator Lifecycle Manager",
		Long: `Generate a bundle from the kustomization of the project: a
ClusterServiceVersion, the CRDs and other manifests, the metadata, and a
Dockerfile for the image of the bundle.

Metadata such as the display name, links and install modes comes from
config/manifests/bases/*.clusterserviceversion.yaml. Without config/manifests,
the objects are those of config/default and config/samples.

A repeat keeps the version, the image, the package and the channels of the
bundle unless a flag changes them. docs/olm.md describes what becomes of each
object.`,
		Example: `  operon bundle generate --version 0.1.0 \
    --image registry.example.org/fleet:v0.1.0
  operon bundle generate --version 0.2.0 --channels stable,fast \
    --default-channel stable
  operon bundle generate --check --diff`,
		Args: command.NoArgs,
		RunE: func(*cobra.Command, []string) error { return o.run(a) },
	}
	o.cmd = cmd
	f := cmd.Flags()
	f.StringVar(&o.version, "version", "", "version of the operator, such as 0.1.0; by default that of the existing bundle")
	f.StringVar(&o.image, "image", "", "image of the manager; by default that of the kustomization, or else of the existing bundle")
	f.StringSliceVar(&o.channels, "channels", nil, `channels of the bundle; by default those of the existing bundle, or "alpha"`)
	f.StringVar(&o.defaultChannel, "default-channel", "", "channel from which users install the operator unless they select another one")
	f.StringVar(&o.pkg, "package", "", "name of the package; by default that of the existing bundle, or of the project")
	f.StringVar(&o.outputDir, "output-dir", "bundle", "folder of the bundle, relative to the project")
	f.StringVar(&o.kustomizeDir, "kustomize-dir", manifestsDir, "folder of the kustomization, relative to the project")
	f.StringSliceVar(&o.accounts, "extra-service-accounts", nil, "ServiceAccounts of the operator that no Deployment in the manifests uses")
	o.BindCheck(cmd, "the bundle differs")
	o.Objects = func() any { return o.placed }
	o.Bind(cmd)
	command.CompleteNothing(cmd, "version", "image", "channels", "default-channel", "package", "extra-service-accounts")
	f.SortFlags = false
	return cmd
}

func (o *generate) run(a *command.App) error {
	if err := cmp.Or(o.checkVersion(), o.checkNames(), o.checkFolders(), o.CheckCheck(o.cmd)); err != nil {
		return err
	}
	err := a.InProject(o.cmd, o.WriteFlags, func(ctx context.Context, s command.Project) error { return o.plan(ctx, a, s) })
	if err != nil {
		return err
	}
	a.NextStep("operon bundle image --image <reference> --push")
	return nil
}

func (o *generate) checkVersion() error {
	if o.version == "" {
		return nil
	}
	if _, err := semver.Parse(o.version); err != nil {
		return fault.Usage("use three numbers without a v, as in --version 0.1.0", "--version %q is not a semantic version: %v", o.version, err)
	}
	return nil
}

func (o *generate) checkNames() error {
	if o.image != "" {
		if _, err := name.ParseReference(o.image); err != nil {
			return fault.Usage("use a name with a tag or digest, as in registry.example.org/fleet:v0.1.0", "--image %q is not the name of an image: %v", o.image, err)
		}
	}
	for _, channel := range o.channels {
		if err := o.checkName("channels", channel); err != nil {
			return err
		}
	}
	return cmp.Or(o.checkName("package", o.pkg), o.checkName("default-channel", o.defaultChannel))
}

func (o *generate) checkName(flag, name string) error {
	if o.cmd.Flags().Changed(flag) && len(validation.IsDNS1123Subdomain(name)) > 0 {
		return fault.Usage("use lowercase letters, digits, hyphens and dots", "--%s %q is not a valid name", flag, name)
	}
	return nil
}

func (o *generate) checkFolders() error {
	o.outputDir, o.kustomizeDir = filepath.ToSlash(filepath.Clean(o.outputDir)), filepath.ToSlash(filepath.Clean(o.kustomizeDir))
	return cmp.Or(checkFolder("output-dir", o.outputDir), checkFolder("kustomize-dir", o.kustomizeDir))
}

func checkFolder(flag, dir string) error {
	if dir == "." || !filepath.IsLocal(dir) {
		return fault.Usage("use a path relative to the project", "--%s %s is not a folder in the project", flag, dir)
	}
	return nil
}

// plan adds the bundle to the plan.
func (o *generate) plan(ctx context.Context, a *command.App, s command.Project) error {
	existing, err := o.existing(s)
	if err != nil {
		return err
	}
	meta := existing.with(o)
	version := cmp.Or(o.version, existing.version)
	if version == "" {
		return fault.Usage("add --version, as in --version 0.1.0", "the bundle has no version yet")
	}
	in, err := o.manifests(s)
	if err != nil {
		return err
	}
	now, err := a.Time()
	if err != nil {
		return err
	}
	options := in.options
	if options.Markers, err = readMarkers(ctx, a, s, in.objects); err != nil {
		return err
	}
	options.Package, options.Version, options.ExtraServiceAccounts = meta.Package, version, o.accounts
	options.Previous, options.CreatedAt = existing.csv, now.UTC().Format(time.RFC3339)
	meta.Extra = map[string]string{
		"operators.operatorframework.io.metrics.builder":        "operon",
		"operators.operatorframework.io.metrics.mediatype.v1":   "metrics+v1",
		"operators.operatorframework.io.metrics.project_layout": strings.Join(s.Config.Layout, ","),
	}
	options.Annotations = map[string]string{
		"operators.operatorframework.io/builder":        "operon",
		"operators.operatorframework.io/project_layout": strings.Join(s.Config.Layout, ","),
	}
	result, err := csv.Generate(in.objects, options)
	if err != nil {
		return err
	}
	o.placed = result.Objects
	for _, w := range result.Warnings {
		s.Plan.Warn(scaffold.Warning{File: w.File, Rule: w.Rule, Message: w.Message})
	}
	if err := o.planManifests(s.Plan, result); err != nil {
		return err
	}
	meta.Scorecard = result.Scorecard != nil
	return o.planMetadata(s.Plan, meta)
}

// planManifests adds the generated files, and removes those of earlier runs.
func (o *generate) planManifests(p *scaffold.Plan, result *csv.Result) error {
	files, err := bundle.Encode(result.Manifests)
	if err != nil {
		return err
	}
	current := map[string]bool{}
	for name, content := range files {
		current[path.Join(o.outputDir, bundle.ManifestsDir, name)] = true
		if err := p.Generate(generator, path.Join(o.outputDir, bundle.ManifestsDir, name), content); err != nil {
			return err
		}
	}
	if result.Scorecard != nil {
		text, err := yaml.Marshal(result.Scorecard)
		if err != nil {
			return err
		}
		name := path.Join(o.outputDir, bundle.ScorecardFile)
		current[name] = true
		if err := p.Generate(generator, name, text); err != nil {
			return err
		}
	}
	for _, r := range p.Recorded() {
		if r.Generator != generator || current[r.Path] || !strings.HasPrefix(r.Path, o.outputDir+"/") || !p.Exists(r.Path) {
			continue
		}
		if !p.Unchanged(r.Path) {
			p.Warn(scaffold.Warning{File: r.Path, Rule: "stale-edited", Message: "nothing generates this file any more; it was edited, so it stays"})
			continue
		}
		if err := p.Remove(r.Path); err != nil {
			return err
		}
	}
	return nil
}

// planMetadata adds the annotations, and labels with all annotations, also those of the user.
func (o *generate) planMetadata(p *scaffold.Plan, meta bundle.Metadata) error {
	name := path.Join(o.outputDir, bundle.AnnotationsFile)
	if err := p.Share(name, 0, meta.NewAnnotations()); err != nil {
		return err
	}
	if err := p.Edit(name, meta.EditAnnotations); err != nil {
		return fault.In(name, err)
	}
	text, err := p.Read(name)
	if err != nil {
		return err
	}
	annotations, err := bundle.ReadAnnotations(text)
	if err != nil {
		return fault.In(name, err)
	}
	name = bundle.Dockerfile(o.outputDir)
	if err := p.Share(name, 0, bundle.NewDockerfile(o.outputDir, annotations)); err != nil {
		return err
	}
	edit := func(src []byte) ([]byte, error) {
		return bundle.EditDockerfile(src, o.outputDir, annotations, meta.Unset())
	}
	return fault.In(name, p.Edit(name, edit))
}

// existing is what a repeat takes from the bundle.
type existing struct {
	bundle.Metadata
	version string
	csv     []byte
}

// existing reads the bundle in the output folder. It is empty if there is none.
func (o *generate) existing(s command.Project) (existing, error) {
	e := existing{Metadata: bundle.Metadata{Package: s.Config.ProjectName, Channels: []string{"alpha"}}}
	name := path.Join(o.outputDir, bundle.AnnotationsFile)
	text, err := s.Plan.Read(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return e, err
	}
	if err == nil {
		values, err := bundle.ReadAnnotations(text)
		if err != nil {
			return e, fault.In(name, err)
		}
		e.Package = cmp.Or(values[bundle.PackageKey], e.Package)
		if channels := values[bundle.ChannelsKey]; channels != "" {
			e.Channels = strings.Split(channels, ",")
		}
		e.DefaultChannel = values[bundle.DefaultChannelKey]
	}
	e.csv, err = s.Plan.Read(path.Join(o.outputDir, bundle.ManifestsDir, bundle.CSVFile(cmp.Or(o.pkg, e.Package))))
	if err != nil {
		return e, ignoreMissing(err)
	}
	var doc struct {
		Spec struct {
			Version string `json:"version"`
		} `json:"spec"`
	}
	if yaml.Unmarshal(e.csv, &doc) == nil { // a broken one is replaced
		if _, err := semver.Parse(doc.Spec.Version); err == nil {
			e.version = doc.Spec.Version
		}
	}
	return e, nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// with returns the metadata with the values of the flags.
func (e existing) with(o *generate) bundle.Metadata {
	m := e.Metadata
	m.Package = cmp.Or(o.pkg, m.Package)
	m.DefaultChannel = cmp.Or(o.defaultChannel, m.DefaultChannel)
	if len(o.channels) > 0 {
		m.Channels = slices.Clone(o.channels)
	}
	return m
}
