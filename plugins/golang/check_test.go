package golang

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/plugins/golang/internal/manager"
)

const (
	suiteFile      = "internal/controller/suite_test.go"
	controllerFile = "internal/controller/frigate_controller.go"
)

// replaced replaces matches of a regular expression in a file of the project.
func (x tester) replaced(name, expr, by string) {
	x.Helper()
	old := x.read(name)
	next := regexp.MustCompile(expr).ReplaceAllString(old, by)
	if next == old {
		x.Fatalf("%s has nothing like %s:\n%s", name, expr, old)
	}
	x.write(name, next)
}

// checked returns the warnings of manager.Check, each followed by its lines.
func (x tester) checked() []string {
	x.Helper()
	p, err := x.plan()
	if err != nil {
		x.Fatal(err)
	}
	if err := manager.Check(x.cfg, p); err != nil {
		x.Fatal(err)
	}
	var got []string
	for _, w := range p.Warnings() {
		got = append(got, strings.TrimRight(w.String()+"\n"+w.Lines, "\n"))
	}
	if changes := paths(p); len(changes) > 0 {
		x.Errorf("the check plans %v", changes)
	}
	return got
}

const (
	mainRegistration = `(?m)^\tutilruntime\.Must\(shipv1.*\n`
	mainTypes        = `(?m)^\tshipv1 .*\n`
	mainSetUp        = `(?ms)^\tif err := \(&controller.*?^\t}\n`
	mainController   = `(?m)^\t".*/internal/controller"\n`
	suiteLines       = `(?m)^\terr = shipv1.*\n.*\n`
)

const setUpLines = `import "example.org/fleet/internal/controller"
if err := (&controller.FrigateReconciler{
	Client: mgr.GetClient(),
	Scheme: mgr.GetScheme(),
}).SetupWithManager(mgr); err != nil {
	setupLog.Error(err, "cannot set up the controller", "controller", "frigate")
	os.Exit(1)
}`

