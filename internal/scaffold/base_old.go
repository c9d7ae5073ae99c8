package scaffold

import (
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// oldBaseDir has the bases of projects of operon before version 2 of the state:
// one file for each base, <path>.base. The next command that writes moves them to
// baseFile. A branch with the old format can be merged into one with the new
// format, so a project can have both.
const (
	oldBaseDir        = stateDir + "/base"
	oldBaseExt        = ".base"
	oldBaseAttributes = oldBaseDir + "/.gitattributes"
)

// oldBases are the files in oldBaseDir, by the paths of the files that they are the bases of.
type oldBases map[string]string

func listOldBases(t *tree) (oldBases, error) {
	old := oldBases{}
	resolved, info, err := t.resolve(oldBaseDir, false)
	if err != nil || info == nil || !info.IsDir() || resolved != oldBaseDir {
		return old, ignoreMissing(err)
	}
	var bad error
	err = t.below(oldBaseDir, true, func(file string, _ fs.FileMode) {
		path, isBase := strings.CutSuffix(strings.TrimPrefix(file, oldBaseDir+"/"), oldBaseExt)
		if isBase {
			bad = errors.Join(bad, checkName(path))
			old[path] = file
		}
	})
	return old, errors.Join(err, bad)
}

// read returns a list with the base of the file at path, or nil.
func (o oldBases) read(t *tree, path string) ([][]byte, error) {
	file := o[path]
	if file == "" {
		return nil, nil
	}
	content, err := t.state(file)
	if err != nil {
		return nil, err
	}
	if content == nil {
		return nil, fileError("read", file, fs.ErrNotExist)
	}
	return [][]byte{content}, nil
}

// Migrated reports whether Apply replaced oldBaseDir.
func (p *Plan) Migrated() bool { return p.migrated }

// steps removes the files of the old format.
func (o oldBases) steps(t *tree) ([]step, error) {
	if len(o) == 0 {
		return nil, nil
	}
	var steps []step
	for _, file := range append(slices.Sorted(maps.Values(o)), oldBaseAttributes) {
		content, err := t.state(file)
		if err != nil {
			return nil, err
		}
		if s, ok := stateStep(file, content, nil); ok {
			steps = append(steps, s)
		}
	}
	return steps, nil
}
