//go:build testall

package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/hooks"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/engine"
	"github.com/operon-dev/operon/internal/hooks/hooktest"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/operon-dev/operon/internal/hooks/output"
	"github.com/operon-dev/operon/internal/testkit/clustertest"
	"github.com/operon-dev/operon/internal/testkit/servertest"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "record the runs of the real engine; OPERON_ENGINE is the path of its program")

// scenario is a file in testdata/traces: hooks that record their contexts, and steps.
type scenario struct {
	Hooks  map[string]string // configurations by hook name
	Writes map[string]string // patch files by hook name
	Given  []map[string]any
	Steps  []step
}

// step is one event. Only one field is set. Hold keeps a hook from exiting until Release, and Fail
// makes the next run of a hook fail.
type step struct {
	Start, Tick, Retry  bool
	Hold, Release, Fail string
	Apply, Delete       map[string]any
}

// run is a run of a hook.
type run struct {
	Step     int              `json:"step"`
	Hook     string           `json:"hook"`
	Contexts []map[string]any `json:"contexts"`
}

// tick is the crontab that the step Tick triggers.
const tick = "@tick"

// TestTraces replays the scenarios and compares the runs with the recorded ones.
func TestTraces(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/traces/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no scenarios", err)
	}
	backend := clustertest.Open(t, servertest.Start(t).Kubeconfig(""), "default", nil, clustertest.All(t))
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var s scenario
			if err := yaml.UnmarshalStrict(text, &s); err != nil {
				t.Fatal(err)
			}
			recorded := strings.TrimSuffix(file, ".yaml") + ".json"
			if *update {
				record(t, s, recorded)
			}
			content, err := os.ReadFile(recorded)
			if err != nil {
				t.Fatal(err)
			}
			var want []run
			if err := json.Unmarshal(content, &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(ordered(s, want), ordered(s, play(t, backend, s))); diff != "" {
				t.Errorf("runs (-engine +operon):\n%s", diff)
			}
		})
	}
}

// ordered sorts the runs of a step by hook, because queues run at the same time. At start-up, all
// tasks are in the queue main.
func ordered(s scenario, runs []run) []run {
	slices.SortStableFunc(runs, func(a, b run) int {
		if a.Step != b.Step || s.Steps[a.Step].Start {
			return a.Step - b.Step
		}
		return strings.Compare(a.Hook, b.Hook)
	})
	return runs
}

// player runs a scenario on State instead of the real engine.
type player struct {
	*testing.T
	scenario
	cluster hooktest.Cluster
	state   *engine.State
	hooks   []engine.Hook
	held    []engine.Task
	holds   map[string]bool
	fails   map[string]bool
	failed  map[string]bool // queues whose first task failed
	step    int
	runs    []run
}

// play runs a scenario and returns the runs of its hooks.
func play(t *testing.T, backend hooktest.Backend, s scenario) []run {
	p := &player{T: t, scenario: s, runs: []run{}, holds: map[string]bool{}, fails: map[string]bool{}, failed: map[string]bool{}}
	given := &hooktest.Test{}
	for _, o := range s.Given {
		given.Given = append(given.Given, &unstructured.Unstructured{Object: o})
	}
	for name, text := range s.Hooks {
		conf, findings := config.Shell.Parse([]byte(strings.ReplaceAll(text, tick, "@yearly")))
		if conf == nil {
			t.Fatal(name, findings)
		}
		p.hooks = append(p.hooks, engine.Hook{Hook: hooks.Hook{Name: name, Path: name}, Config: conf})
	}
	slices.SortFunc(p.hooks, func(a, b engine.Hook) int { return strings.Compare(a.Name, b.Name) })
	var err error
	if p.cluster, err = backend.Open(t.Context(), given); err != nil {
		t.Fatal(err)
	}
	defer p.cluster.Close()
	p.state = engine.New(p.hooks)
	for i, st := range s.Steps {
		p.step = i
		p.do(st)
		p.settle()
	}
	return p.runs
}

