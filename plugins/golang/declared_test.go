package golang

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/scaffold"
)

// move renames a file as a user would.
func (x tester) move(from, to string) {
	x.Helper()
	x.write(to, x.read(from))
	x.write(from, "")
}

// TestNewKindIsDeclaredOnce checks that a new kind whose names are already declared is an
// error.
func TestNewKindIsDeclaredOnce(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ name, src, err string }{
		"type":           {"api/v1/extra.go", "package v1\n\ntype Sloop struct{}\n", "api/v1/extra.go:3 declares Sloop, which api/v1/sloop_types.go would also declare"},
		"spec":           {"api/v1/all.go", "package v1\n\nvar x, SloopSpec = 1, 2\n", "api/v1/all.go:3 declares SloopSpec"},
		"in a test":      {"api/v1/all_test.go", "package v1\n\nfunc SloopList() {}\n", "api/v1/all_test.go:3 declares SloopList"},
		"reconciler":     {"internal/controller/all.go", "package controller\n\ntype (\n\tSloopReconciler struct{}\n)\n", "internal/controller/all.go:4 declares SloopReconciler"},
		"test's helper":  {"internal/controller/all_test.go", "package controller\n\nfunc newSloopReconciler() {}\n", "internal/controller/all_test.go:3 declares newSloopReconciler"},
		"other package":  {"api/v1/all_test.go", "package v1_test\n\ntype Sloop struct{}\n", ""},
		"method, locals": {"api/v1/all.go", "package v1\n\nfunc (s Sloop) x() { Sloop := 1; _ = Sloop }\n\nfunc init() {}\n", ""},
		"broken":         {"api/v1/all.go", "package v1\ntype Sloop", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := initialized(t, nil)
			x.apply(x.createAPI(frigate()))
			x.record()
			x.write(test.name, test.src)
			_, err := x.plan(x.createAPI(sloop()))
			if test.err == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.HasPrefix(err.Error(), test.err) || fault.Code(err) != fault.CodeUsage || fault.HintOf(err) == "" {
				t.Errorf("got %v (code %d, hint %q), want %q", err, fault.Code(err), fault.HintOf(err), test.err)
			}
		})
	}
}

// TestMovedPartsStay checks that declarations that the user moved to another file are not
// written again.
func TestMovedPartsStay(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(tester)
		want   []string // of a repeat
		err    string
	}{
		"types":      {change: func(x tester) { x.move("api/v1/frigate_types.go", "api/v1/all.go") }},
		"controller": {change: func(x tester) { x.move("internal/controller/frigate_controller.go", "internal/controller/f.go") }},
		"test": {change: func(x tester) {
			x.move("internal/controller/frigate_controller_test.go", "internal/controller/f_test.go")
		}},
		"gone": {change: func(x tester) { x.write("api/v1/frigate_types.go", "") }, want: nil},
		"several files": {change: func(x tester) {
			x.write("api/v1/frigate_types.go", "")
			x.write("api/v1/spec.go", "package v1\n\ntype FrigateSpec struct{}\n")
		}, err: "api/v1/spec.go:3 declares FrigateSpec"},
		"part of the file": {change: func(x tester) { // operon does not check files of the user
			x.write("api/v1/spec.go", "package v1\n\ntype FrigateSpec struct{}\n")
			x.write("api/v1/frigate_types.go", strings.Replace(x.read("api/v1/frigate_types.go"), "type FrigateSpec ", "type old ", 1))
		}, want: []string{"keep api/v1/frigate_types.go"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := initialized(t, nil)
			e := x.createAPI(frigate())
			x.apply(e)
			x.record()
			test.change(x)
			for _, events := range [][]plugin.Event{{e}, {{Type: plugin.Init}, e}} {
				p, err := x.plan(events...)
				if test.err != "" {
					if err == nil || !strings.HasPrefix(err.Error(), test.err) {
						t.Errorf("got %v, want %q", err, test.err)
					}
					continue
				}
				if diff := cmp.Diff(test.want, paths(p)); err != nil || diff != "" {
					t.Errorf("a repeat: %v (-want +got):\n%s", err, diff)
				}
			}
		})
	}
}

