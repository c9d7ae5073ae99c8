package kustomize

import (
	"fmt"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/spf13/afero"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// served returns r with webhooks: the letters d, v and c select defaulting, validation and
// conversion.
func served(r project.Resource, kinds string) project.Resource {
	r.Webhooks = &project.Webhooks{
		WebhookVersion: "v1",
		Defaulting:     strings.Contains(kinds, "d"),
		Validation:     strings.Contains(kinds, "v"),
		Conversion:     strings.Contains(kinds, "c"),
	}
	return r
}

// webhook creates webhooks for r, like the command.
func webhook(t *testing.T, fsys afero.Fs, c *project.Config, r project.Resource) {
	t.Helper()
	if err := tryWebhook(t, fsys, c, r); err != nil {
		t.Fatal(err)
	}
}

func tryWebhook(t *testing.T, fsys afero.Fs, c *project.Config, r project.Resource) error {
	t.Helper()
	record(c, r)
	return plan(t, fsys, webhookEvent(c, &r))
}

func webhookEvent(c *project.Config, r *project.Resource) plugin.Event {
	return plugin.Event{Type: plugin.CreateWebhook, Project: c, Resource: r}
}

// record adds r to PROJECT, together with its recorded webhooks.
func record(c *project.Config, r project.Resource) {
	all := *r.Webhooks
	if old := c.Find(r.Group, r.Version, r.Kind); old != nil && old.Webhooks != nil {
		all.Defaulting = all.Defaulting || old.Webhooks.Defaulting
		all.Validation = all.Validation || old.Webhooks.Validation
		all.Conversion = all.Conversion || old.Webhooks.Conversion
	}
	r.Webhooks = &all
	c.Put(r)
}

// write writes a file of another tool or of the user.
func write(t *testing.T, fsys afero.Fs, name, content string) {
	t.Helper()
	if err := afero.WriteFile(fsys, name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// replace replaces a text that occurs once, as a user would.
func replace(t *testing.T, fsys afero.Fs, name, from, to string) {
	t.Helper()
	content := files(t, fsys)[name]
	if strings.Count(content, from) != 1 {
		t.Fatalf("want %q once in %s:\n%s", from, name, content)
	}
	write(t, fsys, name, strings.Replace(content, from, to, 1))
}

// generate writes the generated files that kustomizations list: CRDs and webhook
// configurations.
func generate(t *testing.T, fsys afero.Fs, c *project.Config) {
	t.Helper()
	var mutating, validating string
	for _, r := range c.Resources {
		if r.API != nil {
			write(t, fsys, "config/crd/"+crdBase(r), crd(r))
		}
		if r.Webhooks != nil && r.Webhooks.Defaulting {
			mutating += admission(r, "m")
		}
		if r.Webhooks != nil && r.Webhooks.Validation {
			validating += admission(r, "v")
		}
	}
	var all strings.Builder
	for _, cfg := range []struct{ kind, webhooks string }{{"Mutating", mutating}, {"Validating", validating}} {
		if cfg.webhooks != "" {
			fmt.Fprintf(&all, "---\napiVersion: admissionregistration.k8s.io/v1\nkind: %sWebhookConfiguration\nmetadata:\n  name: %s-webhook-configuration\nwebhooks:\n%s",
				cfg.kind, strings.ToLower(cfg.kind), cfg.webhooks)
		}
	}
	if all.Len() > 0 {
		write(t, fsys, webhookManifests, all.String())
	}
}

func crd(r project.Resource) string {
	return fmt.Sprintf(`---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  annotations:
    controller-gen.kubebuilder.io/version: v0.23.0
  name: %q
spec:
  group: %q
  names:
    kind: %q
    listKind: %[3]sList
    plural: %q
    singular: %q
  scope: Namespaced
  versions:
  - name: %s
    schema:
      openAPIV3Schema:
        type: object
    served: true
    storage: true
`, r.CRDName(), r.QualifiedGroup(), r.Kind, r.PluralName(), r.Lower(), r.Version)
}

func admission(r project.Resource, prefix string) string {
	return fmt.Sprintf(`- admissionReviewVersions:
  - v1
  clientConfig:
    service:
      name: webhook-service
      namespace: system
      path: /%s-%s-%s
  failurePolicy: Fail
  name: %[1]s%[3]s-%[2]s.kb.io
  rules:
  - apiGroups:
    - %[4]q
    apiVersions:
    - %[2]s
    operations:
    - CREATE
    - UPDATE
    resources:
    - %[5]q
  sideEffects: None
`, prefix, r.Version, r.Lower(), r.QualifiedGroup(), r.PluralName())
}

// installed is the output of kustomize for config/default: objects by kind and name.
type installed map[string]map[string]any

// build generates and runs kustomize on a folder.
func build(t *testing.T, fsys afero.Fs, c *project.Config, dir string) installed {
	t.Helper()
	generate(t, fsys, c)
	disk := filesys.MakeFsInMemory()
	for name, content := range files(t, fsys) {
		if err := disk.WriteFile(name, []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	all, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(disk, dir)
	if err != nil {
		t.Fatalf("kustomize build %s: %v\n%s", dir, err, files(t, fsys)[dir+"/"+kustomization])
	}
	out, err := all.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	objects := installed{}
	for _, doc := range documents(t, dir, string(out)) {
		o := doc.(map[string]any)
		objects[fmt.Sprint(at(o, "kind"), "/", at(o, "metadata", "name"))] = o
	}
	return objects
}

// settled checks that planning these events changes nothing.
func settled(t *testing.T, fsys afero.Fs, events ...plugin.Event) {
	t.Helper()
	p := newPlan(t, fsys, scaffold.Options{})
	for _, e := range events {
		if err := (Plugin{}).Plan(t.Context(), e, p); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range p.Changes() {
		t.Errorf("a repeat would %s %s\n%s", c.Op, c.Path, c.Diff())
	}
}

// replay returns the events of a repeated init.
func replay(c *project.Config) []plugin.Event {
	events := []plugin.Event{{Type: plugin.Init, Project: c}}
	for _, r := range c.Resources {
		if r.API != nil || len(r.ControllerNames()) > 0 {
			events = append(events, plugin.Event{Type: plugin.CreateAPI, Project: c, Resource: &r})
		}
	}
	for _, r := range c.Resources {
		if r.Webhooks != nil {
			events = append(events, webhookEvent(c, &r))
		}
	}
	return events
}
