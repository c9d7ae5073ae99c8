package kustomize

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/spf13/afero"
)

const webhookManifest = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata:\n  name: x\n"

// TestConfigOfTheirs adds a kind with webhooks to repositories that operon did not start. It must not
// write a file that no kustomization includes.
func TestConfigOfTheirs(t *testing.T) {
	t.Parallel()
	crds := map[string]string{
		"config/default/kustomization.yaml":                 "resources:\n- ../crd\n- ../rbac\n- ../webhook\n",
		"config/crd/kustomization.yaml":                     "resources:\n- bases/ship.example.org_destroyers.yaml\n",
		"config/rbac/kustomization.yaml":                    "resources:\n- role.yaml\n",
		"config/webhook/kustomization.yaml":                 "resources:\n- manifests.yaml\n- service.yaml\n",
		"config/webhook/manifests.yaml":                     webhookManifest,
		"config/webhook/service.yaml":                       "kind: Service\n",
		"config/samples/kustomization.yaml":                 "resources: []\n",
		"config/certmanager/kustomization.yaml":             "resources:\n- certificate.yaml\n",
		"config/certmanager/certificate.yaml":               "kind: Certificate\n",
		"config/crd/bases/ship.example.org_destroyers.yaml": "kind: CustomResourceDefinition\n",
	}
	components := map[string]string{
		"config/default/kustomization.yaml":                          "resources:\n- ../components/crd\n- ../components/webhook\n",
		"config/components/crd/kustomization.yaml":                   "resources:\n- all/ship.example.org_destroyers.yaml\n",
		"config/components/crd/all/ship.example.org_destroyers.yaml": "kind: CustomResourceDefinition\n",
		"config/components/webhook/kustomization.yaml":               "resources:\n- manifests.yaml\n",
		"config/components/webhook/manifests.yaml":                   webhookManifest,
		"config/samples/kustomization.yaml":                          "resources: []\n",
	}
	without := func(files map[string]string, prefix string) map[string]string {
		rest := map[string]string{}
		for name, content := range files {
			if !strings.HasPrefix(name, prefix) {
				rest[name] = content
			}
		}
		return rest
	}
	roles := []string{"config/rbac/frigate_admin_role.yaml", "config/rbac/frigate_editor_role.yaml", "config/rbac/frigate_viewer_role.yaml"}
	const sample = "config/samples/ship_v1_frigate.yaml"
	for name, test := range map[string]struct {
		files            map[string]string
		created, updated []string
	}{
		"certificates of another name": {crds, append(slices.Clone(roles), sample), []string{"config/crd/kustomization.yaml", "config/rbac/kustomization.yaml", "config/samples/kustomization.yaml"}},
		"no certificates":              {without(crds, "config/certmanager"), append(slices.Clone(roles), sample), []string{"config/crd/kustomization.yaml", "config/rbac/kustomization.yaml", "config/samples/kustomization.yaml"}},
		"other folders":                {components, []string{sample}, []string{"config/components/crd/kustomization.yaml", "config/samples/kustomization.yaml"}},
		"CRDs in no kustomization":     {without(components, "config/components/crd"), []string{sample}, []string{"config/samples/kustomization.yaml"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fsys := afero.NewMemMapFs()
			for file, content := range test.files {
				write(t, fsys, file, content)
			}
			c := config()
			c.Put(destroyer)
			if err := do(t, fsys, c, &frigate); err != nil {
				t.Fatal(err)
			}
			webhook(t, fsys, c, served(frigate, "dv"))
			var created, updated []string
			for file, content := range files(t, fsys) {
				old, existed := test.files[file]
				switch {
				case strings.HasPrefix(file, ".operon/"):
				case !existed:
					created = append(created, file)
				case old != content:
					updated = append(updated, file)
				}
			}
			slices.Sort(created)
			slices.Sort(updated)
			if diff := cmp.Diff([][]string{test.created, test.updated}, [][]string{created, updated}); diff != "" {
				t.Errorf("created and updated (-want +got):\n%s", diff)
			}
			if list := files(t, fsys)["config/components/crd/kustomization.yaml"]; list != "" && !strings.Contains(list, "- all/ship.example.org_frigates.yaml\n") {
				t.Errorf("the CRDs are\n%s", list)
			}
		})
	}
}

// TestConversionOfTheirs checks that the configuration for conversions comes with the first of them.
func TestConversionOfTheirs(t *testing.T) {
	t.Parallel()
	fsys := afero.NewMemMapFs()
	for file, content := range map[string]string{
		"config/default/kustomization.yaml": "resources:\n- ../crd\n", "config/crd/kustomization.yaml": "resources: []\n",
		"config/rbac/kustomization.yaml": "resources: []\n", "config/webhook/kustomization.yaml": "resources: []\n",
	} {
		write(t, fsys, file, content)
	}
	c := config()
	for _, r := range []project.Resource{frigate, frigateV2} {
		if err := do(t, fsys, c, &r); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := files(t, fsys)[crdConfig]; ok {
		t.Errorf("%s is there before a conversion", crdConfig)
	}
	webhook(t, fsys, c, served(frigateV2, "c"))
	after := files(t, fsys)
	if list := after[crdEntries]; after[crdConfig] == "" || !strings.Contains(list, "configurations:\n- kustomizeconfig.yaml\n") {
		t.Errorf("%s is %q, and the list is\n%s", crdConfig, after[crdConfig], list)
	}
}

// TestSamplesOnly checks the plugin in a repository without kustomizations.
func TestSamplesOnly(t *testing.T) {
	t.Parallel()
	c := config()
	c.Put(frigate)
	p := newPlan(t, afero.NewMemMapFs(), scaffold.Options{})
	r := served(frigate, "d")
	for _, e := range []plugin.Event{{Type: plugin.CreateAPI, Project: c, Resource: &frigate}, {Type: plugin.CreateWebhook, Project: c, Resource: &r}, {Type: plugin.Generate, Project: c}} {
		if err := (Plugin{SamplesOnly: true}).Plan(t.Context(), e, p); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, change := range p.Changes() {
		got = append(got, change.Path)
	}
	if diff := cmp.Diff([]string{"config/samples/ship_v1_frigate.yaml"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