// TestCheckWiring removes or moves wiring of a project.
func TestCheckWiring(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		disk func(x tester)
		want []string // warnings, the lines below each
	}{
		"wired": {disk: func(tester) {}},
		"not registered, without a place": {
			disk: func(x tester) {
				x.replaced(project.DefaultMainFile, mainTypes, "")
				x.replaced(project.DefaultMainFile, `(?s)func init\(\) {.*?\n}\n`, "")
			},
			want: []string{"cmd/main.go: the types of v1 Frigate are not registered with the manager's scheme; add these lines, or repeat operon create api for it [scheme-unwired]\n" +
				"import shipv1 \"example.org/fleet/api/v1\"\nutilruntime.Must(shipv1.AddToScheme(scheme))",
				"cmd/main.go: scaffold markers that kubebuilder needs are missing: scheme (where types are registered) [marker-missing]\n// +kubebuilder:scaffold:scheme"},
		},
		"registered in another form": {
			disk: func(x tester) {
				x.replaced(project.DefaultMainFile, `shipv1\.AddToScheme\(scheme\)`, "shipv1.SchemeBuilder.AddToScheme(scheme)")
			},
		},
		"registered by a package of the project": {
			disk: func(x tester) {
				x.replaced(project.DefaultMainFile, mainRegistration, "\tutilruntime.Must(known.Add(scheme))\n")
				x.replaced(project.DefaultMainFile, mainTypes, "\t\"example.org/fleet/internal/known\"\n")
				x.write("internal/known/known.go", "package known\n\nimport \"example.org/fleet/api/v1\"\n\nvar Add = v1.AddToScheme\n")
			},
		},
		"registered by the package of the types": {
			disk: func(x tester) {
				x.replaced(project.DefaultMainFile, mainRegistration, "\t_ = shipv1.Known\n")
				x.write("api/v1/known.go", "package v1\n\nvar Known = runtime.NewScheme()\n\nfunc init() {\n\tif err := AddToScheme(Known); err != nil {\n\t\tpanic(err)\n\t}\n}\n")
			},
		},
		"not registered and not imported, of another tool": {
			disk: func(x tester) {
				x.replaced(project.DefaultMainFile, mainRegistration, "")
				x.replaced(project.DefaultMainFile, mainTypes, "")
				x.replaced(project.DefaultMainFile, mainSetUp, "")
				x.replaced(project.DefaultMainFile, mainController, "")
				if err := x.fs.RemoveAll(".operon"); err != nil {
					x.Fatal(err)
				}
				x.cfg.Resources[0].Controller, x.cfg.Resources[0].Controllers = false, nil
			},
		},
		"controller under another name": {
			disk: func(x tester) {
				x.replaced(project.DefaultMainFile, `FrigateReconciler`, "ShipReconciler")
				x.replaced(controllerFile, `FrigateReconciler`, "ShipReconciler")
			},
		},
		"controller set up by the builder of controller-runtime": {
			disk: func(x tester) {
				x.replaced(project.DefaultMainFile, mainSetUp, "\tcontroller.Add(mgr)\n")
				x.write(controllerFile, "package controller\n\nfunc Add(mgr ctrl.Manager) error {\n\treturn builder.ControllerManagedBy(mgr).For(&shipv1.Frigate{}).Complete(nil)\n}\n")
			},
		},
		"controller set up by a function of its package": {
			disk: func(x tester) {
				x.replaced(project.DefaultMainFile, mainSetUp, "\tcontroller.SetUp(mgr)\n")
				x.write("internal/controller/setup.go", "package controller\n\nfunc SetUp(mgr any) { _ = &FrigateReconciler{} }\n")
			},
		},
		"setup only in a test": {
			disk: func(x tester) {
				x.replaced(project.DefaultMainFile, mainSetUp, "\tcontroller.SetUp(mgr)\n")
			},
			want: []string{"cmd/main.go: nothing sets up the controller frigate of Frigate; add these lines, or repeat operon create api for it [controller-unwired]\n" +
				strings.TrimPrefix(setUpLines, "import \"example.org/fleet/internal/controller\"\n")},
		},
		"controller that watches the kind itself": {
			disk: func(x tester) {
				x.replaced(project.DefaultMainFile, mainSetUp, "\t_ = controller.Add(mgr)\n")
				x.write(controllerFile, "package controller\n\nfunc Add(c controller.Controller) error {\n\treturn c.Watch(source.Kind(cache, &shipv1.Frigate{}, &handler.TypedEnqueueRequestForObject[*shipv1.Frigate]{}))\n}\n")
			},
		},
		"controller moved": {
			disk: func(x tester) {
				x.replaced(project.DefaultMainFile, mainSetUp, "\t_ = &fleet.FrigateReconciler{}\n")
				x.replaced(project.DefaultMainFile, mainController, "\t\"example.org/fleet/internal/fleet\"\n")
				x.write("internal/fleet/fleet.go", strings.Replace(x.read(controllerFile), "package controller", "package fleet", 1))
				x.write(controllerFile, "")
			},
		},
		"controller deleted": {
			disk: func(x tester) {
				x.replaced(project.DefaultMainFile, mainSetUp, "")
				x.replaced(project.DefaultMainFile, mainController, "")
				x.write(controllerFile, "")
			},
			want: []string{"PROJECT:10: the controller frigate of this resource is missing: internal/controller declares no FrigateReconciler; remove it from PROJECT, or restore the type from version control [controller-gone]"},
		},
		"kind deleted": {
			disk: func(x tester) {
				x.replaced(project.DefaultMainFile, mainSetUp, "")
				x.write("api/v1/frigate_types.go", "")
			},
			want: []string{"PROJECT:10: the types of this resource are missing: no file in api/v1 declares the type Frigate; restore the type, or remove the resource from PROJECT; if you renamed the type, change the kind there [kind-gone]"},
		},
		"suite without a spec that uses the types": {
			disk: func(x tester) {
				x.replaced(suiteFile, suiteLines, "")
				x.write("internal/controller/frigate_controller_test.go", "")
				x.write("internal/controller/frigate_status_test.go", "")
			},
		},
		"no suite": {
			disk: func(x tester) { x.write(suiteFile, "") },
		},
		"main package elsewhere": {
			disk: func(x tester) {
				x.write("main.go", x.read(project.DefaultMainFile))
				x.write(project.DefaultMainFile, "")
			},
		},
		"main package and controller elsewhere": {
			disk: func(x tester) {
				x.write("main.go", strings.ReplaceAll(x.read(project.DefaultMainFile), "internal/controller", "internal/fleet"))
				x.write("internal/fleet/fleet.go", strings.Replace(x.read(controllerFile), "package controller", "package fleet", 1))
				x.write(project.DefaultMainFile, "")
				x.write(controllerFile, "")
			},
		},
		"some markers missing": {
			disk: func(x tester) {
				x.replaced(project.DefaultMainFile, `(?m)^\t// \+kubebuilder:scaffold:(imports|builder)\n`, "")
			},
			want: []string{"cmd/main.go: scaffold markers that kubebuilder needs are missing: imports (at the end of the imports), builder (where controllers are set up) [marker-missing]\n" +
				"// +kubebuilder:scaffold:imports\n// +kubebuilder:scaffold:builder"},
		},
		"all markers missing, with kubebuilder": {
			disk: func(x tester) {
				x.cfg.CLIVersion = "4.15.0"
				x.replaced(suiteFile, `(?m)^\t// \+kubebuilder:scaffold:.*\n`, "")
			},
		},
		"syntax error": {
			disk: func(x tester) { x.write("cmd/broken.go", "package main\n\nfunc (") },
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := initialized(t, nil)
			x.T = t
			x.apply(x.createAPI(frigate()))
			x.record()
			test.disk(x)
			if diff := cmp.Diff(test.want, x.checked()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestCheckWiringOfAnotherKind checks the wiring of several versions and of an external
// kind.
func TestCheckWiringOfAnotherKind(t *testing.T) {
	t.Parallel()
	x := initialized(t, nil)
	x.apply(x.createAPI(frigate()))
	x.cfg.Put(project.Resource{Group: "cert-manager", Domain: "io", Version: "v1", Kind: "Certificate", External: true,
		Path: "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1", Controller: true})
	x.cfg.Put(project.Resource{Group: "apps", Version: "v1", Kind: "Deployment", Core: true, Path: "k8s.io/api/apps/v1",
		Controllers: []project.Controller{{Name: "deployment-backup"}}})
	x.record()
	p, err := x.plan()
	if err != nil {
		t.Fatal(err)
	}
	if err := manager.Check(x.cfg, p); err != nil {
		t.Fatal(err)
	}
	var rules []string
	for _, w := range p.Warnings() {
		rules = append(rules, w.File+" "+w.Rule)
	}
	if diff := cmp.Diff([]string{"cmd/main.go " + "scheme-unwired", "PROJECT " + "controller-gone", "PROJECT " + "controller-gone"}, rules); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestCheckWebhooks removes the wiring of webhooks from a project.
func TestCheckWebhooks(t *testing.T) {
	t.Parallel()
	const (
		webhookSuite = "internal/webhook/v1/webhook_suite_test.go"
		webhookFile  = "internal/webhook/v1/frigate_webhook.go"
		mainWebhook  = `(?ms)^\tif os.Getenv\("ENABLE_WEBHOOKS.*?^\t}\n`
		mainImport   = `(?m)^\twebhookv1 .*\n`
	)
	tests := map[string]struct {
		disk func(x tester)
		want []string
	}{
		"wired": {disk: func(tester) {}},
		"not served": {
			disk: func(x tester) {
				x.replaced(project.DefaultMainFile, mainWebhook, "")
				x.replaced(project.DefaultMainFile, mainImport, "")
			},
			want: []string{"cmd/main.go: nothing serves the webhooks of v1 Frigate; add these lines, or repeat operon create webhook for it [webhook-unwired]\n" +
				"import webhookv1 \"example.org/fleet/internal/webhook/v1\"\nif os.Getenv(\"ENABLE_WEBHOOKS\") != \"false\" {\n" +
				"\tif err := webhookv1.SetupFrigateWebhookWithManager(mgr); err != nil {\n" +
				"\t\tsetupLog.Error(err, \"cannot set up the webhooks\", \"webhook\", \"Frigate\")\n\t\tos.Exit(1)\n\t}\n}"},
		},
		"served by a function of its package": {
			disk: func(x tester) {
				x.replaced(project.DefaultMainFile, mainWebhook, "\twebhookv1.Serve(mgr)\n")
				x.write("internal/webhook/v1/serve.go", "package v1\n\nvar Serve = SetupFrigateWebhookWithManager\n")
			},
		},
		"served as by kubebuilder v3": {
			disk: func(x tester) {
				x.replaced(project.DefaultMainFile, mainWebhook, "\t_ = (&shipv1.Frigate{}).SetupWebhookWithManager(mgr)\n")
				x.replaced(project.DefaultMainFile, mainImport, "")
				x.write(webhookFile, "")
			},
		},
		"methods of the type that a loop serves": {
			disk: func(x tester) {
				x.replaced(project.DefaultMainFile, mainWebhook, "\tserveAll(mgr)\n")
				x.replaced(project.DefaultMainFile, mainImport, "")
				x.write(webhookFile, "")
				x.write("api/v1/frigate_webhook.go", "package v1\n\nfunc (f *Frigate) ValidateCreate() error { return nil }\n")
			},
		},
		"a marker in a package of the manager": {
			disk: func(x tester) {
				x.replaced(project.DefaultMainFile, mainWebhook, "\tvalidation.Serve(mgr)\n")
				x.replaced(project.DefaultMainFile, mainImport, "\t\"example.org/fleet/internal/validation\"\n")
				x.write(webhookFile, "")
				x.write("internal/validation/serve.go", "package validation\n\n// +kubebuilder:webhook:path=/x,mutating=false,groups=ship.example.org,resources=frigates,versions=v1\n\nfunc Serve(mgr any) {}\n")
			},
		},
		"a conversion that the builder of another kind serves": {
			disk: func(x tester) {
				x.replaced(project.DefaultMainFile, mainWebhook, "\t_ = ctrl.NewWebhookManagedBy(mgr, &shipv1.Sloop{}).Complete()\n")
				x.replaced(project.DefaultMainFile, mainImport, "")
				x.cfg.Resources[0].Webhooks = &project.Webhooks{Conversion: true, WebhookVersion: "v1"}
				x.replaced(".operon/base.lines", "(?m)^.*frigate_webhook.go.*\n", "")
				x.write(webhookFile, "")
				x.write("api/v1/frigate_conversion.go", "package v1\n\nfunc (*Frigate) Hub() {}\n")
			},
		},
		"served by the builder of controller-runtime": {
			disk: func(x tester) {
				x.replaced(project.DefaultMainFile, mainWebhook, "\t_ = webhookv1.Register(mgr)\n")
				x.write(webhookFile, "package v1\n\nfunc Register(mgr ctrl.Manager) error {\n\treturn builder.WebhookManagedBy(mgr, &shipv1.Frigate{}).Complete()\n}\n")
			},
		},
		"gone": {
			disk: func(x tester) {
				x.replaced(project.DefaultMainFile, mainWebhook, "")
				x.replaced(project.DefaultMainFile, mainImport, "")
				x.write(webhookFile, "")
			},
			want: []string{"PROJECT:10: the webhooks of this resource are missing: internal/webhook/v1 declares no SetupFrigateWebhookWithManager; remove them from PROJECT, or restore the function from version control [webhook-gone]"},
		},
		"not served in the suite": {
			disk: func(x tester) { x.replaced(webhookSuite, `(?m)^\terr = SetupFrigate.*\n.*\n`, "") },
			want: []string{webhookSuite + ": this suite does not serve the webhooks of v1 Frigate; add these lines, or repeat operon create webhook for it [suite-unwired]\n" +
				"err = SetupFrigateWebhookWithManager(mgr)\nExpect(err).NotTo(HaveOccurred())"},
		},
		"not registered in the suite": {
			disk: func(x tester) { x.replaced(webhookSuite, `(?m)^\terr = shipv1.*\n.*\n`, "") },
			want: []string{webhookSuite + ": the types of v1 Frigate are not registered with the scheme of this suite; add these lines, or repeat its create command [suite-unwired]\n" +
				"err = shipv1.AddToScheme(scheme.Scheme)\nExpect(err).NotTo(HaveOccurred())"},
		},
		"marker of the suite missing": {
			disk: func(x tester) { x.replaced(webhookSuite, `(?m)^\t// \+kubebuilder:scaffold:webhook\n`, "") },
			want: []string{webhookSuite + ": scaffold markers that kubebuilder needs are missing: webhook (where webhooks are set up) [marker-missing]\n" +
				"// +kubebuilder:scaffold:webhook"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := initialized(t, nil)
			x.T = t
			r := frigate()
			x.apply(x.createAPI(r))
			r.Path = x.cfg.APIPath(r)
			r.Webhooks = &project.Webhooks{WebhookVersion: "v1", Defaulting: true, Validation: true}
			x.cfg.Put(r)
			x.apply(plugin.Event{Type: plugin.CreateWebhook, Resource: &r})
			x.record()
			test.disk(x)
			if diff := cmp.Diff(test.want, x.checked()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
