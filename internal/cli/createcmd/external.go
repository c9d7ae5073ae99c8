package createcmd

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gomod"
	"github.com/operon-dev/operon/internal/project"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// foreignFlags say where types come from that are not the project's.
type externalFlags struct {
	path, domain, module string
	flags                *pflag.FlagSet
}

func (o *externalFlags) bind(cmd *cobra.Command) {
	o.flags = cmd.Flags()
	o.flags.StringVar(&o.path, "external-api-path", "", "Go import path of the types of another module (default: found in the modules of go.mod)")
	o.flags.StringVar(&o.domain, "external-api-domain", "", "domain of the API group of these types (default: found in the Go package)")
	o.flags.StringVar(&o.module, "external-api-module", "", "module of these types, with @version unless go.mod requires it")
}

// given reports whether any of the flags is set.
func (o *externalFlags) given() bool {
	return o.path != "" || o.module != "" || o.flags.Changed("external-api-domain")
}

// check checks the values by themselves, before the project is looked at.
func (o *externalFlags) check() error {
	if o.path != "" && module.CheckImportPath(o.path) != nil {
		return fault.Usage("give a path such as --external-api-path github.com/acme/operator/api/v1",
			"external-api-path %q is not a Go import path", o.path)
	}
	if err := project.CheckDomain(o.domain); err != nil {
		return fault.Usage("give the API group without --group and the dot, for example io for cert-manager.io", "external-api-%s", err)
	}
	if o.module == "" {
		return nil
	}
	m := gomod.Parse(o.module)
	if module.CheckPath(m.Path) != nil {
		return fault.Usage("give a module such as --external-api-module github.com/acme/operator@v1.2.3",
			"external-api-module %q is not a Go module path", m.Path)
	}
	if strings.Contains(o.module, "@") && semver.Canonical(m.Version) != strings.TrimSuffix(m.Version, "+incompatible") {
		return fault.Usage("give a version such as @v1.2.3; `go list -m "+m.Path+"@latest` shows the newest",
			"external-api-module %s: %q is not the version of a module", o.module, m.Version)
	}
	if o.path != "" && !m.Holds(o.path) {
		return fault.Usage("leave one of the two out", "package %s is not in module %s", o.path, m.Path)
	}
	return nil
}

// agrees refuses flags that differ from what PROJECT has of the kind.
func (o *externalFlags) agrees(old project.Resource) error {
	m := gomod.Parse(o.module)
	switch {
	case !o.given():
		return nil
	case old.Core:
		return coreFlags(old)
	case !old.External:
		return fault.Usage("leave out --external-api-path, -domain and -module", "kind %s is a type of this project", old.Kind)
	}
	for _, v := range []struct{ flag, given, have string }{
		{"path", o.path, old.Path},
		{"domain", o.domain, old.Domain},
		{"module", m.Path, gomod.Parse(old.Module).Path},
	} {
		if o.flags.Changed("external-api-"+v.flag) && v.have != "" && v.given != v.have {
			return fault.Usage("leave out --external-api-"+v.flag, "--external-api-%s %s: %s has %s for kind %s",
				v.flag, v.given, project.File, v.have, old.Kind)
		}
	}
	return nil
}

func coreFlags(r project.Resource) error {
	return fault.Usage("leave out --external-api-path, -domain and -module",
		"%s is a kind of Kubernetes in group %s, and of no other module", r.Kind, r.Group)
}

// resolve completes r, of which group, version and kind are known and which is no
// type of the project: as a kind of Kubernetes, or one of another module. What
// PROJECT has of it already is kept.
func (o *externalFlags) resolve(ctx context.Context, a *command.App, s command.Project, r project.Resource) (project.Resource, error) {
	if project.IsCoreGroup(r.Group) {
		k, err := project.FindCore(r.Group, r.Version, r.Kind)
		switch {
		case err == nil && o.given():
			return r, coreFlags(k.Resource())
		case err == nil && !k.Stored:
			return r, fault.Usage("choose a kind whose objects are stored", "%s objects are not stored: there is nothing to reconcile or to check", r.Kind)
		case err == nil:
			return o.known(s.Config, r, k.Resource())
		case !o.given():
			return r, err
		}
	}
	given := r
	r, err := o.external(ctx, a, s.Root, r)
	if err != nil {
		return r, err
	}
	return o.known(s.Config, given, r)
}

// known is what the project has of r, or r itself. given is what the flags say.
func (o *externalFlags) known(cfg *project.Config, given, r project.Resource) (project.Resource, error) {
	if i := slices.IndexFunc(cfg.Resources, r.SameVersion); i >= 0 {
		r = cfg.Resources[i]
	}
	if given.Plural != "" && given.Plural != r.PluralName() {
		return r, fault.Usage("leave out --plural", "%s %s has the plural %q", r.Version, r.Kind, r.PluralName())
	}
	return r, nil
}