func (p *player) do(st step) {
	user := kubeapi.Applier{Client: p.cluster.User(), Wait: p.cluster.Wait}
	var ops []output.Operation
	switch {
	case st.Start:
		p.state.Start()
	case st.Tick:
		if !p.state.Tick("@yearly") {
			p.Fatal("no schedule is enabled")
		}
	case st.Retry:
		clear(p.failed)
	case st.Hold != "":
		p.holds[st.Hold] = true
	case st.Fail != "":
		p.fails[st.Fail] = true
	case st.Release != "":
		delete(p.holds, st.Release)
		for _, t := range p.held {
			p.finish(t)
		}
		p.held = nil
	case st.Apply != nil:
		ops = append(ops, output.Operation{Operation: "CreateOrUpdate", Object: st.Apply})
	case st.Delete != nil:
		o := unstructured.Unstructured{Object: st.Delete}
		ops = append(ops, output.Operation{Operation: "Delete", APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Namespace: o.GetNamespace(), Name: o.GetName()})
	}
	if err := user.Apply(p.Context(), ops); err != nil {
		p.Fatal(err)
	}
}

// settle runs tasks until the queues are idle.
func (p *player) settle() {
	for worked := true; worked; {
		worked = false
		observed, err := p.cluster.Observed(p.Context())
		if err != nil {
			p.Fatal(err)
		}
		for _, o := range observed {
			_ = o.Apply(p.state) // the engine drops the event if the filter fails
		}
		for _, q := range p.state.Queues() {
			if p.failed[q] {
				continue
			}
			if t, ok := p.state.Take(q); ok {
				worked = true
				p.work(t)
				break
			}
		}
	}
}

func (p *player) work(t engine.Task) {
	switch t.Kind {
	case engine.Panics:
		p.state.Finish(t, engine.ErrPanics)
		p.failed[t.Queue] = true
		return
	case engine.Enable:
		for _, b := range t.Bindings {
			objects, err := p.cluster.Bind(p.Context(), b, t.Hook.Config.Kubernetes[b.Index])
			if err == nil {
				err = p.state.BindingListed(b, objects)
			}
			if err != nil {
				p.Fatal(err)
			}
		}
		p.state.Finish(t, nil)
		return
	}
	content, err := json.Marshal(t.Contexts)
	if err != nil {
		p.Fatal(err)
	}
	p.runs = append(p.runs, newRun(p.T, p.step, t.Hook.Name, content))
	if p.holds[t.Hook.Name] {
		p.held = append(p.held, t)
		return
	}
	p.finish(t)
}

func (p *player) finish(t engine.Task) {
	var failure error
	if p.fails[t.Hook.Name] {
		delete(p.fails, t.Hook.Name)
		failure = errors.New("the scenario makes it fail")
	} else if text := p.Writes[t.Hook.Name]; text != "" {
		ops, _ := output.ParsePatches([]byte(text))
		failure = kubeapi.Applier{Client: p.cluster.Hook(""), Wait: p.cluster.Wait}.Apply(context.Background(), ops)
	}
	p.state.Finish(t, failure)
	if failure != nil && !t.AllowFailure {
		p.failed[t.Queue] = true
	}
}

// newRun decodes contexts, and removes the fields of objects that scenarios do not set.
func newRun(t *testing.T, step int, hook string, contexts []byte) run {
	t.Helper()
	r := run{Step: step, Hook: hook}
	if err := json.Unmarshal(contexts, &r.Contexts); err != nil {
		t.Fatalf("%s: %v\n%s", hook, err, contexts)
	}
	for _, c := range r.Contexts {
		reduce(c)
	}
	return r
}

// reduce removes the fields of objects that scenarios do not set.
func reduce(v any) {
	switch x := v.(type) {
	case []any:
		for _, item := range x {
			reduce(item)
		}
	case map[string]any:
		meta, isObject := x["metadata"].(map[string]any)
		if !isObject || x["apiVersion"] == nil {
			for _, item := range x {
				reduce(item)
			}
			return
		}
		keep(x, "apiVersion", "kind", "metadata", "data", "status")
		keep(meta, "name", "namespace", "labels")
		ingress, exists, _ := unstructured.NestedSlice(x, "status", "loadBalancer", "ingress")
		delete(x, "status")
		for _, i := range ingress {
			keep(i.(map[string]any), "ip")
		}
		if exists {
			x["status"] = map[string]any{"loadBalancer": map[string]any{"ingress": ingress}}
		}
		if labels, hasLabels := meta["labels"].(map[string]any); hasLabels {
			if delete(labels, "kubernetes.io/metadata.name"); len(labels) == 0 {
				delete(meta, "labels")
			}
		}
	}
}

// keep removes all other keys of an object.
func keep(object map[string]any, keys ...string) {
	for k := range object {
		if !slices.Contains(keys, k) {
			delete(object, k)
		}
	}
}
