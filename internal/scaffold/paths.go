package scaffold

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/input"
	"github.com/spf13/afero"
)

// stateDir holds operon's own state. A plan must not contain a path in it.
const stateDir = ".operon"

// maxLinks is the number of symbolic links after which a path counts as a loop.
// Linux has the same limit.
const maxLinks = 40

// TemplatesDir is the folder of the templates that replace operon's in a project. It is the only
// part of operon's state that a plan may change.
const TemplatesDir = stateDir + "/templates"

// checkName returns an error unless a plan may use name: slash-separated,
// relative, clean, inside the root, and neither in .git nor in operon's state.
// It ignores case, as many file systems do.
func checkName(name string) error {
	if err := checkLocal(name); err != nil {
		return err
	}
	name = strings.TrimPrefix(name, TemplatesDir+"/")
	for i, c := range strings.Split(name, "/") {
		if strings.EqualFold(c, ".git") || i == 0 && strings.EqualFold(c, stateDir) {
			return fmt.Errorf("path %q is in %s, which no plan may change", name, c)
		}
	}
	return nil
}

// checkLocal is checkName without the check for forbidden folders.
func checkLocal(name string) error {
	switch {
	case name == "" || name == ".":
		return fmt.Errorf("path %q does not name a file", name)
	case strings.ContainsAny(name, "\\\x00"):
		return fmt.Errorf("path %q must use slashes as separators", name)
	case !utf8.ValidString(name):
		return fault.Failed("rename the file", "the path %q is not in UTF-8", name)
	case !fs.ValidPath(name) || !filepath.IsLocal(filepath.FromSlash(name)):
		return fmt.Errorf("path %q must be clean and relative to the project root", name)
	}
	return nil
}

// tree reads the files of a project. It never follows a symbolic link out of
// the root.
type tree struct {
	fsys afero.Fs
	dirs map[string]bool // known folders that are not links
	// looked has every path that was looked up, and listed every folder whose
	// entries were read.
	looked, listed map[string]bool
	searched       map[[2]string][]string // see containing
	unreadable     error                  // of the first file that is not regular, or too large
}

func newTree(fsys afero.Fs) *tree {
	return &tree{fsys: fsys, dirs: map[string]bool{}, looked: map[string]bool{}, listed: map[string]bool{}, searched: map[[2]string][]string{}}
}

// lstat returns information about a path without following a link, if the file
// system supports links.
func (t *tree) lstat(name string) (fs.FileInfo, error) {
	t.looked[name] = true
	if l, ok := t.fsys.(afero.Lstater); ok {
		info, _, err := l.LstatIfPossible(name)
		return info, err
	}
	return t.fsys.Stat(name)
}

// readDir lists the folder at a resolved path.
func (t *tree) readDir(name string) ([]fs.DirEntry, error) {
	t.listed[name] = true
	return afero.NewIOFS(t.fsys).ReadDir(name)
}

// missing reports whether name does not exist.
func (t *tree) missing(name string) (bool, error) {
	_, err := t.lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	return false, err
}

// resolve returns name with its links resolved, and information about the file
// there (nil: the file does not exist). Unless last is set, a link in the last
// element is returned and not followed.
func (t *tree) resolve(name string, last bool) (string, fs.FileInfo, error) {
	cur, rest, links := "", strings.Split(name, "/"), 0
	for len(rest) > 0 {
		c := rest[0]
		rest = rest[1:]
		switch c {
		case "", ".":
			continue
		case "..":
			if cur == "" {
				return "", nil, outsideRoot(name)
			}
			cur = parent(cur)
			continue
		}
		next := path.Join(cur, c)
		if len(rest) > 0 && t.dirs[next] {
			cur = next
			continue
		}
		info, err := t.lstat(next)
		if errors.Is(err, fs.ErrNotExist) {
			if slices.Contains(rest, "..") { // ".." may lead to a link that is not resolved
				return "", nil, outsideRoot(name)
			}
			return path.Join(append([]string{next}, rest...)...), nil, nil
		}
		if err != nil {
			return "", nil, fileError("stat", next, err)
		}
		isLink := info.Mode()&fs.ModeSymlink != 0
		if len(rest) == 0 && (!isLink || !last) {
			return next, info, nil
		}
		switch {
		case isLink:
			if links++; links > maxLinks {
				return "", nil, fault.Failed("replace the links with a file", "path %q has too many symbolic links", name)
			}
			target, fromRoot, err := t.readlink(next)
			if err != nil {
				return "", nil, err
			}
			if fromRoot {
				cur = ""
			}
			rest = append(strings.Split(target, "/"), rest...)
		case info.IsDir():
			t.dirs[next] = true
			cur = next
		default:
			return "", nil, fault.Failed("move that file away", "%s is a file, so it cannot contain %s", next, name)
		}
	}
	// The target of a link was "dir/." or the root.
	return "", nil, fault.Failed("name a file, or move the folder away", "%s is a folder, not a file", name)
}

