package scaffold

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
)

// Move plans to move a file: its content, its mode, and its base or its
// generator record. Later edits use the new path. If the user deleted the file,
// only the base moves.
//
// Move fails if something exists at the new path, if the old path is a symbolic
// link, or if the paths differ only in case. If the file does not exist and
// never did, the error wraps fs.ErrNotExist.
func (p *Plan) Move(from, to string) error {
	old, target, err := p.takeOver(from, to)
	if err != nil {
		return err
	}
	target.movedFrom = old.movedFrom
	if old.movedFrom == "" && old.disk != nil {
		target.movedFrom = from
	}
	return p.Remove(from)
}

// Copy plans a copy of the file at from, with everything that Move transfers;
// the original stays. It fails for the same reasons as Move.
func (p *Plan) Copy(from, to string) error {
	_, _, err := p.takeOver(from, to)
	return err
}

// takeOver gives the entry of one path the state of another.
func (p *Plan) takeOver(from, to string) (old, target *entry, err error) {
	if strings.EqualFold(from, to) {
		return nil, nil, fmt.Errorf("%s cannot be moved to %s: many file systems ignore case", from, to)
	}
	if old, err = p.based(from); err != nil {
		return nil, nil, err
	}
	if old.real != from {
		return nil, nil, fault.Failed("replace the link with its target, then repeat the command",
			"%s cannot be moved: its path has a symbolic link", from)
	}
	old.restored()
	if target, err = p.based(to); err != nil {
		return nil, nil, err
	}
	switch {
	case target.disk != nil || target.exists(p.force) || target.pristine != nil:
		return nil, nil, fault.Failed("move it away, then repeat the command", "%s cannot be moved to %s: the file exists", from, to)
	case old.class == Seeded:
		return nil, nil, fmt.Errorf("%s is moved after it is seeded", from)
	case old.content == nil && old.pristine == nil:
		return nil, nil, notExist(from)
	}
	target.class, target.mode = old.class, old.mode
	target.content, target.pristine, target.edited = old.content, old.pristine, true
	target.rewritten, target.rewrittenOn = old.rewritten, old.rewrittenOn
	if old.disk != nil {
		target.mode = old.diskMode
	}
	if old.lastGenerator != "" && hash(old.disk) == p.records[from].SHA256 {
		target.class, target.generator = Generated, old.lastGenerator
	}
	return old, target, nil
}

// Below returns the sorted paths of all files below dir after Apply, at any
// depth; dir may be ".". It includes files that the user deleted and whose base
// operon has; use Exists to tell them apart. Links are listed and not followed.
// Below omits .git, special files and .operon; for a dir in TemplatesDir, it lists the templates.
func (p *Plan) Below(dir string) ([]string, error) {
	names := map[string]bool{}
	if err := p.tree.below(dir, func(name string, _ fs.FileMode) { names[name] = true }); err != nil {
		return nil, err
	}
	inside := func(name string) bool {
		return dir == "." && !isTemplate(name) || strings.HasPrefix(name, dir+"/")
	}
	based, err := p.bases.paths()
	if err != nil {
		return nil, err
	}
	for _, name := range based {
		if inside(name) {
			names[name] = true
		}
	}
	for name, e := range p.entries {
		if !inside(name) {
			continue
		}
		delete(names, name)
		_, base, err := p.Before(name)
		if err != nil {
			return nil, err
		}
		if base != nil || e.exists(p.force) {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names)), nil
}

// below calls found with the path and type of every file and link on disk below dir. It
// skips the folders of git and of operon.
func (t *tree) below(dir string, found func(name string, is fs.FileMode)) error {
	if dir != "." {
		info, err := t.lstat(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return fileError("stat", dir, err)
		case !info.IsDir():
			return fault.Failed("move it away", "%s is not a folder", dir)
		}
	}
	entries, err := t.readDir(dir)
	if err != nil {
		return fileError("read", dir, err)
	}
	for _, entry := range entries {
		name := path.Join(dir, entry.Name())
		is := entry.Type()
		switch {
		case checkName(name) != nil:
		case is.IsDir():
			if err := t.below(name, found); err != nil {
				return err
			}
		case is.IsRegular() || is&fs.ModeSymlink != 0:
			found(name, is)
		}
	}
	return nil
}

// ReadBelow returns the contents of the files below a folder after Apply, by their paths in it.
func (p *Plan) ReadBelow(dir string) (map[string][]byte, error) {
	names, err := p.Below(dir)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, name := range names {
		content, err := p.Read(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the plan or the user deletes it
		}
		if err != nil {
			return nil, err
		}
		files[strings.TrimPrefix(name, dir+"/")] = content
	}
	return files, nil
}
