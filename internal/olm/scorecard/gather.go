package scorecard

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// gather copies a folder of the pod into a folder below OutputDir.
func (p *Pods) gather(ctx context.Context, pod, from, to string) error {
	target := filepath.Join(p.OutputDir, filepath.FromSlash(to))
	if err := os.MkdirAll(target, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(target) // the archive comes from a test, and must not leave the folder
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	r, w := io.Pipe()
	go func() {
		w.CloseWithError(p.Exec(ctx, p.Namespace, pod, storageContainer, []string{"tar", "cf", "-", from}, w))
	}()
	err = unpack(root, tar.NewReader(r), strings.Trim(path.Clean(from), "/"))
	_ = r.CloseWithError(err)
	return err
}

// unpack writes the files of an archive below a folder of it.
func unpack(root *os.Root, archive *tar.Reader, folder string) error {
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name, ok := strings.CutPrefix(strings.Trim(header.Name, "/"), folder)
		if name = strings.Trim(name, "/"); !ok || name == "" {
			continue
		}
		switch header.Typeflag {
		case tar.TypeDir:
			err = root.MkdirAll(name, 0o755)
		case tar.TypeSymlink:
			err = root.Symlink(header.Linkname, name)
		case tar.TypeReg:
			err = writeFile(root, name, archive)
		}
		if err != nil {
			return err
		}
	}
}

func writeFile(root *os.Root, name string, content io.Reader) error {
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	file, err := root.Create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Close())
}