// TestFilesOfOtherToolsStay checks that operon does not change files that another tool
// wrote for a kind in PROJECT.
func TestFilesOfOtherToolsStay(t *testing.T) {
	t.Parallel()
	const types, reconciler, test = "api/v1/frigate_types.go", "internal/controller/frigate_controller.go", "internal/controller/frigate_controller_test.go"
	foreign := map[string]string{
		types:                               "package v1\n\ntype Frigate struct{}\n",
		reconciler:                          "package controller\n\ntype FrigateReconciler struct{}\n",
		test:                                "package controller\n\nvar _ = FrigateReconciler{}\n",
		"internal/controller/suite_test.go": "package controller\n\nvar cfg, k8sClient, ctx any\n\nvar _ = BeforeSuite(func() {\n\tvar err error\n\t// +kubebuilder:scaffold:scheme\n})\n",
	}
	tests := map[string]struct {
		change map[string]string
		held   bool
		force  bool
		want   []string
	}{
		"held": {held: true},
		"forced": {held: true, force: true, want: []string{"update " + types, "update " + reconciler, "update " + test,
			"create internal/controller/frigate_status.go", "create internal/controller/frigate_status_test.go"}},
		"new":     {want: []string{"conflict " + types, "conflict " + reconciler, "conflict " + test}},
		"another": {held: true, change: map[string]string{types: "package v1\n", test: "package controller\n"}, want: []string{"conflict " + types, "conflict " + test}},
		"broken":  {held: true, change: map[string]string{types: "package v1\n\ntype Frigate struct{\n"}, want: []string{"conflict " + types}},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := initialized(t, nil)
			for name, src := range foreign {
				x.write(name, src)
			}
			for name, src := range c.change {
				x.write(name, src)
			}
			e := x.createAPI(frigate())
			if c.held {
				x.record()
			}
			p, err := scaffold.New(x.fs, scaffold.Options{Force: c.force})
			if err != nil {
				t.Fatal(err)
			}
			e.Project = x.cfg
			if err := (Plugin{}).Plan(context.Background(), e, p); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, line := range paths(p) {
				if strings.Contains(line, "frigate") {
					got = append(got, line)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if !c.force && c.held && (p.Seeded("test/utils/envtest.go") || p.Seeded("internal/controller/patch_status.go")) {
				t.Error("unused helpers are planned")
			}
		})
	}
}

// TestSharedFilesUnderOtherNames moves the files that all kinds of a package share.
func TestSharedFilesUnderOtherNames(t *testing.T) {
	t.Parallel()
	x := initialized(t, nil)
	x.apply(x.createAPI(frigate()))
	x.record()
	x.move("api/v1/groupversion_info.go", "api/v1/register.go")
	x.move("internal/controller/suite_test.go", "internal/controller/main_test.go")
	x.write("internal/controller/main_test.go", strings.Replace(x.read("internal/controller/main_test.go"), "err = shipv1.AddToScheme(scheme.Scheme)\n", "", 1))
	p := x.apply(x.createAPI(sloop()))
	want := []string{"create api/v1/sloop_types.go", "update cmd/main.go", "update internal/controller/main_test.go",
		"create internal/controller/sloop_controller.go", "create internal/controller/sloop_controller_test.go",
		"create internal/controller/sloop_status.go", "create internal/controller/sloop_status_test.go"}
	if diff := cmp.Diff(want, paths(p)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	x = initialized(t, nil)
	x.write("internal/controller/helper_test.go", "package controller\n\nvar ctx = 1\n")
	p, err := x.plan(x.createAPI(frigate()))
	if err != nil || len(p.Warnings()) != 1 || !strings.HasPrefix(p.Warnings()[0].Message, "internal/controller/helper_test.go:3 declares ctx, as a suite would") {
		t.Errorf("got %v, %v", err, p.Warnings())
	}
}
