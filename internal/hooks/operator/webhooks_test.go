//go:build testall

package operator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/hooks"
	"github.com/operon-dev/operon/internal/hooks/cluster"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/engine"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "record the responses of the engine; OPERON_ENGINE is its program")

// requests is testdata/webhooks.yaml.
type requests struct {
	Hooks    map[string]string // configurations
	CRDs     []map[string]any
	Requests []request
}

// request is a request of an API server.
type request struct {
	Validate, Mutate string   // name of a webhook
	Convert          []string // versions of the objects; the last is the desired version
	Does             string   // bash script of the hook
}

// exchange has the binding contexts of all hook runs and the response to the API server.
type exchange struct {
	Contexts []any          `json:"contexts"`
	Response map[string]any `json:"response"`
}

// hookScript is the script of every hook: it records its contexts and runs its action.
const hookScript = `#!/bin/bash
dir=%[1]q
if [[ "${1:-}" == --config ]]; then cat %[2]q; exit; fi
cp "$BINDING_CONTEXT_PATH" "$dir/runs/$(date +%%s%%N)"
source "$dir/does"
`

// fixture is the folder of a test with hooks.
type fixture struct {
	*testing.T
	requests
	dir   string
	hooks []engine.Hook
}

// TestWebhooks sends the requests of an API server. It compares contexts and responses
// with those recorded from the real engine.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	const recorded = "testdata/webhooks.json"
	s := newFixture(t)
	if *update {
		content, err := json.MarshalIndent(s.record(), "", " ")
		if err == nil {
			err = os.WriteFile(recorded, append(content, '\n'), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	content, err := os.ReadFile(recorded)
	if err != nil {
		t.Fatal(err)
	}
	var want []exchange
	if err := json.Unmarshal(content, &want); err != nil {
		t.Fatal(err)
	}
	got := s.play()
	if len(want) != len(got) {
		t.Fatalf("got %d exchanges, want the %d recorded", len(got), len(want))
	}
	for i, r := range s.Requests {
		if diff := cmp.Diff(want[i], got[i]); diff != "" {
			t.Errorf("request %d, %s (-engine +operon):\n%s", i+1, r.Does, diff)
		}
	}
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	s := &fixture{T: t, dir: t.TempDir()}
	text, err := os.ReadFile("testdata/webhooks.yaml")
	if err == nil {
		err = yaml.UnmarshalStrict(text, &s.requests)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(s.dir, "runs"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Hooks)) {
		conf, findings := config.Shell.Parse([]byte(s.Hooks[name]))
		if conf == nil {
			t.Fatal(name, findings)
		}
		path, configPath := filepath.Join(s.dir, "hooks", name), filepath.Join(s.dir, "config", name)
		s.write(configPath, s.Hooks[name], 0o644)
		s.write(path, fmt.Sprintf(hookScript, s.dir, configPath), 0o755)
		s.hooks = append(s.hooks, engine.Hook{Hook: hooks.Hook{Name: name, Path: path}, Config: conf})
	}
	return s
}

func (s *fixture) write(path, text string, mode os.FileMode) {
	s.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(text), mode)
	}
	if err != nil {
		s.Fatal(err)
	}
}

// play sends the requests to an Operator.
func (s *fixture) play() []exchange {
	ctx, cancel := context.WithCancel(s.Context())
	defer cancel()
	o := &Operator{Cluster: serving(s.T, `{"metadata": {}}`), Runner: engine.Runner{Env: os.Environ()}, Now: time.Now, Report: func(Run) {}, Warn: func(hook string, err error) { s.Error(hook, err) }}
	o.begin(ctx, s.hooks)
	answers := cluster.Handlers{Admit: o.admit, Convert: o.convert}
	return s.ask(func(r request, review []byte) []byte {
		path := "/convert/" + crd
		for _, h := range s.hooks {
			for _, a := range h.Config.Validating {
				if a.Name == r.Validate {
					path = validating + h.Name + "/" + a.Name
				}
			}
			for _, a := range h.Config.Mutating {
				if a.Name == r.Mutate {
					path = mutating + h.Name + "/" + a.Name
				}
			}
		}
		w := httptest.NewRecorder()
		answers.ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, bytes.NewReader(review)))
		return w.Body.Bytes()
	})
}

