package kustomize

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
)

var pod = project.Resource{Group: "core", Version: "v1", Kind: "Pod", Path: "k8s.io/api/core/v1", Core: true}

// TestWebhookTrees checks that kustomize builds config/default for any webhooks in any
// order, and that the names in the result match.
func TestWebhookTrees(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name       string
		change     func(*project.Config)
		apis, adds []project.Resource
	}{
		{"defaulting", nil, []project.Resource{frigate}, []project.Resource{served(frigate, "d")}},
		{"validation", nil, []project.Resource{frigate}, []project.Resource{served(frigate, "v")}},
		{"defaulting, then validation", nil, []project.Resource{frigate}, []project.Resource{served(frigate, "d"), served(frigate, "v")}},
		{"validation, then defaulting", nil, []project.Resource{frigate}, []project.Resource{served(frigate, "v"), served(frigate, "d")}},
		{"conversion", nil, []project.Resource{frigate, frigateV2}, []project.Resource{served(frigateV2, "c")}},
		{"conversion, then defaulting", nil, []project.Resource{frigate, frigateV2}, []project.Resource{served(frigateV2, "c"), served(frigate, "d")}},
		{"everything", nil, []project.Resource{frigate, frigateV2}, []project.Resource{served(frigateV2, "dvc")}},
		{"two kinds", nil, []project.Resource{frigate, destroyer, frigateV2},
			[]project.Resource{served(destroyer, "v"), served(frigateV2, "c"), served(frigate, "d")}},
		{"two groups", func(c *project.Config) { c.MultiGroup = true }, []project.Resource{frigate, captain, s3},
			[]project.Resource{served(captain, "dc"), served(frigate, "vc"), served(s3, "d")}},
		{"limited", func(c *project.Config) { c.Namespaced = true }, []project.Resource{frigate, destroyer},
			[]project.Resource{served(frigate, "dv"), served(destroyer, "v")}},
		{"pods, without an API", nil, nil, []project.Resource{served(pod, "d")}},
		{"number as name", func(c *project.Config) { c.ProjectName = "123" }, []project.Resource{null}, []project.Resource{served(null, "dvc")}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := config()
			if test.change != nil {
				test.change(c)
			}
			fsys := scaffolded(t, c, test.apis...)
			for _, r := range test.adds {
				webhook(t, fsys, c, r)
				checkWebhooks(t, c, build(t, fsys, c, "config/default"))
				before := files(t, fsys)
				webhook(t, fsys, c, r)
				if diff := cmp.Diff(before, files(t, fsys)); diff != "" {
					t.Errorf("a repeat changes: %s", diff)
				}
			}
			checkTree(t, files(t, fsys))
			settled(t, fsys, replay(c)...)
			if listed := slices.Contains(entries(t, files(t, fsys), defaultEntries), "../crd"); listed != (len(test.apis) > 0) {
				t.Errorf("config/default lists ../crd: %t", listed)
			}
			checkThereAndBack(t, fsys, c)
		})
	}
}

