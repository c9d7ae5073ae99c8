package image

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/operon-dev/operon/internal/fault"
)

// TestDamagedInRegistry reads an image whose registry sends other bytes than those with the digest. Such an image is called damaged.
func TestDamagedInRegistry(t *testing.T) {
	t.Parallel()
	var part atomic.Value // of the paths whose content is damaged
	var damage atomic.Value
	part.Store("none")
	images := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || !strings.Contains(r.URL.Path, part.Load().(string)) {
			images.ServeHTTP(w, r)
			return
		}
		answer := httptest.NewRecorder()
		images.ServeHTTP(answer, r)
		content := damage.Load().(func([]byte) []byte)(answer.Body.Bytes())
		for key, values := range answer.Header() {
			if key != "Content-Length" {
				w.Header()[key] = values
			}
		}
		_, _ = w.Write(content)
	}))
	t.Cleanup(server.Close)
	repository := strings.TrimPrefix(server.URL, "http://") + "/fleet"
	platform := v1.Platform{OS: "linux", Architecture: "amd64"}
	img := build(t, platform)
	if err := (Registry{}).Push(t.Context(), repository+":v1", Content{Image: img}); err != nil {
		t.Fatal(err)
	}
	layers, err := img.Layers()
	if err != nil {
		t.Fatal(err)
	}
	layer, err := layers[0].Digest()
	if err != nil {
		t.Fatal(err)
	}
	byDigest := repository + "@" + digest(t, Content{Image: img})
	for _, tt := range []struct{ image, part, want string }{
		{repository + ":v1", "/blobs/" + layer.String(), "the image is damaged: "},
		{byDigest, "/blobs/" + layer.String(), "the image is damaged: "},
		{byDigest, "/manifests/", "cannot pull " + byDigest},
	} {
		for how, change := range map[string]func([]byte) []byte{
			"other": func([]byte) []byte {
				var layer bytes.Buffer
				zw := gzip.NewWriter(&layer)
				tw := tar.NewWriter(zw)
				const text = "kind: Evil\n"
				_ = tw.WriteHeader(&tar.Header{Name: "manifests/a.yaml", Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(text))})
				_, _ = tw.Write([]byte(text))
				_, _ = tw.Close(), zw.Close()
				return layer.Bytes()
			},
			"changed":   func(content []byte) []byte { return append(bytes.Clone(content[:len(content)-9]), "xxxxxxxxx"...) },
			"truncated": func(content []byte) []byte { return content[:len(content)/2] },
			"longer":    func(content []byte) []byte { return append(bytes.Clone(content), content...) },
			"empty":     func([]byte) []byte { return nil },
		} {
			if how == "longer" && tt.part != "/manifests/" {
				continue // the bytes after the size are not read
			}
			part.Store(tt.part)
			damage.Store(change)
			img, err := Open(t.Context(), tt.image, Registry{}, platform)
			if err == nil {
				_, err = Files(img, "manifests")
			}
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) || fault.HintOf(err) == "" || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s %s: error %v, hint %q", how, tt.part, err, fault.HintOf(err))
			}
		}
	}
}

// inflated is a layer whose unpacked content has one huge file.
type inflated struct {
	v1.Layer

	name string
	size int64
}

func (l inflated) Uncompressed() (io.ReadCloser, error) {
	var head bytes.Buffer
	if err := tar.NewWriter(&head).WriteHeader(&tar.Header{Name: l.name, Typeflag: tar.TypeReg, Size: l.size}); err != nil {
		return nil, err
	}
	return io.NopCloser(io.MultiReader(&head, io.LimitReader(zeros{}, l.size+1024))), nil
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// TestInflatedImage limits the unpacked size of an image as a whole: none of its layers is too large, none has a file of the
// bundle, and one hides another.
func TestInflatedImage(t *testing.T) {
	t.Parallel()
	for size, want := range map[int64]string{1 << 20: "", 400 << 20: "the unpacked image is larger than 1024 MiB"} {
		img, err := Scratch(v1.Platform{})
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"a", "b", "b"} {
			if img, err = mutate.AppendLayers(img, inflated{static.NewLayer([]byte(text), types.OCIUncompressedLayer), text, size}); err != nil {
				t.Fatal(err)
			}
		}
		_, err = Files(img, "manifests")
		if got := ""; err != nil {
			if got = err.Error(); got != want || fault.HintOf(err) == "" {
				t.Errorf("three layers of %d bytes: %q, want %q", size, got, want)
			}
		} else if want != "" {
			t.Errorf("three layers of %d bytes: no error", size)
		}
	}
}
