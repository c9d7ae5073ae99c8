package deps

import (
	"archive/zip"
	_ "embed"
	"encoding/hex"
	"io"
	"strings"
	"sync"

	"github.com/operon-dev/operon/internal/gen/store"
)

// archive holds entries for the packages that scaffolded projects depend on, in
// the versions of internal/pins, so that the first run in one finds them. A file
// in it has the [Cache.name] of its package; the archive's comment is the release of Go that
// it was made with. `make prebuilt` writes it.
//
//go:embed prebuilt.zip
var archive string

var files = sync.OnceValue(func() map[string]*zip.File {
	byName := map[string]*zip.File{}
	if r, err := zip.NewReader(strings.NewReader(archive), int64(len(archive))); err == nil {
		for _, f := range r.File {
			byName[f.Name] = f
		}
	}
	return byName
})

// prebuilt returns the entries of a package that are a part of this program.
func prebuilt(name store.Key) []*Entry {
	f := files()[hex.EncodeToString(name[:])]
	if f == nil {
		return nil
	}
	r, err := f.Open()
	if err != nil {
		return nil
	}
	content, err := io.ReadAll(r)
	if err != nil {
		return nil
	}
	found, _ := decode(content)
	return found
}

// Prebuild returns the entry of a package as the archive of prebuilt ones holds
// it, and the name of its file there.
func (c *Cache) Prebuild(path string, identity func(path string) (Identity, bool)) (name string, content []byte, ok bool) {
	e := c.Find(path, identity)
	if e == nil {
		return "", nil, false
	}
	k := c.name(path)
	return hex.EncodeToString(k[:]), encode([]*Entry{e}), true
}
