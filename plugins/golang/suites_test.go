package golang

import (
	"maps"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
)

// theirSuite is a suite as early versions of kubebuilder wrote it.
const theirSuite = `package controller

import (
	"path/filepath"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

var ctx = context.Background()
var cfg *rest.Config
var k8sClient client.Client
var testEnv *envtest.Environment

func TestAPIs(t *testing.T) { RunSpecs(t, "Controllers") }

var _ = BeforeSuite(func() {
	testEnv = &envtest.Environment{CRDDirectoryPaths: []string{filepath.Join("..", "..", "config", "crd", "bases")}}
	cfg, _ = testEnv.Start()
})
`

// TestTestsOfTheirs adds a controller and webhooks to folders with several kinds of tests.
func TestTestsOfTheirs(t *testing.T) {
	t.Parallel()
	const goMod = "module example.org/fleet\n\nrequire (\n\tgithub.com/onsi/ginkgo/v2 v2.27.0\n\tgithub.com/onsi/gomega v1.38.0\n)\n"
	const testFile = "internal/controller/frigate_controller_test.go"
	for name, test := range map[string]struct {
		files map[string]string
		why   string // the tests have no specs
		suite string // that registers the types
		none  bool   // there are no tests
	}{
		"no tests":            {nil, "", "internal/controller/suite_test.go", false},
		"plain tests":         {map[string]string{"internal/controller/a_test.go": "package controller\n\nfunc TestMain(m *testing.M) {}\n"}, "", "internal/controller/suite_test.go", false},
		"a suite":             {map[string]string{"internal/controller/main_test.go": theirSuite}, "", "internal/controller/main_test.go", false},
		"a name of the suite": {map[string]string{"internal/controller/a.go": "package controller\n\nvar cfg int\n"}, "internal/controller/a.go:3 declares cfg, as a suite would", "", false},
		"no envtest": {map[string]string{"internal/controller/suite_test.go": "package controller\n\nfunc TestX(t *testing.T) { RunSpecs(t, \"X\") }\n\nvar _ = BeforeSuite(func() {})\n"},
			"the suite in internal/controller/suite_test.go has no variable cfg", "", false},
		"other CRDs": {map[string]string{"internal/controller/suite_test.go": strings.Replace(theirSuite, "\"bases\"", "\"all\"", 1)},
			"the suite in internal/controller/suite_test.go installs no CRDs from config/crd/bases", "", false},
		"external tests": {map[string]string{"internal/controller/suite_test.go": strings.Replace(theirSuite, "package controller", "package controller_test", 1)},
			"the suite in internal/controller/suite_test.go belongs to the package controller_test", "", false},
		"a plain file of the name": {map[string]string{"internal/controller/suite_test.go": "package controller\n"},
			"internal/controller/suite_test.go is not a Ginkgo suite", "", false},
		"no Ginkgo": {map[string]string{"go.mod": "module example.org/fleet\n\nrequire (\n\tk8s.io/apimachinery v0.37.1\n\tk8s.io/client-go v0.37.1\n" +
			"\tsigs.k8s.io/controller-runtime v0.25.2\n\tsigs.k8s.io/randfill v1.0.0\n)\n"}, "the module does not require github.com/onsi/ginkgo/v2", "", false},
		"a module of tests": {map[string]string{"test/go.mod": "module example.org/fleet/test\n"},
			"test is in a Go module of its own, so that tests cannot import helpers from it", "", true},
		"another package of helpers": {map[string]string{"test/utils/a_test.go": "package conv\n"}, "test/utils has the package conv, so that it cannot have helpers of tests", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"go.mod": goMod, "cmd/main.go": initialized(t, nil).read("cmd/main.go")}
			maps.Copy(files, test.files)
			x := start(t, files)
			x.cfg.Repo = "example.org/fleet"
			p := x.apply(x.createAPI(frigate()))
			x.record()
			var got []string
			for _, w := range p.Warnings() {
				if w.Rule == "no-specs" {
					got = append(got, w.Message)
				}
			}
			if want := test.why; want == "" && len(got) > 0 || want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], want+": the new ")) {
				t.Errorf("warns %q, want %q", got, want)
			}
			switch {
			case test.none:
				if p.Exists(testFile) || p.Exists("test/utils/sample.go") {
					t.Errorf("plans tests: %v", paths(p))
				}
			case test.why != "":
				x.contains(testFile, "func TestFrigateReconcilerSettles(")
				x.lacks(testFile, "Describe", "ginkgo")
				x.lacks("internal/controller/patch_status_test.go", "Describe", "ginkgo")
				if p.Exists("internal/controller/specs_test.go") {
					t.Error("plans helpers of specs")
				}
			default:
				x.contains(testFile, "func TestFrigateReconcilerSettles(", "Describe(")
				x.contains(test.suite, "shipv1.AddToScheme(")
			}
			for file, content := range test.files {
				if file != test.suite && file != "go.mod" && x.read(file) != content {
					t.Errorf("%s has changed:\n%s", file, x.read(file))
				}
			}
			repeat, err := x.plan(x.createAPI(frigate()))
			if err != nil || len(changes(repeat)) > 0 {
				t.Errorf("a repeat: %v, %v", changes(repeat), err)
			}
		})
	}
}