// checkWebhooks checks that all parts of the webhooks of c refer to each other.
func checkWebhooks(t *testing.T, c *project.Config, all installed) {
	t.Helper()
	prefix, namespace := c.ProjectName+"-", c.Namespace()
	service := prefix + "webhook-service"
	if got := at(all["Service/"+service], "metadata", "namespace"); got != namespace {
		t.Errorf("Service %s is in namespace %v", service, got)
	}
	certificate := all["Certificate/"+prefix+"serving-cert"]
	name := service + "." + namespace + ".svc"
	if diff := cmp.Diff([]any{name, name + ".cluster.local"}, at(certificate, "spec", "dnsNames")); diff != "" {
		t.Errorf("DNS names: %s", diff)
	}
	issuer := fmt.Sprint(at(certificate, "spec", "issuerRef", "kind"), "/", at(certificate, "spec", "issuerRef", "name"))
	if all[issuer] == nil {
		t.Errorf("the certificate's issuer %s does not exist", issuer)
	}
	checkManager(t, all["Deployment/"+prefix+"controller-manager"], at(certificate, "spec", "secretName"))

	called := map[string]bool{}
	for _, r := range c.Resources {
		if w := r.Webhooks; w != nil {
			called["MutatingWebhookConfiguration"] = called["MutatingWebhookConfiguration"] || w.Defaulting
			called["ValidatingWebhookConfiguration"] = called["ValidatingWebhookConfiguration"] || w.Validation
			called["CustomResourceDefinition/"+r.CRDName()] = called["CustomResourceDefinition/"+r.CRDName()] || w.Conversion
		}
	}
	for id, o := range all {
		var clients []any
		kind, _, _ := strings.Cut(id, "/")
		switch kind {
		case "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration":
			for _, w := range at(o, "webhooks").([]any) {
				clients = append(clients, at(w, "clientConfig", "service"))
			}
			id = kind
		case "CustomResourceDefinition":
			if conversion := at(o, "spec", "conversion"); conversion != nil {
				want := map[string]any{"strategy": "Webhook", "webhook": map[string]any{
					"conversionReviewVersions": []any{"v1"},
					"clientConfig": map[string]any{"service": map[string]any{
						"name": service, "namespace": namespace, "path": "/convert"}}}}
				if diff := cmp.Diff(want, conversion); diff != "" {
					t.Errorf("the conversion of %s differs: %s", id, diff)
				}
				clients = append(clients, at(conversion, "webhook", "clientConfig", "service"))
			}
		default:
			continue
		}
		if called[id] != (len(clients) > 0) {
			t.Errorf("%s has %d webhooks; want some: %t", id, len(clients), called[id])
		}
		var want any
		if called[id] {
			want = namespace + "/" + prefix + "serving-cert"
		}
		if got := at(o, "metadata", "annotations", caAnnotation); got != want {
			t.Errorf("%s trusts %v, want %v", id, got, want)
		}
		for _, s := range clients {
			if at(s, "name") != service || at(s, "namespace") != namespace {
				t.Errorf("%s calls %v", id, s)
			}
		}
		delete(called, id)
	}
	for id, needed := range called {
		if needed {
			t.Errorf("no %s", id)
		}
	}
}

// checkManager checks that the manager serves webhooks with the certificate in the Secret,
// and that its other settings stay.
func checkManager(t *testing.T, deployment, secret any) {
	t.Helper()
	pod := at(deployment, "spec", "template", "spec")
	container := at(pod, "containers").([]any)[0]
	args := at(container, "args").([]any)
	const dir = "/tmp/k8s-webhook-server/serving-certs"
	for _, arg := range []string{"--leader-elect", "--metrics-bind-address=:8443", "--webhook-cert-path=" + dir} {
		if !slices.Contains(args, any(arg)) {
			t.Errorf("the manager has no argument %s", arg)
		}
	}
	wantPorts := []any{
		map[string]any{"name": "health", "containerPort": 8081, "protocol": "TCP"},
		map[string]any{"name": "webhook-server", "containerPort": 9443, "protocol": "TCP"},
	}
	if diff := cmp.Diff(wantPorts, at(container, "ports")); diff != "" {
		t.Errorf("ports: %s", diff)
	}
	if diff := cmp.Diff([]any{map[string]any{"name": "webhook-certs", "mountPath": dir, "readOnly": true}}, at(container, "volumeMounts")); diff != "" {
		t.Errorf("mounts: %s", diff)
	}
	if diff := cmp.Diff([]any{map[string]any{"name": "webhook-certs", "secret": map[string]any{"secretName": secret}}}, at(pod, "volumes")); diff != "" {
		t.Errorf("volumes: %s", diff)
	}
	// The pod serves until no calls arrive, and then has time to stop.
	wait, _ := at(container, "lifecycle", "preStop", "sleep", "seconds").(int)
	if limit, _ := at(pod, "terminationGracePeriodSeconds").(int); wait < 3 || limit < wait+10 {
		t.Errorf("the pod waits %d s before it stops, and may take %d s", wait, limit)
	}
}

