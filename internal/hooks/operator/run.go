package operator

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/hooks/binding"
	"github.com/operon-dev/operon/internal/hooks/engine"
	"github.com/operon-dev/operon/internal/hooks/patch"
	k8s "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

type unstructured = k8s.Unstructured

// Run is one run of a hook and its result.
type Run struct {
	At       time.Time // start of the run
	Duration time.Duration
	Hook     string
	Queue    string            // "" for a webhook request
	Contexts []binding.Context // binding contexts of the hook
	Enabling string            // a binding that could not be listed; the hook did not run

	engine.Execution

	Err     error
	RetryIn time.Duration // delay before the retry; 0 means no retry
}

// report passes a run to Report.
func (o *Operator) report(r Run) {
	o.reporting.Lock()
	defer o.reporting.Unlock()
	o.Report(r)
}

// run runs a hook and applies its patches. It reports the run, unless the hook was killed
// because the operator stops or the hook was replaced. complete, if not nil, can change
// the run before it is reported.
func (o *Operator) run(ctx context.Context, t engine.Task, complete func(*Run)) error {
	r := Run{At: o.Now(), Hook: t.Hook.Name, Queue: t.Queue, Contexts: t.Contexts}
	r.Execution, r.Err = engine.Executor{Runner: o.Runner, Applier: patch.Applier{API: o.Patcher}}.Execute(ctx, t)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	err := r.Err
	if complete != nil {
		complete(&r)
	}
	r.Duration = o.Now().Sub(r.At)
	if err != nil && t.Queue != "" && !t.AllowFailure {
		r.RetryIn = engine.RetryDelay(t.Failures + 1)
	}
	o.report(r)
	return err
}

// summary returns what triggered a run: the binding and event of each context, without
// duplicates.
func (r Run) summary() string {
	if r.Enabling != "" {
		return r.Enabling + ": list"
	}
	var all []string
	for _, c := range r.Contexts {
		if what := describe(c); !slices.Contains(all, what) {
			all = append(all, what)
		}
	}
	const few = 3
	if len(all) > few {
		return fmt.Sprintf("%s and %d more", strings.Join(all[:few-1], ", "), len(all)-few+1)
	}
	return strings.Join(all, ", ")
}

func describe(c binding.Context) string {
	name := fmt.Sprint(c["binding"])
	switch c["type"] {
	case nil:
		if event, legacy := c["resourceEvent"]; legacy {
			return fmt.Sprintf("%s %v %v", name, event, c["resourceName"])
		}
		return name
	case "Group":
		return fmt.Sprintf("group %v (%s)", c["groupName"], name)
	case "Event":
		return strings.TrimRight(fmt.Sprintf("%s %v %s", name, c["watchEvent"], objectName(c["object"])), " ")
	case "Synchronization", "Schedule":
		return fmt.Sprintf("%s %s", name, strings.ToLower(fmt.Sprint(c["type"])))
	case "Conversion":
		return fmt.Sprintf("%s %v -> %v", name, c["fromVersion"], c["toVersion"])
	}
	review, _ := c["review"].(map[string]any)
	request, _ := review["request"].(map[string]any)
	object, _, _ := k8s.NestedString(request, "name")
	if namespace, _, _ := k8s.NestedString(request, "namespace"); namespace != "" {
		object = namespace + "/" + object
	}
	return strings.TrimRight(fmt.Sprintf("%s %v %s", name, request["operation"], object), " ")
}

func objectName(v any) string {
	o, _ := v.(*unstructured)
	switch {
	case o == nil:
		return ""
	case o.GetNamespace() == "":
		return o.GetName()
	}
	return o.GetNamespace() + "/" + o.GetName()
}
