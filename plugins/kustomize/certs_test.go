package kustomize

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/spf13/afero"
)

// changeCerts plans and applies operon edit --webhook-certs.
func changeCerts(t *testing.T, fsys afero.Fs, c *project.Config, by project.WebhookCerts) (*scaffold.Plan, error) {
	t.Helper()
	before := c.Clone()
	c.SetWebhookCerts(by)
	p := newPlan(t, fsys, scaffold.Options{Command: "test"})
	if err := (Plugin{}).Plan(t.Context(), plugin.Event{Type: plugin.Edit, Project: c, Before: before}, p); err != nil {
		return p, err
	}
	return p, p.Apply(t.Context())
}

// checkThereAndBack replaces cert-manager, checks the result, and reverts it.
func checkThereAndBack(t *testing.T, fsys afero.Fs, c *project.Config) {
	t.Helper()
	before := files(t, fsys)
	if _, err := changeCerts(t, fsys, c, project.SelfCerts); err != nil {
		t.Fatal(err)
	}
	settled(t, fsys, replay(c)...)
	checkTree(t, files(t, fsys))
	checkSelfCerts(t, c, build(t, fsys, c, "config/default"))
	if _, err := changeCerts(t, fsys, c, project.CertManager); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, files(t, fsys)); diff != "" {
		t.Errorf("there and back: %s", diff)
	}
}

// checkSelfCerts checks that the manager knows where its certificate belongs, and may write it
// there and nowhere else.
func checkSelfCerts(t *testing.T, c *project.Config, all installed) {
	t.Helper()
	prefix, namespace := c.ProjectName+"-", c.Namespace()
	secret := prefix + "webhook-server-cert"
	if got := at(all["Secret/"+secret], "metadata", "namespace"); got != namespace {
		t.Errorf("the Secret is in namespace %v", got)
	}
	manager := all["Deployment/"+prefix+"controller-manager"]
	checkManager(t, manager, secret)
	variables := map[any]any{}
	for _, v := range items(at(at(manager, "spec", "template", "spec", "containers").([]any)[0], "env")) {
		variables[at(v, "name")] = at(v, "value")
	}
	if variables["WEBHOOK_SERVICE"] != prefix+"webhook-service" || variables["WEBHOOK_NAMESPACE"] != namespace {
		t.Errorf("the variables are %v", variables)
	}

	updated := map[any]bool{} // what the manager may update
	for _, id := range []string{"Role/" + prefix + "certificates-role", "ClusterRole/" + prefix + "certificates-role"} {
		for _, rule := range items(at(all[id], "rules")) {
			names := items(at(rule, "resourceNames"))
			if slices.Contains(at(rule, "verbs").([]any), any("update")) != (len(names) > 0) {
				t.Errorf("%s: %v", id, rule)
			}
			for _, name := range names {
				updated[name] = true
			}
		}
		binding := all[strings.Replace(strings.Replace(id, "Role/", "RoleBinding/", 1), "-role", "-rolebinding", 1)]
		if got := at(binding, "subjects").([]any)[0]; at(got, "name") != prefix+"controller-manager" || at(got, "namespace") != namespace {
			t.Errorf("%s is bound to %v", id, got)
		}
	}
	want := map[any]bool{secret: true}
	for id, o := range all {
		kind, name, _ := strings.Cut(id, "/")
		switch {
		case kind == "Certificate" || kind == "Issuer":
			t.Errorf("%s belongs to cert-manager", id)
		case strings.HasSuffix(kind, "WebhookConfiguration"), kind == "CustomResourceDefinition" && at(o, "spec", "conversion") != nil:
			want[name] = true
		}
		if at(o, "metadata", "annotations", caAnnotation) != nil {
			t.Errorf("%s has the annotation of cert-manager", id)
		}
	}
	if diff := cmp.Diff(want, updated); diff != "" {
		t.Errorf("objects that the manager may update (-want +got): %s", diff)
	}
}

// TestSelfCertsFromInit checks that webhooks of a project without cert-manager never need it.
func TestSelfCertsFromInit(t *testing.T) {
	t.Parallel()
	for _, namespaced := range []bool{false, true} {
		c := config()
		c.Namespaced = namespaced
		c.SetWebhookCerts(project.SelfCerts)
		fsys := scaffolded(t, c, frigate, frigateV2, destroyer)
		for _, r := range []project.Resource{served(frigateV2, "c"), served(frigate, "d"), served(destroyer, "v")} {
			webhook(t, fsys, c, r)
			checkSelfCerts(t, c, build(t, fsys, c, "config/default"))
			settled(t, fsys, replay(c)...)
		}
		for name := range files(t, fsys) {
			if strings.HasPrefix(name, "config/certmanager/") {
				t.Errorf("%s was written", name)
			}
		}
	}
}

// TestCertsKeepEdits checks that switching keeps what the user changed.
func TestCertsKeepEdits(t *testing.T) {
	t.Parallel()
	c := config()
	fsys := scaffolded(t, c, frigate)
	webhook(t, fsys, c, served(frigate, "d"))
	replace(t, fsys, defaultEntries, "resources:\n- ../crd", "resources: # mine\n- more.yaml\n- ../crd")
	replace(t, fsys, "config/certmanager/issuer.yaml", "selfSigned: {}", "ca: {secretName: mine}")
	before := files(t, fsys)
	p, err := changeCerts(t, fsys, c, project.SelfCerts)
	if err != nil {
		t.Fatal(err)
	}
	want := []scaffold.Warning{{File: "config/certmanager/issuer.yaml", Rule: "kept",
		Message: "this file was edited by hand, so its folder stays, although nothing needs it"}}
	if diff := cmp.Diff(want, p.Warnings()); diff != "" {
		t.Error(diff)
	}
	if got := files(t, fsys)[defaultEntries]; !strings.Contains(got, "resources: # mine\n- more.yaml\n") || !strings.Contains(got, "\n#- ../certmanager\n") {
		t.Errorf("%s:\n%s", defaultEntries, got)
	}
	if _, err := changeCerts(t, fsys, c, project.CertManager); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, files(t, fsys)); diff != "" {
		t.Errorf("there and back: %s", diff)
	}
}

// TestCertsWithCRLF checks that other line endings are not an edit.
func TestCertsWithCRLF(t *testing.T) {
	t.Parallel()
	c := config()
	fsys := scaffolded(t, c, frigate)
	webhook(t, fsys, c, served(frigate, "d"))
	for name, content := range files(t, fsys) {
		write(t, fsys, name, strings.ReplaceAll(content, "\n", "\r\n"))
	}
	p, err := changeCerts(t, fsys, c, project.SelfCerts)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Warnings()) > 0 || p.Exists(issuerEntries) {
		t.Errorf("config/certmanager stays: %v", p.Warnings())
	}
}

// TestCertsOfMetrics checks that cert-manager stays as long as the metrics server needs it.
func TestCertsOfMetrics(t *testing.T) {
	t.Parallel()
	c := config()
	fsys := scaffolded(t, c, frigate)
	webhook(t, fsys, c, served(frigate, "d"))
	replace(t, fsys, issuerEntries, "#- certificate-metrics.yaml", "- certificate-metrics.yaml")
	_, err := changeCerts(t, fsys, c, project.SelfCerts)
	if err == nil || !strings.Contains(fault.HintOf(err), "[METRICS-WITH-CERTS]") {
		t.Errorf("error %v, hint %s", err, fault.HintOf(err))
	}
}
