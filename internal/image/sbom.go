package image

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"io"
	"runtime/debug"
	"strings"
	"time"
)

// spdx is a document of SPDX 2.3 (https://spdx.github.io/spdx-spec/v2.3).
type spdx struct {
	SPDXVersion       string             `json:"spdxVersion"`
	DataLicense       string             `json:"dataLicense"`
	SPDXID            string             `json:"SPDXID"`
	Name              string             `json:"name"`
	DocumentNamespace string             `json:"documentNamespace"`
	CreationInfo      spdxCreation       `json:"creationInfo"`
	Packages          []spdxPackage      `json:"packages"`
	Relationships     []spdxRelationship `json:"relationships"`
}

type spdxCreation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

type spdxPackage struct {
	Name             string       `json:"name"`
	SPDXID           string       `json:"SPDXID"`
	VersionInfo      string       `json:"versionInfo,omitempty"`
	DownloadLocation string       `json:"downloadLocation"`
	FilesAnalyzed    bool         `json:"filesAnalyzed"`
	ExternalRefs     []spdxRef    `json:"externalRefs,omitempty"`
	Checksums        []spdxDigest `json:"checksums,omitempty"`
}

type spdxRef struct {
	ReferenceCategory string `json:"referenceCategory"`
	ReferenceType     string `json:"referenceType"`
	ReferenceLocator  string `json:"referenceLocator"`
}

type spdxDigest struct {
	Algorithm     string `json:"algorithm"`
	ChecksumValue string `json:"checksumValue"`
}

type spdxRelationship struct {
	Element string `json:"spdxElementId"`
	Type    string `json:"relationshipType"`
	Related string `json:"relatedSpdxElement"`
}

const noAssertion = "NOASSERTION"

// SBOM returns the software bill of materials of an image as an SPDX 2.3 document in JSON. It has
// the image and the modules of the Go programs in it.
func SBOM(image, digest string, programs []io.ReaderAt, created time.Time) ([]byte, error) {
	algorithm, sum, _ := strings.Cut(digest, ":")
	doc := spdx{
		SPDXVersion: "SPDX-2.3", DataLicense: "CC0-1.0", SPDXID: "SPDXRef-DOCUMENT", Name: image,
		DocumentNamespace: "https://operon.dev/spdx/" + sum,
		CreationInfo:      spdxCreation{created.UTC().Format(time.RFC3339), []string{"Tool: operon"}},
		Packages: []spdxPackage{{
			Name: image, SPDXID: "SPDXRef-Image", DownloadLocation: noAssertion,
			Checksums: []spdxDigest{{strings.ToUpper(algorithm), sum}},
		}},
		Relationships: []spdxRelationship{{"SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-Image"}},
	}
	seen := map[string]bool{}
	for _, p := range programs {
		info, err := buildinfo.Read(p)
		if err != nil {
			return nil, err
		}
		modules := append([]*debug.Module{&info.Main, {Path: "stdlib", Version: strings.TrimPrefix(info.GoVersion, "go")}}, info.Deps...)
		for _, m := range modules {
			if m.Replace != nil {
				m = m.Replace
			}
			pkg := modulePackage(m)
			if seen[pkg.SPDXID] {
				continue
			}
			seen[pkg.SPDXID] = true
			doc.Packages = append(doc.Packages, pkg)
			doc.Relationships = append(doc.Relationships, spdxRelationship{"SPDXRef-Image", "CONTAINS", pkg.SPDXID})
		}
	}
	src, err := json.MarshalIndent(doc, "", "  ")
	return append(src, '\n'), err
}

// modulePackage returns a module as a package. Its identifier is a digest, because module paths
// have characters that SPDX does not allow.
func modulePackage(m *debug.Module) spdxPackage {
	version := m.Version
	if version == "(devel)" {
		version = ""
	}
	sum := sha256.Sum256([]byte(m.Path + "@" + version))
	locator := "pkg:golang/" + m.Path
	if version != "" {
		locator += "@" + version
	}
	return spdxPackage{
		Name: m.Path, SPDXID: "SPDXRef-" + hex.EncodeToString(sum[:12]), VersionInfo: version, DownloadLocation: noAssertion,
		ExternalRefs: []spdxRef{{"PACKAGE-MANAGER", "purl", locator}},
	}
}
