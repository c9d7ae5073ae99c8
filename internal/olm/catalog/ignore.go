package catalog

import (
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/gobwas/glob"
)

// ignoreFile excludes files and folders below its own folder, with patterns as in .gitignore.
const ignoreFile = ".indexignore"

// ignore holds the patterns of all files named .indexignore, in the order of the walk.
type ignore []pattern

type pattern struct {
	match      glob.Glob // of paths relative to the root of the catalog
	folder     string    // the folder of the file
	onlyFolder bool
	include    bool // "!": paths that an earlier pattern excludes
}

// read adds the patterns of the folder's file, if there is one.
func (g *ignore) read(fsys fs.FS, folder string) error {
	src, err := fs.ReadFile(fsys, path.Join(folder, ignoreFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(src)) {
		line = strings.TrimRight(line, " \t\r\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		p := pattern{folder: folder}
		line, p.include = strings.CutPrefix(line, "!")
		line, p.onlyFolder = strings.CutSuffix(line, "/")
		if strings.Contains(line, "/") {
			line = strings.TrimPrefix(line, "/")
		} else {
			line = "{,**/}" + line // without a slash, a name at any depth
		}
		match, err := glob.Compile(line, '/')
		if err != nil {
			continue // git ignores such patterns too
		}
		p.match = match
		*g = append(*g, p)
	}
	return nil
}

// matches reports whether a file or folder is excluded. The last pattern that matches decides.
func (g ignore) matches(name string, folder bool) bool {
	excluded := false
	for _, p := range g {
		rel := name
		if p.folder != "." {
			var below bool
			if rel, below = strings.CutPrefix(name, p.folder+"/"); !below {
				continue
			}
		}
		if (folder || !p.onlyFolder) && p.match.Match(rel) {
			excluded = !p.include
		}
	}
	return excluded
}
