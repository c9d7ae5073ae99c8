package input

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestReadAll(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]error{"": nil, "1234": nil, "12345": TooLarge(4)} {
		content, err := ReadAll(strings.NewReader(text), 4)
		if !errors.Is(err, want) || err == nil && string(content) != text {
			t.Errorf("%q: %q, %v", text, content, err)
		}
	}
}

// TestSteady expects an error for a response that stops, and for one that comes byte by byte. Whoever reads may be slow.
func TestSteady(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		flush := w.(http.Flusher).Flush
		switch r.URL.Path {
		case "/stops":
			_, _ = w.Write([]byte("start"))
			flush()
			<-r.Context().Done()
		case "/drips":
			for r.Context().Err() == nil {
				_, _ = w.Write([]byte("."))
				flush()
				time.Sleep(10 * time.Millisecond)
			}
		default:
			_, _ = w.Write([]byte(strings.Repeat("a", 1<<20)))
		}
	}))
	t.Cleanup(server.Close)
	client := http.Client{Transport: steady{base: http.DefaultTransport, window: 200 * time.Millisecond, least: 1000}}
	for path, want := range map[string]error{"/whole": nil, "/stops": ErrSlow, "/drips": ErrSlow} {
		response, err := client.Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		if path == "/whole" {
			time.Sleep(400 * time.Millisecond)
		}
		if _, err := io.ReadAll(response.Body); !errors.Is(err, want) {
			t.Errorf("%s: %v", path, err)
		}
		_ = response.Body.Close()
	}
}
