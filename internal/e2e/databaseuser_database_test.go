//go:build testall

package e2e

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"sync"
	"testing"
)

// userDatabase is the database of the operator of scenario databaseuser. Tests that run in
// parallel use different users.
type userDatabase struct {
	url string

	mu        sync.Mutex
	passwords map[string]string // by user
	refusals  map[string]string // by user, the error for changes
}

func serveUserDatabase(t *testing.T) *userDatabase {
	t.Helper()
	d := &userDatabase{passwords: map[string]string{}, refusals: map[string]string{}}
	server := httptest.NewServer(d)
	t.Cleanup(server.Close)
	d.url = server.URL
	return d
}

// refuse makes changes of a user fail with a message, until it is called with "".
func (d *userDatabase) refuse(user, why string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.refusals[user] = why
}

// password returns the password of a user, or "".
func (d *userDatabase) password(user string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.passwords[user]
}

func (d *userDatabase) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	user := path.Base(r.URL.Path)
	if why := d.refusals[user]; why != "" {
		http.Error(w, why, http.StatusConflict)
		return
	}
	switch r.Method {
	case http.MethodPut:
		password, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		d.passwords[user] = string(password)
	case http.MethodDelete:
		delete(d.passwords, user)
	}
	w.WriteHeader(http.StatusNoContent)
}
