package createcmd

import (
	"context"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/cli/command/charts"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/spf13/cobra"
)

// createAPI holds the flags of `operon create api`.
type createAPI struct {
	resourceCreation
	crdVersion string
	namespaced bool
	api        bool // --resource
	controller bool
	name       string // controller name; the default is the kind in lower case
	ssa        bool   // the kind has apply configurations, and its controller uses them
	noGo       bool   // the project consists of hooks or charts
	operand    operandFlags
}

func newCreateAPI(a *command.App) *cobra.Command {
	o := &createAPI{}
	cmd := &cobra.Command{
		Use:   "api",
		Short: "Add a custom resource, a controller, or both",
		Long: `Add a kind to the project: Go types, a controller with tests, a sample, the
wiring in main.go and in the kustomizations, and the generated deepcopy methods,
CRD and RBAC. A new version of a kind starts with the fields of the previous
version; the controller of the other version handles both.

In a hook project, add a CRD, a sample, and roles for users of the kind. A
new version goes into the same CRD. In a Helm project, add a chart, whose
values define the CRD and the sample, and the permissions that it needs.

With --resource=false, add a controller for a kind that the project does not
define: a built-in kind of Kubernetes (groups core, apps, batch and so on) or a
kind of another module. If the module is in go.mod or in the module cache,
operon finds the values of --external-api-path and --external-api-domain itself.`,
		Example: `  # Add the kind Frigate and a controller for it
  operon create api --group ship --version v1 --kind Frigate

  # Describe its fields (docs/fields.md)
  operon create api --group ship --version v1 --kind Frigate \
    --field guns:int32,min=1 --field status.readyGuns:int32

  # Show the changes without writing them
  operon create api --group ship --version v1 --kind Frigate --diff

  # Add a cluster-scoped kind without a controller; its group is the domain
  operon create api --version v1 --kind Region --namespaced=false \
    --controller=false

  # Add a second controller for a kind
  operon create api --group ship --version v1 --kind Frigate \
    --controller-name frigate-backup

  # Add a kind whose controller deploys an image for each object
  operon create api --group cache --version v1 --kind Memcached \
    --image memcached:1.6.26-alpine3.19 --image-container-port 11211

  # Add a kind whose controller uses server-side apply
  operon create api --group crew --version v1 --kind Navigator --ssa

  # Add a controller for a built-in kind of Kubernetes
  operon create api --group apps --version v1 --kind Deployment --resource=false

  # Add a controller for a kind of another module
  operon create api --group monitoring --version v1 --kind ServiceMonitor \
    --resource=false \
    --external-api-module github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring@v0.91.0`,
		Args: command.NoArgs,
		RunE: func(*cobra.Command, []string) error { return o.run(a) },
	}
	o.bind(a, cmd, plugin.CreateAPI, "deepcopy methods, CRDs and RBAC")
	o.bindResource("API group without the domain; empty: the domain is the group",
		"plural in lower case (default: the regular English plural)")
	f := cmd.Flags()
	f.BoolVar(&o.api, "resource", true, "add the API types; operon asks on a terminal")
	f.BoolVar(&o.controller, "controller", true, "add a controller; operon asks on a terminal")
	f.StringVar(&o.name, "controller-name", "", "name of the controller (default: the kind in lower case)")
	f.BoolVar(&o.namespaced, "namespaced", true, "make the kind namespaced; false: cluster-scoped")
	f.StringVar(&o.crdVersion, "crd-version", "v1", "API version of the CustomResourceDefinition")
	f.BoolVar(&o.manifests, manifestsFlag, true, "generate CRDs and RBAC too; when given with --make=false, only these")
	f.BoolVar(&o.ssa, ssaFlag, false, "generate apply configurations of the kind, which its controller uses to apply the status; see docs/server-side-apply.md")
	o.operand.bind(cmd)
	completeAPI(a, cmd)
	command.GroupFlags(cmd, "Other flags",
		command.FlagGroup{Title: "The kind", Flags: []string{
			"group", "version", "kind", "plural", "field", "resource", "namespaced", ssaFlag, "crd-version",
		}},
		command.FlagGroup{Title: "Its controller", Flags: []string{"controller", "controller-name", "owns", "watches", "label", "finalizer"}},
		command.FlagGroup{Title: "What it deploys", Flags: operandFlagNames},
		command.FlagGroup{Title: "Its chart", Flags: charts.Flags},
		command.FlagGroup{Title: "A kind of another module", Flags: externalFlagNames},
	)
	return cmd
}

