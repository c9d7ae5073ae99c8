package assets

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/operon-dev/operon/internal/fault"
)

// mirror is a server with an index of releases and their archives, in the form that
// controller-tools publishes.
type mirror struct {
	*httptest.Server
	index    string
	archives map[string]func(http.ResponseWriter)
}

func newMirror(t *testing.T) *mirror {
	t.Helper()
	m := &mirror{index: "releases:\n", archives: map[string]func(http.ResponseWriter){}}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		serve := m.archives[strings.TrimPrefix(r.URL.Path, "/")]
		switch {
		case r.URL.Path == "/index.yaml":
			_, _ = w.Write([]byte(m.index))
		case serve != nil:
			serve(w)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(m.Close)
	return m
}

// list adds a release for a platform to the index.
func (m *mirror) list(release, platform, hash string) (name string) {
	name = "envtest-v" + release + "-" + platform + ".tar.gz"
	m.index += fmt.Sprintf("  v%s:\n    %s:\n      hash: %s\n      selfLink: %s/%s\n", release, name, hash, m.URL, name)
	return name
}

// add publishes an archive with the named programs for this platform.
func (m *mirror) add(t *testing.T, release string, names ...string) {
	t.Helper()
	content := tarball(t, names...)
	name := m.list(release, platform(), fmt.Sprintf("%x", sha512.Sum512(content)))
	m.archives[name] = func(w http.ResponseWriter) { _, _ = w.Write(content) }
}

func tarball(t *testing.T, names ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	zw := gzip.NewWriter(&out)
	tw := tar.NewWriter(zw)
	for _, name := range names {
		body := "#!/bin/sh\necho " + name + "\n"
		if err := tw.WriteHeader(&tar.Header{Name: "controller-tools/envtest/" + executable(name), Mode: 0o755, Size: int64(len(body))}); err != nil {
			t.Fatal(err)
		}
		if _, err := tw.Write([]byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(tw.Close(), zw.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestDownload(t *testing.T) {
	t.Parallel()
	m := newMirror(t)
	m.add(t, "1.36.2", programs...)
	m.add(t, "1.36.10", programs...)
	m.add(t, "1.36.9", programs...)
	m.list("1.36.11", "plan9-mips", "0")
	m.add(t, "1.35.1", programs...)
	w := newWorld(t, "ok", "PATH=") // no go is needed
	half := w.put("1.35.1-"+platform(), "etcd")
	var progress []string
	download := func(version string) (string, error) {
		return w.store().Download(t.Context(), version, m.URL+"/index.yaml", func(line string) { progress = append(progress, line) })
	}
	dir, err := download("1.36")
	if want := filepath.Join(w.root, "k8s", "1.36.10-"+platform()); err != nil || dir != want {
		t.Fatalf("got %q, %v, want %q", dir, err, want)
	}
	if got, err := w.store().Path("1.36.x"); err != nil || got != dir {
		t.Errorf("path: %q, %v", got, err)
	}
	if text := strings.Join(progress, "\n"); !strings.Contains(text, "downloading Kubernetes 1.36.10 for "+platform()) || !strings.Contains(text, "downloaded 0 MB") {
		t.Errorf("progress: %s", text)
	}
	if got, err := download("1.35"); err != nil || got != half {
		t.Errorf("instead of an incomplete download: %q, %v", got, err)
	}
	if l := w.leftovers(); l != nil {
		t.Errorf("left behind: %v", l)
	}

	// An existing version is used. A folder that the user sets takes precedence.
	m.Close()
	if got, err := download("1.36"); err != nil || got != dir {
		t.Errorf("again: %q, %v", got, err)
	}
	if got, err := w.store(Var+"="+half).Download(t.Context(), "1.20", m.URL, nil); err != nil || got != half {
		t.Errorf("with %s: %q, %v", Var, got, err)
	}
}

func TestDownloadFailures(t *testing.T) {
	t.Parallel()
	const mirrorHint = "--index"
	good := func(t *testing.T, m *mirror) { m.add(t, "1.36.3", programs...) }
	sum := func(b []byte) string { return fmt.Sprintf("%x", sha512.Sum512(b)) }
	tests := []struct {
		name    string
		version string
		index   string // "" is the mirror's
		setup   func(*testing.T, *mirror)
		code    int
		err     string
		hint    string
	}{
		{"not a version", "newest", "", good, fault.CodeUsage, "not of the form", ""},
		{"not a URL", "1.36", "envtest-releases.yaml", good, fault.CodeUsage, `index "envtest-releases.yaml" is not the URL of a web server`, DefaultIndex},
		{"another scheme", "1.36", "file:///tmp/index.yaml", good, fault.CodeUsage, "not the URL", ""},
		{"no such version", "1.20", "", good, fault.CodeFailed, "no Kubernetes 1.20 for " + platform() + " in http://", "the newest version for this system is 1.36.3"},
		{"not for this system", "1.36", "", func(_ *testing.T, m *mirror) { m.list("1.36.3", "plan9-mips", "0") }, fault.CodeFailed, "no Kubernetes 1.36", "operon envtest build"},
		{"empty index", "1.36", "", func(_ *testing.T, m *mirror) { m.index = "" }, fault.CodeFailed, "no Kubernetes 1.36", "operon envtest build"},
		{"no index", "1.36", "", func(_ *testing.T, m *mirror) { m.index = "<html>\n\tsign in: [" }, fault.CodeFailed, "unmarshal index", mirrorHint},
		{"index not found", "1.36", "/other.yaml", good, fault.CodeFailed, `"404 Not Found"`, mirrorHint},
		{"no network", "1.36", "", func(_ *testing.T, m *mirror) { m.Close() }, fault.CodeFailed, "connect", mirrorHint},
		{"archive not found", "1.36", "", func(_ *testing.T, m *mirror) { m.list("1.36.3", platform(), "0") }, fault.CodeFailed, `"404 Not Found"`, mirrorHint},
		{"other content", "1.36", "", func(t *testing.T, m *mirror) {
			name := m.list("1.36.3", platform(), sum([]byte("what was published")))
			other := tarball(t, programs...)
			m.archives[name] = func(w http.ResponseWriter) { _, _ = w.Write(other) }
		}, fault.CodeFailed, "checksum mismatch", mirrorHint},
		{"cut off", "1.36", "", func(t *testing.T, m *mirror) {
			content := tarball(t, programs...)
			name := m.list("1.36.3", platform(), sum(content))
			m.archives[name] = func(w http.ResponseWriter) {
				w.Header().Set("Content-Length", fmt.Sprint(len(content)))
				_, _ = w.Write(content[:len(content)/2])
			}
		}, fault.CodeFailed, "unexpected EOF", mirrorHint},
		{"not an archive", "1.36", "", func(_ *testing.T, m *mirror) {
			name := m.list("1.36.3", platform(), sum([]byte("text")))
			m.archives[name] = func(w http.ResponseWriter) { _, _ = w.Write([]byte("text")) }
		}, fault.CodeFailed, "unpack Kubernetes 1.36.3", "room on the disk"},
		{"missing program", "1.36", "", func(t *testing.T, m *mirror) { m.add(t, "1.36.3", "etcd", "kubectl") },
			fault.CodeFailed, "the archive of Kubernetes 1.36.3 is not usable: " + executable("kube-apiserver") + " is missing", mirrorHint},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := newMirror(t)
			tt.setup(t, m)
			w := newWorld(t, "ok")
			index := m.URL + "/index.yaml"
			if strings.HasPrefix(tt.index, "/") {
				index = m.URL + tt.index
			} else if tt.index != "" {
				index = tt.index
			}
			_, err := w.store().Download(t.Context(), tt.version, index, nil)
			checkFault(t, err, tt.code, tt.err, tt.hint)
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("the error has more than one line: %q", err)
			}
			if l := w.leftovers(); l != nil {
				t.Errorf("left behind: %v", l)
			}
			if found, _ := filepath.Glob(filepath.Join(w.root, "k8s", "*")); found != nil {
				t.Errorf("the store has %s", found)
			}
		})
	}
}

// TestDownloadSlow ends a download from a server that sends nothing, or byte by byte. One that sends slowly is no error.
func TestDownloadSlow(t *testing.T) {
	t.Parallel()
	content := append(tarball(t, programs...), make([]byte, 200<<10)...) // what is after the archive is ignored
	drip := func(r *http.Request, w http.ResponseWriter, size int) {
		for rest := content; len(rest) > 0 && r.Context().Err() == nil; time.Sleep(50 * time.Millisecond) {
			n := min(size, len(rest))
			_, _ = w.Write(rest[:n])
			_ = http.NewResponseController(w).Flush()
			rest = rest[n:]
		}
	}
	nothing := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	for name, serve := range map[string]http.HandlerFunc{
		"":                     func(w http.ResponseWriter, r *http.Request) { drip(r, w, 25<<10) },
		"the index":            nothing,
		"the archive":          nothing,
		"the archive, dripped": func(w http.ResponseWriter, r *http.Request) { drip(r, w, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMirror(t)
			m.list("1.36.3", platform(), fmt.Sprintf("%x", sha512.Sum512(content)))
			index := m.index
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/index.yaml" && name != "the index" {
					_, _ = w.Write([]byte(strings.ReplaceAll(index, m.URL, "http://"+r.Host)))
					return
				}
				serve(w, r)
			}))
			t.Cleanup(server.Close)
			s := newWorld(t, "ok").store()
			s.patience = 2 * time.Second
			_, err := s.Download(t.Context(), "1.36", server.URL+"/index.yaml", nil)
			if name == "" && err != nil {
				t.Error(err)
			} else if name != "" {
				checkFault(t, err, fault.CodeFailed, " sends almost nothing for 2s", "--index")
			}
		})
	}
}

// Ctrl-C ends a download, and none of its files are used.
func TestDownloadCancelled(t *testing.T) {
	t.Parallel()
	m := newMirror(t)
	name := m.list("1.36.3", platform(), "0")
	ctx, cancel := context.WithCancelCause(t.Context())
	signal := errors.New("interrupt")
	m.archives[name] = func(w http.ResponseWriter) {
		_, _ = w.Write([]byte("the first part"))
		_ = http.NewResponseController(w).Flush()
		cancel(signal)
		<-t.Context().Done()
	}
	w := newWorld(t, "ok")
	_, err := w.store().Download(ctx, "1.36", m.URL+"/index.yaml", nil)
	if !errors.Is(err, signal) {
		t.Errorf("got %v, want the cause", err)
	}
	if l := w.leftovers(); l != nil {
		t.Errorf("left behind: %v", l)
	}
	_, err = w.store().Path("1.36")
	checkFault(t, err, fault.CodeFailed, "no control plane", "operon envtest path --download --k8s-version 1.36")
}
