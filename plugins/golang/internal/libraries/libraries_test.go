package libraries

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/testkit/compattest"
	"github.com/spf13/afero"
)

// TestPage compares the table of needs in the documentation.
func TestPage(t *testing.T) {
	t.Parallel()
	var rows []string
	for _, n := range needs {
		older := "refused"
		if n.fact != "" {
			older = "other code"
		}
		shown := "`" + n.String() + "`"
		if n.module == goLanguage {
			shown = n.String()
		}
		rows = append(rows, "| "+n.module+" | "+n.version+" | "+shown+" | "+older+" |")
	}
	compattest.CheckTable(t, "What depends on the versions", rows)
}

func TestCheck(t *testing.T) {
	t.Parallel()
	const webhook = "package v1\n\nimport ctrl \"sigs.k8s.io/controller-runtime\"\n\nfunc f(mgr ctrl.Manager) { ctrl.NewWebhookManagedBy(mgr, nil) }\n"
	older := strings.Replace(webhook, ", nil", "", 1)
	const generic = "package v1\n\nimport \"sigs.k8s.io/controller-runtime/pkg/webhook/admission\"\n\nvar _ admission.Defaulter[T] = nil\n"
	const field = "package v1\n\nimport \"sigs.k8s.io/controller-runtime/pkg/config\"\n\nvar c = config.Controller{EnableWarmup: &warmup}\n"
	const versions = "package v1\n\nimport \"k8s.io/apimachinery/pkg/util/resourceversion\"\n"
	const old = "module example.org/fleet\n\nrequire (\n\tk8s.io/apimachinery v0.34.1\n\tsigs.k8s.io/controller-runtime v0.22.5\n)\n"
	tests := []struct{ name, goMod, disk, planned, want string }{
		{"new libraries", strings.NewReplacer("0.34.1", "0.35.0", "0.22.5", "0.23.0").Replace(old), "", webhook, ""},
		{"unknown libraries", "module example.org/fleet\n", "", webhook, ""},
		{"a folder replaces a library", old + "replace sigs.k8s.io/controller-runtime => ../cr\n", "", webhook, ""},
		{"another call", old, "", older, ""},
		{"an existing call", old, webhook, webhook + "\nvar x int\n", ""},
		{"a new call", old, older, webhook, "a.go would not compile: controller-runtime.NewWebhookManagedBy needs sigs.k8s.io/controller-runtime v0.23.0 (go.mod has v0.22.5)\n" +
			"run `go get sigs.k8s.io/controller-runtime@v0.23.0 && go mod tidy`, or later versions, and repeat the command"},
		{"a generic interface", old, "", generic, "a.go would not compile: admission.Defaulter needs sigs.k8s.io/controller-runtime v0.23.0 (go.mod has v0.22.5)\n" +
			"run `go get sigs.k8s.io/controller-runtime@v0.23.0 && go mod tidy`, or later versions, and repeat the command"},
		{"a field", strings.Replace(old, "0.22.5", "0.20.4", 1), "", field, "a.go would not compile: config.Controller.EnableWarmup needs sigs.k8s.io/controller-runtime v0.22.0 (go.mod has v0.20.4)\n" +
			"run `go get sigs.k8s.io/controller-runtime@v0.22.0 && go mod tidy`, or later versions, and repeat the command"},
		{"a method", strings.Replace(old, "0.22.5", "0.20.4", 1), "", "package v1\n\nvar b = x.WithDefaulterCustomPath(\"/x\")\n",
			"a.go would not compile: WithDefaulterCustomPath needs sigs.k8s.io/controller-runtime v0.21.0 (go.mod has v0.20.4)\n" +
				"run `go get sigs.k8s.io/controller-runtime@v0.21.0 && go mod tidy`, or later versions, and repeat the command"},
		{"a package", old, "", versions, "a.go would not compile: resourceversion needs k8s.io/apimachinery v0.35.0 (go.mod has v0.34.1)\n" +
			"run `go get k8s.io/apimachinery@v0.35.0 && go mod tidy`, or later versions, and repeat the command"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"go.mod": tt.goMod}
			if tt.disk != "" {
				files["a.go"] = tt.disk
			}
			fsys := afero.NewMemMapFs()
			for name, content := range files {
				if err := afero.WriteFile(fsys, name, []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			p, err := scaffold.New(fsys, scaffold.Options{Command: "test"})
			if err != nil {
				t.Fatal(err)
			}
			plan := func() error { return p.Share("a.go", 0o644, []byte(tt.planned)) }
			if tt.disk != "" {
				plan = func() error { return p.Edit("a.go", func([]byte) ([]byte, error) { return []byte(tt.planned), nil }) }
			}
			if err := plan(); err != nil {
				t.Fatal(err)
			}
			got := ""
			if err := Check(p); err != nil {
				got = err.Error() + "\n" + fault.HintOf(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
