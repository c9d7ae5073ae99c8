package modules

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gomod"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/scaffold"
	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// Require adds the module with the types of an external resource to go.mod and go.sum, without
// network access. Existing requirements keep their versions where possible. Call Require after
// all Go files of the command are planned.
func Require(ctx context.Context, e plugin.Event, p *scaffold.Plan) error {
	have, f, err := read(p)
	if err != nil {
		return err
	}
	m, direct := moduleOf(e, f)
	switch {
	case direct || m.Path == "" && !e.Resource.External:
		return nil
	case m.Path == "":
		warnTidy(p, "run go mod tidy: no required module contains the package "+e.Resource.Path)
		return nil
	case m.Version == "":
		warnTidy(p, "run go get "+m.Path)
		return nil
	}
	next, raised, err := resolve(ctx, e, have, f, m, p)
	if err != nil {
		return err
	}
	warnRaised(f, raised, p)
	return replaceBoth(next, p)
}

// resolve returns the module files, and the decoded go.mod, with m as a direct requirement and with the modules
// that it needs. Without them, no later command could load the packages of the project, so it is an error if one
// is not in the module cache. resolve warns if the user must run go mod tidy.
func resolve(
	ctx context.Context, e plugin.Event, have gomod.Files, f *modfile.File, m gomod.Module, p *scaffold.Plan,
) (next gomod.Files, raised *modfile.File, err error) {
	_, pinned, err := Pinned(e.Project.Repo)
	if err != nil {
		return next, nil, err
	}
	// In a go.mod from elsewhere, other missing or unused requirements are left to the user.
	tidy := extends(f, pinned)
	pkg := gomod.Module{Path: e.Resource.Path, Version: m.Version}.String()
	next, err = goOf(e).Require(ctx, p, have, pkg, tidy)
	if err != nil && tidy && ctx.Err() == nil {
		tidy = false
		next, err = goOf(e).Require(ctx, p, have, pkg, tidy)
	}
	if ctx.Err() != nil {
		return next, nil, cmp.Or(err, ctx.Err())
	}
	switch {
	case err != nil:
		return next, nil, missing(err, e, m, pkg)
	case !tidy:
		warnTidy(p, "run go mod tidy")
	}
	if raised, err = parse(next.Mod); err != nil {
		return next, nil, err
	}
	next.Mod, err = requireDirectly(next.Mod, raised, m)
	return next, raised, err
}

// missing returns the error for a module m whose package pkg cannot be required. In a new project, go.mod is only
// planned, so the user cannot run go get.
func missing(err error, e plugin.Event, m gomod.Module, pkg string) error {
	var lacks *gomod.MissingError
	if !errors.As(err, &lacks) {
		return err
	}
	hint := "run `go get " + pkg + "`, then repeat the command"
	if e.Before.Repo == "" {
		hint = "repeat the command with --fetch-deps, which downloads modules"
	}
	if lacks.Module == pkg {
		lacks.Module = m.String()
	}
	return &fault.Error{Code: fault.CodeFailed, Err: lacks, Hint: hint}
}

// goOf returns the go command for the project of an event.
func goOf(e plugin.Event) gomod.Go {
	return gomod.Go{Dir: e.Dir, Environ: e.Environment.Environ, Network: e.Environment.Network}
}

// moduleOf returns the module with the types of the event's resource, and whether go.mod
// requires it directly. A version in go.mod takes precedence. The path is empty if no module
// is needed or known.
func moduleOf(e plugin.Event, f *modfile.File) (m gomod.Module, direct bool) {
	r := e.Resource
	if k, ok := r.Builtin(); ok {
		m.Path = k.Module
	} else if r.External {
		m = gomod.Parse(r.Module)
	}
	unknown := m.Path == "" && r.External
	for _, have := range f.Require {
		found := gomod.Module{Path: have.Mod.Path, Version: have.Mod.Version}
		if found.Path == m.Path || unknown && found.Holds(r.Path) && len(found.Path) > len(m.Path) {
			m, direct = found, !have.Indirect
		}
	}
	return m, direct
}

// requireDirectly makes m a direct requirement of f, and returns its content. src is the content before, which stays if
// there is nothing to change.
func requireDirectly(src []byte, f *modfile.File, m gomod.Module) ([]byte, error) {
	requires, found := f.Require, false
	for _, r := range requires {
		if r.Mod.Path != m.Path {
			continue
		}
		if !r.Indirect {
			return src, nil
		}
		r.Indirect, found = false, true
	}
	if !found {
		requires = append(slices.Clone(requires), &modfile.Require{Mod: module.Version{Path: m.Path, Version: m.Version}})
	}
	f.SetRequireSeparateIndirect(requires)
	f.Cleanup()
	return f.Format()
}

// RequireDirectly marks a module that go.mod requires as imported by the project's own code. Without the
// requirement, it changes nothing.
func RequireDirectly(path string, p *scaffold.Plan) error {
	have, f, err := read(p)
	if err != nil || versions(f)[path] == "" {
		return err
	}
	next, err := requireDirectly(have.Mod, f, gomod.Module{Path: path})
	if err != nil {
		return err
	}
	return replace(GoMod, next, p)
}

// warnRaised warns about modules that the project imports directly and whose version rises
// because the added module requires it.
func warnRaised(before, after *modfile.File, p *scaffold.Plan) {
	next := versions(after)
	var raised []string
	for _, r := range before.Require {
		if v := next[r.Mod.Path]; !r.Indirect && semver.Compare(v, r.Mod.Version) > 0 {
			raised = append(raised, r.Mod.Path+" from "+r.Mod.Version+" to "+v)
		}
	}
	if len(raised) > 0 {
		p.Warn(scaffold.Warning{File: GoMod, Rule: "raised", Message: "newer versions are needed: " + strings.Join(raised, ", ")})
	}
}
