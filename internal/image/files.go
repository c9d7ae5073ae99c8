package image

import (
	"archive/tar"
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/operon-dev/operon/internal/atomicfile"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/input"
)

// Content is an image, or an index of images for several platforms.
type Content struct {
	Image v1.Image
	Index v1.ImageIndex
}

// NewContent returns the content of one image, or of the images for several platforms.
func NewContent(images []v1.Image) (c Content, err error) {
	c.Image = images[0]
	if len(images) > 1 {
		c.Index, err = newIndex(images)
	}
	return c, err
}

// Digest returns the digest of the image or index, such as sha256:....
func (c Content) Digest() (string, error) {
	var d interface{ Digest() (v1.Hash, error) } = c.Image
	if c.Index != nil {
		d = c.Index
	}
	hash, err := d.Digest()
	return hash.String(), err
}

// WriteTarball writes an image in the format of docker save. Such a file has one platform.
func WriteTarball(file, image string, c Content) error {
	if c.Index != nil {
		return fault.Usage("use an OCI layout, or one platform", "a tarball has one platform")
	}
	tag, err := name.NewTag(image)
	if err != nil {
		return fault.Usage("use a tag such as ghcr.io/acme/fleet:v1.0.0", "%q is not the reference of an image with a tag", image)
	}
	if err := CheckTarball(file); err != nil {
		return err
	}
	return atomicfile.Write(file, func(w io.Writer) error { return tarball.Write(tag, c.Image, w) })
}

// CheckTarball returns an error if WriteTarball would replace a file other than the tarball of an
// image.
func CheckTarball(file string) error {
	info, err := os.Stat(file)
	switch {
	case err != nil || !info.Mode().IsRegular() && !info.IsDir() || info.Mode().IsRegular() && info.Size() == 0:
		return nil // such as /dev/null, or what mktemp made
	case info.IsDir():
		return fault.Usage("name a file", "%s is a folder", file)
	}
	if _, err := tarball.LoadManifest(func() (io.ReadCloser, error) { return input.Open(file) }); err != nil {
		return fault.Usage("name another file, or remove this one", "%s exists, and is not the tarball of an image", file)
	}
	return nil
}

// Open returns the image at a place: the folder of an OCI layout, a file that docker save wrote,
// or a reference in a registry. The digests and sizes of an image on this machine are correct. The library
// checks an image of a registry when its layers are read.
func Open(ctx context.Context, place string, r Registry, platform v1.Platform) (v1.Image, error) {
	info, err := os.Stat(place)
	switch {
	case err == nil && info.IsDir():
		return fromLayout(place, platform)
	case err == nil && !info.Mode().IsRegular():
		return nil, fault.Usage("use a file that docker save wrote", "%s is %v", place, input.ErrIrregular)
	case err == nil:
		img, err := tarball.ImageFromPath(place, nil)
		if err != nil {
			return nil, fault.Usage("use a file that docker save wrote", "%s is not the tarball of an image", place)
		}
		return img, fault.In(place, verifyContents(img))
	case IsPath(place):
		return nil, fault.Usage("run operon bundle generate, or name a folder, a file, or an image with its tag", "%s does not exist", place)
	default:
		return r.Pull(ctx, place, platform)
	}
}

// IsPath reports whether a place is a path rather than a reference: it has neither a registry nor
// a tag or digest.
func IsPath(place string) bool {
	first, _, _ := strings.Cut(place, "/")
	return strings.HasPrefix(place, ".") || filepath.IsAbs(place) || !strings.ContainsAny(place, ":@") && !strings.Contains(first, ".")
}

// fromLayout returns the only image in a layout, or that for the platform. An image with several
// names is one image.
func fromLayout(folder string, platform v1.Platform) (v1.Image, error) {
	if err := checkBlobs(folder); err != nil {
		return nil, err
	}
	index, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		return nil, fault.Usage("name an OCI layout", "%s is not an OCI layout: %v", folder, err)
	}
	images, err := imagesOf(index, "", platform)
	if err != nil && fault.HintOf(err) == "" {
		err = damaged(indexFile, err)
	}
	if err != nil {
		return nil, fault.In(folder, err)
	}
	switch len(images) {
	case 1:
		return images[0].Image, fault.In(folder, verify(images[0]))
	case 0:
		return nil, fault.Usage("choose another platform or layout", "%s has no image for %s", folder, platform)
	}
	var all []string
	for _, img := range images {
		all = append(all, cmp.Or(img.reference, img.digest.String()))
	}
	return nil, fault.Usage("write the image into a layout of its own", "%s has %d images: %s", folder, len(images), strings.Join(all, ", "))
}

