package scorecard

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// gather copies a folder of the pod into the folder for the output of its test.
func (p *Pods) gather(ctx context.Context, pod, from, to string) error {
	root, err := openBelow(p.OutputDir, to)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	p.copying.Lock() // tests with the same labels share the folder
	defer p.copying.Unlock()
	r, w := io.Pipe()
	go func() {
		w.CloseWithError(p.Exec(ctx, p.Namespace, pod, storageContainer, []string{"tar", "cf", "-", from}, w))
	}()
	links, err := unpack(root, tar.NewReader(r), strings.Trim(path.Clean(from), "/"))
	_ = r.CloseWithError(err)
	if p.links == nil {
		p.links = map[string][]string{}
	}
	p.links[to] = append(p.links[to], links...)
	return errors.Join(err, p.removeEscapingLinks(root, to))
}

// removeEscapingLinks removes symbolic links of this run that lead out of the folder: a program
// that reads the output would read other files of this machine. A later archive may have what
// an earlier link needs to lead outside.
func (p *Pods) removeEscapingLinks(root *os.Root, folder string) error {
	for _, name := range p.links[folder] {
		info, err := root.Lstat(name)
		if err != nil || info.Mode().Type() != fs.ModeSymlink {
			continue
		}
		if _, err := root.Stat(name); err == nil || !strings.HasSuffix(err.Error(), "path escapes from parent") { // package os exports no error
			continue
		}
		p.Note("left out %s in the output of a test: the link leads out of its folder", path.Join(folder, name))
		if err := root.Remove(name); err != nil {
			return err
		}
	}
	return nil
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

// unpack writes the files of an archive below a folder of it, and returns the names of links.
func unpack(root *os.Root, archive *tar.Reader, folder string) (links []string, err error) {
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return links, nil
		}
		if err != nil {
			return links, err
		}
		name, ok := below(folder, header.Name)
		if !ok || isMarker(name) {
			continue
		}
		if header.Typeflag == tar.TypeSymlink || header.Typeflag == tar.TypeLink {
			links = append(links, name)
		}
		if header.Typeflag == tar.TypeDir {
			err = root.MkdirAll(name, 0o755)
		} else {
			err = replace(root, name, folder, header, archive)
		}
		if err != nil {
			return links, err
		}
	}
}

// below returns the path of an entry relative to a folder of the archive.
func below(folder, name string) (string, bool) {
	name, ok := strings.CutPrefix(strings.Trim(name, "/"), folder)
	name = strings.Trim(name, "/")
	return name, ok && name != ""
}

// replace writes a file or a link. Another test with the same labels may have written it, too.
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
