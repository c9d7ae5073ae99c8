package scaffold

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/spf13/afero"
)

// stateDir holds operon's own state; no plan may name a path in it.
const stateDir = ".operon"

// maxLinks is the number of symbolic links after which a path counts as a
// loop; Linux stops at the same number.
const maxLinks = 40

// checkName says whether a plan may use name: slash-separated, relative,
// clean, inside the root, and neither in .git nor in operon's own state. The
// comparison ignores case, for many file systems do.
func checkName(name string) error {
	if err := checkLocal(name); err != nil {
		return err
	}
	for i, c := range strings.Split(name, "/") {
		if strings.EqualFold(c, ".git") || i == 0 && strings.EqualFold(c, stateDir) {
			return fault.Failed("", "path %q lies in %s, which no plan may change", name, c)
		}
	}
	return nil
}

// checkLocal is checkName without the forbidden folders.
func checkLocal(name string) error {
	switch {
	case name == "" || name == ".":
		return fault.Failed("", "path %q names no file", name)
	case strings.ContainsAny(name, "\\\x00"):
		return fault.Failed("", "path %q must be separated by slashes", name)
	case !fs.ValidPath(name) || !filepath.IsLocal(filepath.FromSlash(name)):
		return fault.Failed("", "path %q must be relative to the project root, and clean", name)
	}
	return nil
}

// tree looks at the files of a project. It never follows a symbolic link out
// of the root.
type tree struct {
	fsys afero.Fs
	dirs map[string]bool // folders already seen that are no links
	// looked has every path that somebody looked at, and listed the folders of
	// which somebody saw the entries.
	looked, listed map[string]bool
}

func newTree(fsys afero.Fs) *tree {
	return &tree{fsys: fsys, dirs: map[string]bool{}, looked: map[string]bool{}, listed: map[string]bool{}}
}

// lstat is Stat without following a link, where the file system has links.
func (t *tree) lstat(name string) (fs.FileInfo, error) {
	t.looked[name] = true
	if l, ok := t.fsys.(afero.Lstater); ok {
		info, _, err := l.LstatIfPossible(name)
		return info, err
	}
	return t.fsys.Stat(name)
}

// readDir lists a folder by a resolved path.
func (t *tree) readDir(name string) ([]fs.FileInfo, error) {
	t.listed[name] = true
	return afero.ReadDir(t.fsys, name)
}

// missing reports whether nothing stands at name.
func (t *tree) missing(name string) (bool, error) {
	_, err := t.lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	return false, err
}

// resolve follows the links in name and returns the path that is really meant,
// and what stands there (nil: nothing). With last unset, a link in the last
// place is not followed but returned.
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
				return "", nil, leaves(name)
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
			if slices.Contains(rest, "..") { // it could come out at a link that was not followed
				return "", nil, leaves(name)
			}
			return path.Join(append([]string{next}, rest...)...), nil, nil
		}
		if err != nil {
			return "", nil, fileError("look at", next, err)
		}
		isLink := info.Mode()&fs.ModeSymlink != 0
		if len(rest) == 0 && (!isLink || !last) {
			return next, info, nil
		}
		switch {
		case isLink:
			if links++; links > maxLinks {
				return "", nil, fault.Failed("", "path %q runs through too many symbolic links", name)
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
			return "", nil, fault.Failed("", "%s is a file, so %s can not be below it", next, name)
		}
	}
	// A link to "dir/." or to the root ends here.
	return "", nil, fault.Failed("", "%s is a folder, not a file", name)
}

// readlink returns the target of a link with slashes: relative to the link's
// folder, or to the root when it is written as an absolute path.
func (t *tree) readlink(link string) (target string, fromRoot bool, err error) {
	r, ok := t.fsys.(afero.LinkReader)
	if !ok {
		return "", false, fault.Failed("", "this file system can not read the symbolic link %s", link)
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
		return "", false, leaves(link)
	}
	root, err := b.RealPath(".")
	if err != nil {
		return "", false, leaves(link)
	}
	rel, err := filepath.Rel(root, target)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false, leaves(link)
	}
	return filepath.ToSlash(rel), true, nil
}

func leaves(name string) error {
	return fault.Failed("replace the link by a file or folder of the project",
		"%s leaves the project root through a symbolic link", name)
}

// read returns the content and the mode of the regular file at a resolved
// path.
func (t *tree) read(name string, info fs.FileInfo) ([]byte, error) {
	switch {
	case info.IsDir():
		return nil, fault.Failed("", "%s is a folder, not a file", name)
	case !info.Mode().IsRegular():
		return nil, fault.Failed("", "%s is not a regular file", name)
	}
	b, err := afero.ReadFile(t.fsys, name)
	if err != nil {
		return nil, fileError("read", name, err)
	}
	return present(b), nil
}

// state resolves a path of operon's own state, which must not lead through
// links, and returns its content: nil when it is missing.
func (t *tree) state(name string) ([]byte, error) {
	resolved, info, err := t.resolve(name, true)
	if err != nil {
		return nil, err
	}
	if resolved != name {
		return nil, fault.Failed("", "%s must not be a symbolic link", name)
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

// fileError names the path as the user knows it and drops the absolute one
// that the operating system's error carries.
func fileError(verb, name string, err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	} else if l, ok := errors.AsType[*os.LinkError](err); ok {
		err = l.Err
	}
	return fault.In(verb+" "+name, err)
}
