package charts

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/chart"
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/project"
)

// TestOriginOf checks what PROJECT records about the source of a chart: no credentials, and paths
// relative to the project.
func TestOriginOf(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, name := range []string{"charts/galley", "root"} {
		if err := os.MkdirAll(filepath.Join(root, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		source chart.Source
		want   project.ChartOrigin
	}{
		{chart.Source{Chart: filepath.Join(root, "charts/galley")}, project.ChartOrigin{Chart: "../charts/galley"}},
		{chart.Source{Chart: filepath.Join(root, "root")}, project.ChartOrigin{Chart: "."}},
		{chart.Source{Chart: "bitnami/galley"}, project.ChartOrigin{Chart: "bitnami/galley"}},
		{chart.Source{Chart: "galley", Repository: "https://me:secret@example.org/charts", Version: "~1"}, project.ChartOrigin{Chart: "galley", Repository: "https://example.org/charts"}},
		{chart.Source{Chart: "https://me:secret@example.org/galley.tgz"}, project.ChartOrigin{Chart: "https://example.org/galley.tgz"}},
		{chart.Source{Chart: "oci://example.org:5000/charts/galley"}, project.ChartOrigin{Chart: "oci://example.org:5000/charts/galley"}},
		{chart.Source{Chart: "oci://example.org:5000/charts/galley:1.0.0"}, project.ChartOrigin{Chart: "oci://example.org:5000/charts/galley"}},
		{chart.Source{Chart: "oci://example.org/galley@sha256:12"}, project.ChartOrigin{Chart: "oci://example.org/galley@sha256:12"}},
	} {
		tc.want.Version = "1.2.3"
		if diff := cmp.Diff(&tc.want, originOf(&command.App{}, tc.source, "1.2.3", filepath.Join(root, "root"))); diff != "" {
			t.Error(diff)
		}
	}
}

// TestFetchOrigin fetches versions of a chart that PROJECT records: from a repository, and from a URL
// with the version in its name.
func TestFetchOrigin(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		version, isChart := strings.CutPrefix(strings.TrimSuffix(r.URL.Path, ".tgz"), "/galley-")
		if isChart {
			_, _ = w.Write(packaged(t, version))
			return
		}
		for _, version := range []string{"1.0.0", "1.0.1", "2.0.0"} {
			_, _ = fmt.Fprintf(w, "%s  - {name: galley, version: %s, urls: [galley-%s.tgz]}\n", map[bool]string{true: "entries:\n  galley:\n"}[version == "1.0.0"], version, version)
		}
	}))
	t.Cleanup(server.Close)
	a := &command.App{Dir: t.TempDir()}
	for _, tc := range []struct {
		origin        project.ChartOrigin
		version, want string
	}{
		{project.ChartOrigin{Chart: "galley", Repository: server.URL, Version: "1.0.0"}, "", "2.0.0"},
		{project.ChartOrigin{Chart: "galley", Repository: server.URL, Version: "1.0.0"}, "~1.0", "1.0.1"},
		{project.ChartOrigin{Chart: server.URL + "/galley-1.0.0.tgz", Version: "1.0.0"}, "1.0.1", "1.0.1"},
	} {
		got, err := FetchOrigin(t.Context(), a, tc.origin, tc.version, a.Dir)
		if err != nil {
			t.Error(err)
			continue
		}
		want := tc.origin
		want.Version, want.Chart = tc.want, strings.Replace(want.Chart, "1.0.0", tc.want, 1)
		if diff := cmp.Diff(&want, got.Origin); diff != "" {
			t.Error(diff)
		}
	}
}

// packaged returns the archive of a chart.
func packaged(t *testing.T, version string) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	archive := tar.NewWriter(zipped)
	content := "apiVersion: v2\nname: galley\nversion: " + version + "\n"
	if err := archive.WriteHeader(&tar.Header{Name: "galley/Chart.yaml", Mode: 0o644, Size: int64(len(content))}); err != nil {
		t.Fatal(err)
	}
	if _, err := archive.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
