package kustomize

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/spf13/afero"
)

// theirs returns a config/default/kustomization.yaml in kubebuilder's form. It contains
// the replacements, commented out unless they are in active. Each name in active is the
// name of a CRD.
func theirs(switches string, active ...string) string {
	replacement := func(source, field, selected, paths, delimiter string, index int) string {
		return fmt.Sprintf(" - source: {%s, fieldPath: .metadata.%s}\n   targets:\n     - select: {%s}\n       fieldPaths: [%s]\n       options: {delimiter: '%s', index: %d, create: true}\n",
			source, field, selected, paths, delimiter, index)
	}
	service := "kind: Service, version: v1, name: webhook-service"
	serving := "kind: Certificate, group: cert-manager.io, version: v1, name: serving-cert"
	annotation := "'.metadata.annotations.[cert-manager.io/inject-ca-from]'"
	var blocks strings.Builder
	for _, part := range []string{"Certificate", "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration", "frigates.ship.example.org"} {
		source, fields, selected, paths, delimiter := serving, [2]string{"namespace", "name"}, "kind: "+part, annotation, "/"
		switch part {
		case "Certificate":
			source, fields, selected, paths, delimiter = service, [2]string{"name", "namespace"}, serving, ".spec.dnsNames.0, .spec.dnsNames.1", "."
		case "frigates.ship.example.org":
			selected = "kind: CustomResourceDefinition, name: " + part
		}
		for index, field := range fields {
			block := replacement(source, field, selected, paths, delimiter, index)
			if !slices.Contains(active, part) {
				block = "#" + strings.ReplaceAll(strings.TrimSuffix(block, "\n"), "\n", "\n#") + "\n"
			}
			blocks.WriteString(block)
		}
		if part == "frigates.ship.example.org" {
			blocks.WriteString("# +kubebuilder:scaffold:crdkustomizecainjectionname\n")
		}
	}
	key := "#replacements:\n"
	if len(active) > 0 {
		key = "replacements:\n"
	}
	on := strings.NewReplacer("#- ../webhook", "- ../webhook", "#- ../certmanager", "- ../certmanager", "#- path: manager_webhook", "- path: manager_webhook", "#  target:\n#    kind", "  target:\n    kind")
	text := "namespace: fleet-system\nnamePrefix: fleet-\nresources:\n- ../crd\n- ../rbac\n- ../manager\n#- ../webhook\n#- ../certmanager\n- metrics_service.yaml\n\n" +
		"patches:\n- path: manager_metrics_patch.yaml\n  target:\n    kind: Deployment\n#- path: manager_webhook_patch.yaml\n#  target:\n#    kind: Deployment\n\n"
	if switches == "on" {
		text = on.Replace(text)
	}
	return text + key + blocks.String()
}

// peersProject returns a project of another tool with that kustomization, and with the
// webhooks of frigates that PROJECT records.
func peersProject(t *testing.T, c *project.Config, kustomization string, webhooks ...project.Resource) afero.Fs {
	t.Helper()
	fsys := scaffolded(t, c, frigate, frigateV2, destroyer)
	for _, r := range webhooks {
		webhook(t, fsys, c, r)
	}
	if err := fsys.RemoveAll(".operon"); err != nil {
		t.Fatal(err)
	}
	if err := fsys.Remove(caReplacements); err != nil && len(webhooks) > 0 {
		t.Fatal(err)
	}
	for name, content := range files(t, fsys) {
		if name == webhookPolicy {
			write(t, fsys, name, strings.Replace(content, "9443\n", "443\n", 1))
		}
		if strings.HasPrefix(path.Base(name), "webhook_in_") {
			write(t, fsys, name, strings.Replace(content, "  annotations:\n    "+caAnnotation+": "+caSource+"\n", "", 1))
		}
	}
	write(t, fsys, defaultEntries, kustomization)
	return fsys
}

