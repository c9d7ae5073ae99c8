package golang

import (
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/plugin"
)

// TestPlumbingFollowsMovedMethods: a person may have taken the controller's
// methods apart.
func TestPlumbingFollowsMovedMethods(t *testing.T) {
	t.Parallel()
	const controller, moved = "internal/controller/frigate_controller.go", "internal/controller/setup.go"
	x := initialised(t, nil)
	x.apply(x.createAPI(frigate()))
	x.record()
	src := x.read(controller)
	at := strings.Index(src, "// SetupWithManager ")
	x.write(controller, strings.Replace(src[:at], "// Your code goes here", "// Ours", 1))
	x.write(moved, "package controller\n\nimport (\n\tctrl \"sigs.k8s.io/controller-runtime\"\n\t\"sigs.k8s.io/controller-runtime/pkg/builder\"\n\t\"sigs.k8s.io/controller-runtime/pkg/predicate\"\n\n\tshipv1 \"example.org/fleet/api/v1\"\n)\n\n"+src[at:])

	e := x.createAPI(frigate())
	e.Options = map[string]any{"owns": []string{"core/v1/ConfigMap"}, "watches": []string{"core/v1/Secret"}, "label": []string{"a=b"}, "finalizer": true}
	x.apply(e)
	x.record()
	x.contains(moved, "Owns(&corev1.ConfigMap{}).", "r.requestsForSecret", "builder.WithPredicates(changed, predicate.NewPredicateFuncs(r.isSelected))")
	x.contains(controller, "r.ensureConfigMap(ctx, frigate)", "return r.reportReady(ctx, frigate, r.cleanUp)", "// Ours")
	x.lacks(controller, "SetupWithManager(mgr", "Owns(")
	x.settled(e)
	x.settled(plugin.Event{Kind: plugin.CreateAPI, Resource: e.Resource})
}
