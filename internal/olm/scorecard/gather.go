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
	"slices"
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
	if _, again := p.emptied.LoadOrStore(to, true); !again { // tests with the same labels share it
		if err := empty(root); err != nil {
			return err
		}
	}
	r, w := io.Pipe()
	go func() {
		w.CloseWithError(p.Exec(ctx, p.Namespace, pod, storageContainer, []string{"tar", "cf", "-", from}, w))
	}()
	err = unpack(root, tar.NewReader(r), strings.Trim(path.Clean(from), "/"))
	_ = r.CloseWithError(err)
	return errors.Join(err, p.removeEscapingLinks(root, to))
}

// outputMarker is a file in each folder that operon has created for the output of a test.
const outputMarker = ".scorecard-output"

// empty removes what an earlier run has left in a folder. The labels of a test name the folder, so it
// may be one of the user: only a folder with the marker is emptied.
func empty(root *os.Root) error {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return err
	}
	marked := func(e fs.DirEntry) bool { return e.Name() == outputMarker }
	if len(entries) > 0 && !slices.ContainsFunc(entries, marked) {
		return nil
	}
	for _, e := range entries {
		if err := root.RemoveAll(e.Name()); err != nil {
			return err
		}
	}
	return root.WriteFile(outputMarker, []byte("operon scorecard empties this folder before it writes the output of the test.\n"), 0o644)
}

// removeEscapingLinks removes symbolic links that lead out of the folder: a program that reads the
// output would read other files of this machine.
func (p *Pods) removeEscapingLinks(root *os.Root, folder string) error {
	return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.Type() != fs.ModeSymlink {
			return err
		}
		if _, err := root.Stat(name); err == nil || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		p.Note("left out %s in the output of a test: the link leads out of its folder", path.Join(folder, name))
		return root.Remove(name)
	})
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
		to := header.Linkname
		if inside, ok := below(folder, to); ok && path.IsAbs(to) {
			to, _ = filepath.Rel(path.Dir(name), inside) // both are relative
		}
		return root.Symlink(to, name)
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
