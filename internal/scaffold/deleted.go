package scaffold

import (
	"bytes"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/spf13/afero"
)

// restore plans the deleted files at or below the paths again. A file is missing until the
// plan seeds it, as it was when operon created it first: plugins add the lines that list it
// elsewhere. A file that the plan does not seed gets the content that operon wrote last.
func (p *Plan) restore(paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	names, err := p.bases.paths()
	if err != nil {
		return err
	}
	for _, given := range paths {
		at, found := path.Clean(given), false
		for _, name := range names {
			if at != "." && name != at && !strings.HasPrefix(name, at+"/") {
				continue
			}
			found = true
			if err := p.Recreate(name); err != nil {
				return err
			}
		}
		if !found {
			hint := "give the path of a file that operon created, from the project root; operon init writes deleted kustomizations again without --restore, and operon generate generated files"
			if i := slices.IndexFunc(names, func(name string) bool { return path.Base(name) == path.Base(at) }); i >= 0 {
				hint = "did you mean " + names[i] + "?"
			}
			return fault.Usage(hint, "--restore %s: operon has no record of a file there", given)
		}
	}
	return nil
}

// Recreate lets Seed create a file that the user has deleted. Other files stay as they are.
func (p *Plan) Recreate(name string) error {
	e, err := p.based(name)
	if err != nil || e.content != nil {
		return err
	}
	e.restore = true
	if bytes.HasPrefix(e.base, []byte("#!")) {
		e.mode = fileMode(0o111)
	}
	return nil
}

// restored gives a file that the plan restores, and has not seeded, its base as content.
func (e *entry) restored() {
	if e.restore && e.content == nil && e.class == "" {
		e.content = e.pristine
	}
}

// DeletedFiles returns the paths of the files that operon wrote in a project and that are missing:
// those that Options.Restore can name.
func DeletedFiles(fsys afero.Fs) ([]string, error) {
	t := newTree(fsys)
	b := bases{tree: t}
	names, err := b.paths()
	if err != nil {
		return nil, err
	}
	var deleted []string
	for _, name := range names {
		if missing, err := t.missing(name); err == nil && missing {
			deleted = append(deleted, name)
		}
	}
	slices.Sort(deleted)
	return slices.Compact(deleted), nil
}

// Adds says that the command adds files for the first time: those whose paths added
// reports. A base of such a file is left from something that the user removed by hand,
// and Seed creates the file.
func (p *Plan) Adds(added func(path string) bool) { p.added = added }

// Deleted returns the paths of files that the plan seeds and that stay missing, because
// the user deleted them.
func (p *Plan) Deleted() []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(p.entries)) {
		if e := p.entries[name]; e.deleted {
			names = append(names, name)
		}
	}
	return names
}
