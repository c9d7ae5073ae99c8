package cloud

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestClient(t *testing.T) {
	var asked string
	answer, status := "", http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		asked = req.Method + " " + req.URL.Path + " " + string(body)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	defer server.Close()
	c, err := NewClient(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	want := Bucket{Name: "logs", Region: "north", Versioned: true, URL: "https://logs.example.org"}
	answer = `{"name":"logs","region":"north","versioned":true,"url":"https://logs.example.org"}`
	if got, err := c.Bucket(t.Context(), "logs"); err != nil || got != want {
		t.Errorf("got the bucket %+v, error %v, want %+v", got, err, want)
	}
	if _, err := c.PutBucket(t.Context(), Bucket{Name: "logs", Region: "north"}); err != nil {
		t.Error(err)
	}
	if want := `PUT /buckets/logs {"name":"logs","region":"north","versioned":false}` + "\n"; asked != want {
		t.Errorf("asked the cloud to %q, want %q", asked, want)
	}
	answer = `{"id":"K1","secret":"s"}`
	if got, err := c.PutUser(t.Context(), "logs"); err != nil || got != (Key{ID: "K1", Secret: "s"}) {
		t.Errorf("got the key %+v, error %v", got, err)
	}
	answer = ""
	for code, want := range map[int]error{
		http.StatusNotFound:            ErrNotFound,
		http.StatusTooManyRequests:     ErrBusy,
		http.StatusConflict:            ErrRefused,
		http.StatusInternalServerError: nil, // no error that somebody asks for
	} {
		status = code
		if _, err := c.Bucket(t.Context(), "logs"); err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("after a %d the error is %v, want %v", code, err, want)
		}
	}
	status = http.StatusNotFound
	for _, remove := range []error{c.DeleteBucket(t.Context(), "logs"), c.DeleteUser(t.Context(), "logs")} {
		if remove != nil {
			t.Errorf("deleting what is gone: %v", remove)
		}
	}
}

func TestNewClientRefusesOtherThanServers(t *testing.T) {
	for _, endpoint := range []string{"", "cloud", "http://", "://x"} {
		if _, err := NewClient(endpoint); err == nil {
			t.Errorf("%q was taken for the URL of a server", endpoint)
		}
	}
}
