package depcache

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"encoding/hex"
	"sync"
)

// archive holds entries for the packages that scaffolded projects depend on, in
// the versions of internal/pins, so that the first run in one finds them. A file
// in it has the [Cache.PrebuiltName] of its package, and entries for several
// systems; the archive's comment is the release of Go that it was made with.
// `make prebuilt` writes it. Nothing in it is compressed, for every run would have
// to take it apart again.
//
//go:embed prebuilt.zip
var archive []byte

var files = sync.OnceValue(func() map[string][]byte {
	byName := map[string][]byte{}
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return byName
	}
	for _, f := range r.File {
		start, err := f.DataOffset()
		end := start + int64(f.UncompressedSize64)
		if err == nil && f.Method == zip.Store && end <= int64(len(archive)) {
			byName[f.Name] = archive[start:end:end]
		}
	}
	return byName
})

// prebuilt returns the entries of a package that are a part of this program.
func prebuilt(name string) []*Entry {
	found, _ := decode(files()[name]) // no entries in nothing
	return found
}

// PrebuiltName is the name of the file in the archive that holds the entries of a
// package, encoded, for all systems.
func (c *Cache) PrebuiltName(path string) string {
	k := c.name(path)
	return hex.EncodeToString(k[:])
}
