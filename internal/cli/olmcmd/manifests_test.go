package olmcmd

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/operon-dev/operon/internal/input"
	"github.com/operon-dev/operon/internal/olm/cluster"
)

// TestDownload expects that the time limit ends a download, and that a file is read whole or not
// at all.
func TestDownload(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/slow":
			<-r.Context().Done()
		case "/large":
			part := bytes.Repeat([]byte("# nothing\n"), 1<<16)
			for range input.Data/len(part) + 1 {
				if _, err := w.Write(part); err != nil {
					return
				}
			}
		default:
			_, _ = w.Write([]byte("{apiVersion: v1, kind: Namespace, metadata: {name: olm}}"))
		}
	}))
	t.Cleanup(server.Close)
	for name, tt := range map[string]struct {
		timeout time.Duration
		err     string
	}{
		"fine":  {time.Minute, ""},
		"large": {time.Minute, "/large is larger than 128 MiB"},
		"slow":  {time.Millisecond, "/slow: not done after 1ms"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := cluster.WithTimeout(context.Background(), tt.timeout)
			defer cancel()
			all, err := download(ctx, server.URL+"/"+name)
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) || err == nil && len(all) != 1 {
				t.Errorf("%d objects, error %v; want %q", len(all), err, tt.err)
			}
		})
	}
}
