package golang

import (
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/plugin"
)

// TestOwnStatus checks that the status reporting stays deleted, and that later commands do not
// use it, when the user writes the status in another way.
func TestOwnStatus(t *testing.T) {
	t.Parallel()
	const controller, status = "internal/controller/frigate_controller.go", "internal/controller/frigate_status.go"
	x := initialized(t, nil)
	e := x.createAPI(frigate())
	x.apply(e)
	x.record()
	x.contains(status, "delete this file and\n// frigate_status_test.go", "//\treturn r.reconcileSpec(ctx, frigate)\n")
	x.write(controller, strings.Replace(x.read(controller), "r.reportReady(ctx, frigate, r.reconcileSpec)", "r.reconcileSpec(ctx, frigate)", 1))
	x.write(status, "")
	x.write("internal/controller/frigate_status_test.go", "")
	x.settled(e)
	e.Options = map[string]any{"finalizer": true}
	x.apply(e)
	x.record()
	x.contains(controller, "r.finalize(ctx, frigate, r.cleanUp)")
	x.settled(plugin.Event{Type: plugin.CreateAPI, Resource: e.Resource})
	if _, err := x.fs.Stat(status); err == nil {
		t.Error("the status reporting came back")
	}
}

// TestStatusFileOfPatch checks that the status file of a controller for the kind Patch is not
// the helper that all controllers share.
func TestStatusFileOfPatch(t *testing.T) {
	t.Parallel()
	x := initialized(t, nil)
	r := frigate()
	r.Kind, r.Plural = "Patch", ""
	x.apply(x.createAPI(r))
	x.contains("internal/controller/patch_controller_status.go", "func (r *PatchReconciler) reportReady(")
	x.contains("internal/controller/patch_status.go", "func patchStatus(")
}
