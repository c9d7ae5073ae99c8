package golang

import (
	"os"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/scaffold"
)

// statusInController turns the project into one of an earlier version, which wrote the status
// reporting of a controller and its tests into the controller and its test. The files in
// testdata/status_in_controller are those of that version.
func (x tester) statusInController() {
	x.Helper()
	p, err := scaffold.New(x.fs, scaffold.Options{Command: "test", Force: true})
	if err != nil {
		x.Fatal(err)
	}
	const dir = "internal/controller/"
	for _, name := range []string{"frigate_status.go", "frigate_status_test.go", "specs_test.go"} {
		if err := p.Remove(dir + name); err != nil {
			x.Fatal(err)
		}
	}
	for _, name := range []string{"frigate_controller.go", "frigate_controller_test.go"} {
		src, err := os.ReadFile("testdata/status_in_controller/" + name)
		if err != nil {
			x.Fatal(err)
		}
		if err := p.Seed(dir+name, 0o644, src); err != nil {
			x.Fatal(err)
		}
	}
	if err := p.Apply(x.Context()); err != nil {
		x.Fatal(err)
	}
}

// TestStatusInController checks that a controller of an earlier version, with or without
// changes of the user, is edited but not split, and that a new controller beside it is split.
func TestStatusInController(t *testing.T) {
	t.Parallel()
	const controller, test = "internal/controller/frigate_controller.go", "internal/controller/frigate_controller_test.go"
	for name, edits := range map[string][]string{
		"untouched": nil,
		"edited": {
			"\tready := metav1.Condition{\n", "\t// mine\n\tready := metav1.Condition{\n",
			"\treturn r.reportReady(ctx, frigate, r.reconcileSpec)\n", "\tresult, err := r.reportReady(ctx, frigate, r.reconcileSpec)\n\treturn result, err\n",
			"func TestFrigateReconcilerReportsFailure(", "// mine\nfunc TestFrigateReconcilerReportsFailure(",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := initialized(t, nil)
			x.T = t
			e := x.createAPI(frigate())
			x.apply(e)
			x.record()
			x.statusInController()
			mine := strings.NewReplacer(edits...)
			for _, file := range []string{controller, test} {
				x.write(file, mine.Replace(x.read(file)))
			}
			before, tests := x.read(controller), x.read(test)
			x.settled(e)

			e.Options = map[string]any{"owns": []string{"core/v1/Secret"}, "label": []string{"a=b"}, "finalizer": true}
			x.apply(e)
			x.record()
			x.contains(controller, "return r.reportReady(ctx, frigate, r.cleanUp)", "r.isSelected(frigate)", "r.ensureSecret(ctx, frigate)")
			x.settled(e)
			x.apply(x.rescoped(true))
			x.apply(x.replay()...)
			x.apply(x.rescoped(false))
			x.apply(x.replay()...)
			x.record()
			if diff := cmp.Diff(before, x.withoutFeatures(controller)); diff != "" {
				t.Errorf("the controller lost or gained lines (-before +after):\n%s", diff)
			}
			if diff := cmp.Diff(tests, x.read(test)); diff != "" {
				t.Errorf("the test changed (-before +after):\n%s", diff)
			}

			p := x.apply(x.createAPI(sloop()))
			x.record()
			if got := strings.Join(paths(p), "\n"); strings.Contains(got, "frigate") || !strings.Contains(got, "create internal/controller/sloop_status.go") {
				t.Errorf("a new controller changes\n%s", got)
			}
			x.settled()
			for _, file := range []string{"frigate_status.go", "frigate_status_test.go"} {
				if _, err := x.fs.Stat(path.Join("internal/controller", file)); err == nil {
					t.Errorf("%s was created", file)
				}
			}
		})
	}
}

// withoutFeatures returns the source of a controller without the lines that features add.
func (x tester) withoutFeatures(name string) string {
	x.Helper()
	return strings.NewReplacer(
		"\tcorev1 \"k8s.io/api/core/v1\"\n", "",
		"\tif !r.isSelected(frigate) {\n\t\treturn ctrl.Result{}, nil\n\t}\n", "",
		"\tif result, err := r.finalize(ctx, frigate, func(ctx context.Context, frigate *shipv1.Frigate) (ctrl.Result, error) {\n"+
			"\t\treturn r.reportReady(ctx, frigate, r.cleanUp)\n\t}); err != nil || !result.IsZero() {\n\t\treturn result, err\n\t}\n", "",
		"\tif err := r.ensureSecret(ctx, frigate); err != nil {\n\t\treturn ctrl.Result{}, err\n\t}\n\n", "",
		", predicate.NewPredicateFuncs(r.isSelected)", "",
		"\t\tOwns(&corev1.Secret{}).\n", "",
	).Replace(x.read(name))
}

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
