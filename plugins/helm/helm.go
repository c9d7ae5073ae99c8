// Package helm scaffolds operators that install Helm charts: for each object of a kind,
// helm-operator installs a release whose values are the spec of the object.
package helm

import (
	"context"

	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/helm/watches"
	"github.com/operon-dev/operon/internal/pins"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
	"github.com/operon-dev/operon/plugins/internal/hookscaffold"
	"github.com/operon-dev/operon/templates"
)

// Key is the plugin's name in PROJECT. operator-sdk has the same key.
const Key = "helm.sdk.operatorframework.io/v1"

// chartsDir is the folder of the charts in a project.
const chartsDir = "helm-charts"

// Plugin is the helm plugin.
type Plugin struct{}

var _ plugin.Plugin = Plugin{}

// Name implements plugin.Plugin.
func (Plugin) Name() string { return Key }

// Doc implements plugin.Plugin.
func (Plugin) Doc() string { return "operators that install Helm charts, run by helm-operator" }

// Options implements plugin.Plugin.
func (Plugin) Options() []plugin.Option {
	first := []plugin.EventType{plugin.Init}
	both := []plugin.EventType{plugin.Init, plugin.CreateAPI}
	return []plugin.Option{
		{Name: "group", Default: "", Events: first, Usage: "API group of the first kind, without the domain (default with --helm-chart: charts)"},
		{Name: "version", Default: "", Events: first, Usage: "API version of the first kind (default with --helm-chart: v1alpha1)"},
		{Name: "kind", Default: "", Events: first, Usage: "first kind, in PascalCase (default: the name of the chart)"},
		{Name: "plural", Default: "", Events: first, Usage: "plural of the first kind in lower case (default: the regular English plural)"},
		{Name: "crd-version", Default: "v1", Events: first, Values: []string{"v1"}, Usage: "API version of the CustomResourceDefinition"},
		{Name: "runtime", Default: project.ImageRuntime, Events: []plugin.EventType{plugin.Init, plugin.Edit}, Values: runtimes, Usage: "what runs the charts: image (helm-operator of operator-sdk) or module (a Go program in the project)"},
		{Name: "helm-chart", Default: "", Events: both, Usage: "chart of the kind: a folder, an archive, a URL, oci://HOST/PATH/NAME, REPO/NAME or, with --helm-chart-repo, a name (default: a starter chart)"},
		{Name: "helm-chart-repo", Default: "", Events: both, Usage: "`URL` of the repository of the chart"},
		{Name: "helm-chart-version", Default: "", Events: both, Usage: "version of the chart, or a constraint such as ~1.2 (default: the newest release)"},
	}
}

// Plan implements plugin.Plugin.
func (Plugin) Plan(ctx context.Context, e plugin.Event, p *scaffold.Plan) error {
	switch e.Type {
	case plugin.Init:
		return initProject(e, p)
	case plugin.Edit:
		return editProject(e, p)
	case plugin.CreateAPI:
		return createAPI(e, p)
	case plugin.CreateWebhook:
		return fault.Usage("validate values with values.schema.json, or write the operator in Go", "helm-operator has no webhooks")
	case plugin.Generate:
		return generate(ctx, e, p)
	}
	return nil
}

// values are the values for the templates of helm/init and the manifests that it shares with Go
// projects.
type values struct {
	Project  *project.Config
	Name     string // the project's name, as a scalar
	RoleKind string // of the manager's role
	Runtime  string
	Pins     struct{ HelmOperator, Go, Distroless string }

	SelfCerts bool
	Objects   project.CallingObjects
}

// sharedFiles are the files of kustomize/init that do not depend on the language of the operator.
var sharedFiles = []string{
	"config/default/metrics_service.yaml",
	"config/network-policy/allow-metrics-traffic.yaml",
	"config/network-policy/kustomization.yaml",
	"config/rbac/leader_election_role.yaml",
	"config/rbac/leader_election_role_binding.yaml",
	"config/rbac/metrics_auth_role.yaml",
	"config/rbac/metrics_auth_role_binding.yaml",
	"config/rbac/metrics_reader_role.yaml",
	"config/rbac/role_binding.yaml",
	"config/rbac/service_account.yaml",
}

// initProject plans the files of a new project. The roles come from generate.
func initProject(e plugin.Event, p *scaffold.Plan) error {
	c := e.Project
	if err := chooseRuntime(e, p); err != nil {
		return err
	}
	runtime, err := runtimeOf(c)
	if err != nil {
		return err
	}
	c.MultiGroup = true // without Go types, several groups are always possible
	v := values{Project: c, Name: yamledit.Scalar(c.ProjectName), RoleKind: "ClusterRole", Runtime: runtime}
	if c.Namespaced {
		v.RoleKind = "Role"
	}
	v.Pins.HelmOperator, v.Pins.Go, v.Pins.Distroless = pins.HelmOperator, pins.Go, pins.Distroless
	sink := hookscaffold.InitSink(p, watches.File)
	if err := render.Tree(p.Templates(templates.FS), "helm/init", nil, v, sink); err != nil {
		return err
	}
	if runtime == project.ModuleRuntime {
		if err := planRuntime(c, p); err != nil {
			return err
		}
	}
	return render.Tree(p.Templates(templates.FS), "kustomize/init", nil, v, render.Only(sink, sharedFiles...))
}
