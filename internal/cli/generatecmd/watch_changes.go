package generatecmd

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/input"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/watch"
)

// recordState records the files that the cycle wrote, to distinguish its own changes from
// the user's. A failed cycle has reverted its changes.
func (loop *watchLoop) recordState(applied bool) {
	loop.lastState = map[string]*[32]byte{}
	if loop.plan == nil {
		return
	}
	if applied {
		loop.inputs, _ = loop.plan.Inputs()
	}
	for _, c := range command.ChangesToApply(loop.plan.Changes()) {
		content, exists := c.Before, c.Op != scaffold.Create
		if applied {
			content, exists = c.After, c.Op != scaffold.Delete
		}
		loop.lastState[c.Path] = nil
		if exists {
			sum := sha256.Sum256(content)
			loop.lastState[c.Path] = &sum
		}
		for dir := path.Dir(c.Path); !applied && dir != "." && !loop.exists(dir); dir = path.Dir(dir) {
			loop.lastState[dir] = nil
		}
	}
}

// outside returns the folders of sources outside the project: of other modules in a
// workspace, and of modules that a replace directive maps to a folder.
func (loop *watchLoop) outside() []string {
	folders := map[string]bool{}
	for _, name := range loop.inputs.Sources {
		rel, err := filepath.Rel(loop.root, name)
		if err != nil || filepath.IsLocal(rel) || !watch.IsSource(filepath.ToSlash(name)) {
			continue
		}
		if _, err := os.Lstat(name); err == nil { // the list also has files that could exist, such as go.work in a parent folder
			folders[filepath.Dir(name)] = true
		}
	}
	return slices.Sorted(maps.Keys(folders))
}

// isRelevant reports whether a change of a file may change the output. After an error any
// file may be relevant, except temporary files of editors.
func (loop *watchLoop) isRelevant(file string) bool {
	return loop.isInput(file) || loop.failure != "" && !watch.IsScratch(file)
}

// isInput reports whether a file is a source, or a file that the last cycle read or wrote.
func (loop *watchLoop) isInput(file string) bool {
	has := func(list []string, name string) bool { _, found := slices.BinarySearch(list, name); return found }
	return watch.IsSource(file) || file == project.File || loop.readAtStart(file) ||
		has(loop.inputs.Looked, file) || has(loop.inputs.Sources, loop.abs(file)) ||
		path.Ext(file) == ".go" && !watch.IsScratch(file) && has(loop.inputs.Listed, path.Dir(file))
}

// isUnchanged reports whether a file has not changed since the last cycle, or is a
// temporary file that no longer exists.
func (loop *watchLoop) isUnchanged(file string) bool {
	if file == watch.Everything {
		return false
	}
	name, folder := strings.CutSuffix(file, "/")
	exists := loop.exists(name)
	hash, written := loop.lastState[name]
	switch {
	case written && hash == nil:
		return !exists
	case folder:
		return false
	case written:
		content, err := input.ReadFile(loop.abs(name), input.Text)
		return err == nil && sha256.Sum256(content) == *hash
	}
	return !exists && !loop.isInput(name)
}

func (loop *watchLoop) exists(file string) bool {
	_, err := os.Lstat(loop.abs(file))
	return !errors.Is(err, fs.ErrNotExist)
}

// readAtStart reports whether the file configures the library for plural names, which
// reads it only once per process.
func (loop *watchLoop) readAtStart(file string) bool {
	for variable, name := range map[string]string{"INFLECT_PATH": "inflections.json", "ACRONYMS_PATH": "acronyms.json"} {
		name = cmp.Or(loop.Getenv(variable), name)
		if !filepath.IsAbs(name) {
			name = filepath.Join(loop.Dir, name)
		}
		if loop.abs(file) == name {
			return true
		}
	}
	return false
}

func (loop *watchLoop) abs(file string) string {
	return filepath.Join(loop.root, filepath.FromSlash(file))
}
