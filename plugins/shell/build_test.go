package shell

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/rbac"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/internal/hookscaffold"
	"github.com/spf13/afero"
	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

func fleet() *project.Config {
	return &project.Config{Version: "3", Domain: "example.org", ProjectName: "fleet", Layout: []string{Key}}
}

// plan plans and applies one event.
func plan(t *testing.T, fsys afero.Fs, e plugin.Event) error {
	t.Helper()
	p, err := scaffold.New(fsys, scaffold.Options{Command: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if err := (Plugin{}).Plan(t.Context(), e, p); err != nil {
		return err
	}
	return p.Apply(t.Context())
}

// started returns a new project.
func started(t *testing.T, c *project.Config) afero.Fs {
	t.Helper()
	fsys := afero.NewMemMapFs()
	if err := plan(t, fsys, plugin.Event{Type: plugin.Init, Project: c}); err != nil {
		t.Fatal(err)
	}
	return fsys
}

// create creates a hook; options have the form flag=value.
func create(t *testing.T, fsys afero.Fs, c *project.Config, name string, options ...string) error {
	t.Helper()
	e := plugin.Event{Type: plugin.CreateHook, Project: c, Name: name, Options: map[string]any{}}
	for _, o := range options {
		flag, value, _ := strings.Cut(o, "=")
		switch flag {
		case "startup", "crd", "lang":
			e.Options[flag] = value
		default:
			e.Options[flag] = append(e.Strings(flag), value)
		}
	}
	return plan(t, fsys, e)
}

func read(t *testing.T, fsys afero.Fs, name string) string {
	t.Helper()
	b, err := afero.ReadFile(fsys, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// built runs kustomize and returns the objects by kind/namespace/name.
func built(t *testing.T, fsys afero.Fs, dir string) map[string]map[string]any {
	t.Helper()
	memory := filesys.MakeFsInMemory()
	err := afero.Walk(fsys, "config", func(name string, info fs.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		content, err := afero.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		return memory.WriteFile("/"+filepath.ToSlash(name), content)
	})
	if err != nil {
		t.Fatal(err)
	}
	m, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(memory, "/"+dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]any{}
	for _, r := range m.Resources() {
		text, err := r.AsYAML()
		var o map[string]any
		if err == nil {
			err = yaml.Unmarshal(text, &o)
		}
		if err != nil {
			t.Fatal(err)
		}
		all[r.GetKind()+"/"+r.GetNamespace()+"/"+r.GetName()] = o
	}
	return all
}

// at returns the value at a path of keys and indices.
func at(v any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[step]
		case int:
			l, _ := v.([]any)
			if step >= len(l) {
				return nil
			}
			v = l[step]
		}
	}
	return v
}

// TestBuild checks the namespaces and the names of the objects in config/default.
func TestBuild(t *testing.T) {
	t.Parallel()
	c := fleet()
	fsys := started(t, c)
	role := `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: manager-role, namespace: team-a}
rules: []
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: manager-rolebinding, namespace: team-a}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: manager-role}
subjects: [{kind: ServiceAccount, name: controller-manager}]
`
	if err := afero.WriteFile(fsys, rbac.Path, []byte(read(t, fsys, rbac.Path)+"---\n"+role), 0o644); err != nil {
		t.Fatal(err)
	}
	all := built(t, fsys, "config/default")
	for _, name := range []string{
		"Namespace//fleet-system", "ServiceAccount/fleet-system/fleet-controller-manager", "Deployment/fleet-system/fleet-controller-manager",
		"Service/fleet-system/fleet-controller-manager-metrics-service", "ClusterRole//fleet-manager-role", "ClusterRoleBinding//fleet-manager-rolebinding",
		"Role/team-a/fleet-manager-role", "RoleBinding/team-a/fleet-manager-rolebinding",
	} {
		if all[name] == nil {
			t.Errorf("no %s in %v", name, keysOf(all))
		}
	}
	for _, name := range []string{"ClusterRoleBinding//fleet-manager-rolebinding", "RoleBinding/team-a/fleet-manager-rolebinding"} {
		if got := at(all[name], "subjects", 0, "namespace"); got != "fleet-system" || at(all[name], "subjects", 0, "name") != "fleet-controller-manager" {
			t.Errorf("%s binds %v", name, at(all[name], "subjects"))
		}
		if got := at(all[name], "roleRef", "name"); got != "fleet-manager-role" {
			t.Errorf("%s refers to %v", name, got)
		}
	}
}

func keysOf(m map[string]map[string]any) []string {
	var all []string
	for k := range m {
		all = append(all, k)
	}
	return all
}

// TestBuildWebhooks checks the Services, the certificate and the settings of the engine
// for webhooks, with all parts of config/default enabled.
func TestBuildWebhooks(t *testing.T) {
	t.Parallel()
	c := fleet()
	fsys := started(t, c)
	if err := create(t, fsys, c, "guard", "validate=Secret"); err != nil {
		t.Fatal(err)
	}
	text := read(t, fsys, defaultEntries)
	text = strings.NewReplacer("#- ../prometheus", "- ../prometheus", "#- ../network-policy", "- ../network-policy").Replace(text)
	if err := afero.WriteFile(fsys, defaultEntries, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	all := built(t, fsys, "config/default")
	cert := all["Certificate/fleet-system/fleet-serving-cert"]
	names := at(cert, "spec", "dnsNames")
	if at(names, 0) != "fleet-webhook-service.fleet-system.svc" || at(names, 1) != "fleet-conversion-service.fleet-system.svc" {
		t.Errorf("the certificate is for %v", names)
	}
	if got := at(cert, "spec", "issuerRef", "name"); got != "fleet-selfsigned-issuer" || all["Issuer/fleet-system/fleet-selfsigned-issuer"] == nil {
		t.Errorf("the issuer is %v", got)
	}
	container := at(all["Deployment/fleet-system/fleet-controller-manager"], "spec", "template", "spec", "containers", 0)
	env := map[any]any{}
	for _, e := range at(container, "env").([]any) {
		env[at(e, "name")] = at(e, "value")
	}
	if env["VALIDATING_WEBHOOK_SERVICE_NAME"] != "fleet-webhook-service" || env["CONVERSION_WEBHOOK_SERVICE_NAME"] != "fleet-conversion-service" ||
		env["VALIDATING_WEBHOOK_CONFIGURATION_NAME"] != "fleet" {
		t.Errorf("the environment is %v", env)
	}
	if at(container, "livenessProbe", "exec") == nil || at(container, "livenessProbe", "httpGet") != nil || at(container, "startupProbe", "exec") == nil {
		t.Errorf("the probes are %v, %v", at(container, "livenessProbe"), at(container, "startupProbe"))
	}
	for _, name := range []string{"NetworkPolicy/fleet-system/fleet-allow-webhook-traffic", "NetworkPolicy/fleet-system/fleet-allow-metrics-traffic",
		"ServiceMonitor/fleet-system/fleet-controller-manager-metrics-monitor", "Service/fleet-system/fleet-conversion-service"} {
		if all[name] == nil {
			t.Errorf("no %s in %v", name, keysOf(all))
		}
	}
	// Parts that the user disabled stay disabled.
	if err := afero.WriteFile(fsys, defaultEntries, []byte(strings.Replace(text, "- ../certmanager", "#- ../certmanager", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := create(t, fsys, c, "guard-2", "mutate=Secret"); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(read(t, fsys, defaultEntries), "\n#- ../certmanager") {
		t.Error("cert-manager is enabled again")
	}
}

// TestConfigurations checks that each binding and filter results in a configuration
// without findings.
func TestConfigurations(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]string{
		"all-secrets": {"on=kubernetes:secret"},
		"some":        {"on=kubernetes:apps/v1/Deployment,core/v1/Pod", "namespace=a", "namespace=b", "name=pods:x", "selector=a=b,c in (d,e),!f", "field-selector=pods:status.phase!=Failed"},
		"jq":          {"on=kubernetes:cm", `jq={"a: b": .data."x#y"} # why`},
		"events":      {"on=kubernetes:a:cm,b:cm,c:cm", "events=a:Deleted", "events=b:added,Modified", "events=c:none"},
		"queues":      {"on=kubernetes:cm", "queue=own", "schedule=@hourly", "schedule=night:TZ=Europe/Berlin 0 3 * * *"},
		"webhooks":    {"validate=Pod", "validate=Node", "mutate=Pod"},
		"start":       {"startup=-3"},
		"python":      {"lang=python", "on=kubernetes:class:cm,def:Secret", "group=main", "schedule=import:@daily", "startup=1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := fleet()
			fsys := started(t, c)
			if err := create(t, fsys, c, name, options...); err != nil {
				t.Fatal(err)
			}
			h := recordedHooks(t, c)[0]
			text, err := h.Config(config.Shell)
			if err != nil {
				t.Fatal(err)
			}
			if _, findings := config.Shell.Parse([]byte(text)); len(findings) > 0 {
				t.Errorf("%v in\n%s", findings, text)
			}
			if !strings.Contains(read(t, fsys, h.Path(place(h))), text) {
				t.Error("the hook prints another configuration")
			}
			if info, _ := fsys.Stat(h.Path(place(h))); info.Mode()&0o111 == 0 {
				t.Error("the hook is not executable")
			}
			before := read(t, fsys, h.Path(place(h)))
			if err := create(t, fsys, c, name, options...); err != nil || len(recordedHooks(t, c)) != 1 || read(t, fsys, h.Path(place(h))) != before {
				t.Errorf("a repeat: %v", err)
			}
		})
	}
}

// recordedHooks returns the hooks that PROJECT records.
func recordedHooks(t *testing.T, c *project.Config) []hookscaffold.Hook {
	t.Helper()
	r, err := recorded(c)
	if err != nil {
		t.Fatal(err)
	}
	return r.Hooks
}
