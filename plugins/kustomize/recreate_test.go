package kustomize

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/spf13/afero"
)

// TestInitRestoresLists checks that a repeated init restores each deleted kustomization with the lines that later
// commands added for kinds and webhooks.
func TestInitRestoresLists(t *testing.T) {
	t.Parallel()
	for _, certs := range []project.WebhookCerts{project.CertManager, project.SelfCerts} {
		c := config()
		c.SetWebhookCerts(certs)
		fsys := scaffolded(t, c, frigate, frigateV2, destroyer)
		converted := frigate
		converted.Webhooks = &project.Webhooks{WebhookVersion: "v1", Defaulting: true, Conversion: true, Spoke: []string{"v2"}}
		c.Put(converted)
		if err := plan(t, fsys, plugin.Event{Type: plugin.CreateWebhook, Project: c, Resource: &converted}); err != nil {
			t.Fatal(err)
		}
		record, err := c.Encode(nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := afero.WriteFile(fsys, project.File, record, 0o644); err != nil {
			t.Fatal(err)
		}
		before := files(t, fsys)
		for _, name := range []string{
			defaultEntries, rbacEntries, crdEntries, crdConfig, sampleEntries, policyEntries, webhookEntries, certificatesOf(c).entries,
		} {
			if err := fsys.Remove(name); err != nil {
				t.Fatal(err)
			}
			p := newPlan(t, fsys, scaffold.Options{Command: "init"})
			for _, e := range replay(c) {
				if err := (Plugin{}).Plan(t.Context(), e, p); err != nil {
					t.Fatal(err)
				}
			}
			if err := p.Apply(t.Context()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, files(t, fsys)); diff != "" {
				t.Errorf("%s, %s:\n%s", certs, name, diff)
				if err := afero.WriteFile(fsys, name, []byte(before[name]), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}
