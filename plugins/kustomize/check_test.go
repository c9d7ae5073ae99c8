package kustomize

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/spf13/afero"
)

// TestCheckLists checks the warnings of a full generate about mismatches between lists and
// generated manifests. A project without changes has none.
func TestCheckLists(t *testing.T) {
	t.Parallel()
	none := func(*testing.T, afero.Fs) {}
	edit := func(name, from, to string) func(*testing.T, afero.Fs) {
		return func(t *testing.T, fsys afero.Fs) { replace(t, fsys, name, from, to) }
	}
	remove := func(name string) func(*testing.T, afero.Fs) {
		return func(t *testing.T, fsys afero.Fs) {
			if err := fsys.RemoveAll(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	policy := func(before, after string) func(*testing.T, afero.Fs) {
		return func(t *testing.T, fsys afero.Fs) {
			replace(t, fsys, defaultEntries, "#- ../network-policy", "- ../network-policy")
			replace(t, fsys, webhookPolicy, before, after)
		}
	}
	const patch = "- path: patches/webhook_in_frigates.yaml\n"
	for _, test := range []struct {
		name   string
		change func(*testing.T, afero.Fs)
		want   []string
		lines  string // of the first warning
	}{
		{"unchanged", none, nil, ""},
		{"CRD not listed", edit(crdEntries, "- bases/ship.example.org_destroyers.yaml\n", ""), []string{
			crdEntries + ":3: the CRD of Destroyer is generated but not installed: add this line to resources [not-listed]"},
			"- bases/ship.example.org_destroyers.yaml"},
		{"CRD listed in another form", edit(crdEntries, "- bases/ship.example.org_destroyers", "- ./bases/ship.example.org_destroyers"), nil, ""},
		{"CRDs not installed", edit(defaultEntries, "- ../crd\n", "#- ../crd\n"), []string{
			defaultEntries + ":19: the CRDs of this project are not installed: add this line to resources [not-listed]"}, "- ../crd"},
		{"patch not listed", edit(crdEntries, patch, ""), []string{
			crdEntries + ":8: the CRD of Frigate has no conversion webhook: add this line to patches [not-listed]"},
			"- path: patches/webhook_in_frigates.yaml"},
		{"patch with a target", edit(crdEntries, patch, patch+"  target:\n    kind: CustomResourceDefinition\n"), nil, ""},
		{"CRDs in the list of old kustomizations", func(t *testing.T, fsys afero.Fs) {
			replace(t, fsys, defaultEntries, "- ../crd\n", "")
			replace(t, fsys, defaultEntries, "resources:\n", "bases:\n- ../crd\nresources:\n")
		}, nil, ""},
		{"patch in the list of old kustomizations", edit(crdEntries, "patches:\n"+patch, "patchesStrategicMerge:\n- patches/webhook_in_frigates.yaml\n"), nil, ""},
		{"webhook configurations not listed", edit(webhookEntries, "- manifests.yaml\n", ""), []string{
			webhookEntries + ":4: the webhook configurations are generated but not installed: add this line to resources [not-listed]"},
			"- manifests.yaml"},
		{"disabled parts", edit(defaultEntries, "- ../webhook\n", "#- ../webhook\n"), nil, ""},
		{"not generated yet", remove(webhookManifests), nil, ""},
		{"no kustomization for CRDs", remove(crdEntries), []string{
			defaultEntries + ":18: config/crd/kustomization.yaml is missing, so this kustomization does not build: restore it from version control, " +
				"or repeat operon create api for a kind of the project, which creates it [kustomization-gone]"}, ""},
		{"no kustomization for webhooks", remove(webhookEntries), []string{
			defaultEntries + ":22: config/webhook/kustomization.yaml is missing, so this kustomization does not build: restore it from version control [kustomization-gone]"}, ""},
		{"no kustomizations", func(t *testing.T, fsys afero.Fs) {
			for _, name := range []string{crdEntries, webhookEntries, defaultEntries} {
				remove(name)(t, fsys)
			}
		}, nil, ""},
		{"policy of kubebuilder before v4.16", policy("  - ports:\n    - port: 9443\n", "  - from:\n    - namespaceSelector:\n        matchLabels:\n          webhook: enabled\n    ports:\n    - port: 443\n"), []string{
			webhookPolicy + ":23: the API server cannot call the webhooks: it is in no namespace, and calls port 9443 of the pod; replace the items of ingress by these lines [policy-blocks]"}, admitsAll},
		{"policy with the port of the Service", policy("port: 9443", "port: 443"), []string{
			webhookPolicy + ":23: the API server cannot call the webhooks: it is in no namespace, and calls port 9443 of the pod; replace the items of ingress by these lines [policy-blocks]"}, admitsAll},
		{"policy that is not installed", edit(webhookPolicy, "port: 9443", "port: 443"), nil, ""},
		{"policy for other clients", policy("  - ports:\n", "  - from:\n    - ipBlock: {cidr: 10.0.0.0/8}\n    ports:\n"), nil, ""},
		{"deleted kind", edit(crdEntries, "resources:\n", "resources:\n- https://example.org/crd.yaml\n- bases/ship.example.org_sloops.yaml\n- 7\n- ../more\n"), []string{
			crdEntries + ":4: config/crd/bases/ship.example.org_sloops.yaml is listed here, but does not exist, and nothing in PROJECT creates it: remove the line [listed-gone]"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := config()
			fsys := scaffolded(t, c, frigate, frigateV2, destroyer)
			webhook(t, fsys, c, served(frigateV2, "cd"))
			generate(t, fsys, c)
			test.change(t, fsys)
			p := newPlan(t, fsys, scaffold.Options{})
			if err := (Plugin{}).Plan(t.Context(), plugin.Event{Type: plugin.Generate, Project: c}, p); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, w := range p.Warnings() {
				got = append(got, w.String())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if len(got) > 0 && p.Warnings()[0].Lines != test.lines {
				t.Errorf("lines %q", p.Warnings()[0].Lines)
			}
			if len(p.Changes()) > 0 {
				t.Errorf("the check changes %v", p.Changes())
			}
		})
	}
}

// TestCheckConversionAlone checks that webhooks that only convert need no generated
// configuration.
func TestCheckConversionAlone(t *testing.T) {
	t.Parallel()
	c := config()
	fsys := scaffolded(t, c, frigate, frigateV2)
	webhook(t, fsys, c, served(frigateV2, "c"))
	generate(t, fsys, c)
	replace(t, fsys, webhookEntries, "- service.yaml\n", "- manifests.yaml\n- service.yaml\n")
	p := newPlan(t, fsys, scaffold.Options{})
	e := plugin.Event{Type: plugin.Generate, Project: c}
	if err := (Plugin{}).Plan(t.Context(), e, p); err != nil {
		t.Fatal(err)
	}
	if w := p.Warnings(); len(w) != 1 || w[0].Rule != ruleListedGone {
		t.Errorf("warnings %v", w)
	}
	e.Options = map[string]any{"only": []string{"crd"}}
	part := newPlan(t, fsys, scaffold.Options{})
	if err := (Plugin{}).Plan(t.Context(), e, part); err != nil || len(part.Warnings()) > 0 {
		t.Errorf("a part of the generators: %v, %v", err, part.Warnings())
	}
}

// TestCheckTrust checks the warning for a conversion of another tool without the
// certificate.
func TestCheckTrust(t *testing.T) {
	t.Parallel()
	c := config()
	fsys := peersProject(t, c, theirs("on"), served(frigateV2, "c"))
	warnings := func() []scaffold.Warning {
		p := newPlan(t, fsys, scaffold.Options{})
		if err := (Plugin{}).Plan(t.Context(), plugin.Event{Type: plugin.Generate, Project: c}, p); err != nil {
			t.Fatal(err)
		}
		return p.Warnings()
	}
	if w := warnings(); len(w) != 1 || w[0].Rule != ruleNotTrusted || w[0].File != "config/crd/patches/webhook_in_frigates.yaml" {
		t.Errorf("warnings %v", w)
	}
	const patch, ofOldTools = "- path: patches/webhook_in_frigates.yaml\n", "- path: patches/cainjection_in_frigates.yaml\n"
	write(t, fsys, "config/crd/patches/cainjection_in_frigates.yaml", "kind: CustomResourceDefinition\nmetadata:\n"+
		"  annotations:\n    "+caAnnotation+": $(NAMESPACE)/$(NAME)\n  name: frigates.ship.example.org\n")
	if w := warnings(); len(w) != 1 {
		t.Errorf("with a patch that nothing lists: %v", w)
	}
	replace(t, fsys, crdEntries, patch, ofOldTools+patch)
	if w := warnings(); len(w) > 0 {
		t.Errorf("with another patch for the certificate: %v", w)
	}
	replace(t, fsys, crdEntries, ofOldTools, "")
	webhook(t, fsys, c, served(destroyer, "v"))
	if w := warnings(); len(w) > 0 {
		t.Errorf("after a command that wires it: %v", w)
	}
}

// TestCheckUnreadableLists checks that operon ignores invalid kustomizations, which
// kustomize reports.
func TestCheckUnreadableLists(t *testing.T) {
	t.Parallel()
	for _, name := range []string{crdEntries, webhookEntries, defaultEntries} {
		c := config()
		fsys := scaffolded(t, c, frigate)
		webhook(t, fsys, c, served(frigate, "d"))
		write(t, fsys, name, "resources: [\n")
		p := newPlan(t, fsys, scaffold.Options{})
		if err := (Plugin{}).Plan(t.Context(), plugin.Event{Type: plugin.Generate, Project: c}, p); err != nil || len(p.Warnings()) > 0 {
			t.Errorf("%s: %v, %v", name, err, p.Warnings())
		}
	}
}