// TestWebhooksInAnotherToolsProject checks that operon adds only what is missing.
func TestWebhooksInAnotherToolsProject(t *testing.T) {
	t.Parallel()
	const crd, validating, mutating = "frigates.ship.example.org", "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"
	for _, test := range []struct {
		name    string
		theirs  string
		have    []project.Resource
		add     project.Resource
		changed []string // the files that change or come
	}{
		{"first webhook", theirs("off"), nil, served(frigate, "dv"), []string{
			issuerEntries, "config/certmanager/certificate-metrics.yaml", "config/certmanager/certificate-webhook.yaml",
			"config/certmanager/issuer.yaml", "config/certmanager/kustomizeconfig.yaml",
			defaultEntries, webhookPatch, caReplacements, webhookPolicy, policyEntries, webhookEntries, "config/webhook/service.yaml"}},
		{"all is there", theirs("on", "Certificate", mutating), []project.Resource{served(frigate, "d")}, served(destroyer, "d"), nil},
		{"another kind of webhook", theirs("on", "Certificate", mutating), []project.Resource{served(frigate, "d")}, served(destroyer, "v"),
			[]string{defaultEntries, caReplacements}},
		{"conversion wired by the other tool", theirs("on", "Certificate", crd), []project.Resource{served(frigateV2, "c")}, served(frigate, "d"),
			[]string{defaultEntries, caReplacements, webhookEntries}},
		{"conversion partly wired by the other tool", theirs("on", "Certificate", validating), []project.Resource{served(frigateV2, "cv")}, served(frigate, "v"),
			[]string{"config/crd/patches/webhook_in_frigates.yaml", defaultEntries, caReplacements}},
		{"no replacements", theirs("on"), []project.Resource{served(frigateV2, "cv")}, served(destroyer, "v"),
			[]string{"config/crd/patches/webhook_in_frigates.yaml", defaultEntries, caReplacements}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := config()
			fsys := peersProject(t, c, test.theirs, test.have...)
			generate(t, fsys, c)
			before := files(t, fsys)
			webhook(t, fsys, c, test.add)
			after := files(t, fsys)
			var changed []string
			for name := range after {
				if after[name] != before[name] {
					changed = append(changed, name)
				}
			}
			slices.Sort(changed)
			slices.Sort(test.changed)
			if diff := cmp.Diff(test.changed, changed); diff != "" {
				t.Errorf("changed files: %s", diff)
			}
			checkWebhooks(t, c, build(t, fsys, c, "config/default"))
			settled(t, fsys, replay(c)[1:]...) // init itself is not repeated in such a project

			// The other tool can enable its own replacements later.
			content := files(t, fsys)[defaultEntries]
			write(t, fsys, defaultEntries, strings.NewReplacer("\n#   ", "\n   ", "\n# - ", "\n - ").Replace(content))
			build(t, fsys, c, "config/default")
		})
	}
}

// TestWebhooksWithoutCertManager checks a project of another tool that does not use
// cert-manager.
func TestWebhooksWithoutCertManager(t *testing.T) {
	t.Parallel()
	c := config()
	users := strings.Replace(theirs("on"), "- ../certmanager", "#- ../certmanager", 1)
	fsys := peersProject(t, c, users, served(frigateV2, "cv"))
	before := files(t, fsys)
	webhook(t, fsys, c, served(destroyer, "v"))
	if diff := cmp.Diff(before, files(t, fsys)); diff != "" {
		t.Error(diff)
	}
	build(t, fsys, c, "config/default")
}

// TestLostWebhookAnchors checks that a patch that cannot be edited is an error, and that
// nothing changes.
func TestLostWebhookAnchors(t *testing.T) {
	t.Parallel()
	const patch = "config/crd/patches/webhook_in_frigates.yaml"
	for _, test := range []struct {
		name, file, content string // no content: the file is missing
		msg, hint           string
	}{
		{"patch", patch, "metadata: &m {}\nspec: *m\n", "edit " + patch, caAnnotation + ": " + caSource},
		{"patch with two documents", patch, "a: 1\n---\nb: 1\n", "edit " + patch, caAnnotation + ": " + caSource},
		{"default", defaultEntries, "", defaultEntries + " is missing", "- ../webhook"},
		{"config/default is not YAML", defaultEntries, "resources: [\n", defaultEntries, ""},
		{"CRDs", crdEntries, "", crdEntries + " is missing", "- path: patches/webhook_in_destroyers.yaml"},
		{"patches of CRDs are not a list", crdEntries, "patches: x\n", "edit " + crdEntries, "below patches in " + crdEntries},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := config()
			fsys := peersProject(t, c, theirs("on"), served(frigateV2, "cv"))
			if test.content == "" {
				if err := fsys.Remove(test.file); err != nil {
					t.Fatal(err)
				}
			} else {
				write(t, fsys, test.file, test.content)
			}
			before := files(t, fsys)
			err := tryWebhook(t, fsys, c, served(destroyer, "c"))
			if err == nil || !strings.Contains(err.Error(), test.msg) || !strings.Contains(fault.HintOf(err), test.hint) {
				t.Errorf("error %v, hint %q", err, fault.HintOf(err))
			}
			if diff := cmp.Diff(before, files(t, fsys)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestForceReplacesWebhookFiles checks that --force replaces files of another tool.
func TestForceReplacesWebhookFiles(t *testing.T) {
	t.Parallel()
	c := config()
	fsys := peersProject(t, c, theirs("on"), served(frigateV2, "c"))
	p := newPlan(t, fsys, scaffold.Options{Force: true})
	r := served(frigateV2, "c")
	if err := (Plugin{}).Plan(t.Context(), webhookEvent(c, &r), p); err != nil {
		t.Fatal(err)
	}
	if err := p.Apply(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := files(t, fsys)[webhookPolicy]; !strings.Contains(got, "port: 9443") {
		t.Errorf("%s:\n%s", webhookPolicy, got)
	}
	checkWebhooks(t, c, build(t, fsys, c, "config/default"))
}
