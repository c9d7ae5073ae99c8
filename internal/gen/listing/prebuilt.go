package listing

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"encoding/hex"

	"github.com/operon-dev/operon/internal/input"
)

// archive has entries for the requirements of scaffolded projects, in the versions of
// internal/pins, and for the release of Go that created it. `make prebuilt` writes it.
//
//go:embed prebuilt.zip
var archive []byte

// prebuilt returns an entry that is part of this program, or nil.
func prebuilt(name string) []byte {
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil
	}
	f, err := r.Open(name)
	if err != nil {
		return nil
	}
	content, err := input.ReadAll(f, input.Data)
	if err != nil {
		return nil
	}
	return content
}

// prebuiltName returns the name of the entry for the module in the archive.
func (m *mainModule) prebuiltName() string { return hex.EncodeToString(m.key[:]) }