// TestOptionalParts checks that all optional parts build together, and that the policy
// allows webhook calls from any source: the API server is in no namespace.
func TestOptionalParts(t *testing.T) {
	t.Parallel()
	c := config()
	fsys := scaffolded(t, c, frigate)
	webhook(t, fsys, c, served(frigate, "dv"))
	for _, on := range []struct{ name, lines string }{
		{defaultEntries, "#- ../prometheus\n"}, {defaultEntries, "#- ../network-policy\n"},
		{defaultEntries, "#- path: cert_metrics_manager_patch.yaml\n#  target:\n#    kind: Deployment\n#    name: controller-manager\n"},
		{issuerEntries, "#- certificate-metrics.yaml\n"},
		{"config/prometheus/" + kustomization, "#patches:\n#- path: monitor_tls_patch.yaml\n#  target:\n#    kind: ServiceMonitor\n#    name: controller-manager-metrics-monitor\n"},
	} {
		replace(t, fsys, on.name, on.lines, strings.ReplaceAll(on.lines, "#", ""))
	}
	replace(t, fsys, defaultEntries, "\nreplacements: [{path: webhook_replacements.yaml}]\n",
		"\nreplacements: [{path: webhook_replacements.yaml}, {path: metrics_replacements.yaml}]\n")
	all := build(t, fsys, c, "config/default")
	const name = "fleet-controller-manager-metrics-service.fleet-system.svc"
	if diff := cmp.Diff([]any{name, name + ".cluster.local"}, at(all["Certificate/fleet-metrics-certs"], "spec", "dnsNames")); diff != "" {
		t.Errorf("DNS names: %s", diff)
	}
	endpoint := at(all["ServiceMonitor/fleet-controller-manager-metrics-monitor"], "spec", "endpoints").([]any)[0]
	if got := at(endpoint, "tlsConfig", "serverName"); got != name {
		t.Errorf("Prometheus expects %v", got)
	}
	want := []any{map[string]any{"ports": []any{map[string]any{"port": 9443, "protocol": "TCP"}}}}
	if diff := cmp.Diff(want, at(all["NetworkPolicy/fleet-allow-webhook-traffic"], "spec", "ingress")); diff != "" {
		t.Errorf("network policy: %s", diff)
	}
	if all["NetworkPolicy/fleet-allow-metrics-traffic"] == nil {
		t.Error("the policy for metrics is missing")
	}
}

// TestWebhookPartsStayOff checks that parts that the user disabled stay disabled when
// another kind gets webhooks, and that new parts are still added.
func TestWebhookPartsStayOff(t *testing.T) {
	t.Parallel()
	c := config()
	fsys := scaffolded(t, c, frigate, destroyer, frigateV2, captain)
	webhook(t, fsys, c, served(frigate, "dv"))
	webhook(t, fsys, c, served(frigateV2, "c"))
	generate(t, fsys, c)
	replace(t, fsys, "config/crd/patches/webhook_in_frigates.yaml", "  annotations:\n    "+caAnnotation+": "+caSource+"\n", "")
	replace(t, fsys, policyEntries, "- allow-webhook-traffic.yaml\n", "")
	replace(t, fsys, webhookEntries, "- manifests.yaml\n", "")
	replace(t, fsys, defaultEntries, "\nreplacements: [{path: webhook_replacements.yaml}]\n", "\n")
	before := files(t, fsys)
	webhook(t, fsys, c, served(destroyer, "d"))
	if diff := cmp.Diff(before, files(t, fsys)); diff != "" {
		t.Error(diff)
	}
	replace(t, fsys, defaultEntries, "- ../certmanager\n", "#- ../certmanager\n")
	before = files(t, fsys)
	webhook(t, fsys, c, served(captain, "v"))
	if diff := cmp.Diff(before, files(t, fsys)); diff != "" {
		t.Error(diff)
	}
	webhook(t, fsys, c, served(captain, "c"))
	all := build(t, fsys, c, "config/default")
	if at(all["CustomResourceDefinition/captains.crew.example.org"], "spec", "conversion") == nil {
		t.Error("the CRD's patch is not listed")
	}
	if all["Certificate/fleet-serving-cert"] != nil {
		t.Error("cert-manager is enabled again")
	}
}

