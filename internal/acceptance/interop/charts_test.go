//go:build unix

package interop

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

const galleyChart = "apiVersion: v2\nname: galley\nversion: 1.0.0\n"

// chartRepository serves a repository with the chart galley.
func chartRepository(t *testing.T) string {
	t.Helper()
	var archive bytes.Buffer
	zip := gzip.NewWriter(&archive)
	files := tar.NewWriter(zip)
	if err := files.WriteHeader(&tar.Header{Name: "galley/Chart.yaml", Mode: 0o644, Size: int64(len(galleyChart))}); err != nil {
		t.Fatal(err)
	}
	if _, err := files.Write([]byte(galleyChart)); err != nil {
		t.Fatal(err)
	}
	if err := files.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/index.yaml":
			_, _ = fmt.Fprint(w, "apiVersion: v1\nentries:\n  galley:\n  - apiVersion: v2\n    name: galley\n    version: 1.0.0\n    urls: [galley-1.0.0.tgz]\n")
		case "/galley-1.0.0.tgz":
			_, _ = w.Write(archive.Bytes())
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}
