package depcache

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/operon-dev/operon/internal/gen/store"
	"github.com/operon-dev/operon/internal/input"
)

// Package is a package as the go command lists it.
type Package struct {
	Path string
	Dir  string // absolute
	// Files are the names of the source files in Dir that are part of the build. Other
	// are those that cgo and SWIG translate.
	Files, Other []string
	// Imports are the imported packages, by the import as written.
	Imports map[string]Imported
}

// Imported is the path and the name of an imported package.
type Imported struct{ Path, Name string }

// Identities returns identities of packages that do not change. The identity of a package
// of Go contains the release. The identity of a package in the module cache contains the checksum of its module.
// Other packages have no identity.
type Identities struct {
	goRoot, modCache string
	release          string   // the content of the file VERSION in GOROOT
	sums             sync.Map // from the root of a module to its checksum, or ""
}

// NewIdentities returns identities for the absolute paths of GOROOT and GOMODCACHE.
func NewIdentities(goRoot, modCache string) *Identities {
	i := &Identities{modCache: modCache}
	if release, err := input.ReadFile(filepath.Join(goRoot, "VERSION"), input.Text); err == nil && goRoot != "" {
		i.goRoot, i.release = filepath.Join(goRoot, "src"), string(release)
	}
	return i
}

// Of returns the identity of a package. ok is false if it has none.
func (i *Identities) Of(p Package) (Identity, bool) {
	parts := []string{p.Path, strings.Join(p.Files, "/"), strings.Join(p.Other, "/")}
	if rel, ok := below(i.goRoot, p.Dir); ok {
		parts = append(parts, "go", i.release, filepath.ToSlash(rel))
	} else if rel, ok := below(i.modCache, p.Dir); ok {
		sum, folder := i.moduleSum(rel)
		if sum == "" {
			return Identity{}, false
		}
		parts = append(parts, "module", sum, folder)
	} else {
		return Identity{}, false
	}
	for _, written := range slices.Sorted(maps.Keys(p.Imports)) {
		imported := p.Imports[written]
		parts = append(parts, written, imported.Path, imported.Name)
	}
	return store.KeyOf(parts...), true
}

// moduleSum splits the path of a folder in the module cache into the checksum of the
// module, as in go.sum, and the folder's path in the module. The checksum is empty if
// the go command did not store it.
func (i *Identities) moduleSum(rel string) (sum, folder string) {
	// k8s.io/api@v0.37.1/core/v1
	module, version, _ := strings.Cut(filepath.ToSlash(rel), "@")
	version, folder, _ = strings.Cut(version, "/")
	root := module + "@" + version
	if known, ok := i.sums.Load(root); ok {
		return known.(string), folder
	}
	if module != "" && version != "" {
		file := filepath.Join(i.modCache, "cache", "download", filepath.FromSlash(module), "@v", version+".ziphash")
		content, err := input.ReadFile(file, input.Text)
		if err == nil && strings.HasPrefix(string(content), "h1:") {
			sum = string(content)
		}
	}
	i.sums.Store(root, sum)
	return sum, folder
}

// below returns the path of dir relative to folder. ok is false if it is not below
// folder.
func below(folder, dir string) (rel string, ok bool) {
	if folder == "" {
		return "", false
	}
	return strings.CutPrefix(dir, folder+string(filepath.Separator))
}
