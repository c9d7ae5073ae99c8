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
)

// resolve completes r, a kind that the project does not define, from its group, version
// and kind. It is either a built-in Kubernetes kind or a kind of another module. Values in
// PROJECT are kept.
func (o *externalFlags) resolve(ctx context.Context, a *command.App, s command.Project, r project.Resource) (project.Resource, error) {
	if project.IsCoreGroup(r.Group) {
		k, err := project.FindCore(r.Group, r.Version, r.Kind)
		switch {
		case err == nil && o.isSet():
			return r, coreFlagsError(k.Resource())
		case err == nil && !k.Stored:
			return r, fault.Usage("choose a kind that can be watched", "%s objects are not stored: they cannot be reconciled or validated", r.Kind)
		case err == nil:
			return o.known(s.Config, r, k.Resource())
		case !o.isSet() && !project.HasCoreKind(r.Group, r.Kind) && ownsGroup(s.Config, r.Group):
			return r, unknown(r, "create it with "+project.CreateVersion(r, r.Version), "group "+r.Group+" of Kubernetes "+project.KubernetesVersion)
		case !o.isSet():
			return r, err
		}
	}
	flags := r
	r, err := o.external(ctx, a, s.Root, r)
	if err != nil {
		return r, err
	}
	return o.known(s.Config, flags, r)
}

// ownsGroup reports whether a project has types in a group, which can have the name of a group of Kubernetes.
func ownsGroup(cfg *project.Config, group string) bool {
	return slices.ContainsFunc(cfg.Resources, func(r project.Resource) bool { return r.Group == group && r.API != nil })
}

// known returns the resource of the project that equals r, or r itself. flags has the
// values of the flags.
func (o *externalFlags) known(cfg *project.Config, flags, r project.Resource) (project.Resource, error) {
	if i := slices.IndexFunc(cfg.Resources, r.SameVersion); i >= 0 {
		r = cfg.Resources[i]
	}
	if flags.Plural != "" && flags.Plural != r.PluralName() {
		return r, fault.Usage("remove --plural", "%s %s has the plural %q", r.Version, r.Kind, r.PluralName())
	}
	return r, nil
}

// external completes r as a kind of another module, from the flags and the sources of the
// module.
func (o *externalFlags) external(ctx context.Context, a *command.App, root string, r project.Resource) (project.Resource, error) {
	at := gomod.Go{Dir: root, Environ: a.Environ}
	required, err := at.Required(ctx)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return r, err
	}
	m, err := o.locate(ctx, at, required)
	if err != nil {
		return r, err
	}
	api := gomod.API{Path: o.path, Module: m}
	switch {
	case m.Path != "" && m.Dir == "":
		return r, uncached(m, required)
	case o.path == "":
		api, err = o.search(ctx, m, required, r)
	case m.Dir != "":
		api, err = read(m, o.path, r)
	default:
		err = resolvable(ctx, at, o.path)
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
		a.NoteOnce("note: using %s %s of %s (group %s, module %s)", r.Version, r.Kind, r.Path, r.QualifiedGroup(), cmp.Or(r.Module, "unknown"))
	}
	return r, nil
}

// locate returns the module that the flags name, from go.mod or the module cache. It is
// empty if the flags name no module.
func (o *externalFlags) locate(ctx context.Context, at gomod.Go, required []gomod.Module) (gomod.Module, error) {
	m := gomod.Parse(o.module)
	var have gomod.Module
	for _, r := range required {
		if r.Path == m.Path || m.Path == "" && o.path != "" && r.Holds(o.path) && len(r.Path) > len(have.Path) {
			have = r
		}
	}
	switch {
	case have.Path != "" && m.Version != "" && m.Version != have.Version:
		return m, fault.Usage("remove the version, or run `go get "+m.String()+"` first",
			"--external-api-module %s: go.mod requires version %s", m, have.Version)
	case have.Path != "":
		m = have
	}
	if m.Path == "" || m.Dir != "" {
		return m, nil
	}
	m, err := at.Cached(ctx, m)
	if err == nil && m.Version == "" {
		err = fault.Usage("add a version: --external-api-module "+m.Path+"@v1.2.3; `go list -m "+m.Path+"@latest` shows the newest",
			"module %s has no version: it is neither in go.mod nor in the module cache", m.Path)
	}
	return m, err
}

// uncached returns the error for a module that is not in the module cache. The code that imports
// it could not be loaded by any later command.
func uncached(m gomod.Module, required []gomod.Module) error {
	hint := "run `go get " + m.String() + "` first, which downloads it and adds it to go.mod"
	if slices.ContainsFunc(required, func(r gomod.Module) bool { return r.Path == m.Path }) {
		hint = "run `go mod download` first"
	}
	return fault.Usage(hint, "module %s is not in the module cache", m)
}

// search finds the package with the types of r in module m, or in all required modules if
// m is empty.
func (o *externalFlags) search(ctx context.Context, m gomod.Module, required []gomod.Module, r project.Resource) (gomod.API, error) {
	modules, where := required, "the modules that go.mod requires"
	if m.Path != "" {
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
		return gomod.API{}, unknown(r, "create it with "+project.CreateVersion(r, r.Version)+", or name the module of its types with --external-api-module", where)
	}
	var paths []string
	for _, api := range found {
		paths = append(paths, api.Path)
	}
	return gomod.API{}, fault.Usage("choose one with --external-api-path", "several packages define kind %s, version %s: %s",
		r.Kind, r.Version, strings.Join(paths, ", "))
}

// unknown returns the error for a kind that nobody defines. where is where it was searched, besides the project.
func unknown(r project.Resource, hint, where string) error {
	return fault.Usage(hint, "kind %s (%s) exists neither in the project nor in %s", r.Kind, strings.TrimPrefix(r.Group+"/"+r.Version, "/"), where)
}

// resolvable returns an error if no module has the package: neither one that go.mod requires nor
// one of the workspace.
func resolvable(ctx context.Context, at gomod.Go, path string) error {
	ok, err := at.Resolves(ctx, path)
	if err == nil && !ok {
		err = fault.Usage("add --external-api-module MODULE@VERSION, or run `go get "+path+"@VERSION` first",
			"no module that go.mod requires has the package %s", path)
	}
	return err
}

// read reads the package that the flags name, and checks that it has the kind.
func read(m gomod.Module, path string, r project.Resource) (gomod.API, error) {
	api, err := gomod.Read(m, path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return api, fault.Usage("correct --external-api-path; it is the import path of a package in the module", "module %s has no package %s", m, path)
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
		return api, fault.Usage("choose a package that has it", "package %s has no AddToScheme to register its types", path)
	}
	return api, nil
}

// domainOf returns the domain of the package's API group, or the value of the flag if the
// package is not available.
func (o *externalFlags) domainOf(api gomod.API, r project.Resource) (string, error) {
	set := o.flags.Changed("external-api-domain")
	if api.Group == "" {
		if !set {
			return "", fault.Usage("add --external-api-domain, for example io for the group cert-manager.io",
				"cannot determine the domain of group %s: %s is not in the module cache, or does not define it", r.Group, api.Path)
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
		return "", fault.Usage("use --group "+group, "package %s has group %s, not %s", api.Path, api.Group, r.Group)
	}
	if set && o.domain != domain {
		return "", fault.Usage("remove --external-api-domain", "package %s has group %s: the domain is %q, not %q", api.Path, api.Group, domain, o.domain)
	}
	return domain, nil
}
