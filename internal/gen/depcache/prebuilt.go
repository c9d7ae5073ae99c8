package depcache

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"encoding/hex"
	"sync"
)

// archive has entries for the dependencies of scaffolded projects, in the versions of
// internal/pins, so that the first run in a new project finds them. [Cache.PrebuiltName]
// is the name of a file, which has the entries of a package for several systems. The
// archive's comment is the release of Go that created it. `make prebuilt` writes the
// archive. It is not compressed, because each run would have to decompress it.
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

// prebuilt returns the entries of a package that are part of this program.
func prebuilt(name string) []*Entry {
	found, _ := decode(files()[name]) // a missing file has no entries
	return found
}

// PrebuiltName returns the name of the file in the archive with the entries of a package
// for all systems.
func (c *Cache) PrebuiltName(path string) string {
	k := c.name(path)
	return hex.EncodeToString(k[:])
}
