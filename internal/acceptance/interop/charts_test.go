//go:build unix

package interop

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/operon-dev/operon/internal/image"
	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/treetest"
)

const galleyChart = "apiVersion: v2\nname: galley\nversion: 1.0.0\n"

// packChart returns an archive of the chart galley.
func packChart(t *testing.T, chartYAML string) []byte {
	t.Helper()
	var archive bytes.Buffer
	zip := gzip.NewWriter(&archive)
	files := tar.NewWriter(zip)
	if err := files.WriteHeader(&tar.Header{Name: "galley/Chart.yaml", Mode: 0o644, Size: int64(len(chartYAML))}); err != nil {
		t.Fatal(err)
	}
	if _, err := files.Write([]byte(chartYAML)); err != nil {
		t.Fatal(err)
	}
	if err := files.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return archive.Bytes()
}

// TestChartUpdate updates charts of a registry and of a repository: to the newest release, and back
// to a version.
func TestChartUpdate(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	dir, repository := t.TempDir(), chartRepository(t)
	address := strings.TrimPrefix(server.URL, "http://") + "/charts/galley"
	pushChart(t, address, "1.0.0")
	operontest.Run(t, dir, "init", "--plugins", "helm", "--domain", "example.org")
	operontest.Run(t, dir, "create", "api", "--helm-chart", "oci://"+address, "--kind", "Ship")
	operontest.Run(t, dir, "create", "api", "--helm-chart", "galley", "--helm-chart-repo", repository, "--kind", "Boat")
	pushChart(t, address, "1.1.0")
	for _, tc := range []struct{ command, report, version string }{
		{"chart update", "helm-charts/ship: version 1.0.0 -> 1.1.0", "1.1.0"},
		{"chart update ship --version 1.0.0", "helm-charts/ship: version 1.1.0 -> 1.0.0", "1.0.0"},
		{"chart update ship --version ~1.0", "nothing to do", "1.0.0"},
		{"chart update boat", "nothing to do", "1.0.0"},
		{"chart update ship", "helm-charts/ship: version 1.0.0 -> 1.1.0", "1.1.0"},
	} {
		out := operontest.Run(t, dir, strings.Fields(tc.command)...)
		if !strings.Contains(out, tc.report) {
			t.Errorf("%s lacks %q:\n%s", tc.command, tc.report, out)
		}
		recorded := "chart: oci://" + address + "\n        version: " + tc.version + "\n"
		if text := treetest.ReadFile(t, filepath.Join(dir, "PROJECT")); !strings.Contains(text, recorded) {
			t.Errorf("after %s, PROJECT lacks %q:\n%s", tc.command, recorded, text)
		}
		if text := treetest.ReadFile(t, filepath.Join(dir, "helm-charts/ship/Chart.yaml")); !strings.Contains(text, tc.version) {
			t.Errorf("after %s, the chart is:\n%s", tc.command, text)
		}
	}
}

// pushChart pushes a version of the chart galley to a registry.
func pushChart(t *testing.T, address, version string) {
	t.Helper()
	content := packChart(t, strings.Replace(galleyChart, "1.0.0", version, 1))
	layer := static.NewLayer(content, "application/vnd.cncf.helm.chart.content.v1.tar+gzip")
	img, err := mutate.AppendLayers(mutate.ConfigMediaType(empty.Image, "application/vnd.cncf.helm.config.v1+json"), layer)
	if err != nil {
		t.Fatal(err)
	}
	if err := (image.Registry{}).Push(t.Context(), address+":"+version, image.Content{Image: img}); err != nil {
		t.Fatal(err)
	}
}

// chartRepository serves a repository with the chart galley.
func chartRepository(t *testing.T) string {
	t.Helper()
	archive := packChart(t, galleyChart)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/index.yaml":
			_, _ = fmt.Fprint(w, "apiVersion: v1\nentries:\n  galley:\n  - apiVersion: v2\n    name: galley\n    version: 1.0.0\n    urls: [galley-1.0.0.tgz]\n")
		case "/galley-1.0.0.tgz":
			_, _ = w.Write(archive)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}
