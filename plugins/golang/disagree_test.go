package golang

import (
	"slices"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
)

// disagreements are changes of PROJECT by hand after which init would write code a second time, or
// code that does not compile, and the errors.
var disagreements = map[string]struct {
	change      func(c *project.Config, r *project.Resource)
	error, hint string
}{
	"multigroup": {
		func(c *project.Config, _ *project.Resource) { c.MultiGroup = true },
		"PROJECT has multigroup: true, but internal/controller/frigate_controller.go is not in a folder of its group",
		"remove multigroup: true, and run operon edit --multigroup, which moves the files"},
	"namespaced": {
		func(c *project.Config, _ *project.Resource) { c.Namespaced = true },
		"PROJECT has namespaced: true, but the manager watches all namespaces",
		"remove namespaced: true, and run operon edit --namespaced, which changes the code and the permissions, too"},
	"missing folder": {
		func(_ *project.Config, r *project.Resource) { r.Path = "example.org/fleet/api/v9" },
		"PROJECT records kind Frigate in api/v9, which does not declare the type Frigate",
		"correct the kind, the version and the path in PROJECT, or remove the resource and create it with operon create api"},
	"root folder": {
		func(_ *project.Config, r *project.Resource) { r.Path = "example.org/fleet" },
		"PROJECT records kind Frigate in ., which does not declare the type Frigate",
		"correct the kind, the version and the path in PROJECT, or remove the resource and create it with operon create api"},
	"other kind": {
		func(_ *project.Config, r *project.Resource) { r.Kind = "Barge" },
		"PROJECT records kind Barge in api/v1, which does not declare the type Barge",
		"correct the kind, the version and the path in PROJECT, or remove the resource and create it with operon create api"},
	"case of the kind": {
		func(_ *project.Config, r *project.Resource) { r.Kind = "FRIGATE" },
		"PROJECT records kind FRIGATE in api/v1, which does not declare the type FRIGATE",
		"correct the kind, the version and the path in PROJECT, or remove the resource and create it with operon create api"},
	"group": {
		func(_ *project.Config, r *project.Resource) { r.Group = "sea" },
		"PROJECT records kind Frigate in the group sea.example.org, but api/v1/groupversion_info.go has +groupName=ship.example.org",
		"correct the group and the domain of the resource in PROJECT"},
	"controller": {
		func(_ *project.Config, r *project.Resource) { r.Controllers[0].Name = "pirate" },
		"PROJECT records the controller pirate of kind Frigate, but internal/controller does not declare the type PirateReconciler",
		"remove the controller from PROJECT, and create it with operon create api --resource=false --controller-name pirate; or restore the code from version control"},
	"webhook": {
		func(_ *project.Config, r *project.Resource) {
			r.Webhooks = &project.Webhooks{WebhookVersion: "v1", Validation: true}
		},
		"PROJECT records no defaulting webhook for kind Frigate, but operon created one",
		"add defaulting: true to its webhooks; or delete the code of the webhook and internal/webhook/v1/frigate_defaulter_test.go"},
	"external": {
		func(_ *project.Config, r *project.Resource) { r.External, r.API = true, nil },
		"PROJECT records kind Frigate as one of another module, but its types are in api/v1",
		"remove external and core from the resource"},
}

