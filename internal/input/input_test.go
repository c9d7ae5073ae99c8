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

// TestSteady expects an error for a response that stops, and for one that comes byte by byte, and for a request that the server does
// not read. Whoever reads the response or makes the request may be slow.
func TestSteady(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		flush := w.(http.Flusher).Flush
		switch r.URL.Path {
		case "/reads nothing":
			<-release
		case "/reads":
			_, _ = io.Copy(io.Discard, r.Body)
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
	t.Cleanup(func() { close(release) })
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
	upload := func(path string, body io.Reader) error {
		response, err := client.Post(server.URL+path, "text/plain", body)
		if err == nil {
			_, err = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
		}
		return err
	}
	if err := upload("/reads%20nothing", endless{}); !errors.Is(err, ErrSlow) {
		t.Errorf("a server that reads nothing: %v", err)
	}
	if err := upload("/reads", io.MultiReader(strings.NewReader("a"), late(400*time.Millisecond), strings.NewReader("b"))); err != nil {
		t.Errorf("a request that is made slowly: %v", err)
	}
}

// endless is a body that fills all buffers on the way to the server.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// late is an empty body whose end comes late.
type late time.Duration

func (l late) Read([]byte) (int, error) {
	time.Sleep(time.Duration(l))
	return 0, io.EOF
}
