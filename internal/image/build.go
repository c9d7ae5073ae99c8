// Package image builds, reads and publishes OCI images without a container engine. An image is
// a function of its files, its configuration and its base: the same input results in the same
// digest.
//
// github.com/google/go-containerregistry implements the formats and the protocol of registries.
package image

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// File is a file of an image.
type File struct {
	Path       string // in the image, without a leading slash
	Executable bool
	Size       int64                         // in bytes
	Open       func() (io.ReadCloser, error) // the content, the same for each call
}

// Text returns a file with a content in memory.
func Text(name string, content []byte) File {
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }
	return File{Path: name, Size: int64(len(content)), Open: open}
}

// Config says how a container of the image runs, and what its labels are. Empty values are
// the base's.
type Config struct {
	Entrypoint []string
	Cmd        []string // only together with Entrypoint
	WorkingDir string
	User       string
	Labels     map[string]string
}

// Scratch returns an image without files, for a platform such as linux/arm64. An image
// with a zero platform holds data only.
func Scratch(platform v1.Platform) (v1.Image, error) {
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	config, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Variant = cmp.Or(platform.OS, "linux"), cmp.Or(platform.Architecture, "amd64"), platform.Variant
	return mutate.ConfigFile(img, config)
}

// Build returns the base with one more layer, which has the files, and with the configuration.
// The image and its files get the time. When the context ends, the layer cannot be read, and
// writing the image fails.
func Build(ctx context.Context, base v1.Image, files []File, c Config, created time.Time) (v1.Image, error) {
	created = created.UTC().Truncate(time.Second)
	layer, err := layer(ctx, files, created)
	if err != nil {
		return nil, err
	}
	img, err := mutate.Append(base, mutate.Addendum{Layer: layer, History: v1.History{Created: v1.Time{Time: created}, CreatedBy: "operon"}})
	if err != nil {
		return nil, err
	}
	config, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.Created = v1.Time{Time: created}
	if c.Entrypoint != nil {
		config.Config.Entrypoint, config.Config.Cmd = c.Entrypoint, c.Cmd
	}
	config.Config.WorkingDir = cmp.Or(c.WorkingDir, config.Config.WorkingDir)
	config.Config.User = cmp.Or(c.User, config.Config.User)
	for key, value := range c.Labels {
		if config.Config.Labels == nil {
			config.Config.Labels = map[string]string{}
		}
		config.Config.Labels[key] = value
	}
	return mutate.ConfigFile(img, config)
}

// layer returns a layer with the files and their folders, in the order of their paths.
func layer(ctx context.Context, files []File, created time.Time) (v1.Layer, error) {
	files = slices.SortedFunc(slices.Values(files), func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	for i, f := range files {
		if f.Path == "" || path.Clean("/"+f.Path) != "/"+f.Path || i > 0 && files[i-1].Path == f.Path {
			return nil, fmt.Errorf("%q is not the path of one file", f.Path)
		}
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		r, w := io.Pipe()
		go func() { w.CloseWithError(writeTar(&cancelled{ctx, w}, files, created)) }()
		return r, nil
	}, tarball.WithMediaType(types.OCILayer))
}

// writeTar writes files and their folders, owned by root.
func writeTar(w io.Writer, files []File, created time.Time) error {
	tw := tar.NewWriter(w)
	folders := map[string]bool{}
	for _, f := range files {
		parts := strings.Split(f.Path, "/")
		for i := 1; i < len(parts); i++ {
			folder := strings.Join(parts[:i], "/") + "/"
			if folders[folder] {
				continue
			}
			folders[folder] = true
			if err := tw.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: folder, Mode: 0o755, ModTime: created}); err != nil {
				return err
			}
		}
		mode := int64(0o644)
		if f.Executable {
			mode = 0o755
		}
		if err := tw.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: f.Path, Mode: mode, Size: f.Size, ModTime: created}); err != nil {
			return err
		}
		if err := copyFile(tw, f); err != nil {
			return err
		}
	}
	return tw.Close()
}

// cancelled is a writer that fails when the context ends.
type cancelled struct {
	context.Context
	io.Writer
}

func (c *cancelled) Write(p []byte) (int, error) {
	if c.Err() != nil {
		return 0, context.Cause(c)
	}
	return c.Writer.Write(p)
}

func copyFile(w io.Writer, f File) error {
	r, err := f.Open()
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	_, err = io.Copy(w, r)
	return err
}

// newIndex returns an index of images for several platforms.
func newIndex(images []v1.Image) (v1.ImageIndex, error) {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, img := range images {
		config, err := img.ConfigFile()
		if err != nil {
			return nil, err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{Platform: config.Platform()}})
	}
	return index, nil
}