// TestDisagreement checks that a repeated init refuses a PROJECT that does not describe the sources.
// What the user changed, moved or deleted in the sources is no error.
func TestDisagreement(t *testing.T) {
	t.Parallel()
	for name, test := range disagreements {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := withFrigate(t, nil)
			x.replays(nil, "", "")
			x.replays(test.change, test.error, test.hint)
		})
	}
	t.Run("no multigroup", func(t *testing.T) {
		t.Parallel()
		x := withFrigate(t, func(c *project.Config) { c.MultiGroup = true })
		x.replays(func(c *project.Config, _ *project.Resource) { c.MultiGroup = false },
			"PROJECT lacks multigroup: true, but internal/controller/ship/frigate_controller.go is in a folder of its group",
			"add multigroup: true; to move the files, run operon edit --multigroup=false after that")
	})
	t.Run("not namespaced", func(t *testing.T) {
		t.Parallel()
		x := withFrigate(t, func(c *project.Config) { c.Namespaced = true })
		x.replays(func(c *project.Config, _ *project.Resource) { c.Namespaced = false },
			"PROJECT lacks namespaced: true, but the manager watches only the namespaces in WATCH_NAMESPACE",
			"add namespaced: true; to revert the code and the permissions, too, run operon edit --namespaced=false after that")
	})
	t.Run("deleted and moved", func(t *testing.T) {
		t.Parallel()
		x := withFrigate(t, nil)
		x.write("internal/controller/fleet_controller.go", x.read("internal/controller/frigate_controller.go"))
		x.write("internal/controller/frigate_controller.go", "")
		x.write("api/v1/types.go", x.read("api/v1/frigate_types.go"))
		x.write("api/v1/frigate_types.go", "")
		x.replays(nil, "", "")
		x.write("api/v1/types.go", "")
		x.write("internal/controller/fleet_controller.go", "")
		x.replays(nil, "", "")
	})
	t.Run("new kind in a missing folder", func(t *testing.T) {
		t.Parallel()
		x := withFrigate(t, nil)
		x.cfg.Resources[0].Path = "example.org/fleet/apis/v1"
		x.savePROJECT()
		_, err := x.plan(x.createAPI(project.Resource{Group: "ship", Domain: "example.org", Version: "v1", Kind: "Sloop", API: &project.API{CRDVersion: "v1"}}))
		if err == nil || err.Error() != "PROJECT records kind Frigate in apis/v1, which has no Go files" {
			t.Errorf("got %v", err)
		}
	})
}

// withFrigate returns a project with a kind that has a controller and a webhook.
func withFrigate(t *testing.T, change func(*project.Config)) tester {
	t.Helper()
	x := initialized(t, change)
	r := project.Resource{Group: "ship", Domain: "example.org", Version: "v1", Kind: "Frigate",
		API: &project.API{CRDVersion: "v1", Namespaced: true}, Controllers: []project.Controller{{Name: "frigate"}}}
	x.apply(x.createAPI(r))
	r.Path = x.cfg.Resources[0].Path
	r.Webhooks = &project.Webhooks{WebhookVersion: "v1", Defaulting: true}
	x.cfg.Put(r)
	x.apply(plugin.Event{Type: plugin.CreateWebhook, Resource: &r})
	x.savePROJECT()
	return x
}

func (x tester) savePROJECT() {
	x.Helper()
	src, err := x.cfg.Encode(nil)
	if err != nil {
		x.Fatal(err)
	}
	x.write(project.File, string(src))
}

// replays plans a repeated init after a change of PROJECT, and compares the error. Without one, the
// plan must not change a file.
func (x tester) replays(change func(*project.Config, *project.Resource), message, hint string) {
	x.Helper()
	x.cfg = x.cfg.Clone()
	x.cfg.Resources[0].Controllers = slices.Clone(x.cfg.Resources[0].Controllers)
	if change != nil {
		change(x.cfg, &x.cfg.Resources[0])
		x.savePROJECT()
	}
	r := x.cfg.Resources[0]
	p, err := x.plan(plugin.Event{Type: plugin.Init, Options: map[string]any{}, Environment: plugin.Environment{Year: "2026"}},
		plugin.Event{Type: plugin.CreateAPI, Resource: &r}, plugin.Event{Type: plugin.CreateWebhook, Resource: &r})
	if message != "" {
		if err == nil || err.Error() != message || fault.HintOf(err) != hint {
			x.Errorf("got  %v\nhint %s\nwant %s\nhint %s", err, fault.HintOf(err), message, hint)
		}
		return
	}
	if err != nil {
		x.Fatalf("%v\nhint: %s", err, fault.HintOf(err))
	}
	for _, c := range p.Changes() {
		if c.Before == nil && strings.HasSuffix(c.Path, ".go") {
			x.Errorf("the plan creates %s", c.Path)
		}
	}
}
