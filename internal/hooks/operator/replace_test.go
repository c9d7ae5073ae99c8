//go:build testall

package operator

import (
	"context"
	"errors"
	"testing"

	"github.com/operon-dev/operon/internal/hooks/engine"
)

// TestReplaceIgnoresLateEvents checks that the informers of a hook cannot reach the state once it
// no longer has the hook.
func TestReplaceIgnoresLateEvents(t *testing.T) {
	t.Parallel()
	o := new(reports).operator()
	o.begin(t.Context(), []engine.Hook{newHook(t, "a.sh", "kubernetes: [{name: all, kind: ConfigMap}]", ":")})
	h, ref := o.hooks["a.sh"], engine.Ref{Hook: "a.sh"}
	informer := o.eventHandler(h, ref)
	object := &unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "x"}}}
	send := func() {
		informer.Event("Added", object)
		informer.Selected("default", []*unstructured{object})
		informer.Unselected("default")
	}
	end := h.end
	h.end = func() {
		if o.mu.TryLock() { // an informer that waits for the lock can get it now
			o.mu.Unlock()
			send()
		}
		end()
	}
	o.Replace("a.sh", nil)
	send()
	if err := o.listed(h, ref, []*unstructured{object}); !errors.Is(err, context.Canceled) {
		t.Errorf("objects of a removed hook: %v", err)
	}
}