// layoutImage is an image of a layout.
type layoutImage struct {
	v1.Image
	digest    v1.Hash
	reference string // or ""
}

// imagesOf returns the images of an index, and of indexes in it, for a platform, each once. An image
// without a platform is for each. The images of an inner index have its reference.
func imagesOf(index v1.ImageIndex, reference string, platform v1.Platform) ([]layoutImage, error) {
	manifest, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	var images []layoutImage
	for _, m := range manifest.Manifests {
		reference := cmp.Or(m.Annotations[refName], reference)
		switch {
		case m.MediaType.IsIndex():
			inner, err := index.ImageIndex(m.Digest)
			if err == nil {
				err = verifyIndex(inner, m.Digest)
			}
			if err != nil {
				return nil, damaged(m.Digest, err)
			}
			more, err := imagesOf(inner, reference, platform)
			if err != nil {
				return nil, err
			}
			images = append(images, more...)
		case m.MediaType.IsImage() && (m.Platform == nil || m.Platform.Satisfies(platform)):
			img, err := index.Image(m.Digest)
			if err != nil {
				return nil, damaged(m.Digest, err)
			}
			images = append(images, layoutImage{img, m.Digest, reference})
		}
	}
	seen := map[v1.Hash]bool{}
	return slices.DeleteFunc(images, func(img layoutImage) bool {
		again := seen[img.digest]
		seen[img.digest] = true
		return again
	}), nil
}

// Files returns the regular files of an image below folders, by path. Together they have at most 128 MiB, and all files of
// the image at most 1 GiB.
func Files(img v1.Image, folders ...string) (map[string][]byte, error) {
	all := &whole{Image: img, left: input.Catalog}
	r := mutate.Extract(all)
	defer func() {
		all.stopped.Store(true)
		_ = r.Close()
	}()
	files := map[string][]byte{}
	left := int64(input.Data)
	for tr := tar.NewReader(r); ; {
		header, err := tr.Next()
		ended := errors.Is(err, io.EOF)
		if ended {
			_, err = io.Copy(io.Discard, r) // the library ends the archive after an error, too, which comes only now
			err = cmp.Or(err, all.err)
		}
		switch {
		case err != nil:
			return nil, cannotRead("layers", err)
		case ended:
			return files, nil
		}
		file := strings.TrimPrefix(path.Clean("/"+header.Name), "/")
		if header.Typeflag != tar.TypeReg || !below(file, folders) {
			continue
		}
		content, err := input.ReadAll(tr, left)
		if errors.As(err, new(input.TooLarge)) {
			return nil, tooLarge("what the image has in "+strings.Join(folders, " and "), input.Data)
		}
		if err != nil {
			return nil, cannotRead(file, err)
		}
		left -= int64(len(content))
		files[file] = content
	}
}

// cannotRead returns the error for a part of an image that cannot be read to its end. A registry sends layers when they are read.
func cannotRead(part string, err error) error {
	var refused *transport.Error
	var network net.Error
	var limit *fault.Error
	switch {
	case errors.As(err, &limit):
		return limit
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, input.ErrSlow), errors.As(err, &refused), errors.As(err, &network):
		return fault.Failed("try again, or pull the image and name its tarball", "cannot read the image: %v", err)
	}
	return damaged(part, err)
}

func tooLarge(what string, limit int64) error {
	return fault.Usage("check that it is the image of a bundle", "%s is %v", what, input.TooLarge(limit))
}

func below(file string, folders []string) bool {
	for _, folder := range folders {
		if strings.HasPrefix(file, strings.Trim(folder, "/")+"/") {
			return true
		}
	}
	return false
}
