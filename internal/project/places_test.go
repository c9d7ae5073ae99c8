package project

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/fault"
)

const placesHead = "version: \"3\"\ndomain: example.org\nrepo: example.org/fleet\nprojectName: fleet\nlayout:\n- go.kubebuilder.io/v4\n"

func TestPlaces(t *testing.T) {
	t.Parallel()
	frigate := Resource{Group: "ship", Domain: "example.org", Version: "v1beta1", Kind: "Frigate", API: &API{}}
	ungrouped := frigate
	ungrouped.Group = ""
	type paths struct{ Main, API, Controllers, Package, Alias, Webhooks, WebhookPackage, WebhookAlias string }
	for name, test := range map[string]struct {
		src        string
		multigroup bool
		r          Resource
		want       paths
	}{
		"default": {"", false, frigate, paths{"cmd/main.go", "api/v1beta1", "internal/controller", "controller", "",
			"internal/webhook/v1beta1", "v1beta1", "webhookv1beta1"}},
		"default with multigroup": {"", true, frigate, paths{"cmd/main.go", "api/ship/v1beta1", "internal/controller/ship", "ship", "shipcontroller",
			"internal/webhook/ship/v1beta1", "v1beta1", "webhookshipv1beta1"}},
		"main only": {"    main: operator/main.go\n", false, frigate, paths{"operator/main.go", "api/v1beta1", "internal/controller", "controller", "",
			"internal/webhook/v1beta1", "v1beta1", "webhookv1beta1"}},
		"all": {"    main: main.go\n    api: pkg/apis/{group}/{version}\n    controllers: controllers/{group}\n    webhooks: webhooks/{group}/{version}\n", false, frigate,
			paths{"main.go", "pkg/apis/ship/v1beta1", "controllers/ship", "ship", "shipcontroller", "webhooks/ship/v1beta1", "v1beta1", "webhookshipv1beta1"}},
		"no group": {"    api: pkg/apis/{group}/{version}\n    controllers: controllers/{group}\n    webhooks: webhooks/{group}/{version}\n", true, ungrouped,
			paths{"cmd/main.go", "pkg/apis/v1beta1", "controllers", "controllers", "", "webhooks/v1beta1", "v1beta1", "webhookv1beta1"}},
		"one folder": {"    controllers: pkg/my-controllers\n    webhooks: pkg/webhooks\n", true, frigate,
			paths{"cmd/main.go", "api/ship/v1beta1", "pkg/my-controllers", "mycontrollers", "", "pkg/webhooks", "webhooks", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src := placesHead
			if test.src != "" {
				src += "plugins:\n  layout.operon.dev/v1:\n" + test.src
			}
			c, err := Parse([]byte(src))
			if err != nil {
				t.Fatal(err)
			}
			c.MultiGroup = test.multigroup
			r := test.r
			got := paths{c.MainFile(), c.APIDir(r), c.ControllerDir(r), c.ControllerPackage(r), c.ControllerAlias(r), c.WebhookDir(r), c.WebhookPackage(r), c.WebhookAlias(r)}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			again := &Config{}
			again.SetPlaces(c.Places())
			if diff := cmp.Diff(c.Places(), again.Places()); diff != "" {
				t.Errorf("SetPlaces (-want +got):\n%s", diff)
			}
			if err := c.Places().Validate(); err != nil {
				t.Errorf("Validate: %v", err)
			}
		})
	}
}

func TestSetPlacesKeepsNothing(t *testing.T) {
	t.Parallel()
	c := &Config{}
	c.SetPlaces(Places{Main: DefaultMainFile})
	if c.Plugins != nil {
		t.Errorf("the default is recorded: %v", c.Plugins)
	}
	c.SetPlaces(Places{Main: "main.go", API: "apis/{version}"})
	c.SetPlaces(Places{API: "pkg/{version}"})
	if diff := cmp.Diff(Places{API: "pkg/{version}"}, c.Places()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	c.SetPlaces(Places{})
	if len(c.Plugins) != 0 {
		t.Errorf("an empty record stays: %v", c.Plugins)
	}
}

func TestInvalidPlaces(t *testing.T) {
	t.Parallel()
	for place, want := range map[string]string{
		"main: cmd":                      `main: cmd is not a Go file of a program`,
		"main: cmd/main_test.go":         `main: cmd/main_test.go is not a Go file of a program`,
		"main: ../main.go":               `main: "../main.go" is not a path in the repository`,
		"main: /main.go":                 `main: "/main.go" is not a path in the repository`,
		"main: ./main.go":                `main: "./main.go" is not a path in the repository`,
		"main: [a.go]":                   `main is not a string`,
		"api: apis":                      `api: apis lacks {version}`,
		"api: 'apis/{kind}/{version}'":   `api: apis/{kind}/{version} has the unknown placeholder {kind}`,
		"api: '.apis/{version}'":         `api: .apis/{version} is not the folder of a Go package`,
		"controllers: ''":                `controllers: "" is not a path in the repository`,
		"controllers: .":                 `controllers: "." is not a path in the repository`,
		"controllers: vendor/x":          `controllers: vendor/x is not the folder of a Go package`,
		"webhooks: web hooks":            `webhooks: web hooks is not the folder of a Go package`,
		"webhooks: 'pkg/_old/{version}'": `webhooks: pkg/_old/{version} is not the folder of a Go package`,
		"controller: controllers":        `unknown key "controller"`,
	} {
		_, err := Parse([]byte(placesHead + "plugins:\n  layout.operon.dev/v1:\n    " + place + "\n"))
		want = "layout.operon.dev/v1: " + want
		if err == nil || !strings.HasPrefix(err.Error(), "9:") || !strings.HasSuffix(err.Error(), ": "+want) || fault.HintOf(err) == "" || strings.Contains(fault.HintOf(err), "\n") {
			t.Errorf("%s: got %v, hint %q; want %s", place, err, fault.HintOf(err), want)
		}
	}
	if _, err := Parse([]byte(placesHead + "plugins:\n  layout.operon.dev/v1: main.go\n")); err == nil || err.Error() != "8:25: layout.operon.dev/v1 is not a mapping" {
		t.Errorf("got %v", err)
	}
}
