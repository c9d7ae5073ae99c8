package database

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestClient(t *testing.T) {
	var got string
	status, answer := http.StatusNoContent, ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = r.Method + " " + r.URL.EscapedPath() + " " + string(body)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	defer server.Close()
	c := Client{URL: server.URL}
	set := func() error { return c.SetUser(t.Context(), "a/b", "secret") }
	drop := func() error { return c.DropUser(t.Context(), "a/b") }

	if err := set(); err != nil || got != "PUT /users/a%2Fb secret" {
		t.Errorf("setting a user asked %q, error %v", got, err)
	}
	if err := drop(); err != nil || got != "DELETE /users/a%2Fb " {
		t.Errorf("dropping a user asked %q, error %v", got, err)
	}
	status, answer = http.StatusNotFound, "no such user\n"
	if err := drop(); err != nil {
		t.Errorf("dropping a user who is not there: %v", err)
	}
	if err := set(); !errors.Is(err, ErrRefused) || err.Error() != "the database refuses: no such user" {
		t.Errorf("refused, setting a user returns %v", err)
	}
	server.Close()
	if err := set(); !errors.Is(err, ErrUnreachable) {
		t.Errorf("without a server, setting a user returns %v", err)
	}
}