// readlink returns the target of a link, with slashes. An absolute target is
// returned relative to the root, with fromRoot set; other targets are relative
// to the folder of the link.
func (t *tree) readlink(link string) (target string, fromRoot bool, err error) {
	r, ok := t.fsys.(afero.LinkReader)
	if !ok {
		return "", false, fmt.Errorf("this file system cannot read the symbolic link %s", link)
	}
	target, err = r.ReadlinkIfPossible(link)
	if err != nil {
		return "", false, fileError("read the symbolic link", link, err)
	}
	if !filepath.IsAbs(target) {
		return filepath.ToSlash(target), false, nil
	}
	b, ok := t.fsys.(interface{ RealPath(string) (string, error) })
	if !ok {
		return "", false, outsideRoot(link)
	}
	root, err := b.RealPath(".")
	if err != nil {
		return "", false, outsideRoot(link)
	}
	rel, err := filepath.Rel(root, target)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false, outsideRoot(link)
	}
	return filepath.ToSlash(rel), true, nil
}

func outsideRoot(name string) error {
	return fault.Failed("replace the link with a file or folder of the project",
		"%s leaves the project root through a symbolic link", name)
}

// read returns the content of the regular file at a resolved path.
func (t *tree) read(name string, info fs.FileInfo) ([]byte, error) {
	switch {
	case info.IsDir():
		return nil, fault.Failed("name a file, or move the folder away", "%s is a folder, not a file", name)
	case !info.Mode().IsRegular():
		return nil, t.refuse(fault.Failed("move it away, and restore the file", "%s is %v", name, input.ErrIrregular))
	case info.Size() > input.Data:
		return nil, t.refuse(fault.Failed("restore the file", "%s is %v", name, input.TooLarge(input.Data)))
	}
	b, err := afero.ReadFile(t.fsys, name)
	if err != nil {
		return nil, fileError("read", name, err)
	}
	return present(b), nil
}

// refuse keeps the first error: a reader may take a file that it cannot read for a missing one.
func (t *tree) refuse(err error) error {
	if t.unreadable == nil {
		t.unreadable = err
	}
	return err
}

// state returns the content of a file of operon's state, or nil if it is
// missing. The path must not contain links.
func (t *tree) state(name string) ([]byte, error) {
	resolved, info, err := t.resolve(name, true)
	if err != nil {
		return nil, err
	}
	if resolved != name {
		return nil, fmt.Errorf("%s must not be a symbolic link", name)
	}
	if info == nil {
		return nil, nil
	}
	return t.read(resolved, info)
}

// parent is path.Dir with "" for the root.
func parent(name string) string {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		return name[:i]
	}
	return ""
}

// present turns nil into an empty slice: nil means that a file is missing.
func present(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// fileError returns err with the path that the user knows, without the absolute
// path in errors of the operating system.
func fileError(verb, name string, err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	} else if l, ok := errors.AsType[*os.LinkError](err); ok {
		err = l.Err
	}
	if errors.Is(err, syscall.ENOTDIR) {
		return fault.Failed("a file is where a folder belongs: move it away", "%s %s: %v", verb, name, err)
	}
	return fault.In(verb+" "+name, err)
}
