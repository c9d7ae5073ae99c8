//go:build unix

package image

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/operon-dev/operon/internal/fault"
)

// TestDamagedLayout damages each file of a layout in each way. No damage may go unnoticed, except in oci-layout, which says nothing
// about the content.
func TestDamagedLayout(t *testing.T) {
	t.Parallel()
	whole := layoutOf(t)
	if img, err := Open(t.Context(), whole, Registry{}, v1.Platform{}); err != nil {
		t.Fatal(err)
	} else if files, err := Files(img, "manifests"); err != nil || string(files["manifests/b.yaml"]) != "b: 1\n" {
		t.Fatalf("%q, %v", files, err)
	}
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	damages := map[string]func(file string, content []byte) error{
		"missing":   func(file string, _ []byte) error { return os.Remove(file) },
		"empty":     func(file string, _ []byte) error { return os.Truncate(file, 0) },
		"truncated": func(file string, content []byte) error { return os.Truncate(file, int64(len(content)-1)) },
		"longer":    func(file string, content []byte) error { return os.WriteFile(file, append(content, ' '), 0o600) },
		"changed": func(file string, content []byte) error {
			content[len(content)/2] ^= 1
			return os.WriteFile(file, content, 0o600)
		},
		"a pipe":     func(file string, _ []byte) error { return errors.Join(os.Remove(file), syscall.Mkfifo(file, 0o600)) },
		"a link out": func(file string, _ []byte) error { return errors.Join(os.Remove(file), os.Symlink(secret, file)) },
	}
	names, err := fs.Glob(os.DirFS(whole), "blobs/sha256/*")
	if err != nil || len(names) < 4 {
		t.Fatal(names, err)
	}
	for _, name := range append(names, indexFile) {
		for how, damage := range damages {
			if name == indexFile && (how == "longer" || how == "changed") {
				continue // nothing has the digest of the index
			}
			t.Run(filepath.Base(name)[:10]+" "+how, func(t *testing.T) {
				t.Parallel()
				folder := t.TempDir()
				if err := os.CopyFS(folder, os.DirFS(whole)); err != nil {
					t.Fatal(err)
				}
				file := filepath.Join(folder, name)
				content, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if err := damage(file, content); err != nil {
					t.Fatal(err)
				}
				_, err = Open(t.Context(), folder, Registry{}, v1.Platform{})
				if err == nil || fault.HintOf(err) == "" || strings.Contains(err.Error(), "\n") {
					t.Errorf("error %v, hint %q", err, fault.HintOf(err))
				}
			})
		}
	}
}

// TestCircularIndex expects an error for an index that contains itself, whose digest is of course wrong.
func TestCircularIndex(t *testing.T) {
	t.Parallel()
	folder := layoutOf(t)
	digest := v1.Hash{Algorithm: "sha256", Hex: strings.Repeat("a", 64)}
	const index = "application/vnd.oci.image.index.v1+json"
	content, err := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": index,
		"manifests": []any{map[string]any{"mediaType": index, "digest": digest.String(), "size": 1}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{indexFile, "blobs/sha256/" + digest.Hex} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Open(t.Context(), folder, Registry{}, v1.Platform{}); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Error(err)
	}
}

// layoutOf returns the layout of an image with two layers.
func layoutOf(t *testing.T) string {
	t.Helper()
	img, err := Scratch(v1.Platform{OS: "linux", Architecture: "amd64"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"manifests/a.yaml", "manifests/b.yaml"} {
		text := strings.TrimSuffix(filepath.Base(name), ".yaml") + ": 1\n"
		if img, err = Build(t.Context(), img, []File{Text(name, []byte(text))}, Config{}, time.Unix(0, 0)); err != nil {
			t.Fatal(err)
		}
	}
	folder := filepath.Join(t.TempDir(), "layout")
	if err := WriteLayout(folder, "example.org/fleet:v1", Content{Image: img}); err != nil {
		t.Fatal(err)
	}
	return folder
}
