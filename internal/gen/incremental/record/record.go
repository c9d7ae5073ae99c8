// Package record holds what a run of the generators found out about a project,
// for the next run: which sources are there and what they hold, which packages
// they make, and what came out of each. Everything in it is a fact about
// content; the stamps of files only spare the reading.
//
// It knows neither packages nor generators, and decides nothing: it looks at the
// sources ([Record.Look]), and turns records into bytes and back.
package record

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/operon-dev/operon/internal/filestat"
	"github.com/operon-dev/operon/internal/gen/load/golist"
	"github.com/operon-dev/operon/internal/scaffold"
)

// Sum is the SHA-256 of some content.
type Sum [sha256.Size]byte

// SumOf is the sum of content.
func SumOf(content []byte) Sum { return sha256.Sum256(content) }

// String is the sum in hex.
func (s Sum) String() string { return hex.EncodeToString(s[:]) }

// Record is what one run knows at its end. The stamps in it are zero where the
// file system would not tell one more change from none.
type Record struct {
	Go      Go
	Outside []File // that decide about the packages and are no sources: go.mod and its like
	Walks   []Walk
	Folders []Folder
	// Packages are those of the listing that somebody read, and what they import.
	Packages   []golist.Saved
	Identities []Identity // that somebody asked for
	Units      []Unit
	Kinds      []Kind
	Joint      []Output // made from the markers of all roots together
}

// Go is what the go command answered.
type Go struct {
	// Flags, Arch and so on are its settings: GOFLAGS, GOARCH, GOROOT, GOMODCACHE,
	// GOENV, GOWORK, CC.
	Flags, Arch, Root, ModCache, Env, Work, Compiler string

	Folders []string // of all packages of the listing
}

// File is a file by its absolute path. One that is not there has a zero sum.
type File struct {
	Path string
	Stat filestat.Stat
	Sum  Sum
}

// Walk is a folder of packages, with those below it or without.
type Walk struct {
	Dir   string
	Below bool
}

// Folder is what matters in a folder: the names of sub-folders, which end in a
// slash, of Go sources and of whatever else the go command looks at.
type Folder struct {
	Dir     string
	Stat    filestat.Stat
	Listed  bool     // the go command looks for packages here; elsewhere only go.mod and sub-folders matter
	Names   []string // sorted
	Sources []Source // of the names in .go, where it is listed
}

// Source is a Go source file.
type Source struct {
	Name string
	Stat filestat.Stat
	Sum  Sum
	Head Sum // of what decides about the listing: see headOf
}

// Unit is a package of the project that was read, and what it alone decides.
type Unit struct {
	Path     string   // import path
	Refs     []string // the packages that its types refer to
	Root     bool     // the rest is for roots
	Group    string   // of its kinds, where it may have any
	Object   []Output
	Markers  []string           // that make roles and webhook configurations
	Warnings []scaffold.Warning // about its markers
}

// Output is a file in the project, by its path from the root.
type Output struct {
	Generator, Path string
	Stat            filestat.Stat // of the file when it was last seen to have the sum
	Sum             Sum
}

// Identity is that of a package that never changes.
type Identity struct {
	Path string
	Sum  Sum
}

// Kind is an API kind, in all of its versions.
type Kind struct {
	Group, Kind string
	Key         Sum // of all that its CRD is made from
	Outputs     []Output
}

// Outputs are all that a run of the generators made.
func (r *Record) Outputs() []Output {
	all := slices.Clone(r.Joint)
	for _, u := range r.Units {
		all = append(all, u.Object...)
	}
	for _, k := range r.Kinds {
		all = append(all, k.Outputs...)
	}
	return all
}