// external completes r as a kind of another module, from the flags and from what
// the module's sources say.
func (o *externalFlags) external(ctx context.Context, a *command.App, root string, r project.Resource) (project.Resource, error) {
	required, err := gomod.Required(ctx, root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return r, err
	}
	m, err := o.locate(ctx, root, required)
	if err != nil {
		return r, err
	}
	api := gomod.API{Path: o.path, Module: m}
	switch {
	case o.path == "":
		api, err = o.search(ctx, m, required, r)
	case m.Dir != "":
		api, err = read(m, o.path, r)
	}
	if err != nil {
		return r, err
	}
	domain, err := o.domainOf(api, r)
	if err != nil {
		return r, err
	}
	r.External, r.Path, r.Domain, r.Module = true, api.Path, domain, cmp.Or(api.Module.String(), o.module)
	if k, ok := api.Kind(r.Kind); ok {
		r.ClusterScoped, r.Plural = k.Cluster, cmp.Or(k.Plural, r.Plural)
	}
	if o.path == "" || !o.flags.Changed("external-api-domain") || o.module != r.Module {
		a.Notef("note: %s %s is that of %s (group %s, module %s)", r.Version, r.Kind, r.Path, r.QualifiedGroup(), cmp.Or(r.Module, "unknown"))
	}
	return r, nil
}

// locate returns the module that the flags speak of: as go.mod requires it, else
// as the module cache has it. Without flags that tell, it is empty.
func (o *externalFlags) locate(ctx context.Context, root string, required []gomod.Module) (gomod.Module, error) {
	m := gomod.Parse(o.module)
	var have gomod.Module
	for _, r := range required {
		if r.Path == m.Path || m.Path == "" && o.path != "" && r.Holds(o.path) && len(r.Path) > len(have.Path) {
			have = r
		}
	}
	switch {
	case have.Path != "" && m.Version != "" && m.Version != have.Version:
		return m, fault.Usage("leave the version out, or run `go get "+m.String()+"` first",
			"--external-api-module %s: go.mod requires version %s", m, have.Version)
	case have.Path != "":
		m = have
	}
	if m.Path == "" || m.Dir != "" {
		return m, nil
	}
	m, err := gomod.Cached(ctx, root, m)
	if err == nil && m.Version == "" {
		err = fault.Usage("add a version: --external-api-module "+m.Path+"@v1.2.3; `go list -m "+m.Path+"@latest` shows the newest",
			"module %s has no version: it is neither in go.mod nor in the module cache", m.Path)
	}
	return m, err
}

// search finds the package with the types of r in module m, or in all that are
// required when m is empty.
func (o *externalFlags) search(ctx context.Context, m gomod.Module, required []gomod.Module, r project.Resource) (gomod.API, error) {
	modules, where := required, "the modules that go.mod requires"
	switch {
	case m.Path != "" && m.Dir == "":
		return gomod.API{}, fault.Usage("run `go mod download "+m.String()+"` first, or add --external-api-path and --external-api-domain",
			"module %s is not in the module cache, so that its types cannot be searched", m)
	case m.Path != "":
		modules, where = []gomod.Module{m}, m.String()
	}
	all, err := gomod.Find(ctx, modules, r.Version, r.Kind)
	if err != nil {
		return gomod.API{}, err
	}
	var found []gomod.API
	for _, api := range all {
		if _, err := o.domainOf(api, r); err == nil {
			found = append(found, api)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) == 0:
		return gomod.API{}, fault.Usage("create it first: "+project.CreateVersion(r, r.Version)+"; or name the module of its types: "+
			"--external-api-module github.com/acme/operator@v1.2.3, or --external-api-path and --external-api-domain",
			"there is no kind %s of group %s in version %s, neither in the project nor in %s", r.Kind, cmp.Or(r.Group, `""`), r.Version, where)
	}
	var paths []string
	for _, api := range found {
		paths = append(paths, api.Path)
	}
	return gomod.API{}, fault.Usage("choose one with --external-api-path", "several packages have the kind %s in version %s: %s",
		r.Kind, r.Version, strings.Join(paths, ", "))
}

// read reads the package that the flags name, and checks that it has the kind.
func read(m gomod.Module, path string, r project.Resource) (gomod.API, error) {
	api, err := gomod.Read(m, path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return api, fault.Usage("see the folders of the module for the right --external-api-path", "module %s has no package %s", m, path)
	case err != nil:
		return api, err
	}
	if _, ok := api.Kind(r.Kind); !ok {
		var names []string
		for _, k := range api.Kinds {
			names = append(names, k.Name)
		}
		return api, fault.Usage("its kinds are "+cmp.Or(strings.Join(names, ", "), "none"), "package %s has no kind %s", path, r.Kind)
	}
	if !api.Registers {
		return api, fault.Usage("choose a package that has it", "package %s has no AddToScheme, by which a manager gets to know its types", path)
	}
	return api, nil
}

// domainOf is what the group has behind r's in the package, and what the flag
// says where the package is not at hand.
func (o *externalFlags) domainOf(api gomod.API, r project.Resource) (string, error) {
	given := o.flags.Changed("external-api-domain")
	if api.Group == "" {
		if !given {
			return "", fault.Usage("add --external-api-domain, for example io for the group cert-manager.io",
				"the domain of group %s is unknown: the sources of %s are not in the module cache, or do not tell", r.Group, api.Path)
		}
		return o.domain, nil
	}
	domain, ok := strings.CutPrefix(api.Group, r.Group+".")
	switch {
	case api.Group == r.Group:
		domain = ""
	case r.Group == "":
		domain = api.Group
	case !ok:
		group, _, _ := strings.Cut(api.Group, ".")
		return "", fault.Usage("use --group "+group, "package %s is of group %s, and not of %s", api.Path, api.Group, r.Group)
	}
	if given && o.domain != domain {
		return "", fault.Usage("leave out --external-api-domain", "package %s is of group %s: its domain is %q, and not %q", api.Path, api.Group, domain, o.domain)
	}
	return domain, nil
}
