package kustomize

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/plugin"
)

// TestWebhooksOfNamespacedManager checks that the webhooks of a namespaced manager do not
// apply to other namespaces: these may have their own manager, and must work while this
// one is down.
func TestWebhooksOfNamespacedManager(t *testing.T) {
	t.Parallel()
	c := config()
	c.Namespaced = true
	fsys := scaffolded(t, c, frigate, destroyer)
	webhook(t, fsys, c, served(frigate, "dv"))
	webhook(t, fsys, c, served(destroyer, "v"))
	limit := map[string]any{"matchLabels": map[string]any{"kubernetes.io/metadata.name": "fleet-system"}}
	check := func(want any) {
		t.Helper()
		all := build(t, fsys, c, "config/default")
		for name, webhooks := range map[string]int{"MutatingWebhookConfiguration/fleet-mutating-webhook-configuration": 1, "ValidatingWebhookConfiguration/fleet-validating-webhook-configuration": 2} {
			list := items(at(all[name], "webhooks"))
			if len(list) != webhooks {
				t.Fatalf("%s has %d webhooks", name, len(list))
			}
			for _, w := range list {
				if diff := cmp.Diff(want, w.(map[string]any)["namespaceSelector"]); diff != "" {
					t.Errorf("%s: %s", name, diff)
				}
			}
		}
	}
	check(limit)
	for _, limited := range []bool{false, true} {
		before := *c
		c.Namespaced = limited
		if err := plan(t, fsys, plugin.Event{Type: plugin.Edit, Project: c, Before: &before}); err != nil {
			t.Fatal(err)
		}
		if limited {
			check(limit)
		} else {
			check(nil)
		}
	}
}
