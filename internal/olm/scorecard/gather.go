package scorecard

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// gather copies a folder of the pod into a folder below OutputDir. The name of that folder and
// the archive come from the bundle and its tests, and must not lead outside.
func (p *Pods) gather(ctx context.Context, pod, from, to string) error {
	to = strings.TrimLeft(to, "/")
	if local := filepath.Clean(filepath.FromSlash(to)); local == "." || !filepath.IsLocal(local) {
		return fmt.Errorf("the labels suite and test name %q, which is not a folder below %s", to, p.OutputDir)
	}
	root, err := openBelow(p.OutputDir, to)
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

// openBelow opens a folder below another one. Both may be new.
func openBelow(folder, name string) (*os.Root, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	if err := root.MkdirAll(name, 0o755); err != nil {
		return nil, err
	}
	return root.OpenRoot(name)
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
		name, ok := below(folder, header.Name)
		if !ok {
			continue
		}
		if header.Typeflag == tar.TypeDir {
			err = root.MkdirAll(name, 0o755)
		} else {
			err = replace(root, name, folder, header, archive)
		}
		if err != nil {
			return err
		}
	}
}

// below returns the path of an entry relative to a folder of the archive.
func below(folder, name string) (string, bool) {
	name, ok := strings.CutPrefix(strings.Trim(name, "/"), folder)
	name = strings.Trim(name, "/")
	return name, ok && name != ""
}

// replace writes a file or a link. An earlier run may have written it, too.
func replace(root *os.Root, name, folder string, header *tar.Header, content io.Reader) error {
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	switch header.Typeflag {
	case tar.TypeSymlink:
		return root.Symlink(header.Linkname, name)
	case tar.TypeLink:
		if target, ok := below(folder, header.Linkname); ok {
			return root.Link(target, name)
		}
	case tar.TypeReg:
		return writeFile(root, name, content)
	}
	return nil
}

func writeFile(root *os.Root, name string, content io.Reader) error {
	file, err := root.Create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Close())
}
