package golang

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/libraries"
)

var bothWebhooks = project.Webhooks{Defaulting: true, Validation: true}

// applyWebhook plans and applies webhooks, without the parts that need the module of
// external types.
func (x tester) applyWebhook(e plugin.Event) {
	x.Helper()
	p, err := scaffold.New(x.fs, scaffold.Options{})
	if err != nil {
		x.Fatal(err)
	}
	e.Project, e.Dir = x.cfg, x.TempDir()
	library, err := libraries.ReadValues(p)
	if err != nil {
		x.Fatal(err)
	}
	if err := createWebhook(x.Context(), e, library, p); err != nil {
		x.Fatal(err)
	}
	if err := p.Apply(x.Context()); err != nil {
		x.Fatal(err)
	}
}

func TestWebhookOfExternalKind(t *testing.T) {
	t.Parallel()
	x := fleet(t, func(c *project.Config) { c.MultiGroup = true })
	certificate := project.Resource{Group: "cert-manager", Domain: "io", Version: "v1", Kind: "Certificate", External: true,
		Path: "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1", Module: "github.com/cert-manager/cert-manager@v1.20.2"}
	e := x.createWebhook(certificate, bothWebhooks)
	x.applyWebhook(e)
	const dir = "internal/webhook/cert-manager/v1/"
	x.contains(dir+"certificate_webhook.go", "\n\tcertmanagerv1 \"github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1\"\n",
		"groups=cert-manager.io,resources=certificates,")
	x.contains(dir+"webhook_suite_test.go", "err = certmanagerv1.AddToScheme(scheme.Scheme)\n",
		`filepath.Join("..", "..", "..", "..", "test", "crd")`)
	x.contains(project.DefaultMainFile, "utilruntime.Must(certmanagerv1.AddToScheme(scheme))\n", "webhookcertmanagerv1.SetupCertificateWebhookWithManager(mgr)")
	x.contains("test/crd/cert-manager.io_certificates.yaml", "kind: Certificate\n")
}

func TestWebhookNames(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		r    project.Resource
		file string
		want []string
	}{
		"a package of the file": {
			r:    project.Resource{Group: "ship", Version: "v1", Kind: "Field"},
			file: "internal/webhook/v1/field_webhook.go",
			want: []string{"validate(fieldObj *shipv1.Field) error", "var errs field.ErrorList"},
		},
		"no group": {
			r:    project.Resource{Version: "v1", Kind: "S3"},
			file: "internal/webhook/v1/s3_webhook.go",
			want: []string{"path=/mutate-example-org-v1-s3,", "groups=example.org,resources=s3s,"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := initialized(t, nil)
			test.r.Domain, test.r.API = "example.org", &project.API{CRDVersion: "v1", Namespaced: true}
			x.apply(x.createAPI(test.r))
			e, _ := x.addWebhook(test.r, bothWebhooks)
			x.settled(e)
			x.contains(test.file, test.want...)
		})
	}
}

// TestWebhooksOfKindsWithSameName checks that webhook names are unique, because the API
// server rejects duplicates.
func TestWebhooksOfKindsWithSameName(t *testing.T) {
	t.Parallel()
	x := fleet(t, func(c *project.Config) { c.MultiGroup = true })
	other := frigate()
	other.Group = "sea"
	x.apply(x.createAPI(other))
	// The order in which kinds get webhooks has no effect.
	later, _ := x.addWebhook(other, bothWebhooks)
	first, _ := x.addWebhook(frigate(), bothWebhooks)
	x.settled(later, first)
	x.contains("internal/webhook/ship/v1/frigate_webhook.go", "name=mfrigate-v1.kb.io,", "name=vfrigate-v1.kb.io,")
	x.contains("internal/webhook/sea/v1/frigate_webhook.go", "name=mfrigate-v1.sea.example.org.kb.io,", "name=vfrigate-v1.sea.example.org.kb.io,")
}

