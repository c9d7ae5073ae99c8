package createcmd

import (
	"cmp"
	"context"
	"slices"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/spf13/cobra"
)

// createAPI holds the flags of `operon create api`.
type createAPI struct {
	creation
	crdVersion string
	namespaced bool
	api        bool // --resource
	controller bool
	name       string // controller name; the default is the kind in lower case
	hooks      bool   // the project consists of hooks and has no Go code
}

func newCreateAPI(a *command.App) *cobra.Command {
	o := &createAPI{}
	cmd := &cobra.Command{
		Use:   "api",
		Short: "Add a custom resource, a controller, or both",
		Long: `Add a kind to the project: Go types, a controller with tests, a sample, the
wiring in main.go and in the kustomizations, and the generated deepcopy methods,
CRD and RBAC. A new version of a kind starts with the fields of the previous
version.

In a project of hooks, add a CRD, a sample, and roles for users of the kind. A
new version goes into the same CRD.

With --resource=false, add a controller for a kind that the project does not
define: a built-in kind of Kubernetes (groups core, apps, batch and so on) or a
kind of another module. If the module is in go.mod or in the module cache,
operon finds the values of --external-api-path and --external-api-domain itself.`,
		Example: `  # Add the kind Frigate and a controller for it
  operon create api --group ship --version v1 --kind Frigate

  # Show the changes without writing them
  operon create api --group ship --version v1 --kind Frigate --dry-run --diff

  # Add a cluster-scoped kind without a controller; its group is the domain
  operon create api --version v1 --kind Region --namespaced=false --controller=false

  # Add a second controller for a kind
  operon create api --group ship --version v1 --kind Frigate --controller-name frigate-backup

  # Add a controller for a built-in kind of Kubernetes
  operon create api --group apps --version v1 --kind Deployment --resource=false

  # Add a controller for a kind of another module
  operon create api --group monitoring --version v1 --kind ServiceMonitor --resource=false \
    --external-api-module github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring@v0.91.0`,
		Args: command.NoArgs,
		RunE: func(*cobra.Command, []string) error { return o.run(a) },
	}
	o.cmd = cmd
	f := cmd.Flags()
	f.StringVar(&o.resource.Group, "group", "", "API group without the domain; empty: the domain is the group")
	f.StringVar(&o.resource.Version, "version", "", "API version, such as v1 or v1alpha1")
	f.StringVar(&o.resource.Kind, "kind", "", "API kind in PascalCase, such as Frigate")
	f.StringVar(&o.resource.Plural, "plural", "", "plural in lower case (default: the regular English plural)")
	f.BoolVar(&o.api, "resource", true, "add the API types; operon asks on a terminal")
	f.BoolVar(&o.controller, "controller", true, "add a controller; operon asks on a terminal")
	f.StringVar(&o.name, "controller-name", "", "name of the controller (default: the kind in lower case)")
	f.BoolVar(&o.namespaced, "namespaced", true, "make the kind namespaced; false: cluster-scoped")
	o.external.bind(cmd)
	f.StringVar(&o.crdVersion, "crd-version", "v1", "API version of the CustomResourceDefinition")
	f.BoolVar(&o.make, "make", true, "generate deepcopy methods, CRDs and RBAC afterwards")
	f.BoolVar(&o.Force, "force", false, "replace files that differ; the old content is kept in .operon/journal")
	o.Bind(cmd)
	o.options = command.BindPluginFlags(cmd, a.Layouts.All(), plugin.CreateAPI)
	completeAPI(a, cmd)
	return cmd
}

// run records the resource in PROJECT and plans its files. It prompts before it locks
// the project, because the answers may take a while.
func (o *createAPI) run(a *command.App) error {
	if o.api && o.external.isSet() {
		return fault.Usage("add --resource=false, or remove --external-api-path, -domain and -module",
			"cannot write types in another module")
	}
	if !o.api && !o.controller {
		return fault.Usage("remove --resource=false or --controller=false", "nothing to create: neither types nor a controller")
	}
	if err := o.checkValues(); err != nil {
		return err
	}
	var err error
	if o.project, err = a.OpenProject(); err != nil {
		return err
	}
	if a.HasHooks(o.project.Config) {
		if err := o.withoutGo(); err != nil {
			return err
		}
	}
	if err := o.ask(a); err != nil {
		return err
	}
	err = o.create(a, plugin.CreateAPI, func(ctx context.Context, s command.Project) (whole, added project.Resource, err error) {
		whole, err = o.complete(ctx, a, s)
		return whole, o.addedParts(whole), err
	})
	if err != nil || o.DryRun {
		return err
	}
	switch {
	case o.hooks:
		a.NextStep("describe the kind in its CRD in config/crd/bases, then operon create hook <name> --on kubernetes:" + o.resource.Kind)
	case o.api:
		a.NextStep("describe the kind in its _types.go, then make test")
	default:
		a.NextStep("fill in the controller in internal/controller, then make test")
	}
	return nil
}

