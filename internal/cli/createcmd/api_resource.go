package createcmd

import (
	"cmp"
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/input"
	"github.com/operon-dev/operon/internal/project"
	"golang.org/x/mod/modfile"
)

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

// complete returns the full resource from the flags and PROJECT, and validates it against
// the project.
func (o *createAPI) complete(ctx context.Context, a *command.App, s command.Project) (project.Resource, error) {
	cfg, r := s.Config, o.resource
	r.Domain = cfg.GroupDomain(r.Group)
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
		r.API = &project.API{CRDVersion: o.crdVersion, Namespaced: o.namespaced, SSA: o.ssa}
		if !o.noGo {
			r.Path = typesPath(s.Root, cfg, r)
			if err := checkPlace(s, r); err != nil {
				return r, err
			}
		}
	}
	if o.ssa && !r.API.SSA { // with --force
		r.API = &project.API{CRDVersion: r.API.CRDVersion, Namespaced: r.API.Namespaced, SSA: true}
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

// typesPath returns the import path of new types. API types can have a module of their own, whose
// path need not start with the path of the project.
func typesPath(root string, cfg *project.Config, r project.Resource) string {
	dir := cfg.APIDir(r)
	for at := dir; at != "."; at = path.Dir(at) {
		src, err := input.ReadFile(filepath.Join(root, filepath.FromSlash(at), "go.mod"), input.Text)
		if module := modfile.ModulePath(src); err == nil && module != "" {
			return path.Join(module, strings.TrimPrefix(dir, at))
		}
	}
	return cfg.APIPath(r)
}

// checkConflicts rejects flags that differ from PROJECT: a second create api adds missing
// parts and changes no existing ones.
func (o *createAPI) checkConflicts(cfg *project.Config, old project.Resource) error {
	if err := o.external.checkConflicts(old); err != nil {
		return err
	}
	changed := o.cmd.Flags().Changed
	if namespaced := cfg.IsNamespaced(old); old.HasExternalTypes() && changed("namespaced") && o.namespaced != namespaced {
		return fault.Usage("remove --namespaced", "%s %s is defined with --namespaced=%t", old.Version, old.Kind, namespaced)
	}
	if err := o.checkPlural(old); err != nil {
		return err
	}
	if o.ssa && !o.Force && old.API != nil && !old.API.SSA {
		return fault.Usage("use --force, which replaces the code", "%s %s exists without --ssa", old.Version, old.Kind)
	}
	if changed("namespaced") && o.api && old.API != nil && o.namespaced != old.API.Namespaced {
		return fault.Usage("remove --namespaced",
			"%s %s exists with --namespaced=%t", old.Version, old.Kind, old.API.Namespaced)
	}
	return nil
}
