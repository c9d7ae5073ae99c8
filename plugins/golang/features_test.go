package golang

import (
	"fmt"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
)

// TestFeaturesFollowMovedMethods checks that features edit methods of the controller in
// the files to which the user moved them.
func TestFeaturesFollowMovedMethods(t *testing.T) {
	t.Parallel()
	const controller, moved = "internal/controller/frigate_controller.go", "internal/controller/setup.go"
	x := initialized(t, nil)
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
	x.settled(plugin.Event{Type: plugin.CreateAPI, Resource: e.Resource})
}

// TestCheckFinalizer checks methods of the user from the time when cleanUp and finalize
// had one result.
func TestCheckFinalizer(t *testing.T) {
	t.Parallel()
	const finalizer, own = "internal/controller/frigate_finalizer.go", "internal/controller/own.go"
	older := strings.NewReplacer(
		"(ctrl.Result, error)", "error", "return ctrl.Result{}, ", "return ", "result, err := clean", "err := clean",
		" || !result.IsZero()", "", "return result, err", "return err", "\tctrl \"sigs.k8s.io/controller-runtime\"\n", "")
	for name, test := range map[string]struct {
		change func(x tester, cleanUp string)
		want   string
	}{
		"cleanUp was moved": {func(x tester, cleanUp string) {
			x.write(finalizer, older.Replace(strings.Replace(x.read(finalizer), cleanUp, "", 1)))
			x.write(own, "package controller\n\n"+older.Replace(cleanUp))
		}, "internal/controller/frigate_controller.go: Reconcile uses 2 results of finalize, which has 1"},
		"cleanUp was rewritten": {func(x tester, cleanUp string) {
			x.write(finalizer, strings.Replace(x.read(finalizer), cleanUp, "", 1))
			x.write(own, "package controller\n\n"+older.Replace(cleanUp))
		}, "internal/controller/own.go: cleanUp has 1 results, and finalize in internal/controller/frigate_finalizer.go has 2"},
		"the user calls cleanUp": {func(x tester, _ string) {
			x.write(own, "package controller\n\nfunc (r *FrigateReconciler) drain() error { return r.cleanUp(nil, nil) }\n")
		}, "internal/controller/own.go: drain uses 1 results of cleanUp, which has 2"},
		"the user calls neither": {func(x tester, _ string) {
			x.write(own, "package controller\n\nfunc (r *FrigateReconciler) drain() error { return nil }\n")
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := initialized(t, nil)
			e := x.createAPI(frigate())
			e.Options = map[string]any{"finalizer": true}
			x.apply(e)
			x.record()
			src := x.read(finalizer)
			test.change(x, src[strings.Index(src, "func (r *FrigateReconciler) cleanUp"):strings.Index(src, "// finalize adds")])
			_, err := x.plan(plugin.Event{Type: plugin.CreateAPI, Resource: e.Resource})
			if got := fmt.Sprint(err); err == nil && test.want != "" || err != nil && got != test.want {
				t.Errorf("got the error %s, want %s", got, test.want)
			}
			if hint := fault.HintOf(err); err != nil && !strings.Contains(hint, "r.finalize(ctx, frigate, r.cleanUp);") {
				t.Errorf("the hint is %s", hint)
			}
		})
	}
}
