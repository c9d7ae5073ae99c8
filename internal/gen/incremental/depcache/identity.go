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

	"github.com/operon-dev/operon/internal/gen/incremental/store"
	"github.com/operon-dev/operon/internal/gen/load/stripbodies"
)

// Package is what the go command says of a package.
type Package struct {
	Path string
	Dir  string // absolute
	// Files are the names of the source files that the build takes, in Dir;
	// Other those that cgo and SWIG translate.
	Files, Other []string
	// Imports are the packages it imports, by the import as written.
	Imports map[string]Imported
}

// Imported is a package by what another that imports it sees without its types.
type Imported struct{ Path, Name string }

// Identities tells the identities of packages that do not change: Go's own, by
// what their files declare, which is often the same in the next release, and
// those in the module cache, by the sums of their modules. Other packages have
// none.
type Identities struct {
	goRoot, modCache string
	store            *store.Store

	sums    sync.Map // module root to the sum of the module, or ""
	release store.Key
	mu      sync.Mutex
	known   map[string]Identity // sums of packages of the release, by path and files
	more    bool                // known has what the store has not
}

// NewIdentities takes the absolute paths of GOROOT and GOMODCACHE, and a store
// to keep the sums of Go's own packages in.
func NewIdentities(goRoot, modCache string, s *store.Store) *Identities {
	i := &Identities{goRoot: filepath.Join(goRoot, "src"), modCache: modCache, store: s, known: map[string]Identity{}}
	if goRoot == "" {
		i.goRoot = ""
		return i
	}
	// A release of Go does not change either: what its files say is read once.
	name := filepath.Join(goRoot, "VERSION")
	version, err := os.ReadFile(name)
	info, statErr := os.Stat(name)
	if err != nil || statErr != nil {
		i.goRoot = ""
		return i
	}
	i.release = store.KeyOf(format, goRoot, string(version), strconv.FormatInt(info.ModTime().UnixNano(), 10))
	if content, ok := s.Get(sums, i.release); ok && json.Unmarshal(content, &i.known) != nil {
		i.known = map[string]Identity{}
	}
	return i
}

// Of returns the identity of a package, if it has one.
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

// Save keeps what was found out about the release of Go.
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

// goSum is the sum of what the files of a package of Go's declare.
func (i *Identities) goSum(p Package, rel string, parts []string) (Identity, bool) {
	name := strings.Join(append([]string{rel}, parts[1:]...), "|")
	i.mu.Lock()
	sum, ok := i.known[name]
	i.mu.Unlock()
	if ok {
		return sum, true
	}
	var contents []string
	for _, file := range slices.Concat(p.Files, p.Other) {
		content, err := os.ReadFile(filepath.Join(p.Dir, file))
		if err != nil {
			return Identity{}, false
		}
		contents = append(contents, string(stripbodies.Cut(content)))
	}
	sum = store.KeyOf(contents...)
	i.mu.Lock()
	i.known[name], i.more = sum, true
	i.mu.Unlock()
	return sum, true
}

// moduleSum splits the path of a folder in the module cache into the sum of the
// module, as go.sum has it, and the path of the folder in the module. The sum is
// empty where the go command did not write it down.
func (i *Identities) moduleSum(rel string) (sum, folder string) {
	// k8s.io/api@v0.37.1/core/v1
	module, version, _ := strings.Cut(filepath.ToSlash(rel), "@")
	version, folder, _ = strings.Cut(version, "/")
	root := module + "@" + version
	if known, ok := i.sums.Load(root); ok {
		return known.(string), folder
	}
	if module != "" && version != "" {
		content, err := os.ReadFile(filepath.Join(i.modCache, "cache", "download", filepath.FromSlash(module), "@v", version+".ziphash"))
		if err == nil && strings.HasPrefix(string(content), "h1:") {
			sum = string(content)
		}
	}
	i.sums.Store(root, sum)
	return sum, folder
}

// below returns the path of dir in folder.
func below(folder, dir string) (rel string, ok bool) {
	if folder == "" {
		return "", false
	}
	return strings.CutPrefix(dir, folder+string(filepath.Separator))
}
