package image

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/operon-dev/operon/internal/atomicfile"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/input"
)

// refName is the annotation with the reference of an image in a layout.
const refName = "org.opencontainers.image.ref.name"

// The files of a layout beside the folder blobs.
const (
	layoutFile = "oci-layout"
	indexFile  = "index.json"
	stage      = ".operon-" // starts the name of the folder of a run, which a killed run leaves
)

// WriteLayout writes an image into an OCI layout: a folder, which may be new. Another image with
// the same reference is replaced, and others stay. If it fails, the index is as before.
func WriteLayout(folder, image string, c Content) error {
	if err := CheckLayout(folder); err != nil {
		return err
	}
	made, err := atomicfile.MakeFolder(folder)
	if err == nil {
		err = addToLayout(folder, image, c)
	}
	if err != nil && made != "" {
		_ = os.RemoveAll(made)
	}
	if err != nil {
		return atomicfile.Explain(folder, err)
	}
	return nil
}

// addToLayout makes a second layout in the folder, and then moves its files. The index is the last:
// without it, the others mean nothing.
func addToLayout(folder, image string, c Content) error {
	own, err := os.MkdirTemp(folder, stage)
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(own) }()
	next, err := layout.Write(own, emptyIndex())
	if err != nil {
		return err
	}
	if index, err := input.ReadFile(filepath.Join(folder, indexFile), input.Text); err == nil {
		if err := next.WriteFile(indexFile, index, 0o644); err != nil {
			return err
		}
	}
	same := func(d v1.Descriptor) bool { return sameReference(d.Annotations[refName], image) }
	options := layout.WithAnnotations(map[string]string{refName: image})
	if c.Index != nil {
		err = next.ReplaceIndex(c.Index, same, options)
	} else {
		err = next.ReplaceImage(c.Image, same, options)
	}
	if err != nil {
		return err
	}
	return moveLayout(own, folder)
}

// sameReference reports whether two references name the same image, such as fleet and fleet:latest.
func sameReference(a, b string) bool {
	first, errA := name.ParseReference(a)
	second, errB := name.ParseReference(b)
	return a == b || errA == nil && errB == nil && first.Name() == second.Name()
}

func moveLayout(from, to string) error {
	files, err := fs.Glob(input.Folder(from, input.Text), "blobs/*/*")
	if err != nil {
		return err
	}
	for _, name := range append(files, layoutFile, indexFile) {
		target := filepath.Join(to, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		if err := os.Rename(filepath.Join(from, filepath.FromSlash(name)), target); err != nil {
			return err
		}
	}
	return nil
}

// CheckLayout returns an error if WriteLayout cannot write into the folder.
func CheckLayout(folder string) error {
	entries, err := os.ReadDir(folder)
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return strings.HasPrefix(e.Name(), stage) })
	if errors.Is(err, os.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil || !IsLayout(folder) {
		return fault.Usage("choose a new folder", "%s is not an OCI layout, and not empty", folder)
	}
	return nil
}

func emptyIndex() v1.ImageIndex {
	index, _ := newIndex(nil) // fails for images only
	return index
}

// IsLayout reports whether a folder is an OCI layout.
func IsLayout(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, layoutFile))
	return err == nil
}
