//go:build testall

package e2e

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// cloudAccount is the cloud of the operator of scenario s3-operator: a server with buckets
// and their users that records requests. Tests choose its answers. Those that run in
// parallel use different buckets.
type cloudAccount struct {
	url string

	mu      sync.Mutex
	stored  map[string]map[string]any // by path
	calls   []cloudCall
	answers []cloudAnswer
	pending map[string]bool // buckets that are not ready yet
}

// cloudCall is a request, such as PUT /buckets/logs, with its time.
type cloudCall struct {
	request string
	came    time.Time
}

// cloudAnswer is a status with which requests that begin with prefix fail.
type cloudAnswer struct {
	prefix string
	status int
	left   int // the number of requests that still fail
}

const always = 1 << 30 // times

func serveAccount(t *testing.T) *cloudAccount {
	t.Helper()
	a := &cloudAccount{stored: map[string]map[string]any{}, pending: map[string]bool{}}
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	a.url = server.URL
	return a
}

// answer makes the next requests that begin with prefix fail with a status.
func (a *cloudAccount) answer(prefix string, status, times int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answers = slices.DeleteFunc(a.answers, func(old cloudAnswer) bool { return old.prefix == prefix })
	a.answers = append(a.answers, cloudAnswer{prefix, status, times})
}

// delay sets whether a bucket stays pending.
func (a *cloudAccount) delay(bucket string, pending bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pending[bucket] = pending
}

// requests returns the requests for a bucket that begin with prefix, in order.
func (a *cloudAccount) requests(bucket, prefix string) []cloudCall {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(a.calls), func(c cloudCall) bool {
		return path.Base(c.request) != bucket || !strings.HasPrefix(c.request, prefix)
	})
}

// resources returns the paths of all buckets and users, sorted.
func (a *cloudAccount) resources() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Sorted(maps.Keys(a.stored))
}

func (a *cloudAccount) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	request := r.Method + " " + r.URL.Path
	a.calls = append(a.calls, cloudCall{request, time.Now()})
	for i := range a.answers {
		if answer := &a.answers[i]; answer.left > 0 && strings.HasPrefix(request, answer.prefix) {
			answer.left--
			w.WriteHeader(answer.status)
			return
		}
	}
	name := path.Base(r.URL.Path)
	switch r.Method {
	case http.MethodPut:
		resource := map[string]any{"id": "id-" + name, "secret": "secret-" + name}
		if strings.HasPrefix(r.URL.Path, "/buckets/") {
			if err := json.NewDecoder(r.Body).Decode(&resource); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
		}
		a.stored[r.URL.Path] = resource
	case http.MethodDelete:
		delete(a.stored, r.URL.Path)
		return
	}
	resource, ok := a.stored[r.URL.Path]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	resource["url"] = "https://" + name + ".example.org"
	if a.pending[name] {
		delete(resource, "url")
	}
	_ = json.NewEncoder(w).Encode(resource)
}
