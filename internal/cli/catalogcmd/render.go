package catalogcmd

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/cli/command/images"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/image"
	"github.com/operon-dev/operon/internal/input"
	"github.com/operon-dev/operon/internal/olm/catalog"
	"github.com/spf13/cobra"
)

const formatYAML = "yaml"

// render holds the flags of operon catalog render.
type render struct {
	images.RegistryFlags

	output string
	image  string
}

func newRender(a *command.App) *cobra.Command {
	o := &render{}
	cmd := &cobra.Command{
		Use:   "render SOURCE...",
		Short: "Print bundles, catalogs and templates as documents of a catalog",
		Long: `Print sources as documents of a file-based catalog. A source is

  a bundle    in a folder, an OCI layout, a tarball, or a registry
  a catalog   in a folder
  a template  in a file, with the schema olm.semver or olm.template.basic; its
              images are bundles as above, relative to the file

A bundle from a registry is recorded with its reference. For a bundle on this
machine, --image says where it will be; without it, the documents have the
manifests themselves, and OLM pulls no image.`,
		Example: `  operon catalog render ./bundle --image ghcr.io/acme/fleet-bundle:v0.1.0
  operon catalog render semver.yaml > catalog/fleet.yaml`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), a, args) },
	}
	f := cmd.Flags()
	f.StringVar(&o.image, "image", "", "reference of the image of a bundle on this machine")
	f.StringVarP(&o.output, "output", "o", formatYAML, "output format: yaml or json")
	o.Bind(cmd)
	command.CompleteNothing(cmd, "image")
	command.CompleteValues(cmd, "output", formatYAML, command.FormatJSON)
	return cmd
}

func (o *render) run(ctx context.Context, a *command.App, args []string) error {
	switch {
	case len(args) == 0:
		return fault.Usage("for example: operon catalog render ./bundle", "operon catalog render needs a bundle, a catalog or a template")
	case o.image != "" && len(args) > 1:
		return fault.Usage("render one bundle at a time", "--image is for one bundle, got %d sources", len(args))
	}
	if err := command.CheckValue("output", o.output, formatYAML, command.FormatJSON); err != nil {
		return err
	}
	if o.image != "" {
		if _, err := o.Registry.ParseReference(o.image); err != nil {
			return err
		}
	}
	text, err := images.Await(ctx, func() ([]byte, error) { return o.render(ctx, a, args) })
	if err != nil {
		return err
	}
	_, err = a.Out.Write(text)
	return err
}

// render returns the documents of all sources as text.
func (o *render) render(ctx context.Context, a *command.App, sources []string) ([]byte, error) {
	var docs []any
	for _, source := range sources {
		more, err := o.documents(ctx, a, source)
		if err != nil {
			return nil, err
		}
		docs = append(docs, more...)
	}
	if o.output == command.FormatJSON {
		return catalog.JSON(docs)
	}
	return catalog.YAML(docs)
}

// documents returns the documents of a source.
func (o *render) documents(ctx context.Context, a *command.App, source string) ([]any, error) {
	name := a.Path(source)
	info, err := os.Stat(name)
	if err == nil && info.IsDir() && !image.IsLayout(name) && !hasMetadata(name) {
		return catalogDocuments(a, source)
	}
	if err == nil && !info.IsDir() {
		src, err := input.ReadFile(name, input.Data)
		if err != nil {
			return nil, fault.Usage("name a bundle, a catalog or a template", "%s: %v", source, fault.Reason(err))
		}
		if len(src) < 1<<20 && catalog.IsTemplate(src) {
			return o.template(ctx, a.At(filepath.Dir(name)), src, source)
		}
		if image.CheckTarball(name) != nil {
			return nil, fault.Usage("a template has schema: olm.semver, or schema: olm.template.basic; name a catalog by its folder", "%s is neither a template nor the tarball of a bundle", source)
		}
	}
	r, err := o.bundle(ctx, a, source, o.image)
	if err != nil {
		return nil, err
	}
	return []any{r.Bundle}, nil
}

// hasMetadata reports whether a folder is a bundle rather than a catalog.
func hasMetadata(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, "metadata"))
	return !errors.Is(err, fs.ErrNotExist)
}

func catalogDocuments(a *command.App, folder string) ([]any, error) {
	c, found, err := read(a, folder)
	if err != nil {
		return nil, err
	}
	if len(found) > 0 {
		return nil, unreadable(folder, found)
	}
	return c.Documents(), nil
}

// template renders a template. Its bundles are relative to its own folder.
func (o *render) template(ctx context.Context, a *command.App, src []byte, name string) ([]any, error) {
	docs, err := catalog.RenderTemplate(ctx, src, func(place string) (catalog.Rendered, error) { return o.bundle(ctx, a, place, "") })
	if err != nil {
		return nil, fault.In(name, err)
	}
	return docs, nil
}

// bundle renders one bundle. Its image is the one given, or its reference in a registry.
func (o *render) bundle(ctx context.Context, a *command.App, place, ref string) (catalog.Rendered, error) {
	b, err := images.OpenBundle(ctx, a, place, o.Registry)
	if err != nil {
		return catalog.Rendered{}, err
	}
	if err := images.CheckTag(ref, b.Version()); err != nil {
		return catalog.Rendered{}, err
	}
	if _, err := os.Stat(a.Path(place)); err != nil && ref == "" {
		ref = place
	}
	return catalog.FromBundle(b, ref)
}
