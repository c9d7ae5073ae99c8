package depcache

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/operon-dev/operon/internal/filestat"
	"github.com/operon-dev/operon/internal/gen/store"
	"github.com/operon-dev/operon/internal/gen/stripbodies"
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
// of Go is the checksum of what its files declare, which is often the same in the next
// release. The identity of a package in the module cache is the checksum of its module.
// Other packages have no identity.
type Identities struct {
	// Prebuilt enables the checksums of Go's packages that are part of this program.
	Prebuilt bool

	goRoot, modCache string
	store            *store.Store
	version          string // the content of the file VERSION in GOROOT

	sums    sync.Map // from the root of a module to its checksum, or ""
	release store.Key
	mu      sync.Mutex
	known   map[string]Identity // of Go's packages, by path and files
	more    bool                // known contains more than the store
}

// NewIdentities returns identities for the absolute paths of GOROOT and GOMODCACHE. It
// keeps those of Go's packages in the store.
func NewIdentities(goRoot, modCache string, s *store.Store) *Identities {
	i := &Identities{goRoot: filepath.Join(goRoot, "src"), modCache: modCache, store: s, known: map[string]Identity{}}
	if goRoot == "" {
		i.goRoot = ""
		return i
	}
	// A release of Go does not change, so its files are read only once.
	name := filepath.Join(goRoot, "VERSION")
	version, err := filestat.ReadFile(name)
	info, statErr := os.Stat(name)
	if err != nil || statErr != nil {
		i.goRoot = ""
		return i
	}
	i.version = string(version)
	i.release = store.KeyOf(format, goRoot, string(version), strconv.FormatInt(info.ModTime().UnixNano(), 10))
	if content, ok := s.Get(sums, i.release); ok && json.Unmarshal(content, &i.known) != nil {
		i.known = map[string]Identity{}
	}
	return i
}

// Of returns the identity of a package. ok is false if it has none.
func (i *Identities) Of(p Package) (Identity, bool) {
	parts := []string{p.Path, strings.Join(p.Files, "/"), strings.Join(p.Other, "/")}
	if rel, ok := below(i.goRoot, p.Dir); ok {
		sum, ok := i.goSum(p, rel, parts)
		if !ok {
			return Identity{}, false
		}
		parts = append(parts, "go", string(sum[:]))
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

// Save stores the identities of Go's packages.
func (i *Identities) Save() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.more {
		return
	}
	if content, err := json.Marshal(i.known); err == nil {
		i.store.Put(sums, i.release, content)
		i.more = false
	}
}

// goSum returns the checksum of what the files of one of Go's packages declare.
func (i *Identities) goSum(p Package, rel string, parts []string) (Identity, bool) {
	name := strings.Join(append([]string{filepath.ToSlash(rel)}, parts[1:]...), "|")
	i.mu.Lock()
	sum, ok := i.known[name]
	i.mu.Unlock()
	if ok {
		return sum, true
	}
	if i.Prebuilt {
		if sum, ok = prebuiltSum(i.version, name, p); ok {
			i.keep(name, sum)
			return sum, true
		}
	}
	var contents []string
	for _, file := range slices.Concat(p.Files, p.Other) {
		content, err := filestat.ReadFile(filepath.Join(p.Dir, file))
		if err != nil {
			return Identity{}, false
		}
		contents = append(contents, string(stripbodies.Cut(content)))
	}
	sum = store.KeyOf(contents...)
	i.keep(name, sum)
	return sum, true
}

func (i *Identities) keep(name string, sum Identity) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.known[name], i.more = sum, true
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
		content, err := filestat.ReadFile(filepath.Join(i.modCache, "cache", "download", filepath.FromSlash(module), "@v", version+".ziphash"))
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
