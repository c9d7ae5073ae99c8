package golang

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
)

// versionOf returns another version of the frigate, without a controller.
func versionOf(v string) project.Resource {
	r := frigate()
	r.Version, r.Controller = v, false
	return r
}

// convert records the conversion of the frigate between hub and spokes, and
// returns the event for it.
func (x tester) convert(hub string, spokes ...string) plugin.Event {
	r := x.cfg.Find("ship", hub, "Frigate")
	if r.Webhooks == nil {
		r.Webhooks = &project.Webhooks{WebhookVersion: "v1", Conversion: true}
	}
	asked := *r
	asked.Webhooks = &project.Webhooks{WebhookVersion: "v1", Conversion: true, Spoke: spokes}
	for _, v := range spokes {
		if !slices.Contains(r.Webhooks.Spoke, v) {
			r.Webhooks.Spoke = append(r.Webhooks.Spoke, v)
		}
	}
	return plugin.Event{Type: plugin.CreateWebhook, Resource: &asked}
}

// versions returns a project with these versions of the frigate.
func versions(t *testing.T, list ...string) tester {
	t.Helper()
	x := initialized(t, nil)
	for i, v := range list {
		r := versionOf(v)
		r.Controller = i == 0
		x.apply(x.createAPI(r))
	}
	x.record()
	return x
}

const (
	v1Conversion = "api/v1/frigate_conversion.go"
	v2Conversion = "api/v2/frigate_conversion.go"
	v1Types      = "api/v1/frigate_types.go"
	v2Types      = "api/v2/frigate_types.go"
)

// TestConversionBelongsToUser checks that operon does not change an existing conversion,
// although it would generate another one after the types have changed.
func TestConversionBelongsToUser(t *testing.T) {
	t.Parallel()
	x := versions(t, "v1", "v2", "v3")
	x.apply(x.convert("v2", "v1"))
	edited := strings.Replace(x.read(v1Conversion), "out.Foo = in.Foo", "out.Foo = in.Foo // mine", 1)
	x.write(v1Conversion, edited)
	x.write(v2Types, strings.Replace(x.read(v2Types), "Foo *string `json:\"foo,omitempty\"`", "Bar string `json:\"bar\"`", 1))
	base := x.base(v1Conversion)
	for _, name := range []string{"repeat", "second spoke", "replay"} {
		events := x.replay()
		switch name {
		case "repeat":
			events = []plugin.Event{x.convert("v2", "v1")}
		case "second spoke":
			events = []plugin.Event{x.convert("v2", "v3")}
		}
		p := x.apply(events...)
		if got := p.Conflicts(); len(got) > 0 {
			t.Errorf("%s: conflicts %v", name, got)
		}
		if diff := cmp.Diff(edited, x.read(v1Conversion)); diff != "" {
			t.Errorf("%s: the user's file (-before +after):\n%s", name, diff)
		}
		if diff := cmp.Diff(base, x.base(v1Conversion)); diff != "" {
			t.Errorf("%s: its base (-before +after):\n%s", name, diff)
		}
	}
	x.contains("api/v3/frigate_conversion.go", "// Foo is only in v3: keep it")

	x.write(v1Conversion, "")
	p := x.apply(x.replay()...)
	if diff := cmp.Diff([]string{v1Conversion}, p.Deleted()); diff != "" {
		t.Errorf("deleted files (-want +got):\n%s", diff)
	}

	forget, err := x.plan()
	if err := errors.Join(err, forget.Remove(v1Conversion), forget.Apply(t.Context())); err != nil {
		t.Fatal(err)
	}
	p = x.apply(x.replay()...)
	x.contains(v1Conversion, "// Foo is only in v1: keep it in a field or an annotation of v2, or it is lost.", "// Bar is only in v2: set it here if its value follows from v1.")
	want := "v1 and v2 differ in FrigateSpec.Foo, FrigateSpec.Bar: convert these fields at the comments, and run the test"
	if !slices.ContainsFunc(p.Warnings(), func(w scaffold.Warning) bool { return w.File == v1Conversion && w.Message == want }) {
		t.Errorf("warnings %v, want %q", p.Warnings(), want)
	}
}

func TestConversionOfOtherTools(t *testing.T) {
	t.Parallel()
	x := versions(t, "v1", "v2")
	x.write("api/v2/hub.go", "package v2\n\nfunc (*Frigate) Hub() {}\n")
	x.write("api/v1/conversion.go", "package v1\n\nfunc (f *Frigate) ConvertTo(hub any) error { return nil }\n")
	p := x.apply(x.convert("v2", "v1"))
	for _, name := range []string{v1Conversion, v2Conversion} {
		if slices.Contains(paths(p), "create "+name) {
			t.Errorf("%s is written although another file has its methods", name)
		}
	}
	if !slices.Contains(paths(p), "create api/v1/frigate_conversion_test.go") {
		t.Errorf("no test of the conversion: %v", paths(p))
	}
}

