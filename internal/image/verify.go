package image

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync/atomic"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/input"
)

// checkBlobs returns an error if a file of an OCI layout cannot be read: a pipe, or a link that leads out of the layout.
func checkBlobs(folder string) error {
	files := input.Folder(folder, input.Catalog)
	return fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f, err := files.Open(name)
		if err != nil {
			return fault.Usage("copy the layout again", "%s of the layout %s: %v", name, folder, fault.Reason(err))
		}
		return f.Close()
	})
}

// damaged is the error for a part of an image whose content has another digest or size, or is missing.
func damaged(part any, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("it is missing")
	}
	return fault.Failed("build, copy or pull the image again", "the image is damaged: %v: %v", part, err)
}

// verify compares the digests and sizes of an image in a layout with its contents.
func verify(img layoutImage) error {
	raw, err := img.RawManifest()
	if err == nil {
		err = same(bytes.NewReader(raw), img.digest, int64(len(raw)))
	}
	if err != nil {
		return damaged("manifest "+img.digest.String(), err)
	}
	manifest, err := img.Manifest()
	if err != nil {
		return damaged("manifest "+img.digest.String(), err)
	}
	config, err := img.RawConfigFile()
	if err == nil {
		err = same(bytes.NewReader(config), manifest.Config.Digest, manifest.Config.Size)
	}
	if err != nil {
		return damaged("configuration "+manifest.Config.Digest.String(), err)
	}
	layers, err := img.Layers()
	if err != nil {
		return damaged("layers", err)
	}
	for i, layer := range layers {
		content, err := layer.Compressed()
		if err == nil {
			err = errors.Join(same(content, manifest.Layers[i].Digest, manifest.Layers[i].Size), content.Close())
		}
		if err != nil {
			return damaged("layer "+manifest.Layers[i].Digest.String(), err)
		}
	}
	return nil
}

// verifyIndex compares the digest of an index in a layout with its content. An index with a correct digest cannot contain itself.
func verifyIndex(index v1.ImageIndex, digest v1.Hash) error {
	raw, err := index.RawManifest()
	if err != nil {
		return err
	}
	return same(bytes.NewReader(raw), digest, int64(len(raw)))
}

// verifyContents compares the layers of a file that docker save wrote with the digests in its configuration. The library computes
// all other digests from the layers.
func verifyContents(img v1.Image) error {
	config, err := img.ConfigFile()
	if err != nil {
		return damaged("configuration", err)
	}
	layers, err := img.Layers()
	if err != nil {
		return damaged("layers", err)
	}
	if listed := len(config.RootFS.DiffIDs); len(layers) != listed {
		return damaged("layers", fmt.Errorf("it has %d, and its configuration lists %d", len(layers), listed))
	}
	for i, layer := range layers {
		content, err := layer.Uncompressed()
		if err != nil {
			return damaged(fmt.Sprintf("layer %d", i+1), err)
		}
		digest, _, err := v1.SHA256(content)
		if err = errors.Join(err, content.Close()); err == nil && digest != config.RootFS.DiffIDs[i] {
			err = errors.New("its content has another digest")
		}
		if err != nil {
			return damaged(fmt.Sprintf("layer %d", i+1), err)
		}
	}
	return nil
}

// same returns an error if a content has another digest or size.
func same(content io.Reader, digest v1.Hash, size int64) error {
	got, n, err := v1.SHA256(io.LimitReader(content, size+1))
	switch {
	case err != nil:
		return err
	case n != size:
		return errors.New("its content has another size")
	case got != digest:
		return errors.New("its content has another digest")
	}
	return nil
}

// whole is an image whose layers are read to their end, where the library compares their digests: an archive ends before. Unpacked,
// they have at most left bytes.
type whole struct {
	v1.Image

	left    int64
	err     error       // of what is after the archives
	stopped atomic.Bool // nobody reads on
}

func (w *whole) Layers() ([]v1.Layer, error) {
	layers, err := w.Image.Layers()
	var all []v1.Layer
	for _, l := range layers {
		all = append(all, wholeLayer{l, w})
	}
	return all, err
}

type wholeLayer struct {
	v1.Layer

	image *whole
}

func (l wholeLayer) Uncompressed() (io.ReadCloser, error) {
	r, err := l.Layer.Uncompressed()
	return wholeReader{r, l.image}, err
}

type wholeReader struct {
	io.ReadCloser

	image *whole
}

func (r wholeReader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if r.image.left -= int64(n); r.image.left < 0 {
		return n, tooLarge("the unpacked image", input.Catalog)
	}
	return n, err
}

// Close reads the rest.
func (r wholeReader) Close() error {
	if !r.image.stopped.Load() {
		_, err := io.Copy(io.Discard, r)
		r.image.err = cmp.Or(r.image.err, err)
	}
	return r.ReadCloser.Close()
}