const crd = "tabs.example.org"

// ask sends all requests sequentially.
func (s *fixture) ask(send func(r request, review []byte) []byte) []exchange {
	s.Helper()
	var all []exchange
	for i, r := range s.Requests {
		s.write(filepath.Join(s.dir, "does"), r.Does+"\n", 0o644)
		var e exchange
		var review struct{ Response map[string]any }
		answer := send(r, r.review(s.T, fmt.Sprint("u", i)))
		if err := json.Unmarshal(answer, &review); err != nil {
			s.Fatalf("request %d: %v\n%s", i+1, err, answer)
		}
		e.Response = review.Response
		for _, key := range []string{"status", "result"} {
			if status, is := e.Response[key].(map[string]any); is {
				delete(status, "metadata") // empty, and ignored by the API server
				maps.DeleteFunc(status, func(_ string, v any) bool { return v == "" })
			}
		}
		if e.Response["convertedObjects"] == nil {
			delete(e.Response, "convertedObjects") // equivalent to a missing list
		}
		e.Contexts = s.runs()
		all = append(all, e)
	}
	return all
}

// runs returns the contexts of the runs since the last call.
func (s *fixture) runs() []any {
	s.Helper()
	files, err := filepath.Glob(filepath.Join(s.dir, "runs", "*")) // in the order of the runs
	if err != nil {
		s.Fatal(err)
	}
	var all []any
	for _, file := range files {
		content, err := os.ReadFile(file)
		var contexts any
		if err == nil {
			err = errors.Join(json.Unmarshal(content, &contexts), os.Remove(file))
		}
		if err != nil {
			s.Fatal(err)
		}
		all = append(all, contexts)
	}
	return all
}

// review returns the request in the form of an API server.
func (r request) review(t *testing.T, uid string) []byte {
	t.Helper()
	review := map[string]any{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}
	if r.Convert != nil {
		review["apiVersion"], review["kind"] = "apiextensions.k8s.io/v1", "ConversionReview"
		last := len(r.Convert) - 1
		var objects []any
		for i, version := range r.Convert[:last] {
			objects = append(objects, map[string]any{"apiVersion": "example.org/" + version, "kind": "Tab", "metadata": map[string]any{"name": fmt.Sprint("t", i), "namespace": "default"}})
		}
		review["request"] = map[string]any{"uid": uid, "desiredAPIVersion": "example.org/" + r.Convert[last], "objects": objects}
	} else {
		kind := map[string]any{"group": "", "version": "v1", "kind": "ConfigMap"}
		resource := map[string]any{"group": "", "version": "v1", "resource": "configmaps"}
		review["request"] = map[string]any{
			"uid": uid, "kind": kind, "resource": resource, "requestKind": kind, "requestResource": resource, "name": "x", "namespace": "default", "operation": "CREATE",
			"userInfo":  map[string]any{"username": "somebody", "groups": []any{"system:authenticated"}, "extra": map[string]any{"scopes": []any{"a"}}},
			"object":    map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "x", "namespace": "default"}, "data": map[string]any{"k": "v"}},
			"oldObject": nil, "dryRun": true, "options": map[string]any{"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
		}
	}
	content, err := json.Marshal(review)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// record sends the requests to the real engine, as operon runs it.
func (s *fixture) record() []exchange {
	s.Helper()
	program := os.Getenv("OPERON_ENGINE")
	if program == "" {
		s.Skip("OPERON_ENGINE is not set")
	}
	c, url := s.engine(program)
	return s.ask(func(r request, review []byte) []byte {
		at := url[strings.Join([]string{r.Validate, r.Mutate}, "")]
		answer, err := c.Post(at, "application/json", bytes.NewReader(review))
		if err != nil {
			s.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		var body bytes.Buffer
		if _, err := body.ReadFrom(answer.Body); err != nil {
			s.Fatal(err)
		}
		return body.Bytes()
	})
}
