package project

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// inputs returns PROJECT files in different styles by name, each also with CRLF.
func inputs(t testing.TB) map[string]string {
	all := map[string]string{
		"smallest":      "version: \"3\"\n",
		"bare version":  "version: 3\n",
		"no final line": "domain: a.b\nversion: \"3\"",
		"braces":        `{"version": "3", "layout": ["a"], "resources": [{"kind": K, "version": v1, "api": {}}]}` + "\n",
		"anchors":       "x: &a {crdVersion: v1}\nresources:\n- kind: K\n  version: v1\n  api: *a\nversion: \"3\"\n",
		"merge key":     "x: &a\n  kind: K\n  version: v1\nresources:\n- <<: *a\n  group: g\nversion: \"3\"\n",
		"nulls":         "domain:\nlayout: ~\nplugins: {}\nresources: []\nmultigroup: false\nversion: \"3\"\n",
		"mark":          "\ufeffversion: \"3\"\n...\n",
	}
	for _, name := range []string{"full.yaml", "sprinkled.yaml"} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		all[name] = string(b)
	}
	for name, text := range all {
		all[name+", CR LF"] = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return all
}

func parse(t testing.TB, src string) *Config {
	t.Helper()
	c, err := Parse([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestEncodeUnchanged(t *testing.T) {
	t.Parallel()
	for name, src := range inputs(t) {
		out, err := parse(t, src).Encode([]byte(src))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(src, string(out)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}

func TestParseFull(t *testing.T) {
	t.Parallel()
	want := &Config{
		Version: "3", Domain: "example.org", Repo: "example.org/ks", ProjectName: "ks", CLIVersion: "(devel)",
		Layout:     []string{"go.kubebuilder.io/v4", "autoupdate.kubebuilder.io/v1-alpha", "grafana.kubebuilder.io/v1-alpha"},
		MultiGroup: true, Namespaced: true,
		Plugins: map[string]any{
			"autoupdate.kubebuilder.io/v1-alpha": map[string]any{"useGHModels": true},
			"deploy-image.go.kubebuilder.io/v1-alpha": map[string]any{"resources": []any{map[string]any{
				"domain": "example.org", "group": "example.com", "kind": "Memcached", "version": "v1alpha1",
				"options": map[string]any{
					"containerCommand": "memcached,--memory-limit=64,-o,modern,-v", "containerPort": "11211",
					"image": "memcached:1.6.26-alpine3.19", "runAsUser": "1001",
				},
			}}},
			"grafana.kubebuilder.io/v1-alpha": map[string]any{},
			"helm.kubebuilder.io/v2-alpha":    map[string]any{"manifests": "dist/install.yaml", "output": "charts"},
		},
		Resources: []Resource{
			{
				Group: "crew", Domain: "example.org", Version: "v1", Kind: "Captain", Path: "example.org/ks/api/crew/v1",
				API: &API{CRDVersion: "v1", Namespaced: true, SSA: true}, Controllers: []Controller{{"captain"}, {"captain-backup"}},
				Webhooks: &Webhooks{
					WebhookVersion: "v1", Defaulting: true, DefaultingPath: "/m", Validation: true, ValidationPath: "/v",
					Conversion: true, Spoke: []string{"v2"},
				},
			},
			{Group: "crew", Domain: "example.org", Version: "v2", Kind: "Captain", Path: "example.org/ks/api/crew/v2", API: &API{CRDVersion: "v1", Namespaced: true}},
			{Group: "ship", Domain: "example.org", Version: "v1", Kind: "Person", Path: "example.org/ks/api/ship/v1", API: &API{CRDVersion: "v1"}, Controller: true},
			{
				Group: "cert-manager", Domain: "io", Version: "v1", Kind: "Certificate", Controller: true, External: true,
				Path: "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1", Module: "github.com/cert-manager/cert-manager@v1.20.2",
			},
			{Group: "apps", Version: "v1", Kind: "Deployment", Path: "k8s.io/api/apps/v1", Core: true, Controller: true},
			{Group: "core", Version: "v1", Kind: "Pod", Path: "k8s.io/api/core/v1", Core: true, Webhooks: &Webhooks{WebhookVersion: "v1", Defaulting: true}},
			{
				Group: "example.com", Domain: "example.org", Version: "v1alpha1", Kind: "Memcached", Controller: true,
				Path: "example.org/ks/api/example.com/v1alpha1", API: &API{CRDVersion: "v1", Namespaced: true},
			},
		},
	}
	src := inputs(t)["full.yaml"]
	if diff := cmp.Diff(want, parse(t, src)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	made, err := want.Encode(nil)
	if err != nil {
		t.Fatal(err)
	}
	// A new file is equal to kubebuilder's, except for the header.
	if _, body, _ := strings.Cut(src, "project-config.html\n"); string(made) != header+body {
		t.Errorf("(-want +got)\n%s", cmp.Diff(header+body, string(made)))
	}
}

func TestConfigAsJSON(t *testing.T) {
	t.Parallel()
	for name, src := range inputs(t) {
		c := parse(t, src)
		b, err := json.Marshal(c)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var back Config
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		// Integers are floats in JSON. This is not a change.
		out, err := back.Encode([]byte(src))
		if err != nil || string(out) != src {
			t.Errorf("%s: %v\n%s", name, err, cmp.Diff(src, string(out)))
		}
	}
}

var sloop = Resource{
	Group: "ship", Domain: "example.org", Version: "v1", Kind: "Sloop", Path: "example.org/ks/api/v1",
	API: &API{CRDVersion: "v1", Namespaced: true}, Controller: true,
}

const sloopLines = `- api:
    crdVersion: v1
    namespaced: true
  controller: true
  domain: example.org
  group: ship
  kind: Sloop
  path: example.org/ks/api/v1
  version: v1
`

func TestEncodeChanges(t *testing.T) {
	t.Parallel()
	in := inputs(t)
	for name, tt := range map[string]struct {
		src    string
		change func(c *Config)
		old    string // the removed lines
		new    string // the added lines
	}{
		"new resource": {
			in["full.yaml"], func(c *Config) { c.Put(sloop) },
			"version: \"3\"\n", sloopLines + "version: \"3\"\n",
		},
		"new resource, CRLF": {
			in["full.yaml, CR LF"], func(c *Config) { c.Put(sloop) },
			"version: \"3\"\r\n", strings.ReplaceAll(sloopLines, "\n", "\r\n") + "version: \"3\"\r\n",
		},
		"new resource with the file's indentation": {
			in["sprinkled.yaml"], func(c *Config) { c.Put(sloop) },
			"      version: v1\n# +keep\n", `      version: v1
    - api:
          crdVersion: v1
          namespaced: true
      controller: true
      domain: example.org
      group: ship
      kind: Sloop
      path: example.org/ks/api/v1
      version: v1
# +keep
`,
		},
		"first resource": {
			in["smallest"], func(c *Config) { c.Put(sloop) },
			"version: \"3\"\n", "resources:\n" + sloopLines + "version: \"3\"\n",
		},
		"first resource in an empty list": {
			in["nulls"], func(c *Config) { c.Put(sloop) },
			"resources: []\n", "resources:\n" + sloopLines,
		},
		"a controller for the first": {
			in["sprinkled.yaml"], func(c *Config) { c.Resources[0].Controller = true },
			"        domain: example.org\n        group: ship\n        owner", "        controller: true\n        domain: example.org\n        group: ship\n        owner",
		},
		"cluster scope": {
			in["sprinkled.yaml"], func(c *Config) { c.Resources[0].API.Namespaced = false },
			"api: {crdVersion: v1, namespaced: true}", "api: {crdVersion: v1}",
		},
		"named controllers": {
			in["full.yaml"], func(c *Config) {
				c.Resources[2].Controller, c.Resources[2].Controllers = false, []Controller{{"person"}, {"person-backup"}}
			},
			"    crdVersion: v1\n  controller: true\n  domain: example.org\n  group: ship\n",
			"    crdVersion: v1\n  controllers:\n  - name: person\n  - name: person-backup\n  domain: example.org\n  group: ship\n",
		},
		"a webhook": {
			in["sprinkled.yaml"], func(c *Config) {
				c.Resources[0].Webhooks = &Webhooks{WebhookVersion: "v1", Validation: true, ValidationPath: "/v"}
			},
			"        version: v1\n        ssa: true\n",
			"        version: v1\n        ssa: true\n        webhooks:\n            validation: true\n            validationPath: /v\n            webhookVersion: v1\n",
		},
		"another webhook": {
			in["full.yaml"], func(c *Config) { c.Resources[5].Webhooks.Validation = true },
			"  webhooks:\n    defaulting: true\n    webhookVersion", "  webhooks:\n    defaulting: true\n    validation: true\n    webhookVersion",
		},
		"removed resource": {
			in["full.yaml"], func(c *Config) { c.Resources = append(c.Resources[:4:4], c.Resources[5:]...) },
			"- controller: true\n  core: true\n  group: apps\n  kind: Deployment\n  path: k8s.io/api/apps/v1\n  version: v1\n", "",
		},
		"changed layout": {
			in["sprinkled.yaml"], func(c *Config) { c.Layout = append(c.Layout, "helm.kubebuilder.io/v2-alpha") },
			"layout: go.kubebuilder.io/v4\n", "layout:\n  - go.kubebuilder.io/v4\n  - helm.kubebuilder.io/v2-alpha\n",
		},
		"flags": {
			in["nulls"], func(c *Config) { c.MultiGroup, c.Namespaced, c.Domain = true, true, "x.y" },
			"domain:\nlayout: ~\nplugins: {}\nresources: []\nmultigroup: false\n",
			"domain: x.y\nlayout: ~\nnamespaced: true\nplugins: {}\nresources: []\nmultigroup: true\n",
		},
		"changed plugin configuration": {
			in["sprinkled.yaml"], func(c *Config) {
				c.Plugins["generate.operon.dev/v1"].(map[string]any)["args"] = []string{"crd:maxDescLen=0", "rbac:roleName=x,y"}
			},
			`[ 'crd:maxDescLen=0', "object" ]`, `[ 'crd:maxDescLen=0', 'rbac:roleName=x,y' ]`,
		},
		"new plugin configuration": {
			in["smallest"], func(c *Config) { c.Plugins = map[string]any{"p": map[string]any{"size": 1, "l": []string{"x"}}} },
			"version", "plugins:\n  p:\n    l:\n    - x\n    size: 1\nversion",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := parse(t, tt.src)
			tt.change(c)
			out, err := c.Encode([]byte(tt.src))
			if err != nil {
				t.Fatal(err)
			}
			if strings.Count(tt.src, tt.old) != 1 {
				t.Fatalf("the source does not contain %q exactly once", tt.old)
			}
			if diff := cmp.Diff(strings.Replace(tt.src, tt.old, tt.new, 1), string(out)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(asJSON(t, c), asJSON(t, parse(t, string(out)))); diff != "" {
				t.Errorf("read back: (-want +got)\n%s", diff)
			}
		})
	}
}

func asJSON(t *testing.T, c *Config) string {
	t.Helper()
	b, err := json.MarshalIndent(c, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