// run records the resource in PROJECT and plans its files. It prompts before it locks
// the project, because the answers may take a while.
func (o *createAPI) run(a *command.App) error {
	if err := o.check(); err != nil {
		return err
	}
	if err := o.open(a); err != nil {
		return err
	}
	if err := o.ask(a); err != nil {
		return err
	}
	isNew := o.project.Config.Find(o.resource.Group, o.resource.Version, o.resource.Kind) == nil
	var created project.Resource
	err := a.ChangeProject(o.cmd, o.project, o.WriteFlags, func(ctx context.Context, s command.Project) (err error) {
		if created, err = o.complete(ctx, a, s); err != nil {
			return err
		}
		if err := o.recordOperand(s.Config, created); err != nil {
			return err
		}
		return o.sendResource(ctx, a, s, plugin.CreateAPI, created, o.addedParts(created))
	})
	if err != nil {
		return err
	}
	if isNew {
		o.noteBuiltIn(a, created)
	}
	if o.chart != nil && isNew && o.resource.DoubtfulPlural() {
		a.NotePlural(o.resource)
	}
	a.NextStep(o.nextStep())
	return nil
}

// check validates the flags together.
func (o *createAPI) check() error {
	if o.api && o.external.isSet() {
		return fault.Usage("add --resource=false, or remove --external-api-path, -domain and -module",
			"cannot write types in another module")
	}
	if !o.api && !o.controller {
		return fault.Usage("remove --resource=false or --controller=false", "nothing to create: neither types nor a controller")
	}
	if o.name != "" && !o.controller {
		return fault.Usage("remove one of the flags", "--controller=false and --controller-name %s cannot be combined", o.name)
	}
	if err := o.checkFlags(o.checkOptional()...); err != nil {
		return err
	}
	if err := o.checkOperand(); err != nil {
		return err
	}
	return o.checkApply()
}

// open opens the project, and adapts the command to its layout.
func (o *createAPI) open(a *command.App) (err error) {
	if o.project, err = a.OpenProject(); err != nil {
		return err
	}
	if err := o.checkPlugins(a); err != nil {
		return err
	}
	if o.operand.set && !a.HasGo(o.project.Config) {
		return fault.Usage("remove the flag", "--image applies to Go projects")
	}
	if o.ssa && !a.HasGo(o.project.Config) {
		return fault.Usage("remove the flag", "--ssa applies to Go projects")
	}
	if a.HasHooks(o.project.Config) {
		if err := o.withoutGo(); err != nil {
			return err
		}
	}
	if a.HasCharts(o.project.Config) {
		return o.withChart(a)
	}
	return nil
}

// nextStep returns what to do after the command.
func (o *createAPI) nextStep() string {
	switch {
	case o.chart != nil:
		return "edit the chart in helm-charts, then operon generate"
	case o.noGo:
		return "describe the kind in its CRD in config/crd/bases, then operon create hook <name> --on kubernetes:" + o.resource.Kind
	case o.operand.set:
		return "make test, then set the image of the manager and make deploy"
	case o.api:
		return "describe the kind in its _types.go, then make test"
	}
	return "fill in the controller in internal/controller, then make test"
}

// noteBuiltIn says how to add a controller for a kind of Kubernetes if the new kind has its group and name.
func (o *createAPI) noteBuiltIn(a *command.App, r project.Resource) {
	if _, err := project.FindCore(r.Group, r.Version, r.Kind); err != nil || r.API == nil || o.noGo || o.chart != nil {
		return
	}
	a.Notef("note: %s is a kind of your own in the group %s; for a controller of the kind of Kubernetes, use --resource=false", r.Kind, r.QualifiedGroup())
}

// ssaFlag is kubebuilder's name of the flag.
const ssaFlag = "ssa"

// checkApply validates --ssa together with other flags.
func (o *createAPI) checkApply() error {
	switch {
	case !o.ssa:
		return nil
	case !o.api:
		return fault.Usage("remove --resource=false or --ssa", "--ssa generates code for the types of a kind, and --resource=false adds no types")
	case o.operand.set:
		return fault.Usage("remove one of the flags: the controller of --image applies its Deployment already", "--ssa and --image cannot be combined")
	}
	return nil
}

// checkOptional validates the flags that may be empty.
func (o *createAPI) checkOptional() []error {
	var errs []error
	if o.crdVersion != "" {
		errs = append(errs, project.CheckCRDVersion(o.crdVersion))
	}
	if o.name != "" {
		errs = append(errs, project.CheckControllerName(o.name))
	}
	return errs
}

// withoutGo prepares the command for a hook project, where a kind has a CRD and no
// controller.
func (o *createAPI) withoutGo() error {
	switch {
	case !o.api:
		return fault.Usage("remove the flag; operon create hook NAME --on kubernetes:KIND adds a hook for an existing kind", "--resource=false applies to Go projects, and this is a hook project")
	case o.cmd.Flags().Changed("controller") && o.controller, o.name != "":
		return fault.Usage("use operon create hook NAME --on kubernetes:KIND", "this project has hooks instead of controllers")
	}
	o.noGo, o.controller = true, false
	return nil
}
