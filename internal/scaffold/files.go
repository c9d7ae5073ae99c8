package scaffold

import (
	"bytes"
	"io/fs"
	"maps"
	"path"
	"slices"

	"github.com/operon-dev/operon/internal/fault"
)

// Files returns the names of the regular files that dir will contain after
// Apply, sorted and without the folder; dir may be ".". A link counts if it
// points to a regular file of the project. A missing folder has no files.
func (p *Plan) Files(dir string) ([]string, error) {
	names, err := p.tree.files(dir)
	if err != nil {
		return nil, err
	}
	for name, e := range p.entries {
		if path.Dir(name) != dir {
			continue
		}
		base := path.Base(name)
		names = slices.DeleteFunc(names, func(n string) bool { return n == base })
		if e.exists(p.force) {
			names = append(names, base)
		}
	}
	slices.Sort(names)
	return names, nil
}

// Before returns the user's file and the pristine content that operon last
// wrote of it, as Seed sees them: from disk, with the moves and edits that this
// plan made before the seed. A missing one is nil.
func (p *Plan) Before(path string) (users, base []byte, err error) {
	e, err := p.based(path)
	if err != nil {
		return nil, nil, err
	}
	users, base = e.current()
	return bytes.Clone(users), bytes.Clone(base), nil
}

// Unmanaged reports whether a file exists that operon does not manage: neither an earlier command nor this plan
// seeded it, so that the user or another tool wrote it.
func (p *Plan) Unmanaged(path string) bool {
	users, base, err := p.Before(path)
	return err == nil && users != nil && base == nil && !p.Seeded(path)
}

// Edited reports whether the user changed a file that operon wrote. Other line endings, which git
// may write, are no change.
func (p *Plan) Edited(path string) (bool, error) {
	users, base, err := p.Before(path)
	return users != nil && base != nil && !sameText(users, base), err
}

// Discard plans to delete files that are no longer needed. They have the content that operon
// wrote last, or the given one. If the user changed one of them, all stay, with a warning.
func (p *Plan) Discard(files map[string][]byte) error {
	names := slices.Sorted(maps.Keys(files))
	for _, name := range names {
		users, base, err := p.Before(name)
		if err != nil {
			return err
		}
		if users == nil || base != nil && sameText(users, base) || files[name] != nil && sameText(users, files[name]) {
			continue
		}
		message := "this file is no longer needed; it stays because it was edited by hand"
		if len(names) > 1 {
			message = "this file was edited by hand, so its folder stays, although nothing needs it"
		}
		p.Warn(Warning{File: name, Rule: "kept", Message: message})
		return nil
	}
	for _, name := range names {
		if err := p.Remove(name); err != nil {
			return err
		}
	}
	return nil
}

func sameText(a, b []byte) bool {
	return bytes.Equal(bytes.ReplaceAll(a, []byte("\r\n"), []byte("\n")), bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")))
}

// Creates reports whether the plan creates the file at path.
func (p *Plan) Creates(path string) bool {
	e, err := p.entry(path)
	return err == nil && e.disk == nil && e.exists(p.force)
}

// Seeded reports whether this plan seeds the file at path. If it does, Edit
// changes the pristine content and not the user's.
func (p *Plan) Seeded(path string) bool {
	e := p.entries[path]
	return e != nil && e.class == Seeded
}

// Forced reports whether the plan replaces seeded files that the user changed.
func (p *Plan) Forced() bool { return p.force }

// files lists the regular files in dir on disk.
func (t *tree) files(dir string) ([]string, error) {
	resolved := "."
	if dir != "." {
		if err := checkName(dir); err != nil {
			return nil, err
		}
		at, info, err := t.resolve(dir, true)
		if err != nil || info == nil {
			return nil, err
		}
		if !info.IsDir() {
			return nil, fault.Failed("move the file away, then repeat the command", "%s is a file, not a folder", dir)
		}
		resolved = at
	}
	entries, err := t.readDir(resolved)
	if err != nil {
		return nil, fileError("read", dir, err)
	}
	var names []string
	for _, entry := range entries {
		name, mode := entry.Name(), entry.Type()
		if mode&fs.ModeSymlink != 0 {
			_, info, err := t.resolve(path.Join(resolved, name), true)
			if err != nil || info == nil {
				continue // the link points outside of the project, or to nothing
			}
			mode = info.Mode()
		}
		if mode.IsRegular() {
			names = append(names, name)
		}
	}
	return names, nil
}
