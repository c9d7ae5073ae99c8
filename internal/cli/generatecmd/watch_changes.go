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
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/watch"
)

// remember keeps what tells a change that counts from one that does not. A cycle
// that failed put everything back.
func (k *keeper) remember(applied bool) {
	k.left = map[string]*[32]byte{}
	if k.plan == nil {
		return
	}
	if applied {
		k.inputs, _ = k.plan.Inputs()
	}
	for _, c := range command.ChangesToApply(k.plan.Changes()) {
		content, there := c.Before, c.Op != scaffold.Create
		if applied {
			content, there = c.After, c.Op != scaffold.Delete
		}
		k.left[c.Path] = nil
		if there {
			sum := sha256.Sum256(content)
			k.left[c.Path] = &sum
		}
		for dir := path.Dir(c.Path); !applied && dir != "." && !k.exists(dir); dir = path.Dir(dir) {
			k.left[dir] = nil
		}
	}
}

// outside returns the folders of sources that are not in the project: those of
// other modules of a workspace, or of modules that a folder stands for.
func (k *keeper) outside() []string {
	folders := map[string]bool{}
	for _, name := range k.inputs.Sources {
		rel, err := filepath.Rel(k.root, name)
		if err != nil || filepath.IsLocal(rel) || !watch.IsSource(filepath.ToSlash(name)) {
			continue
		}
		if _, err := os.Lstat(name); err == nil { // a go.work above would count as well
			folders[filepath.Dir(name)] = true
		}
	}
	return slices.Sorted(maps.Keys(folders))
}

// counts reports whether a change of a file may change what is generated. While
// there is an error that may be any but what editors keep for themselves.
func (k *keeper) counts(file string) bool {
	return k.known(file) || k.failure != "" && !watch.IsScratch(file)
}

// known reports whether a file is a source, or one that the last cycle looked at,
// its own output included.
func (k *keeper) known(file string) bool {
	has := func(list []string, name string) bool { _, found := slices.BinarySearch(list, name); return found }
	return watch.IsSource(file) || file == project.File || k.readAtStart(file) ||
		has(k.inputs.Looked, file) || has(k.inputs.Sources, k.abs(file)) ||
		path.Ext(file) == ".go" && !watch.IsScratch(file) && has(k.inputs.Listed, path.Dir(file))
}

// idle reports whether a file is as a cycle left it, or was there for a moment
// only, as editors have them.
func (k *keeper) idle(file string) bool {
	if file == watch.Everything {
		return false
	}
	name, folder := strings.CutSuffix(file, "/")
	there := k.exists(name)
	left, touched := k.left[name]
	switch {
	case touched && left == nil:
		return !there
	case folder:
		return false
	case touched:
		content, err := os.ReadFile(k.abs(name))
		return err == nil && sha256.Sum256(content) == *left
	}
	return !there && !k.known(name)
}

func (k *keeper) exists(file string) bool {
	_, err := os.Lstat(k.abs(file))
	return !errors.Is(err, fs.ErrNotExist)
}

// readAtStart reports whether a file is one of those that the library behind plural
// names reads, once for each process.
func (k *keeper) readAtStart(file string) bool {
	for variable, name := range map[string]string{"INFLECT_PATH": "inflections.json", "ACRONYMS_PATH": "acronyms.json"} {
		name = cmp.Or(k.Getenv(variable), name)
		if !filepath.IsAbs(name) {
			name = filepath.Join(k.Dir, name)
		}
		if k.abs(file) == name {
			return true
		}
	}
	return false
}

func (k *keeper) abs(file string) string { return filepath.Join(k.root, filepath.FromSlash(file)) }
