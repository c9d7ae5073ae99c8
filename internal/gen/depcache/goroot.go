package depcache

import (
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// goRootSums are the checksums of those packages of one release of Go that the prebuilt entries
// refer, so that the first run reads none of their sources. `make prebuilt` writes them.
//
//go:embed goroot.json
var goRootSums []byte

// release has the checksums of a release of Go.
type release struct {
	Version  string               // the content of the file VERSION
	Packages map[string]described // see Identities.goSum
}

// described is what a package declares, and how large its files are. A distribution may change
// sources, and keep the version.
type described struct {
	Size int64
	Sum  string // in hex
}

var prebuiltRelease = sync.OnceValue(func() (r release) {
	_ = json.Unmarshal(goRootSums, &r) // a test reads it
	return r
})

// prebuiltSum returns the checksum of a package of a release. ok is false if this program does not
// have it, or if the files have other sizes.
func prebuiltSum(version, name string, p Package) (sum Identity, ok bool) {
	r := prebuiltRelease()
	known, ok := r.Packages[name]
	if !ok || r.Version != version || sizeOf(p) != known.Size {
		return Identity{}, false
	}
	n, err := hex.Decode(sum[:], []byte(known.Sum))
	return sum, err == nil && n == len(sum)
}

// sizeOf returns the size of all files of a package, or -1 if one is missing.
func sizeOf(p Package) (size int64) {
	for _, file := range slices.Concat(p.Files, p.Other) {
		info, err := os.Stat(filepath.Join(p.Dir, file))
		if err != nil {
			return -1
		}
		size += info.Size()
	}
	return size
}

// ArePrebuilt reports whether this program has the checksums of all packages of Go that the
// identities were asked for.
func (i *Identities) ArePrebuilt() bool {
	for name, sum := range i.known {
		if known, ok := prebuiltSum(i.version, name, i.goPackage(name)); !ok || known != sum {
			return false
		}
	}
	return true
}

// EncodeRelease returns the content of goroot.json for the packages of Go that all of these
// identities were asked for.
func EncodeRelease(all []*Identities) ([]byte, error) {
	r := release{Packages: map[string]described{}}
	for _, i := range all {
		r.Version = i.version
		for name, sum := range i.known {
			r.Packages[name] = described{sizeOf(i.goPackage(name)), hex.EncodeToString(sum[:])}
		}
	}
	return json.MarshalIndent(r, "", "\t")
}

// goPackage returns the folder and the files of a package of Go by its name in Identities.known.
func (i *Identities) goPackage(name string) Package {
	parts := strings.Split(name, "|")
	p := Package{Dir: filepath.Join(i.goRoot, filepath.FromSlash(parts[0]))}
	for _, names := range parts[1:] {
		p.Files = append(p.Files, strings.FieldsFunc(names, func(r rune) bool { return r == '/' })...)
	}
	return p
}
