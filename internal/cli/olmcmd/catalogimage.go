package olmcmd

import (
	"context"
	"os"
	"path"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/image"
	"github.com/operon-dev/operon/internal/olm/catalog"
	"github.com/operon-dev/operon/internal/olm/cluster"
	"github.com/spf13/cobra"
)

// onlyV0 are the flags that OLM v1 has no use for, with the reason.
var onlyV0 = []struct{ name, reason string }{
	{"local", "OLM v1 installs only from images in a registry"},
	{"host", "OLM v1 installs only from images in a registry"},
	{"index-image", noPod}, {"image-pull-policy", noPod}, {"security-context-config", noPod},
	{"pull-secret-name", "OLM v1 pulls images with its own pull secret, or with that of the ServiceAccount"},
}

const noPod = "OLM v1 reads the catalog itself, and runs no pod for it"

// refuseV0 returns an error if a flag or the bundle is not for OLM v1.
func (o *runOptions) refuseV0(cmd *cobra.Command, a *command.App, bundle string) error {
	for _, f := range onlyV0 {
		if cmd.Flags().Changed(f.name) {
			return fault.Usage("remove the flag", "--%s cannot be used here: %s", f.name, f.reason)
		}
	}
	if _, err := os.Stat(a.Path(bundle)); err == nil || image.IsPath(bundle) {
		return fault.Usage("push it: operon bundle image --image IMAGE --push, and name IMAGE", "OLM v1 pulls the image of the bundle, and %s is on this machine", bundle)
	}
	return nil
}

// checkVersion validates what --catalog-image says about the version of OLM.
func (o *runOptions) checkVersion(cmd *cobra.Command, a *command.App, bundle string) error {
	if o.catalogImage == "" {
		return nil
	}
	if strings.Contains(o.catalogImage, "@") {
		return fault.Usage("name a tag, such as ghcr.io/acme/catalog:v1", "--catalog-image %q has a digest, which the new image does not have yet", o.catalogImage)
	}
	if _, err := o.source.Registry.ParseReference(o.catalogImage); err != nil {
		return err
	}
	return o.refuseV0(cmd, a, bundle)
}

// catalog returns how the catalog reaches OLM, which decides on the version of OLM: v1 with
// --catalog-image, or if the cluster has no other.
func (o *runOptions) catalog(ctx context.Context, a *command.App, cmd *cobra.Command, c connection, opts cluster.Options, bundle string) (cluster.Catalog, error) {
	hasV0, hasV1, err := c.Versions(ctx)
	switch {
	case err != nil:
		return nil, err
	case o.catalogImage != "" && !hasV1:
		return nil, fault.Usage("remove the flag: OLM v0 needs no image of a catalog", "--catalog-image is for OLM v1, which the cluster does not have")
	case o.catalogImage == "" && hasV0:
		return o.catalogV0(c)
	}
	if err := o.refuseV0(cmd, a, bundle); err != nil {
		return nil, err
	}
	ref := o.catalogImage
	if ref == "" {
		if ref, err = c.CatalogImage(ctx, opts.Bundle.Package()); err != nil {
			return nil, err
		}
	}
	if ref == "" {
		return nil, fault.Usage("name an image that operon can push and OLM can pull: --catalog-image ghcr.io/acme/catalog:v1",
			"the cluster has only OLM v1, which installs operators only from images of catalogs")
	}
	resolved, err := o.source.Registry.Resolve(ctx, bundle)
	if err != nil {
		return nil, err
	}
	bundleRef, err := o.source.Registry.ParseReference(resolved)
	if err != nil {
		return nil, err
	}
	return cluster.CatalogImage{
		Bundle: byDigest(bundleRef, bundleRef.Identifier()), Ref: ref, Account: o.pod.ServiceAccount,
		Push: func(ctx context.Context, content []byte) (string, error) { return o.push(ctx, a, ref, content) },
	}, nil
}

// push puts a catalog into an image in a registry, and returns its reference by digest.
func (o *runOptions) push(ctx context.Context, a *command.App, ref string, content []byte) (string, error) {
	base, err := image.Scratch(v1.Platform{}) // OLM v1 only reads the files
	if err != nil {
		return "", err
	}
	files := []image.File{image.Text(path.Join(catalog.ImageDir, "catalog.json"), content)}
	img, err := image.Build(ctx, base, files, image.Config{Labels: catalog.Labels()}, time.Unix(0, 0))
	if err != nil {
		return "", err
	}
	a.Progress("pushing " + ref)
	if err := o.source.Registry.Push(ctx, ref, image.Content{Image: img}); err != nil {
		return "", err
	}
	digest, err := image.Content{Image: img}.Digest()
	if err != nil {
		return "", err
	}
	tagged, err := o.source.Registry.ParseReference(ref)
	if err != nil {
		return "", err
	}
	return byDigest(tagged, digest), nil
}

// byDigest returns a reference with its registry, as OLM v1 requires it.
func byDigest(ref name.Reference, digest string) string {
	where := ref.Context().Name()
	if path, hub := strings.CutPrefix(where, name.DefaultRegistry+"/"); hub {
		where = "docker.io/" + path
	}
	return where + "@" + digest
}
