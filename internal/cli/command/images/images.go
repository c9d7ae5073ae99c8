// Package images has what commands for images and bundles share: flags, opening a bundle wherever it is,
// and writing and reporting an image.
package images

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/image"
	"github.com/operon-dev/operon/internal/olm/bundle"
	"github.com/operon-dev/operon/internal/olm/bundlecheck"
	"github.com/spf13/cobra"
)

// Destination holds the flags that say where an image goes.
type Destination struct {
	Push    bool
	Layout  string
	Tarball string
	RegistryFlags
}

// Bind declares the flags.
func (d *Destination) Bind(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&d.Push, "push", false, "push the image to its registry")
	f.StringVar(&d.Layout, "layout", "", "write the image into this `folder`, an OCI layout")
	f.StringVar(&d.Tarball, "tarball", "", "write the image to this `file`, for docker load")
	d.RegistryFlags.Bind(cmd)
	command.CompleteFolder(cmd, "layout")
}

// Check validates the flags before anything is built.
func (d *Destination) Check(a *command.App, ref string) error {
	if !d.Push && d.Layout == "" && d.Tarball == "" {
		return fault.Usage("add --push, --layout DIR or --tarball FILE", "the image has no destination")
	}
	if _, err := d.Registry.ParseReference(ref); err != nil {
		return err
	}
	if d.Tarball != "" {
		if err := image.CheckTarball(a.Path(d.Tarball)); err != nil {
			return err
		}
	}
	if d.Layout == "" {
		return nil
	}
	return image.CheckLayout(a.Path(d.Layout))
}

// Write writes the image to all destinations. If the registry refuses it, it writes no file.
func (d *Destination) Write(ctx context.Context, a *command.App, ref string, c image.Content) error {
	err := d.write(ctx, a, ref, c)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func (d *Destination) write(ctx context.Context, a *command.App, ref string, c image.Content) error {
	if d.Push {
		a.Progress("pushing " + ref)
		if err := d.Registry.Push(ctx, ref, c); err != nil {
			return err
		}
	}
	if d.Layout != "" {
		if err := image.WriteLayout(a.Path(d.Layout), ref, c); err != nil {
			return err
		}
		a.Progress("wrote " + d.Layout)
	}
	if d.Tarball != "" {
		if err := image.WriteTarball(a.Path(d.Tarball), ref, c); err != nil {
			return err
		}
		a.Progress("wrote " + d.Tarball)
	}
	return nil
}

// RegistryFlags holds the flags that say how to talk to registries.
type RegistryFlags struct{ Registry image.Registry }

// Bind declares the flags.
func (r *RegistryFlags) Bind(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&r.Registry.SkipTLSVerify, "skip-tls-verify", false, "accept any certificate of a registry")
	cmd.Flags().BoolVar(&r.Registry.PlainHTTP, "plain-http", false, "use registries without TLS")
}

// OpenBundle reads the bundle at a place: a folder, an OCI layout, a file that docker save
// wrote, or a reference in a registry. It is an error if the API server, OLM or opm refuse it.
func OpenBundle(ctx context.Context, a *command.App, place string, r image.Registry) (*bundle.Bundle, error) {
	files, b, err := OpenBundleFiles(ctx, a, place, r)
	if err != nil {
		return nil, err
	}
	return b, CheckBundle(place, files)
}

// CheckBundle returns the first error for which the API server, OLM or opm refuse the bundle at a place.
func CheckBundle(place string, files map[string][]byte) error {
	found := bundlecheck.Refused(files)
	if len(found) == 0 {
		return nil
	}
	return fault.In(place, fault.Usage(cmp.Or(found[0].Fix, "correct it")+"; operon bundle validate lists all problems",
		"%s: %s", found[0].Position(), found[0].Message))
}

// OpenBundleFiles also returns the files of the bundle, by path with slashes. It accepts what OpenBundle refuses.
func OpenBundleFiles(ctx context.Context, a *command.App, place string, r image.Registry) (map[string][]byte, *bundle.Bundle, error) {
	files, err := BundleFiles(ctx, a, place, r)
	if err != nil {
		return nil, nil, err
	}
	b, err := Await(ctx, func() (*bundle.Bundle, error) { return bundle.Parse(files) })
	if err != nil {
		return nil, nil, fault.In(place, err)
	}
	return files, b, nil
}

