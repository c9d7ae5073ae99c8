package shell

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"
)

// deployed builds config/default of a project with webhooks, with all parts enabled.
func deployed(t *testing.T) map[string]map[string]any {
	t.Helper()
	c := fleet()
	fsys := started(t, c)
	if err := create(t, fsys, c, "guard", "validate=Secret"); err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("#- ../prometheus", "- ../prometheus", "#- ../network-policy", "- ../network-policy").Replace(read(t, fsys, defaultEntries))
	if err := afero.WriteFile(fsys, defaultEntries, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return built(t, fsys, "config/default")
}

// TestBuildPorts checks that each selector matches the pod, and that ports are those of
// the engine: 9115 for both metrics endpoints, 9680 and 9681 for webhooks.
func TestBuildPorts(t *testing.T) {
	t.Parallel()
	all := deployed(t)
	pod := at(all["Deployment/fleet-system/fleet-controller-manager"], "spec", "template")
	listens := map[any]bool{}
	for _, p := range at(pod, "spec", "containers", 0, "ports").([]any) {
		listens[at(p, "containerPort")] = true
	}
	if len(listens) != 3 || !listens[9115] || !listens[9680] || !listens[9681] {
		t.Errorf("the container has the ports %v", listens)
	}
	selects := func(labels, selector any) bool {
		wanted, _ := selector.(map[string]any)
		for k, v := range wanted {
			if at(labels, k) != v {
				return false
			}
		}
		return len(wanted) > 0
	}
	ports := func(list any) (all []any) {
		items, _ := list.([]any)
		for _, p := range items {
			all = append(all, at(p, "targetPort"), at(p, "port"))
		}
		return all
	}
	for name, want := range map[string][]any{
		"Service/fleet-system/fleet-controller-manager-metrics-service": {9115, 9115},
		"Service/fleet-system/fleet-webhook-service":                    {9680, 443},
		"Service/fleet-system/fleet-conversion-service":                 {9681, 443},
	} {
		if got := ports(at(all[name], "spec", "ports")); !slices.Equal(got, want) || !selects(at(pod, "metadata", "labels"), at(all[name], "spec", "selector")) {
			t.Errorf("%s has the ports %v, want %v, and selects %v", name, got, want, at(all[name], "spec", "selector"))
		}
	}
	for name, want := range map[string][]any{
		"NetworkPolicy/fleet-system/fleet-allow-metrics-traffic": {nil, 9115},
		"NetworkPolicy/fleet-system/fleet-allow-webhook-traffic": {nil, 9680, nil, 9681},
	} {
		spec := at(all[name], "spec")
		if got := ports(at(spec, "ingress", 0, "ports")); !slices.Equal(got, want) || !selects(at(pod, "metadata", "labels"), at(spec, "podSelector", "matchLabels")) {
			t.Errorf("%s has the ports %v, want %v, and selects %v", name, got, want, at(spec, "podSelector"))
		}
		if types, _ := at(spec, "policyTypes").([]any); !slices.Equal(types, []any{"Ingress"}) {
			t.Errorf("%s has the policy types %v", name, types)
		}
	}
	if from := at(all["NetworkPolicy/fleet-system/fleet-allow-metrics-traffic"], "spec", "ingress", 0, "from"); at(from, 0, "namespaceSelector", "matchLabels", "metrics") != "enabled" {
		t.Errorf("metrics are allowed from %v", from)
	}
	if from := at(all["NetworkPolicy/fleet-system/fleet-allow-webhook-traffic"], "spec", "ingress", 0, "from"); from != nil {
		t.Errorf("webhook calls are allowed only from %v", from)
	}
	service := all["Service/fleet-system/fleet-controller-manager-metrics-service"]
	monitor := at(all["ServiceMonitor/fleet-system/fleet-controller-manager-metrics-monitor"], "spec")
	if !selects(at(service, "metadata", "labels"), at(monitor, "selector", "matchLabels")) {
		t.Errorf("the ServiceMonitor selects %v", at(monitor, "selector"))
	}
	for i, path := range []string{"/metrics", "/metrics/hooks"} {
		if e := at(monitor, "endpoints", i); at(e, "path") != path || at(e, "port") != at(service, "spec", "ports", 0, "name") {
			t.Errorf("the ServiceMonitor has %v, want %s", e, path)
		}
	}
}

// TestBuildPod checks the writable folders of the read-only root, the namespace variable,
// and the probes, which request / because the engine has no /healthz.
func TestBuildPod(t *testing.T) {
	t.Parallel()
	all := built(t, started(t, fleet()), "config/default")
	pod := at(all["Deployment/fleet-system/fleet-controller-manager"], "spec", "template", "spec")
	container := at(pod, "containers", 0)
	volumes := map[any]any{}
	for _, v := range at(pod, "volumes").([]any) {
		volumes[at(v, "name")] = v
	}
	writable := map[any]bool{}
	for _, m := range at(container, "volumeMounts").([]any) {
		_, empty := volumes[at(m, "name")].(map[string]any)["emptyDir"]
		writable[at(m, "mountPath")] = empty && at(m, "readOnly") != true
	}
	if len(writable) != 2 || !writable["/tmp"] || !writable["/var/run/shell-operator"] {
		t.Errorf("the writable folders are %v", writable)
	}
	for _, probe := range []string{"livenessProbe", "readinessProbe"} {
		port := at(container, probe, "httpGet", "port")
		if at(container, probe, "httpGet", "path") != "/" || port != at(container, "ports", 0, "name") || at(container, "ports", 0, "containerPort") != 9115 {
			t.Errorf("the %s is %v", probe, at(container, probe))
		}
	}
	namespace := slices.IndexFunc(at(container, "env").([]any), func(e any) bool {
		return at(e, "name") == "SHELL_OPERATOR_NAMESPACE" && at(e, "valueFrom", "fieldRef", "fieldPath") == "metadata.namespace"
	})
	if namespace < 0 {
		t.Errorf("the environment is %v", at(container, "env"))
	}
}

// TestRestart checks the restart after a new certificate: the startup probe records the
// certificate that the engine has read, and the liveness probe fails when another one is
// mounted.
func TestRestart(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the engine runs on Linux")
	}
	container := at(deployed(t)["Deployment/fleet-system/fleet-controller-manager"], "spec", "template", "spec", "containers", 0)
	dir := t.TempDir()
	write := func(name, content string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// A replacement for the engine that answers the probes.
	write("bin/curl", "#!/bin/sh\nfor url; do :; done\n[ \"$url\" = http://127.0.0.1:9115/ ] && [ -e "+dir+"/up ]\n")
	write("validating-certs/tls.crt", "first")
	write("tmp/other", "")
	probe := func(name string) error {
		words := at(container, name, "exec", "command").([]any)
		if len(words) != 3 || words[0] != "sh" || words[1] != "-c" {
			t.Fatalf("the %s is %v", name, words)
		}
		script := strings.NewReplacer("/validating-certs/", dir+"/validating-certs/", "/tmp/", dir+"/tmp/").Replace(words[2].(string))
		cmd := exec.Command("sh", "-c", script)
		cmd.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
		return cmd.Run()
	}
	want := func(when, name string, well bool) {
		t.Helper()
		if err := probe(name); (err == nil) != well {
			t.Errorf("%s, %s: %v", name, when, err)
		}
	}
	want("before it answers", "startupProbe", false)
	write("up", "")
	want("before the start is noted", "livenessProbe", true) // the first try of the start noted it
	want("when it answers", "startupProbe", true)
	want("with the certificate it has read", "livenessProbe", true)
	write("validating-certs/tls.crt", "second")
	want("with another certificate", "livenessProbe", false)
	want("once it began anew", "startupProbe", true)
	want("with that certificate", "livenessProbe", true)
	if err := os.Remove(filepath.Join(dir, "up")); err != nil {
		t.Fatal(err)
	}
	want("when it does not answer", "livenessProbe", false)
	if at(container, "startupProbe", "periodSeconds").(int)*at(container, "startupProbe", "failureThreshold").(int) < 60 {
		t.Error("the startup probe is too short for an engine with many hooks")
	}
}
