package golang

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/modules"
)

// core returns a controller for a built-in kind.
func core(t *testing.T, group, kind string) project.Resource {
	t.Helper()
	k, err := project.FindCore(group, "v1", kind)
	if err != nil {
		t.Fatal(err)
	}
	r := k.Resource()
	r.Controller = true
	return r
}

// gauge returns a controller for a kind of a module that is not in the module cache.
func gauge() project.Resource {
	return project.Resource{Group: "metrics", Domain: "example.net", Version: "v1", Kind: "Gauge", Controller: true,
		External: true, Path: "example.net/gauges/api/v1", Module: "example.net/gauges@v1.2.3"}
}

// requiringGauges returns a project whose go.mod requires the module of gauge.
func requiringGauges(t *testing.T, change func(*project.Config)) tester {
	t.Helper()
	x := initialized(t, change)
	x.write(modules.GoMod, strings.Replace(x.read(modules.GoMod), "require (\n", "require (\n\texample.net/gauges v1.2.3\n", 1))
	return x
}

// TestVersionsOfExternalKind checks that one CRD has all versions that the project uses,
// in any order of creation.
func TestVersionsOfExternalKind(t *testing.T) {
	t.Parallel()
	v1, v2 := gauge(), gauge()
	v2.Version, v2.Path, v2.Controller = "v2", "example.net/gauges/api/v2", false
	v2.Controllers = []project.Controller{{Name: "gauge-two"}}
	for _, r := range []*project.Resource{&v1, &v2} {
		r.ClusterScoped = true
	}
	var crds []string
	for _, order := range [][]project.Resource{{v1, v2}, {v2, v1}} {
		x := requiringGauges(t, nil)
		for _, r := range order {
			x.apply(x.createAPI(r))
		}
		crds = append(crds, x.read("test/crd/metrics.example.net_gauges.yaml"))
		x.contains("internal/controller/gauge_two_controller.go", "type GaugeTwoReconciler struct")
	}
	if diff := cmp.Diff(crds[0], crds[1]); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(crds[0], "scope: Cluster\n") || strings.Count(crds[0], "storage: true") != 1 {
		t.Errorf("got\n%s", crds[0])
	}
}

func TestProtectedGroup(t *testing.T) {
	t.Parallel()
	for group, want := range map[string]bool{"gateway.networking.k8s.io": true, "k8s.io": true, "x.kubernetes.io": true, "myk8s.io": false, "example.org": false} {
		if isProtected(group) != want {
			t.Errorf("%s: %t", group, !want)
		}
	}
}

// TestExternalRulesOfNamespacedManager checks that a namespaced manager reads namespaced
// kinds only in its own namespace.
func TestExternalRulesOfNamespacedManager(t *testing.T) {
	t.Parallel()
	x := requiringGauges(t, func(c *project.Config) { c.Namespaced = true })
	cluster := gauge()
	cluster.ClusterScoped = true
	x.apply(x.createAPI(core(t, "core", "Pod")), x.createAPI(core(t, "core", "Node")), x.createAPI(cluster))
	x.contains("internal/controller/pod_controller.go", "groups=core,namespace=fleet-system,resources=pods,")
	x.contains("internal/controller/node_controller.go", "groups=core,resources=nodes,")
	x.contains("internal/controller/gauge_controller.go", "groups=metrics.example.net,resources=gauges,")
}

// TestExternalRepeats checks that repeats, also of init, change nothing and keep the
// user's files.
func TestExternalRepeats(t *testing.T) {
	t.Parallel()
	x := requiringGauges(t, nil)
	initial := plugin.Event{Type: plugin.Init, Options: map[string]any{"repo": "example.org/fleet"}, Environment: plugin.Environment{Year: "2026"}}
	all := []plugin.Event{x.createAPI(frigate()), x.createAPI(core(t, "apps", "Deployment")), x.createAPI(gauge())}
	for _, e := range all {
		x.apply(e)
	}
	for _, edited := range []bool{false, true} {
		if edited {
			for _, name := range []string{"internal/controller/deployment_controller.go", "test/objects/apps_v1_deployment.yaml", "test/crd/metrics.example.net_gauges.yaml"} {
				x.write(name, x.read(name)+strings.Repeat("\n", 2))
			}
		}
		for _, events := range [][]plugin.Event{all, append([]plugin.Event{initial}, all...)} {
			p, err := x.plan(events...)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range p.Changes() {
				if c.Op != scaffold.Keep {
					t.Errorf("%s %s", c.Op, c.Path)
				}
			}
		}
	}
}

func TestRequireUnknownModule(t *testing.T) {
	t.Parallel()
	for module, want := range map[string]string{
		"":                   "run go mod tidy: no required module contains the package example.net/gauges/api/v1",
		"example.net/gauges": "run go get example.net/gauges",
	} {
		x := initialized(t, nil)
		before := x.read(modules.GoMod)
		r := gauge()
		r.Module = module
		p := x.apply(x.createAPI(r))
		if diff := cmp.Diff([]scaffold.Warning{{File: modules.GoMod, Rule: modules.TidyRule, Message: want}}, p.Warnings()); diff != "" {
			t.Error(diff)
		}
		if x.read(modules.GoMod) != before {
			t.Errorf("module %q: go.mod changed", module)
		}
	}
}

// TestRequireAPIExtensions adds types of a module that the pinned modules require: it only
// becomes a direct requirement.
func TestRequireAPIExtensions(t *testing.T) {
	t.Parallel()
	x := initialized(t, nil)
	sums := x.read(modules.GoSum)
	x.apply(x.createAPI(core(t, "apiextensions", "CustomResourceDefinition")))
	x.contains(project.DefaultMainFile, "apiextensionsv1.AddToScheme")
	if direct := requirement(x.read(modules.GoMod), "k8s.io/apiextensions-apiserver"); strings.Contains(direct, "indirect") || direct == "" {
		t.Errorf("go.mod has %q", direct)
	}
	if x.read(modules.GoSum) != sums {
		t.Error("go.sum changed")
	}
}

func requirement(goMod, module string) string {
	for line := range strings.Lines(goMod) {
		if strings.HasPrefix(line, "\t"+module+" ") {
			return line
		}
	}
	return ""
}
