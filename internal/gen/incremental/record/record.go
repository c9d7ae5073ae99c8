// Package record stores what a run of the generators found in a project, for the next
// run: the sources and their checksums, the list of packages, and the outputs of each
// package. The content of files determines all of it. The stats of files only avoid
// reading them.
//
// The package compares the sources with a record ([Record.Look]), and encodes and decodes
// records. It does not load packages or generate.
package record

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/operon-dev/operon/internal/filestat"
	"github.com/operon-dev/operon/internal/gen/load/golist"
	"github.com/operon-dev/operon/internal/scaffold"
)

// Sum is a SHA-256 checksum.
type Sum [sha256.Size]byte

// SumOf returns the checksum of content.
func SumOf(content []byte) Sum { return sha256.Sum256(content) }

// String returns the checksum in hex.
func (s Sum) String() string { return hex.EncodeToString(s[:]) }

// Record is the state at the end of a run. The stat of a file is zero if the file changed
// too recently to rely on it.
type Record struct {
	Go      Go
	Outside []File // files other than sources that affect the listing, such as go.mod
	Walks   []Walk
	Folders []Folder
	// Packages are the packages of the listing that were read, and the names of those
	// that they import.
	Packages   []golist.Saved
	Identities []Identity // of external packages that the run used
	Units      []Unit
	Kinds      []Kind
	Joint      []Output // outputs for the markers of all roots together
}

// Go has the answers of the go command.
type Go struct {
	// Its settings GOFLAGS, GOARCH, GOROOT, GOMODCACHE, GOENV, GOWORK and CC.
	Flags, Arch, Root, ModCache, Env, Work, Compiler string

	Folders []string // of all packages of the listing
}

// File is a file by its absolute path. A missing file has a zero sum.
type File struct {
	Path string
	Stat filestat.Stat
	Sum  Sum
}

// Walk is a folder of packages, with or without the folders below it.
type Walk struct {
	Dir   string
	Below bool
}

// Folder is a folder with the entries that matter: sub-folders, whose names end in a
// slash, Go sources, and other files that the go command reads.
type Folder struct {
	Dir     string
	Stat    filestat.Stat
	Listed  bool     // the go command looks for packages here; otherwise only go.mod and sub-folders matter
	Names   []string // sorted
	Sources []Source // the .go files, if it is listed
}

// Source is a Go source file.
type Source struct {
	Name string
	Stat filestat.Stat
	Sum  Sum
	Head Sum // the sum of what affects the listing: see headOf
}

// Unit is a package of the project that a run read, and its results that do not depend on
// other packages.
type Unit struct {
	Path     string   // import path
	Refs     []string // the packages that its types refer to
	Root     bool     // the following fields are for roots only
	Group    string   // the API group of its kinds, if any
	Object   []Output
	Markers  []string           // the markers of roles and webhook configurations
	Warnings []scaffold.Warning // warnings about its markers
}

// Output is a generated file, by its path from the root.
type Output struct {
	Generator, Path string
	Stat            filestat.Stat // the file's stat when it last had the sum
	Sum             Sum
	From            string // another file with the same content; not recorded
}

// Identity is the identity of an external package.
type Identity struct {
	Path string
	Sum  Sum
}

// Kind is an API kind, with all of its versions.
type Kind struct {
	Group, Kind string
	Key         Sum // the checksum of everything that determines its CRD
	Outputs     []Output
}

// Outputs returns all outputs of the run.
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

// Part returns the record of a run that makes only some of the outputs. made returns an output as
// that run makes it. ok is false if it does not.
func (r *Record) Part(made func(Output) (as Output, ok bool)) *Record {
	some := func(all []Output) []Output {
		var kept []Output
		for _, o := range all {
			if as, ok := made(o); ok {
				kept = append(kept, as)
			}
		}
		return kept
	}
	part := *r
	part.Joint, part.Units, part.Kinds = some(r.Joint), slices.Clone(r.Units), nil
	for i, u := range r.Units {
		part.Units[i].Object = some(u.Object)
	}
	for _, k := range r.Kinds {
		needed := len(k.Outputs) == 0
		if k.Outputs = some(k.Outputs); needed || len(k.Outputs) > 0 {
			part.Kinds = append(part.Kinds, k)
		}
	}
	return &part
}

// Dependencies are the packages of other modules that a listing named. The folders of packages
// are relative to GOROOT or to the module cache: see package listing.
type Dependencies struct {
	Sums     []string // the lines of go.sum
	Packages []golist.Saved
}