// TestConversionSharesFunctions converts two kinds of a package that share a type.
func TestConversionSharesFunctions(t *testing.T) {
	t.Parallel()
	x := versions(t, "v1", "v2")
	for _, v := range []string{"v1", "v2"} {
		r := versionOf(v)
		r.Kind = "Galleon"
		x.apply(x.createAPI(r))
		for _, kind := range []string{"frigate", "galleon"} {
			name := "api/" + v + "/" + kind + "_types.go"
			x.write(name, strings.Replace(x.read(name), "\tFoo *string", "\tGuns []Gun `json:\"guns\"`\n\tFoo *string", 1))
		}
		x.write("api/"+v+"/gun.go", "package "+v+"\n\ntype Gun struct{ Caliber int32 }\n")
	}
	x.apply(x.convert("v2", "v1"))
	galleon := x.convert("v2", "v1")
	galleon.Resource.Kind = "Galleon"
	x.apply(galleon)
	x.contains(v1Conversion, "func convertGunToV2(in *Gun, out *shipv2.Gun) {")
	x.contains("api/v1/galleon_conversion.go", "convertGunToV2(&in.Guns[i], &out.Guns[i])")
	x.lacks("api/v1/galleon_conversion.go", "func convertGunToV2")
}

func TestConversionErrors(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ name, content, err, hint string }{
		"cycle": {"api/v2/more.go", "package v2\n\nimport _ \"example.org/fleet/api/v1\"\n",
			"example.org/fleet/api/v2 imports example.org/fleet/api/v1: the conversion would cause an import cycle", "make v1 the hub: --version v1 --spoke v2"},
		"no type":          {v1Types, "package v1\n", "api/v1 declares no type Frigate", "restore the type"},
		"syntax error":     {v2Types, "package v2\n\ntype Frigate struct {\n", "api/v2/frigate_types.go:", "correct it"},
		"predeclared name": {"api/v1/more.go", "package v1\n\nvar nil = 1\n", "api/v1 declares nil", "rename it"},
		"duplicate test":   {"api/v1/x_test.go", "package v1\n\nfunc FuzzFrigateToV2AndBack() {}\n", "api/v1/x_test.go:3 declares FuzzFrigateToV2AndBack", "rename"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := versions(t, "v1", "v2")
			x.write(test.name, test.content)
			_, err := x.plan(x.convert("v2", "v1"))
			if err == nil || !strings.Contains(err.Error(), test.err) || !strings.Contains(fault.HintOf(err), test.hint) {
				t.Errorf("got %v, hint %q; want %q, %q", err, fault.HintOf(err), test.err, test.hint)
			}
		})
	}
}

func TestStoreOneVersion(t *testing.T) {
	t.Parallel()
	unmark := func(x tester, names ...string) {
		for _, name := range names {
			x.write(name, strings.ReplaceAll(x.read(name), "// "+storageMarker+"\n", ""))
		}
	}
	x := versions(t, "v1", "v2")
	unmark(x, v1Types)
	x.apply(x.convert("v2", "v1"))
	x.contains(v2Types, "// "+storageMarker+"\n")
	x.lacks(v1Types, storageMarker)

	x = versions(t, "v1", "v2")
	x.write(v2Types, strings.Replace(x.read(v2Types), "// +kubebuilder:subresource:status", "// "+storageMarker+"\n// +kubebuilder:subresource:status", 1))
	p := x.apply(x.convert("v2", "v1"))
	if !slices.ContainsFunc(p.Warnings(), func(w scaffold.Warning) bool {
		return w.Rule == "storage-version" && strings.Contains(w.Message, "Frigate versions v1, v2")
	}) {
		t.Errorf("warnings: %v", p.Warnings())
	}
}

func TestWarnUnconverted(t *testing.T) {
	t.Parallel()
	x := versions(t, "v1", "v2")
	x.apply(x.convert("v2", "v1"))
	p := x.apply(x.createAPI(versionOf("v3")))
	want := "version v3 of Frigate is not converted, so the manager will not start: operon create webhook --version v2 --kind Frigate --conversion --spoke v3 --group ship"
	if w := p.Warnings(); len(w) != 1 || w[0].Message != want {
		t.Errorf("warnings %v, want %q", w, want)
	}
	if p = x.apply(x.convert("v2", "v3")); len(p.Warnings()) > 0 {
		t.Errorf("warnings: %v", p.Warnings())
	}
}
