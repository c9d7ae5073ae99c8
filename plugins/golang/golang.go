// Package golang scaffolds operators written in Go with controller-runtime: the
// manager, API types, controllers and tests. It plans only sources. The generators
// derive other files from them, and plugin kustomize writes the manifests.
package golang

import (
	"context"
	"io/fs"
	"slices"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
	"github.com/operon-dev/operon/plugins/golang/internal/consistency"
	"github.com/operon-dev/operon/plugins/golang/internal/controllergen"
	"github.com/operon-dev/operon/plugins/golang/internal/header"
	"github.com/operon-dev/operon/plugins/golang/internal/libraries"
	"github.com/operon-dev/operon/plugins/golang/internal/manager"
	"github.com/operon-dev/operon/plugins/golang/internal/modules"
	"github.com/operon-dev/operon/plugins/golang/internal/relocate"
	"github.com/operon-dev/operon/plugins/golang/internal/suites"
	"github.com/operon-dev/operon/templates"
)

// Key is the plugin's name in PROJECT. BaseKey is kubebuilder's name for it without manifests for
// kustomize.
const (
	Key     = "go.kubebuilder.io/v4"
	BaseKey = "base.go.kubebuilder.io/v4"
)

// Plugin is the Go plugin.
type Plugin struct{}

var _ plugin.Plugin = Plugin{}

// Name implements plugin.Plugin.
func (Plugin) Name() string { return Key }

// Doc implements plugin.Plugin.
func (Plugin) Doc() string { return "operators in Go with controller-runtime" }

// Options implements plugin.Plugin.
func (Plugin) Options() []plugin.Option {
	initOnly, initAndEdit := []plugin.EventType{plugin.Init}, []plugin.EventType{plugin.Init, plugin.Edit}
	options := []plugin.Option{
		{Name: "repo", Default: "", Usage: "Go module path (default: from go.mod, or from the name of the folder)", Events: initOnly},
		{Name: "owner", Default: "", Usage: "copyright owner in the header of Go files", Events: initAndEdit},
		{Name: "license", Default: header.Licenses[0], Usage: "license in the header of Go files: apache2, copyright or none", Values: header.Licenses, Events: initAndEdit},
		{Name: "license-file", Default: "", Usage: "file with the header of Go files, a Go comment; replaces --license", Events: initAndEdit},
	}
	wire := plugin.Option{Name: wireOption, Default: true, Events: []plugin.EventType{plugin.CreateAPI, plugin.CreateWebhook},
		Usage: "make existing code use what the command adds; false: print the lines to add"}
	return slices.Concat(options, []plugin.Option{wire}, featureOptions(), generateOptions())
}

// Plan implements plugin.Plugin.
func (Plugin) Plan(ctx context.Context, e plugin.Event, p *scaffold.Plan) error {
	if e.Type == plugin.Generate {
		return generate(ctx, e, p)
	}
	library, err := libraries.ReadValues(p)
	if err != nil {
		return err
	}
	if err := plan(ctx, e, library, p); err != nil {
		return err
	}
	return libraries.Check(p)
}

func plan(ctx context.Context, e plugin.Event, library libraries.Values, p *scaffold.Plan) error {
	if e.Type == plugin.CreateAPI || e.Type == plugin.CreateWebhook {
		if e.Project.Repo == "" {
			return fault.Usage("add the line: repo: example.com/name (the module path in go.mod)", "%s has no repo", project.File)
		}
		if err := library.CheckOldest(); err != nil {
			return err
		}
	}
	switch e.Type {
	case plugin.Init, plugin.CreateAPI, plugin.CreateWebhook:
		if err := consistency.Layout(e.Project, p); err != nil {
			return err
		}
	case plugin.Edit:
		if err := consistency.Layout(e.Before, p); err != nil {
			return err
		}
	}
	switch e.Type {
	case plugin.Init:
		return initProject(ctx, e, library, p)
	case plugin.CreateAPI:
		if err := createAPI(ctx, e, library, p); err != nil {
			return err
		}
		if err := consistency.Package(e.Project, *e.Resource, p); err != nil {
			return err
		}
		return completeCode(ctx, e, p)
	case plugin.CreateWebhook:
		if err := createWebhook(ctx, e, library, p); err != nil {
			return err
		}
		return completeCode(ctx, e, p)
	case plugin.Edit:
		return editProject(ctx, e, library, p)
	}
	return nil
}

// completeCode plans what new code needs outside of it, and checks that it compiles with the code of the user.
func completeCode(ctx context.Context, e plugin.Event, p *scaffold.Plan) error {
	if !e.Replay && isWired(e) {
		if err := consistency.Identifiers(e.Project, p); err != nil {
			return err
		}
	}
	if err := modules.Require(ctx, e, p); err != nil {
		return err
	}
	return modules.WarnVendor(e, p)
}

// editProject changes the sources from e.Before to e.Project. It uses only PROJECT and
// the sources, because another tool may have created the project.
func editProject(ctx context.Context, e plugin.Event, library libraries.Values, p *scaffold.Plan) error {
	if e.Before.MultiGroup != e.Project.MultiGroup {
		if err := relocate.Packages(e.Before, e.Project, p, suites.Serve); err != nil {
			return err
		}
		if err := manager.RegisterInSuites(e.Project, p); err != nil {
			return err
		}
	}
	if e.Before.Namespaced != e.Project.Namespaced {
		if err := rescope(e, library, p); err != nil {
			return err
		}
	}
	if err := changeCertificates(ctx, e, p); err != nil {
		return err
	}
	for _, option := range header.LicenseOptions {
		if _, given := e.Options[option]; given {
			return header.Replace(e, p)
		}
	}
	return nil
}

// tree renders the template tree golang/<dir> into sink.
func tree(p *scaffold.Plan, dir string, vars map[string]string, data any, sink render.Sink) error {
	return render.Tree(p.Templates(templates.FS), "golang/"+dir, vars, data, sink)
}

// seedMissing is a sink that seeds files that do not exist.
func seedMissing(p *scaffold.Plan) render.Sink {
	return func(name string, mode fs.FileMode, content []byte) error {
		if p.Exists(name) {
			return nil
		}
		return p.Seed(name, mode, content)
	}
}

// wireOption is the name of the flag for isWired.
const wireOption = "wire"

// isWired reports whether a command edits existing code, so that it uses what the command adds.
func isWired(e plugin.Event) bool {
	on, given := e.Options[wireOption].(bool)
	return on || !given
}

// wire adds code to the manager's program, or only warns about it.
func wire(code manager.Setup, wired bool, p *scaffold.Plan) error {
	if !wired {
		return code.Warn(p)
	}
	return code.Add(p)
}

// controllerGen returns what a command knows about the project's controller-gen calls.
func controllerGen(e plugin.Event, p *scaffold.Plan) controllergen.Command {
	return controllergen.Command{Project: e.Project, Plan: p, Wired: isWired(e), Replay: e.Replay}
}
