package interrupt

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// TestInterruptDownload interrupts commands while a registry sends a manifest, or a layer.
func TestInterruptDownload(t *testing.T) {
	t.Parallel()
	img, err := random.Image(1<<10, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"/manifests/v1", "/blobs/"} {
		for _, command := range []string{"catalog add", "catalog render", "bundle validate", "scorecard"} {
			t.Run(command+part, func(t *testing.T) {
				t.Parallel()
				waits := make(chan struct{}, 100)
				end := make(chan struct{})
				pushed := false
				images := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if pushed && strings.Contains(r.URL.Path, part) {
						waits <- struct{}{}
						<-end
						return
					}
					images.ServeHTTP(w, r)
				}))
				defer server.Close()
				defer close(end)
				image := strings.TrimPrefix(server.URL, "http://") + "/fleet:v1"
				ref, err := name.ParseReference(image, name.Insecure)
				if err != nil {
					t.Fatal(err)
				}
				if err := remote.Write(ref, img); err != nil {
					t.Fatal(err)
				}
				pushed = true
				cmd := exec.Command("operon", append(strings.Fields(command), image, "--plain-http")...)
				cmd.Dir = t.TempDir()
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				<-waits
				if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
					t.Fatal(err)
				}
				_ = cmd.Wait()
				if code := cmd.ProcessState.ExitCode(); code != 130 {
					t.Errorf("exit code %d", code)
				}
				if left, err := os.ReadDir(cmd.Dir); err != nil || len(left) > 0 {
					t.Errorf("left behind: %v, %v", left, err)
				}
			})
		}
	}
}
