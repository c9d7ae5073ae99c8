package bundlecmd

import (
	"cmp"
	"context"
	"maps"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/cli/command/images"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/olm/csv"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/spf13/cobra"
)

// generator is the name of this command in the records of generated files.
const generator = "bundle"

// generate holds the flags of `operon bundle generate`.
type generate struct {
	command.WriteFlags
	images.RegistryFlags

	version, pkg   string
	channels       []string
	defaultChannel string
	outputDir      string
	kustomizeDir   string
	image          string
	accounts       []string
	useDigests     bool
	quiet          bool
	overwrite      bool

	cmd    *cobra.Command
	placed []csv.Placement // where each object ended up
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
the objects come from config/default and config/samples.

The version, the package and the channels come from flags, from PROJECT, or from
the existing bundle, in this order. The first bundle can have the version in the
tag of --image. Without --image, the image of the existing bundle stays.
docs/olm.md describes the keys of PROJECT, and what becomes of each object.`,
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
	f.StringVar(&o.version, "version", "", "version of the operator, such as 0.1.0; by default that in PROJECT, or else of the existing bundle")
	f.StringVar(&o.image, "image", "", "image of the manager; by default the one in the kustomization, or else of the existing bundle")
	f.StringSliceVar(&o.channels, "channels", nil, `channels of the bundle; by default those in PROJECT, of the existing bundle, or "`+defaultChannel+`"`)
	f.StringVar(&o.defaultChannel, "default-channel", "", "channel from which users install the operator unless they select another one")
	f.StringVar(&o.pkg, "package", "", "name of the package; by default that in PROJECT, of the existing bundle, or of the project")
	f.StringVar(&o.outputDir, "output-dir", "bundle", "folder of the bundle, relative to the project")
	f.StringVar(&o.kustomizeDir, "kustomize-dir", manifestsDir, "folder of the kustomization, relative to the project")
	f.StringSliceVar(&o.accounts, "extra-service-accounts", nil, "ServiceAccounts of the operator that no Deployment in the manifests uses")
	f.BoolVar(&o.useDigests, "use-image-digests", false, "refer to images by digest, and list all as related images; asks their registries")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "do not list the files")
	f.BoolVar(&o.overwrite, "overwrite", true, "update existing metadata and the Dockerfile, and keep lines that you added")
	o.RegistryFlags.Bind(cmd)
	o.BindCheck(cmd, "the bundle differs")
	o.Objects = func() any { return o.placed }
	o.WriteFlags.Bind(cmd)
	command.CompleteNothing(cmd, "version", "image", "channels", "default-channel", "package", "extra-service-accounts")
	f.SortFlags = false
	return cmd
}

func (o *generate) run(a *command.App) error {
	if err := cmp.Or(o.checkVersion(), o.checkNames(), o.checkFolders(), o.CheckCheck(o.cmd)); err != nil {
		return err
	}
	o.Quiet = o.quiet
	err := a.InAnyProject(o.cmd, o.WriteFlags, func(ctx context.Context, s command.Project) error { return o.plan(ctx, a, s) })
	if err != nil {
		return err
	}
	a.NextStep("operon bundle image --image <reference> --push")
	return nil
}

// plan adds the bundle to the plan.
func (o *generate) plan(ctx context.Context, a *command.App, s command.Project) error {
	charts, err := readCharts(ctx, a, s) // first: with an error, the image of the operator lacks a chart
	if err != nil {
		return err
	}
	r, err := o.release(s)
	if err != nil {
		return err
	}
	if err := r.checkName(o.outputDir); err != nil {
		return err
	}
	in, err := o.manifests(s, r.declared)
	if err != nil {
		return err
	}
	now, err := a.Time()
	if err != nil {
		return err
	}
	options := o.csvOptions(s, r, in.options)
	options.CreatedAt = now.UTC().Format(time.RFC3339)
	if options.Markers, err = readMarkers(ctx, a, s, in.objects); err != nil {
		return err
	}
	if charts != nil {
		options.Markers = charts
	}
	result, err := csv.Generate(in.objects, options)
	if err == nil && o.useDigests {
		if options.Digests, err = o.digests(ctx, a, result.Images); err == nil {
			result, err = csv.Generate(in.objects, options)
		}
	}
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
	if r.Extra == nil {
		r.Extra = map[string]string{}
	}
	maps.Copy(r.Extra, map[string]string{
		"operators.operatorframework.io.metrics.builder":        "operon",
		"operators.operatorframework.io.metrics.mediatype.v1":   "metrics+v1",
		"operators.operatorframework.io.metrics.project_layout": strings.Join(s.Config.Layout, ","),
	})
	r.Scorecard = result.Scorecard != nil
	if err := o.planMetadata(s.Plan, r.Metadata); err != nil {
		return err
	}
	return o.check(s.Plan)
}

// csvOptions completes the options of the manifests for a release of the project.
func (o *generate) csvOptions(s command.Project, r release, options csv.Options) csv.Options {
	options.Package, options.Version, options.ExtraServiceAccounts = r.Package, r.version, o.accounts
	options.RolesFromHooks = isFolder(s.Root, "hooks") || isFolder(s.Root, "modules")
	options.Replaces, options.Skips, options.SkipRange = r.declared.Replaces, r.declared.Skips, r.declared.SkipRange
	options.Previous = r.csv
	options.Annotations = map[string]string{
		"operators.operatorframework.io/builder":        "operon",
		"operators.operatorframework.io/project_layout": strings.Join(s.Config.Layout, ","),
	}
	return options
}

// digests asks registries for the digests of images.
func (o *generate) digests(ctx context.Context, a *command.App, images []string) (map[string]string, error) {
	digests := map[string]string{}
	for _, image := range images {
		if strings.Contains(image, "@") {
			continue
		}
		if csv.IsPlaceholder(image) {
			return nil, fault.Usage("use --image", "the image %s is a placeholder, and has no digest", image)
		}
		a.Progress("resolving " + image)
		digest, err := o.Registry.Resolve(ctx, image)
		if err != nil {
			return nil, err
		}
		digests[image] = digest
	}
	return digests, nil
}
