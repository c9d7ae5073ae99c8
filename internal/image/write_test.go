package image

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/operon-dev/operon/internal/fault"
)

var errUnreadable = errors.New("unreadable")

// unreadable returns an image whose layer cannot be read any more.
func unreadable(t *testing.T) v1.Image {
	t.Helper()
	base, err := Scratch(v1.Platform{})
	if err != nil {
		t.Fatal(err)
	}
	var broken atomic.Bool // goroutines of the library may still read the file
	file := File{Path: "data", Size: 1, Open: func() (io.ReadCloser, error) {
		if broken.Load() {
			return nil, errUnreadable
		}
		return io.NopCloser(strings.NewReader("x")), nil
	}}
	img, err := Build(t.Context(), base, []File{file}, Config{}, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	broken.Store(true)
	return img
}

// contents returns the files of a folder, by path.
func contents(t *testing.T, folder string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.Walk(folder, func(name string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		files[name] = ""
		if info.Mode().IsRegular() {
			content, err := os.ReadFile(name)
			files[name] = string(content)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestLayoutOfSeveral expects that an image replaces one with the same reference only, that an error
// names the images, and that an image with several references counts once.
func TestLayoutOfSeveral(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "out")
	first := Content{Image: build(t, v1.Platform{})}
	scratch, err := Scratch(v1.Platform{})
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		ref   string
		image Content
		want  string // error of Open
	}{
		{"example.org/fleet", first, ""},
		{"example.org/other:v1", first, ""},
		{"example.org/fleet:latest", Content{Image: scratch}, " has 2 images: example.org/other:v1, example.org/fleet:latest"},
		{"example.org/other:v1", Content{Image: scratch}, ""},
	} {
		if err := WriteLayout(folder, step.ref, step.image); err != nil {
			t.Fatal(err)
		}
		_, err := Open(t.Context(), folder, Registry{}, v1.Platform{OS: "linux", Architecture: "amd64"})
		if (err == nil) != (step.want == "") || err != nil && !strings.HasSuffix(err.Error(), step.want) {
			t.Errorf("after %s: error %v, want %q", step.ref, err, step.want)
		}
	}
}

// TestFailedWrites leave files and folders as they were.
func TestFailedWrites(t *testing.T) {
	t.Parallel()
	const ref = "example.org/fleet:v1.0.0"
	good := Content{Image: build(t, v1.Platform{})}
	for _, exists := range []bool{false, true} {
		dir := t.TempDir()
		layout, tarball := filepath.Join(dir, "a", "layout"), filepath.Join(dir, "fleet.tar")
		if exists {
			if err := errors.Join(WriteLayout(layout, ref, good), WriteTarball(tarball, ref, good)); err != nil {
				t.Fatal(err)
			}
		}
		before := contents(t, dir)
		broken := Content{Image: unreadable(t)}
		for _, err := range []error{WriteLayout(layout, ref, broken), WriteTarball(tarball, ref, broken)} {
			if !errors.Is(err, errUnreadable) {
				t.Errorf("%v", err)
			}
		}
		after := contents(t, dir)
		if len(before) != len(after) {
			t.Errorf("%v became %v", before, after)
		}
		for name, content := range before {
			if after[name] != content {
				t.Errorf("%s changed", name)
			}
		}
	}
}

func TestCheckTarball(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	project, empty := filepath.Join(dir, "PROJECT"), filepath.Join(dir, "empty")
	if err := errors.Join(os.WriteFile(project, []byte("version: \"3\"\n"), 0o600), os.WriteFile(empty, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{dir: " is a folder", project: " is not the tarball of an image"} {
		if err := WriteTarball(file, "example.org/fleet:v1", Content{Image: build(t, v1.Platform{})}); err == nil || !strings.Contains(err.Error(), want) || fault.Code(err) != fault.CodeUsage {
			t.Errorf("%s: %v", file, err)
		}
	}
	if content, _ := os.ReadFile(project); !bytes.HasPrefix(content, []byte("version")) {
		t.Errorf("PROJECT has %q", content)
	}
	if err := CheckTarball(empty); err != nil {
		t.Error(err)
	}
}

// TestInterrupted ends a pull, and the building of an image, with the cause.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	cause := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		cancel(cause)
		<-release
	}))
	defer server.Close()
	defer close(release)
	if _, err := (Registry{PlainHTTP: true}).Pull(ctx, strings.TrimPrefix(server.URL, "http://")+"/fleet:v1", v1.Platform{}); !errors.Is(err, cause) {
		t.Errorf("%v", err)
	}
	base, err := Scratch(v1.Platform{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Build(ctx, base, files, Config{}, time.Unix(0, 0)); !errors.Is(err, cause) {
		t.Errorf("%v", err)
	}
}

// TestPlainHTTPHint suggests --plain-http only to those who did not use it.
func TestPlainHTTPHint(t *testing.T) {
	t.Parallel()
	broken := &url.Error{Op: "Get", URL: "https://example.org/v2/", Err: errors.New("tls: first record does not look like a TLS handshake")}
	for _, plain := range []bool{false, true} {
		r := Registry{PlainHTTP: plain}
		ref, err := r.ParseReference("example.org/fleet:v1")
		if err != nil {
			t.Fatal(err)
		}
		err = r.explain(t.Context(), "pull", "example.org/fleet:v1", ref, broken)
		if strings.Contains(fault.HintOf(err), "--plain-http") == plain || strings.Contains(err.Error(), "tls") == plain {
			t.Errorf("plain %t: %v (hint: %s)", plain, err, fault.HintOf(err))
		}
	}
}

// TestLayoutOfKilledRun writes into a folder in which a killed run has left its own files.
func TestLayoutOfKilledRun(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.MkdirAll(filepath.Join(folder, ".operon-1", "blobs"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := WriteLayout(folder, "example.org/fleet:v1", Content{Image: build(t, v1.Platform{})}); err != nil {
		t.Fatal(err)
	}
	if !IsLayout(folder) {
		t.Error("the folder is no layout")
	}
}