// TestUnwired checks that --wire=false edits no existing file.
func TestUnwired(t *testing.T) {
	t.Parallel()
	x := fleet(t, nil)
	x.addWebhook(frigate(), project.Webhooks{Validation: true})
	main, suite, webhooks := x.read("cmd/main.go"), x.read("internal/controller/suite_test.go"), x.read("internal/webhook/v1/webhook_suite_test.go")
	r := sloop()
	r.Version = "v2"
	for _, e := range []plugin.Event{x.createAPI(r), x.createWebhook(r, bothWebhooks)} {
		e.Options = map[string]any{"wire": false}
		p := x.apply(e)
		x.record()
		var all []string
		for _, w := range p.Warnings() {
			if w.Rule == "not-wired" {
				all = append(all, w.File+"\n"+w.Lines+"\n")
			}
		}
		lines := strings.Join(all, "")
		want := "cmd/main.go\nimport shipv2 \"example.org/fleet/api/v2\"\nutilruntime.Must(shipv2.AddToScheme(scheme))"
		if !strings.Contains(lines, want) {
			t.Errorf("%s: the lines are\n%s", e.Type, lines)
		}
	}
	x.contains("internal/webhook/v2/webhook_suite_test.go", "SetupSloopWebhookWithManager(mgr)") // it is new
	for name, content := range map[string]string{"cmd/main.go": main, "internal/controller/suite_test.go": suite, "internal/webhook/v1/webhook_suite_test.go": webhooks} {
		if x.read(name) != content {
			t.Errorf("%s has changed", name)
		}
	}
}

// TestSuiteFolders checks that new suites install the CRDs and webhooks from the folders in which the
// project's own generators write them.
func TestSuiteFolders(t *testing.T) {
	t.Parallel()
	x := initialized(t, nil)
	x.write("Makefile", "manifests:\n\tcontroller-gen crd webhook output:crd:artifacts:config=config/components/crd output:webhook:dir=config/components/webhook paths=./...\n")
	r := project.Resource{Group: "ship", Domain: "example.org", Version: "v1", Kind: "Frigate", Path: "example.org/fleet/api/v1", API: &project.API{CRDVersion: "v1"}, Controller: true}
	x.apply(x.createAPI(r))
	x.contains(suiteFile, `filepath.Join("..", "..", "config", "components", "crd")`)
	x.addWebhook(r, project.Webhooks{Defaulting: true, WebhookVersion: "v1"})
	x.contains("internal/webhook/v1/webhook_suite_test.go", `"config", "components", "crd")`, `"config", "components", "webhook"`)
}