// TestDeletedWebhookFolders checks that deleted folders are restored completely, with the
// lines that list them.
func TestDeletedWebhookFolders(t *testing.T) {
	t.Parallel()
	c := config()
	fsys := scaffolded(t, c, frigate, frigateV2)
	webhook(t, fsys, c, served(frigate, "d"))
	for _, dir := range []string{"config/webhook", "config/certmanager", caReplacements, webhookPatch} {
		if err := fsys.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range []string{"- ../webhook\n", "- ../certmanager\n", "replacements: [{path: webhook_replacements.yaml}]\n", "- path: manager_webhook_patch.yaml\n  target:\n    kind: Deployment\n    name: controller-manager\n"} {
		replace(t, fsys, defaultEntries, line, "")
	}
	added := served(frigateV2, "c")
	record(c, added)
	p := newPlan(t, fsys, scaffold.Options{Restore: []string{"config"}})
	if err := errors.Join((Plugin{}).Plan(t.Context(), webhookEvent(c, &added), p), p.Apply(t.Context())); err != nil {
		t.Fatal(err)
	}
	checkWebhooks(t, c, build(t, fsys, c, "config/default"))
	settled(t, fsys, replay(c)...)
}

// TestDeletedWebhookPartsStayDeleted checks that a change of the layout restores neither
// files that the user deleted nor their entries.
func TestDeletedWebhookPartsStayDeleted(t *testing.T) {
	t.Parallel()
	c := config()
	fsys := scaffolded(t, c, frigate, frigateV2)
	webhook(t, fsys, c, served(frigateV2, "dvc"))
	for _, dir := range []string{"config/webhook", "config/certmanager", "config/crd/patches", caReplacements, webhookPatch, webhookPolicy} {
		if err := fsys.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	for _, l := range []struct{ name, lines string }{
		{defaultEntries, "- ../webhook\n"}, {defaultEntries, "- ../certmanager\n"}, {defaultEntries, "replacements: [{path: webhook_replacements.yaml}]\n"},
		{defaultEntries, "- path: manager_webhook_patch.yaml\n  target:\n    kind: Deployment\n    name: controller-manager\n"},
		{policyEntries, "- allow-webhook-traffic.yaml\n"}, {crdEntries, "- path: patches/webhook_in_frigates.yaml\n"},
	} {
		replace(t, fsys, l.name, l.lines, "")
	}
	before := files(t, fsys)
	p := newPlan(t, fsys, scaffold.Options{})
	for _, e := range replay(c) {
		if err := (Plugin{}).Plan(t.Context(), e, p); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Apply(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, files(t, fsys)); diff != "" {
		t.Error(diff)
	}
}

// TestNoNetworkPolicies checks that a project without network policies does not get one
// for webhooks.
func TestNoNetworkPolicies(t *testing.T) {
	t.Parallel()
	c := config()
	fsys := scaffolded(t, c, frigate)
	if err := fsys.RemoveAll("config/network-policy"); err != nil {
		t.Fatal(err)
	}
	webhook(t, fsys, c, served(frigate, "d"))
	if _, ok := files(t, fsys)[webhookPolicy]; ok {
		t.Errorf("%s was written", webhookPolicy)
	}
	checkWebhooks(t, c, build(t, fsys, c, "config/default"))
}

// TestManifestsAreListed checks that the generated configuration is listed before it is
// generated.
func TestManifestsAreListed(t *testing.T) {
	t.Parallel()
	for kinds, want := range map[string][]string{
		"c": {"service.yaml"},
		"d": {"service.yaml", "manifests.yaml"},
		"v": {"service.yaml", "manifests.yaml"},
	} {
		c := config()
		fsys := scaffolded(t, c, frigate, frigateV2)
		webhook(t, fsys, c, served(frigateV2, kinds))
		if diff := cmp.Diff(want, entries(t, files(t, fsys), webhookEntries)); diff != "" {
			t.Errorf("%s: %s", kinds, diff)
		}
	}
}

func TestWebhookEventsInOnePlan(t *testing.T) {
	t.Parallel()
	c := config()
	fsys := scaffolded(t, c, frigate, frigateV2, destroyer)
	for _, r := range []project.Resource{served(frigateV2, "dvc"), served(destroyer, "v")} {
		webhook(t, fsys, c, r)
	}
	want := files(t, fsys)
	again := config()
	again.Resources = c.Resources
	p := newPlan(t, scaffolded(t, config()), scaffold.Options{})
	for _, e := range replay(again) {
		if err := (Plugin{}).Plan(t.Context(), e, p); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range want {
		got, err := p.Read(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if diff := cmp.Diff(content, string(got)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
