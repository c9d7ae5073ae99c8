package olmcmd

import (
	"context"
	"maps"
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

// onlyV0 are the flags that have no effect with OLM v1, with the reason.
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

// exampleImage is an image for the catalogs of operon. Its name tells it apart from other catalogs.
const exampleImage = "ghcr.io/acme/run-bundle:fleet"

// checkCatalogImage validates --catalog-image, and what does not go with it.
func (o *runOptions) checkCatalogImage(cmd *cobra.Command, a *command.App, bundle string) error {
	if o.catalogImage == "" {
		return nil
	}
	if _, err := o.parseTag(o.catalogImage); err != nil {
		return err
	}
	return o.refuseV0(cmd, a, bundle)
}

// parseTag returns the tag to which a catalog is pushed.
func (o *runOptions) parseTag(ref string) (name.Tag, error) {
	if strings.Contains(ref, "@") {
		return name.Tag{}, fault.Usage("name a tag, such as "+exampleImage, "--catalog-image %q has a digest, which the new image does not have yet", ref)
	}
	parsed, err := o.source.Registry.ParseReference(ref)
	tag, _ := parsed.(name.Tag)
	return tag, err
}

// catalog returns how the catalog reaches OLM, or nil for OLM v0. OLM v1 installs with --catalog-image, if
// it has installed the package, or if the cluster has no other version.
func (o *runOptions) catalog(ctx context.Context, a *command.App, cmd *cobra.Command, c *cluster.Client, has versions, opts cluster.Options, bundle string) (cluster.Catalog, error) {
	pkg := opts.Bundle.Package()
	extended := false
	switch {
	case o.catalogImage != "", !has.v0:
	case !has.v1:
		return nil, nil //nolint:nilnil // as documented
	default:
		var err error
		if extended, err = c.HasExtension(ctx, pkg); err != nil || !extended {
			return nil, err
		}
	}
	err := o.refuseV0(cmd, a, bundle)
	if extended {
		err = fault.In("package "+pkg+" is managed by OLM v1", err)
	}
	if err != nil {
		return nil, err
	}
	bundleRef, err := o.source.Registry.ParseReference(o.pod.Bundle)
	if err != nil {
		return nil, err
	}
	tag, missing := o.target(ctx, c, pkg)
	return cluster.CatalogImage{
		Bundle: byDigest(bundleRef, bundleRef.Identifier()), Ref: tag, Account: o.pod.ServiceAccount,
		Push: func(ctx context.Context, content []byte) (string, error) {
			if missing != nil { // what is installed already needs no image
				return "", missing
			}
			return o.push(ctx, a, tag, pkg, content)
		},
	}, nil
}

// versions are the versions of OLM that a cluster has.
type versions struct{ v0, v1 bool }

// versions returns the versions of OLM that the cluster has. It is an error if it lacks the one of the
// flags.
func (o *runOptions) versions(ctx context.Context, c *cluster.Client) (has versions, err error) {
	has.v0, has.v1, err = c.Versions(ctx)
	if err == nil && o.catalogImage != "" && !has.v1 {
		err = fault.Usage("remove the flag: OLM v0 needs no image of a catalog", "--catalog-image is for OLM v1, which the cluster does not have")
	}
	return has, err
}

// target returns the tag to which the catalog is pushed: the one of the flag, or of the installed
// version. Who may change a ClusterCatalog must not choose another repository to push to.
func (o *runOptions) target(ctx context.Context, c *cluster.Client, pkg string) (string, error) {
	if o.catalogImage != "" {
		return o.catalogImage, nil
	}
	const hint = "name an image that operon can push and OLM can pull: --catalog-image " + exampleImage
	ref, used, err := c.CatalogImage(ctx, pkg)
	switch {
	case err != nil:
		return "", err
	case ref == "":
		return "", fault.Usage(hint, "OLM v1 installs %s only from the image of a catalog", pkg)
	}
	tag, err := o.parseTag(ref)
	if err != nil {
		return "", fault.Usage(hint, "the annotation of the ClusterCatalog of %s names %q, which is not the tag of an image", pkg, ref)
	}
	now, err := o.source.Registry.ParseReference(used)
	if err != nil || now.Context().Name() != tag.Context().Name() {
		return "", fault.Usage(hint, "the annotation of the ClusterCatalog of %s names %s, and OLM reads %s", pkg, ref, used)
	}
	return ref, nil
}

// push puts the catalog of a package into an image in a registry, and returns its reference by
// digest. A second tag keeps the image when the first one moves to the next version.
func (o *runOptions) push(ctx context.Context, a *command.App, ref, pkg string, content []byte) (string, error) {
	tag, err := o.parseTag(ref)
	if err != nil {
		return "", err
	}
	labels := cluster.Labels(pkg)
	if err := o.refuseOthers(ctx, ref, tag, pkg, labels); err != nil {
		return "", err
	}
	maps.Copy(labels, catalog.Labels())
	base, err := image.Scratch(v1.Platform{}) // OLM v1 only reads the files
	if err != nil {
		return "", err
	}
	files := []image.File{image.Text(path.Join(catalog.ImageDir, "catalog.json"), content)}
	img, err := image.Build(ctx, base, files, image.Config{Labels: labels}, time.Unix(0, 0))
	if err != nil {
		return "", err
	}
	digest, err := image.Content{Image: img}.Digest()
	if err != nil {
		return "", err
	}
	a.Progress("pushing " + ref)
	for _, to := range []string{kept(tag, digest).Name(), ref} {
		if err := o.source.Registry.Push(ctx, to, image.Content{Image: img}); err != nil {
			return "", err
		}
	}
	return byDigest(tag, digest), nil
}

// refuseOthers returns an error if a tag has an image that operon did not push for the package.
func (o *runOptions) refuseOthers(ctx context.Context, ref string, tag name.Tag, pkg string, want map[string]string) error {
	labels, found, err := o.source.Registry.Labels(ctx, ref)
	if err != nil || !found {
		return err
	}
	for key, value := range want {
		if labels[key] != value {
			return fault.Failed("name another tag, such as --catalog-image "+tag.Context().Tag("run-bundle-"+pkg).String(),
				"%s exists, and operon run bundle did not push it for package %s", ref, pkg)
		}
	}
	return nil
}

// kept returns the tag that an image keeps.
func kept(tag name.Tag, digest string) name.Tag {
	const longest, short = 128, 12
	suffix := "-" + strings.TrimPrefix(digest, "sha256:")[:short]
	return tag.Context().Tag(tag.TagStr()[:min(len(tag.TagStr()), longest-len(suffix))] + suffix)
}

// byDigest returns a reference with its registry, as OLM v1 requires it.
func byDigest(ref name.Reference, digest string) string {
	where := ref.Context().Name()
	if path, hub := strings.CutPrefix(where, name.DefaultRegistry+"/"); hub {
		where = "docker.io/" + path
	}
	return where + "@" + digest
}
