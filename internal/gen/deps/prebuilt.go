package deps

import (
	"archive/zip"
	_ "embed"
	"encoding/hex"
	"io"
	"strings"
	"sync"
)

// archive holds entries for the packages that scaffolded projects depend on, in
// the versions of internal/pins, so that the first run in one finds them. A file
// in it has the [Cache.PrebuiltName] of its package, and entries for several
// systems; the archive's comment is the release of Go that it was made with.
// `make prebuilt` writes it.
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
func prebuilt(name string) []*Entry {
	f := files()[name]
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

// PrebuiltName is the name of the file in the archive that holds the entries of a
// package, encoded, for all systems.
func (c *Cache) PrebuiltName(path string) string {
	k := c.name(path)
	return hex.EncodeToString(k[:])
}
