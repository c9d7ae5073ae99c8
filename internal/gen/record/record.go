// Package record has what a run of the generators read and made, for the next run. The contents of files determine
// all of it. The stats of files only avoid reading them.
package record

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/operon-dev/operon/internal/filestat"
	"github.com/operon-dev/operon/internal/scaffold"
)

// Sum is a SHA-256 checksum.
type Sum [sha256.Size]byte

// SumOf returns the checksum of content.
func SumOf(content []byte) Sum { return sha256.Sum256(content) }

// String returns the checksum in hex.
func (s Sum) String() string { return hex.EncodeToString(s[:]) }

// MarshalText implements encoding.TextMarshaler.
func (s Sum) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Sum) UnmarshalText(text []byte) error {
	sum, err := hex.DecodeString(string(text))
	if err != nil || len(sum) != len(s) {
		return fmt.Errorf("%q is no checksum", text)
	}
	copy(s[:], sum)
	return nil
}

// Record is the state at the end of a run. The stat of a file is zero if the file changed
// too recently to rely on it.
type Record struct {
	Sources      map[string]Source // of the packages that were read, by absolute path
	Dependencies map[string]Sum    // checksums of packages outside of the project that the run used, by import path
	Units        []Unit
	Kinds        []Kind
	Joint        []Output // outputs for the markers of all roots together
}

// Source is a Go source file.
type Source struct {
	Stat filestat.Stat
	Sum  Sum
}

// Unit is a package of the project that a run read, and its results that do not depend on
// other packages.
type Unit struct {
	Path     string   // import path
	Sum      Sum      // the checksum of its name, imports and sources
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
}

// Kind is an API kind, with all of its versions.
type Kind struct {
	Group, Kind string
	Key         Sum // the checksum of everything that determines its CRD
	Outputs     []Output
	Refused     []Refusal // why API servers refuse its CRD
}

// Refusal is a reason why API servers refuse a CRD.
type Refusal struct {
	Version string // whose schema it is about
	Path    string // the field within the schema, or the field of the CRD
	Reason  string
	Warning scaffold.Warning // about it
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

// Encode returns the record as JSON.
func (r *Record) Encode() ([]byte, error) { return json.Marshal(r) }

// Decode returns the record in content that Encode returned. It is empty for any other content.
func Decode(content []byte) *Record {
	r := &Record{}
	if json.Unmarshal(content, r) != nil {
		return &Record{}
	}
	return r
}
