package images

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/image"
)

// TestAwait returns early when the context ends.
func TestAwait(t *testing.T) {
	t.Parallel()
	cause := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	if got, err := Await(ctx, func() (int, error) { return 1, nil }); got != 1 || err != nil {
		t.Errorf("%d, %v", got, err)
	}
	release := make(chan struct{})
	defer close(release)
	_, err := Await(ctx, func() (int, error) {
		cancel(cause)
		<-release
		return 1, nil
	})
	if !errors.Is(err, cause) {
		t.Errorf("%v", err)
	}
}

// TestDestinations expects an image in all places, also as a base for several platforms, and no files
// if the registry refuses the image.
func TestDestinations(t *testing.T) {
	t.Parallel()
	images := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/closed/") {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		images.ServeHTTP(w, r)
	}))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	a := &command.App{Err: io.Discard, Dir: t.TempDir()}
	platforms := []v1.Platform{{OS: "linux", Architecture: "amd64"}, {OS: "linux", Architecture: "arm64"}}
	scratch, err := OpenBases(t.Context(), a, Scratch, image.Registry{}, platforms)
	if err != nil {
		t.Fatal(err)
	}
	var built []v1.Image
	for _, base := range scratch {
		img, err := image.Build(t.Context(), base, []image.File{image.Text("a", []byte("b"))}, image.Config{}, time.Unix(0, 0))
		if err != nil {
			t.Fatal(err)
		}
		built = append(built, img)
	}
	content, err := image.NewContent(built)
	if err != nil {
		t.Fatal(err)
	}
	d := Destination{Push: true, Layout: "out"}
	d.Registry.PlainHTTP = true
	if err := d.Write(t.Context(), a, host+"/closed/fleet:v1", content); err == nil || !strings.Contains(err.Error(), "the registry refuses the credentials") {
		t.Errorf("a closed registry: %v", err)
	}
	if _, err := os.Stat(filepath.Join(a.Dir, "out")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a layout is left: %v", err)
	}
	ref := host + "/fleet:v1"
	if err := d.Write(t.Context(), a, ref, content); err != nil {
		t.Fatal(err)
	}
	for _, place := range []string{ref, "out"} {
		bases, err := OpenBases(t.Context(), a, place, d.Registry, platforms)
		if err != nil {
			t.Fatal(err)
		}
		for i, base := range bases {
			want, wantErr := built[i].Digest()
			if got, err := base.Digest(); got != want || err != nil || wantErr != nil {
				t.Errorf("%s: the base for %s is %s, want %s; %v %v", place, platforms[i], got, want, err, wantErr)
			}
		}
	}
}
