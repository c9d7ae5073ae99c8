package modules

import (
	"context"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/gomod"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/scaffold"
	"golang.org/x/mod/modfile"
)

const controllerRuntime = "sigs.k8s.io/controller-runtime"

// imports are the modules that generated code imports. Only code for older libraries imports the last
// two, which those libraries require.
var imports = append(slices.Clone(WithAPI), "github.com/google/go-cmp", "github.com/google/gofuzz")

// imported returns the packages in imports that the planned Go files import.
func imported(p *scaffold.Plan) []string {
	found := map[string]bool{}
	for _, c := range p.Changes() {
		for _, name := range importsOf(c.Path, c.After) {
			for _, m := range imports {
				found[m] = found[m] || gomod.Module{Path: m}.Holds(name)
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(imports), func(m string) bool { return !found[m] })
}

// changed returns the folders in which the plan adds imports to Go files.
func changed(p *scaffold.Plan) []string {
	var folders []string
	for _, c := range p.Changes() {
		before, dir := importsOf(c.Path, c.Before), path.Dir(c.Path)
		adds := slices.ContainsFunc(importsOf(c.Path, c.After), func(name string) bool { return !slices.Contains(before, name) })
		if adds && !slices.Contains(folders, dir) {
			folders = append(folders, dir)
		}
	}
	return folders
}

// importsOf returns the packages that a file imports. There are none if it does not parse: the
// generators report it.
func importsOf(name string, src []byte) []string {
	if path.Ext(name) != ".go" || src == nil {
		return nil
	}
	f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.ImportsOnly)
	if err != nil {
		return nil
	}
	var packages []string
	for _, spec := range f.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value) // the parser checked it
		packages = append(packages, imported)
	}
	return packages
}

// chooses reports whether a go.mod has a controller-runtime of its own. Then its other modules must fit
// that version.
func chooses(f, pinned *modfile.File) bool {
	return versions(f)[controllerRuntime] != "" && !extends(f, pinned)
}

// fit completes the go.mod of a project with its own libraries for the planned Go files. What they import
// becomes a direct requirement. Missing modules are added in the versions that the project's
// controller-runtime was built with, and no other version changes.
func fit(ctx context.Context, e plugin.Event, next gomod.Files, f *modfile.File, p *scaffold.Plan) error {
	required := versions(f)
	for _, m := range imported(p) {
		version, err := fitting(ctx, goOf(e), m, required)
		if err != nil {
			return err
		}
		if version == "" {
			warnTidy(p, "run go mod tidy")
			continue
		}
		if next.Mod, err = requireDirectly(next.Mod, f, gomod.Module{Path: m, Version: version}); err != nil {
			return err
		}
	}
	if folders := changed(p); len(folders) > 0 {
		// The imported packages may need modules that go.mod and go.sum lack.
		completed, err := goOf(e).Complete(ctx, p, next, folders)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil: // the module cache lacks one, or go.mod is only planned
			warnTidy(p, "run go mod tidy")
		default:
			next = completed
		}
	}
	return replaceBoth(next, p)
}

// fitting returns the version of a module in a go.mod, or else the one that its controller-runtime
// requires, or "" if the module cache does not tell: the version of new projects could need a newer
// controller-runtime. Kubernetes releases its modules together.
func fitting(ctx context.Context, at gomod.Go, module string, required map[string]string) (string, error) {
	if version := required[module]; version != "" {
		return version, nil
	}
	if version := required["k8s.io/client-go"]; version != "" && strings.HasPrefix(module, "k8s.io/") {
		return version, nil
	}
	return at.RequiredBy(ctx, gomod.Module{Path: controllerRuntime, Version: required[controllerRuntime]}, module)
}