// TestWebhookKeepsUsersFiles checks that code that the user moved or wrote in another form
// stays.
func TestWebhookKeepsUsersFiles(t *testing.T) {
	t.Parallel()
	const head = "package v1\n\nimport (\n\tctrl \"sigs.k8s.io/controller-runtime\"\n\n\tshipv1 \"example.org/fleet/api/v1\"\n)\n\n" +
		"func SetupFrigateWebhookWithManager(mgr ctrl.Manager) error {\n"
	for name, test := range map[string]struct {
		file, src string
		updates   []string
		names     []string // what the file then has
		err, hint string
	}{
		"the setup is in another file": {
			file:    "internal/webhook/v1/setup.go",
			src:     head + "\treturn ctrl.NewWebhookManagedBy(mgr, &shipv1.Frigate{}).Complete()\n}\n",
			updates: []string{"create internal/webhook/v1/frigate_validator_test.go", "update internal/webhook/v1/setup.go"},
		},
		"the names of kubebuilder before v4.16": {
			file: webhookFile,
			src: head + "\treturn ctrl.NewWebhookManagedBy(mgr, &shipv1.Frigate{}).WithDefaulter(&FrigateCustomDefaulter{}).Complete()\n}\n\n" +
				"type FrigateCustomDefaulter struct{}\n",
			updates: []string{"create internal/webhook/v1/frigate_validator_test.go", "update internal/webhook/v1/frigate_webhook.go"},
			names:   []string{"WithValidator(&FrigateCustomValidator{}).", "type FrigateCustomValidator struct{}"},
		},
		"another validator": {
			file: webhookFile,
			src:  head + "\treturn ctrl.NewWebhookManagedBy(mgr, &shipv1.Frigate{}).WithValidator(mine{}).Complete()\n}\n",
		},
		"an older controller-runtime": {
			file: webhookFile,
			src:  head + "\treturn ctrl.NewWebhookManagedBy(mgr).For(&shipv1.Frigate{}).Complete()\n}\n",
			err:  webhookFile + ": func SetupFrigateWebhookWithManager uses the webhook builder of controller-runtime before v0.23",
			hint: "use NewWebhookManagedBy(mgr, &shipv1.Frigate{}) without For, then repeat the command",
		},
		"no chain": {
			file: webhookFile,
			src:  head + "\treturn serve(mgr, &shipv1.Frigate{})\n}\n",
			err:  webhookFile + " has no func SetupFrigateWebhookWithManager with a chain of calls that ends in Complete",
			hint: "\tWithValidator(&FrigateValidator{}).",
		},
		"no setup": {
			file: webhookFile,
			src:  "package v1\n",
			err:  webhookFile + " has no func SetupFrigateWebhookWithManager with a chain of calls that ends in Complete",
			hint: "\tWithValidator(&FrigateValidator{}).",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := fleet(t, nil)
			x.addWebhook(frigate(), project.Webhooks{Conversion: true})
			x.lacks(webhookFile, "WithDefaulter", "WithValidator")
			x.write(webhookFile, "")
			x.write(test.file, test.src)
			e := x.createWebhook(frigate(), project.Webhooks{Validation: true})
			p, err := x.plan(e)
			if test.err != "" {
				if err == nil || err.Error() != test.err || !strings.Contains(fault.HintOf(err), test.hint) {
					t.Errorf("got %v, hint %q; want %s", err, fault.HintOf(err), test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, change := range paths(p) {
				if strings.Contains(change, "internal/webhook") {
					got = append(got, change)
				}
			}
			if diff := cmp.Diff(test.updates, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			x.apply(e)
			x.contains(test.file, test.names...)
		})
	}
}

func TestWebhookOfOlderTool(t *testing.T) {
	t.Parallel()
	x := fleet(t, nil)
	x.write("api/v1/frigate_webhook.go", "package v1\n\nfunc (r *Frigate) SetupWebhookWithManager(mgr any) error { return nil }\n\nfunc (r *Frigate) Default() {}\n")
	_, err := x.plan(x.createWebhook(frigate(), bothWebhooks))
	if err == nil || err.Error() != "api/v1/frigate_webhook.go has the webhooks of Frigate as methods of the type, which controller-runtime no longer supports" {
		t.Errorf("got %v", err)
	}
	x.apply(x.createAPI(sloop()))
	x.addWebhook(sloop(), bothWebhooks)
}

func TestWebhookWithoutE2E(t *testing.T) {
	t.Parallel()
	x := fleet(t, nil)
	x.write(e2eFile, strings.ReplaceAll(x.read(e2eFile), "// +kubebuilder:scaffold:e2e-webhooks-checks", ""))
	_, p := x.addWebhook(frigate(), project.Webhooks{Validation: true})
	warnings := p.Warnings()
	if len(warnings) != 1 || warnings[0].File != e2eFile || !strings.Contains(warnings[0].Message, "e2e-webhooks-checks is missing") ||
		!strings.Contains(warnings[0].Lines, `Describe("the validation of Frigate (ship.example.org/v1)", shipv1FrigateValidation)`) {
		t.Errorf("warns %+v", warnings)
	}
	x.contains(e2eFile, "fleet-webhook-service")
	x.settled()

	x = fleet(t, nil)
	x.write(e2eFile, "")
	if _, p = x.addWebhook(frigate(), project.Webhooks{Validation: true}); len(p.Warnings()) > 0 {
		t.Errorf("without the test, warnings: %v", p.Warnings())
	}
}

func TestWebhookWithoutMain(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(x tester){
		"no main package": func(x tester) { x.write(project.DefaultMainFile, "") },
		"no place in it":  func(x tester) { x.write(project.DefaultMainFile, "package main\n\nfunc main() {}\n") },
	} {
		x := fleet(t, nil)
		change(x)
		_, err := x.plan(x.createWebhook(frigate(), bothWebhooks))
		if err == nil || !strings.Contains(fault.HintOf(err), "utilruntime.Must(shipv1.AddToScheme(scheme))") ||
			!strings.Contains(fault.HintOf(err), "webhookv1.SetupFrigateWebhookWithManager(mgr)") {
			t.Errorf("%s: got %v, hint %q", name, err, fault.HintOf(err))
		}
	}
}
