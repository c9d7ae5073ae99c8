// Package cli is the command line of operon: the root command, the layouts and Main.
// Each family of commands has a package, *cmd. Package command has what they share.
package cli

import (
	"context"
	"os"
	"time"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/term"
	"github.com/operon-dev/operon/plugins/addon"
	"github.com/operon-dev/operon/plugins/autoupdate"
	"github.com/operon-dev/operon/plugins/golang"
	"github.com/operon-dev/operon/plugins/grafana"
	"github.com/operon-dev/operon/plugins/helm"
	"github.com/operon-dev/operon/plugins/helmchart"
	"github.com/operon-dev/operon/plugins/kustomize"
	"github.com/operon-dev/operon/plugins/olm"
	"github.com/operon-dev/operon/plugins/shell"
)

// Main runs the command line of this process and returns its exit code.
func Main(ctx context.Context, args []string) int {
	a := &command.App{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		Environ: os.Environ(), Now: time.Now, Catalogue: catalogue(),
	}
	if p := term.NewPrompt(os.Stdin, os.Stderr); p != nil {
		a.Prompt = p
	}
	dir, err := os.Getwd()
	if err != nil {
		return a.Finish(ctx, fault.Failed("cd to a folder that exists", "working folder: %v", err))
	}
	a.Dir = dir
	return run(ctx, a, args)
}

// run runs one command line and returns its exit code.
func run(ctx context.Context, a *command.App, args []string) int {
	root := newRoot(a)
	root.SetArgs(args)
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	err := a.InstallNamed(ctx, root, args)
	if err == nil {
		err = root.ExecuteContext(ctx)
	}
	return a.Finish(ctx, err)
}

// layouts lists the layout keys that operon knows, with the plugins of each in the
// order in which they plan. init uses the first one without --plugins.
func catalogue() plugin.Catalogue {
	return plugin.Catalogue{
		{Key: golang.Key, Logic: plugin.GoCode, Plugins: plugin.Set{kustomize.Plugin{}, golang.Plugin{}}, Templates: []string{"golang", "kustomize"}},
		{Key: golang.BaseKey, Short: golang.BaseKey, Logic: plugin.GoCode, Plugins: plugin.Set{kustomize.Plugin{SamplesOnly: true}, golang.Plugin{}}, Existing: true, Templates: []string{"golang", "kustomize"}},
		{Key: addon.Key, Logic: plugin.Modules, Plugins: plugin.Set{addon.Plugin{}}, Templates: []string{"addon", "hook"}},
		{Key: shell.Key, Logic: plugin.Hooks, Plugins: plugin.Set{shell.Plugin{}, kustomize.Plugin{KindsOnly: true}}, Hooks: shell.Hooks, Templates: []string{"shell", "hook", "kustomize"}},
		{Key: helm.Key, Logic: plugin.Charts, Plugins: plugin.Set{helm.Plugin{}, kustomize.Plugin{KindsOnly: true, Charts: true}}, Templates: []string{"helm", "kustomize"}},
		{Key: project.OperandKey, PerCall: true},
		{Key: autoupdate.Key, Companion: true, Plugins: plugin.Set{autoupdate.Plugin{}}, Templates: []string{"autoupdate"}},
		{Key: grafana.Key, Companion: true, Plugins: plugin.Set{grafana.Plugin{}}, Templates: []string{"grafana"}},
		{Key: helmchart.Key, Companion: true, Plugins: plugin.Set{helmchart.Plugin{}}, Chart: helmchart.Folder, Templates: []string{"helmchart"}},
		{Key: olm.Key, Short: "olm", Aliases: []string{olm.ScorecardKey}, Companion: true, Plugins: plugin.Set{olm.Plugin{}}, Templates: []string{"olm"}},
	}
}
