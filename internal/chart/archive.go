package chart

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"path"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
)

// checkArchive refuses archives that Helm's loader accepts although they are not charts as helm
// package makes them: with links, several folders, or files outside of them.
func checkArchive(content []byte) error {
	const hint = "package the chart with helm package"
	unzipped, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return fault.Usage(hint, "not a .tgz archive")
	}
	limit := &io.LimitedReader{R: unzipped, N: maxUnpacked + 1}
	members := tar.NewReader(limit)
	folder := ""
	for {
		member, err := members.Next()
		if limit.N <= 0 {
			return fault.Usage(hint, "the unpacked chart is larger than %d MiB", maxUnpacked>>20)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fault.Usage("fetch or package the chart again", "the archive is damaged: %v", err)
		}
		name := strings.ReplaceAll(member.Name, `\`, "/")
		first, rest, _ := strings.Cut(strings.TrimPrefix(name, "./"), "/")
		switch {
		case member.Typeflag == tar.TypeXGlobalHeader, member.Typeflag == tar.TypeDir:
			continue
		case path.IsAbs(name), strings.Contains("/"+name+"/", "/../"), strings.Contains(first, ":"), strings.Contains(rest, ":/"):
			return fault.Usage(hint, "%q is outside of the folder of the chart", member.Name)
		case member.Typeflag != tar.TypeReg:
			return fault.Usage(hint, "%s is a link or a device, not a file", member.Name)
		case rest == "":
			return fault.Usage(hint, "%s is not in a folder", member.Name)
		case folder == "":
			folder = first
		case folder != first:
			return fault.Usage(hint, "the archive has several folders: %s and %s", folder, first)
		}
	}
	if folder == "" {
		return fault.Usage(hint, "the archive is empty")
	}
	return nil
}

// checkDigest compares content with the SHA-256 checksum of a repository, which may be "".
func checkDigest(shown string, content []byte, digest string) error {
	want := strings.ToLower(strings.TrimPrefix(digest, "sha256:"))
	sum := sha256.Sum256(content)
	if got := hex.EncodeToString(sum[:]); want != "" && got != want {
		return fault.Failed("try again, or ask who runs the repository", "%s: its checksum is %s, but index.yaml has %s", shown, got, want)
	}
	return nil
}