// withoutGo prepares the command for a project of hooks, where a kind has a CRD and no
// controller.
func (o *createAPI) withoutGo() error {
	switch {
	case !o.api:
		return fault.Usage("remove the flag; operon create hook NAME --on kubernetes:KIND adds a hook for an existing kind", "--resource=false applies to Go projects, and this is a hook project")
	case o.cmd.Flags().Changed("controller") && o.controller, o.name != "":
		return fault.Usage("use operon create hook NAME --on kubernetes:KIND", "this project has hooks instead of controllers")
	}
	o.hooks, o.controller = true, false
	return nil
}

// ask prompts for missing flags if a person can answer.
func (o *createAPI) ask(a *command.App) error {
	w, err := o.wizard(a)
	if w == nil || err != nil {
		return err
	}
	if o.hooks {
		w.show()
		return nil
	}
	if err := w.confirm("resource", "Add the API types?", &o.api); err != nil {
		return err
	}
	if o.name == "" { // a controller name implies a controller
		if err := w.confirm("controller", "Add a controller?", &o.controller); err != nil {
			return err
		}
	}
	w.show()
	return nil
}

// addedParts returns r with only the parts that this command adds. Other parts in PROJECT
// do not change, even with --force.
func (o *createAPI) addedParts(r project.Resource) project.Resource {
	if !o.api {
		r.API = nil
	}
	name := o.controllerName(r)
	switch {
	case !o.controller:
		r.Controller, r.Controllers = false, nil
	case name == r.Lower():
		r.Controller, r.Controllers = true, nil
	default:
		r.Controller, r.Controllers = false, []project.Controller{{Name: name}}
	}
	return r
}

// controllerName returns the name of the controller to add.
func (o *createAPI) controllerName(r project.Resource) string { return cmp.Or(o.name, r.Lower()) }

// withController returns r with a controller of that name. If the only controller of a
// kind is named after it, PROJECT omits the name, as kubebuilder does.
func withController(r project.Resource, name string) project.Resource {
	names := r.ControllerNames()
	switch {
	case slices.Contains(names, name):
		return r
	case len(names) == 0 && name == r.Lower():
		r.Controller = true
		return r
	}
	r.Controller, r.Controllers = false, nil
	for _, name := range append(names, name) {
		r.Controllers = append(r.Controllers, project.Controller{Name: name})
	}
	return r
}

// checkValues validates each flag by itself, before any prompt.
func (o *createAPI) checkValues() error {
	if o.name != "" && !o.controller {
		return fault.Usage("remove one of the flags", "--controller=false and --controller-name %s exclude each other", o.name)
	}
	for _, v := range []struct {
		value string
		valid func(string) error
	}{
		{o.crdVersion, project.CheckCRDVersion},
		{o.resource.Group, project.CheckGroup},
		{o.resource.Version, project.CheckVersion},
		{o.resource.Kind, project.CheckKind},
		{o.name, project.CheckControllerName},
	} {
		if v.value == "" {
			continue
		}
		if err := v.valid(v.value); err != nil {
			return err
		}
	}
	return o.external.check()
}

// complete returns the full resource from the flags and PROJECT, and validates it against
// the project.
func (o *createAPI) complete(ctx context.Context, a *command.App, s command.Project) (project.Resource, error) {
	cfg, r := s.Config, o.resource
	r.Domain = cfg.Domain
	old := cfg.Find(r.Group, r.Version, r.Kind)
	if o.api && old != nil && old.HasExternalTypes() {
		old = nil // the project may define a type of the same name
	}
	switch {
	case old != nil:
		if err := o.checkConflicts(cfg, *old); err != nil {
			return r, err
		}
		r = *old
	case !o.api:
		r.ClusterScoped = !o.namespaced
		var err error
		if r, err = o.external.resolve(ctx, a, s, r); err != nil {
			return r, err
		}
		if err := o.checkConflicts(cfg, r); err != nil {
			return r, err
		}
	}
	if o.api && r.API == nil {
		r.API = &project.API{CRDVersion: o.crdVersion, Namespaced: o.namespaced}
		if !o.hooks {
			r.Path = cfg.APIPath(r)
		}
	}
	if o.controller {
		r = withController(r, o.controllerName(r))
	}
	if r.API == nil && !r.HasExternalTypes() {
		return r, fault.Usage("remove --resource=false",
			"--resource=false: the project has no types for %s %s, version %s", r.Article(), r.Kind, r.Version)
	}
	return r, cfg.ValidateResource(r)
}

// checkConflicts rejects flags that differ from PROJECT: a second create api adds missing
// parts and changes no existing ones.
func (o *createAPI) checkConflicts(cfg *project.Config, old project.Resource) error {
	if err := o.external.checkConflicts(old); err != nil {
		return err
	}
	changed := o.cmd.Flags().Changed
	if namespaced := cfg.IsNamespaced(old); old.HasExternalTypes() && changed("namespaced") && o.namespaced != namespaced {
		return fault.Usage("remove --namespaced", "%s %s has --namespaced=%t where it is defined", old.Version, old.Kind, namespaced)
	}
	if changed("plural") && o.resource.Plural != old.PluralName() {
		return fault.Usage("remove --plural", "%s %s exists with the plural %q", old.Version, old.Kind, old.PluralName())
	}
	if changed("namespaced") && o.api && old.API != nil && o.namespaced != old.API.Namespaced {
		return fault.Usage("remove --namespaced",
			"%s %s exists with --namespaced=%t", old.Version, old.Kind, old.API.Namespaced)
	}
	return nil
}