// BundleFiles returns the files of the bundle at a place, which may be invalid.
func BundleFiles(ctx context.Context, a *command.App, place string, r image.Registry) (map[string][]byte, error) {
	if place == "" {
		return nil, fault.Usage("name a folder, an OCI layout, a tarball or an image", "the name of the bundle is empty")
	}
	return Await(ctx, func() (map[string][]byte, error) {
		folder := a.Path(place)
		if info, err := os.Stat(folder); err == nil && info.IsDir() && !image.IsLayout(folder) {
			return bundle.ReadFolder(folder)
		}
		img, err := openImage(ctx, a, place, r, v1.Platform{OS: "linux", Architecture: runtime.GOARCH})
		if err != nil {
			return nil, err
		}
		return image.Files(img, bundle.Folders()...)
	})
}

// openImage opens the image at a place. It reports progress for a registry, which may take a while.
func openImage(ctx context.Context, a *command.App, place string, r image.Registry, p v1.Platform) (v1.Image, error) {
	if _, err := os.Stat(a.Path(place)); err == nil {
		place = a.Path(place)
	} else if !image.IsPath(place) {
		if _, err := r.ParseReference(place); err != nil {
			return nil, err
		}
		a.Progress("pulling " + place)
	}
	return Await(ctx, func() (v1.Image, error) { return image.Open(ctx, place, r, p) })
}

// Await returns what f returns, or the cause when the context ends earlier. As f goes on until the
// process ends, it must not write files.
func Await[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := f()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}

// CheckTag refuses a tag of a bundle's image with another version than the bundle has. A suffix such as -1 may follow.
func CheckTag(ref, version string) error {
	tag, err := name.NewTag(ref)
	if err != nil || version == "" {
		return nil // a digest, or a reference that is validated elsewhere
	}
	named := strings.TrimPrefix(tag.TagStr(), "v")
	if _, err := semver.Parse(named); err != nil || named == version || strings.HasPrefix(named, version+"-") {
		return nil
	}
	return fault.Usage("use the tag v"+version+", or run operon bundle generate --version "+named+" first",
		"the image %s has the tag %s, but the version of the bundle is %s", ref, tag.TagStr(), version)
}

// Scratch is the base without files.
const Scratch = "scratch"

// ParsePlatforms validates the values of --platform. A tarball has one platform.
func ParsePlatforms(texts []string, tarball bool) ([]v1.Platform, error) {
	var platforms []v1.Platform
	for i, text := range texts {
		p, err := v1.ParsePlatform(text)
		if err != nil || p.OS != "linux" || p.Architecture == "" || p.OSVersion != "" {
			return nil, fault.Usage("use linux/amd64, linux/arm64 or others of the form linux/ARCHITECTURE", "platform %q cannot be built", text)
		}
		if slices.Contains(texts[:i], text) {
			return nil, fault.Usage("name it once", "platform %s is given twice", text)
		}
		platforms = append(platforms, *p)
	}
	switch {
	case len(platforms) == 0:
		return nil, fault.Usage("for example: --platform linux/amd64", "--platform is empty")
	case len(platforms) > 1 && tarball:
		return nil, fault.Usage("use --layout, or one platform", "a tarball has one platform")
	}
	return platforms, nil
}

// OpenBases returns the base for each platform: scratch, or the image at a place.
func OpenBases(ctx context.Context, a *command.App, place string, r image.Registry, platforms []v1.Platform) ([]v1.Image, error) {
	var bases []v1.Image
	for _, p := range platforms {
		base, err := image.Scratch(p)
		if place != Scratch {
			base, err = openImage(ctx, a, place, r, p)
		}
		if err != nil {
			return nil, err
		}
		bases = append(bases, base)
	}
	return bases, nil
}

// imageFrame is the JSON report of an image.
type imageFrame struct {
	command.Frame
	Image     string   `json:"image"`
	Digest    string   `json:"digest"`
	Platforms []string `json:"platforms,omitempty"`
}

// Report prints the reference of the image with its digest.
func (d *Destination) Report(a *command.App, name, ref string, c image.Content, platforms []string, output string) error {
	digest, err := c.Digest()
	if err != nil {
		return err
	}
	if output == command.FormatJSON {
		return command.PrintJSON(a.Out, imageFrame{command.NewFrame(name, "Image"), ref, digest, platforms})
	}
	return a.Print(fmt.Sprintf("%s@%s\n", ref, digest))
}
