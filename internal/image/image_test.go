package image

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/operon-dev/operon/internal/fault"
)

var files = []File{Text("metadata/annotations.yaml", []byte("annotations: {}\n")), Text("manifests/a.yaml", []byte("kind: A\n"))}

// build returns an image of the files for a platform.
func build(t *testing.T, platform v1.Platform) v1.Image {
	t.Helper()
	base, err := Scratch(platform)
	if err != nil {
		t.Fatal(err)
	}
	img, err := Build(t.Context(), base, files, Config{Entrypoint: []string{"/manager"}, User: "65532:65532", Labels: map[string]string{"a": "b"}}, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func digest(t *testing.T, c Content) string {
	t.Helper()
	d, err := c.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestBuild(t *testing.T) {
	t.Parallel()
	first, second := build(t, v1.Platform{}), build(t, v1.Platform{OS: "linux", Architecture: "amd64"})
	if a, b := digest(t, Content{Image: first}), digest(t, Content{Image: second}); a != b {
		t.Errorf("%s and %s", a, b)
	}
	config, err := first.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if config.Config.User != "65532:65532" || config.Config.Labels["a"] != "b" || config.Created.Unix() != 0 {
		t.Errorf("%+v", config)
	}
	if _, err := Build(t.Context(), first, []File{Text("../etc/passwd", nil)}, Config{}, time.Unix(0, 0)); err == nil {
		t.Error("a path outside of the image is accepted")
	}
}

// TestPlaces writes images to all places, and reads them there.
func TestPlaces(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	const ref = "example.org/fleet:v1.0.0"
	remote := strings.TrimPrefix(server.URL, "http://") + "/fleet:v1.0.0"
	arm, amd := v1.Platform{OS: "linux", Architecture: "arm64"}, v1.Platform{OS: "linux", Architecture: "amd64"}
	both := []v1.Image{build(t, amd), build(t, arm)}
	index, err := newIndex(both)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	one, many, tarball := filepath.Join(dir, "one"), filepath.Join(dir, "many"), filepath.Join(dir, "fleet.tar")
	r := Registry{PlainHTTP: true}
	for _, err := range []error{
		WriteLayout(one, ref, Content{Image: both[1]}),
		WriteLayout(one, ref, Content{Image: both[0]}), // in place of the other
		WriteLayout(many, ref, Content{Index: index}),
		WriteTarball(tarball, ref, Content{Image: both[0]}),
		r.Push(t.Context(), remote, Content{Index: index}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	sum, err := Content{Index: index}.Digest()
	if err != nil {
		t.Fatal(err)
	}
	byDigest := strings.TrimSuffix(remote, ":v1.0.0") + "@" + sum
	for _, image := range []string{remote, byDigest} {
		if got, err := r.Resolve(t.Context(), image); err != nil || got != byDigest {
			t.Errorf("%s resolves to %s, %v", image, got, err)
		}
	}
	for _, place := range []string{one, many, tarball, remote} {
		platforms := []v1.Platform{amd}
		if place == many || place == remote {
			platforms = append(platforms, arm)
		}
		for i, platform := range platforms {
			img, err := Open(t.Context(), place, r, platform)
			if err != nil {
				t.Fatal(err)
			}
			if err := validate.Image(img); err != nil {
				t.Errorf("%s: %v", place, err)
			}
			got, err := Files(img, "manifests", "metadata")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(map[string][]byte{"metadata/annotations.yaml": []byte("annotations: {}\n"), "manifests/a.yaml": []byte("kind: A\n")}, got); diff != "" {
				t.Errorf("%s: %s", place, diff)
			}
			if place != tarball && digest(t, Content{Image: img}) != digest(t, Content{Image: both[i]}) {
				t.Errorf("%s has another image for %s", place, platform)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
	host := strings.TrimPrefix(server.URL, "http://")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), []byte("no tar"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := Registry{PlainHTTP: true}
	open := func(place string) error {
		_, err := Open(context.Background(), place, r, v1.Platform{OS: "linux", Architecture: "amd64"})
		return err
	}
	for _, tt := range []struct {
		status      int
		place, want string
	}{
		{200, "Not Valid:v1", `"Not Valid:v1" is not the reference of an image`},
		{200, "./missing", "./missing does not exist"},
		{200, "out/missing", "out/missing does not exist"},
		{200, dir, dir + " is not an OCI layout"},
		{200, filepath.Join(dir, "file"), "is not the tarball of an image"},
		{401, host + "/fleet:v1", "the registry refuses the credentials"},
		{404, host + "/fleet:v1", "the registry does not have it"},
		{500, host + "/fleet:v1", "the registry answers 500 Internal Server Error"},
		{0, host + "/fleet:v1", "cannot connect to " + host},
	} {
		if status = tt.status; status == 0 {
			server.Close()
		}
		if err := open(tt.place); err == nil || !strings.Contains(err.Error(), tt.want) || fault.HintOf(err) == "" || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s %d: %v", tt.place, tt.status, err)
		}
	}
	for image, hint := range map[string]string{
		"example.org/x:v1":       "use a name of two characters or more",
		"x":                      "use a name of two characters or more",
		"example.org/Fleet":      "use lowercase letters in its name",
		"example.org/fl eet":     "use a reference such as ghcr.io/acme/fleet:v1.0.0",
		"example.org/":           "use a reference such as ghcr.io/acme/fleet:v1.0.0",
		"https://example.org/ab": "use a reference such as ghcr.io/acme/fleet:v1.0.0",
		"":                       "use a reference such as ghcr.io/acme/fleet:v1.0.0",
	} {
		if _, err := r.ParseReference(image); fault.HintOf(err) != hint {
			t.Errorf("%q: %v (hint: %s)", image, err, fault.HintOf(err))
		}
	}
	ref, err := r.ParseReference("example.org/fleet:v1")
	if err != nil {
		t.Fatal(err)
	}
	unknown := &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}
	if err := r.explain(t.Context(), "push", "example.org/fleet:v1", ref, unknown); err.Error() != "cannot push example.org/fleet:v1: x509: certificate signed by unknown authority" || !strings.Contains(fault.HintOf(err), "--skip-tls-verify") {
		t.Errorf("%v (hint: %s)", err, fault.HintOf(err))
	}
}

// TestSkipTLSVerify expects that certificates are verified unless the user says otherwise.
func TestSkipTLSVerify(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	ref := strings.Replace(strings.TrimPrefix(server.URL, "https://"), "127.0.0.1", "0.0.0.0", 1) + "/fleet:v1" // loopback addresses may lack TLS
	push := func(r Registry) error { return r.Push(t.Context(), ref, Content{Image: build(t, v1.Platform{})}) }
	if err := push(Registry{}); err == nil || !strings.Contains(err.Error(), "certificate") || !strings.Contains(fault.HintOf(err), "--skip-tls-verify") {
		t.Errorf("an unknown certificate: error %v, hint %q", err, fault.HintOf(err))
	}
	if err := push(Registry{SkipTLSVerify: true}); err != nil {
		t.Error(err)
	}
}

// TestCredentials expects that credentials come from the configuration of docker.
func TestCredentials(t *testing.T) {
	images := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "captain" || password != "secret" {
			w.Header().Set("WWW-Authenticate", `Basic realm="fleet"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		images.ServeHTTP(w, r)
	}))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	dir := t.TempDir()
	t.Setenv("DOCKER_CONFIG", dir)
	push := func() error {
		return Registry{PlainHTTP: true}.Push(t.Context(), host+"/fleet:v1", Content{Image: build(t, v1.Platform{})})
	}
	if err := push(); err == nil || err.Error() != "cannot push "+host+"/fleet:v1: the registry refuses the credentials" || fault.HintOf(err) != "log in with: docker login "+host {
		t.Errorf("without credentials: error %v, hint %q", err, fault.HintOf(err))
	}
	config := `{"auths": {"` + host + `": {"username": "captain", "password": "secret"}}}`
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := push(); err != nil {
		t.Errorf("with credentials: %v", err)
	}
}

// TestBrokenBlobs expects that an image whose registry does not send its layers is not called damaged.
func TestBrokenBlobs(t *testing.T) {
	t.Parallel()
	var broken atomic.Bool
	images := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if broken.Load() && strings.Contains(r.URL.Path, "/blobs/") {
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		images.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	ref := strings.TrimPrefix(server.URL, "http://") + "/fleet:v1"
	platform := v1.Platform{OS: "linux", Architecture: "amd64"}
	if err := (Registry{}).Push(t.Context(), ref, Content{Image: build(t, platform)}); err != nil {
		t.Fatal(err)
	}
	img, err := Open(t.Context(), ref, Registry{}, platform)
	if err != nil {
		t.Fatal(err)
	}
	broken.Store(true)
	if _, err := Files(img, "manifests"); err == nil || strings.Contains(err.Error(), "damaged") || fault.HintOf(err) == "" {
		t.Errorf("%v, hint %q", err, fault.HintOf(err))
	}
}

// TestSlowRegistries expects an error with a hint from a registry that sends nothing, one byte after the other, or pages without end,
// for each request. TestSteady of package input has layers that come byte by byte.
func TestSlowRegistries(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{
		"sends nothing": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"drips": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
			for r.Method != http.MethodHead && r.Context().Err() == nil {
				_, _ = w.Write([]byte(" "))
				w.(http.Flusher).Flush()
				time.Sleep(10 * time.Millisecond)
			}
		},
		"lists without end": func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.URL.Path, "/tags/list") {
				<-r.Context().Done()
			}
			w.Header().Set("Link", "<"+r.URL.Path+`?next=1>; rel="next"`)
			_, _ = w.Write([]byte(`{"name": "fleet", "tags": ["v1"]}`))
		},
		"redirects to itself": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) },
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, err := io.Copy(io.Discard, r.Body); err != nil || r.URL.Path == "/v2/" {
				return // it is there
			}
			answer(w, r)
		}))
		t.Cleanup(server.Close)
		ref := strings.TrimPrefix(server.URL, "http://") + "/fleet:v1"
		r := Registry{limits: limits{header: 200 * time.Millisecond, push: 200 * time.Millisecond, ask: 300 * time.Millisecond}}
		for verb, ask := range map[string]func() error{
			"pull":    func() error { _, err := r.Pull(t.Context(), ref, v1.Platform{}); return err },
			"resolve": func() error { _, err := r.Resolve(t.Context(), ref); return err },
			"tags":    func() error { _, err := r.Tags(t.Context(), ref); return err },
			"push":    func() error { return r.Push(t.Context(), ref, Content{Image: build(t, v1.Platform{})}) },
		} {
			t.Run(verb+" from a registry that "+name, func(t *testing.T) {
				t.Parallel()
				if err := ask(); err == nil || !strings.HasPrefix(err.Error(), "cannot ") || fault.HintOf(err) == "" {
					t.Errorf("%v, hint %q", err, fault.HintOf(err))
				}
			})
		}
	}
}
