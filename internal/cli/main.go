// Package cli is the command line of operon: the root command, the layouts and Main.
// Each family of commands has a package, *cmd. Package command has what they share.
package cli

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gen/applyconfig"
	"github.com/operon-dev/operon/internal/gen/load/driver"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/resultcache"
	"github.com/operon-dev/operon/internal/term"
	"github.com/operon-dev/operon/internal/watchdog"
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

// Main is the whole program operon. It runs the command line of this process and returns its exit code.
//
// Nothing else refers to the arguments, the streams, the environment and the working folder of the process.
func Main() int {
	args := os.Args[1:]
	if is, err := driver.Answer(args, os.Stdout); is {
		if err != nil {
			_, _ = fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}
	if is, code := applyconfig.Answer(args, os.Stderr); is {
		return code
	}
	a := &command.App{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Environ: os.Environ(), Now: time.Now}
	var dirErr, programErr error
	a.Dir, dirErr = os.Getwd()
	if a.Program, programErr = os.Executable(); programErr != nil {
		a.Program = os.Args[0]
	}
	if dirErr == nil && programErr == nil {
		a.Process = &resultcache.Process{Program: a.Program, Dir: a.Dir, Args: args, Environ: a.Environ, Out: os.Stdout, Err: os.Stderr}
		if a.Process.Answer(resultcache.Folder(a.Getenv)) {
			return 0
		}
	}
	ctx, stop := untilSignal()
	defer stop()
	watchdog.Start(ctx, func(err error) {
		if ctx.Err() == nil {
			err = &fault.Error{Code: fault.CodeUsage, Err: err, Hint: watchdog.Hint}
		}
		os.Exit(a.Finish(ctx, err))
	})
	if dirErr != nil {
		return a.Finish(ctx, fault.Failed("cd to a folder that exists", "working folder: %v", dirErr))
	}
	if p := term.NewPrompt(os.Stdin, os.Stderr, a.Getenv); p != nil {
		a.Prompt = p
	}
	return Run(ctx, a, args)
}

// Run runs a command line in the world that a describes and returns its exit code. It sets the catalogue of a. Several
// command lines can run at once.
func Run(ctx context.Context, a *command.App, args []string) int {
	a.Catalogue = catalogue()
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

// catalogue lists the layout keys that operon knows, with the plugins of each in the
// order in which they plan. init uses the first one without --plugins.
func catalogue() plugin.Catalogue {
	goTemplates := []string{"golang", "kustomize"}
	return plugin.Catalogue{
		{Key: golang.Key, Logic: plugin.GoCode, Plugins: plugin.Set{kustomize.Plugin{}, golang.Plugin{}}, Templates: goTemplates},
		{Key: golang.BaseKey, Short: golang.BaseKey, Logic: plugin.GoCode, Existing: true,
			Plugins: plugin.Set{kustomize.Plugin{SamplesOnly: true}, golang.Plugin{}}, Templates: goTemplates},
		{Key: addon.Key, Logic: plugin.Modules, Plugins: plugin.Set{addon.Plugin{}}, Templates: []string{"addon", "hook"}},
		{Key: shell.Key, Logic: plugin.Hooks, Hooks: shell.Hooks,
			Plugins: plugin.Set{shell.Plugin{}, kustomize.Plugin{KindsOnly: true}}, Templates: []string{"shell", "hook", "kustomize"}},
		{Key: helm.Key, Logic: plugin.Charts,
			Plugins: plugin.Set{helm.Plugin{}, kustomize.Plugin{KindsOnly: true, Charts: true}}, Templates: []string{"helm", "kustomize"}},
		{Key: project.OperandKey, PerCall: true},
		{Key: autoupdate.Key, Companion: true, Plugins: plugin.Set{autoupdate.Plugin{}}, Templates: []string{"autoupdate"}},
		{Key: grafana.Key, Companion: true, Plugins: plugin.Set{grafana.Plugin{}}, Templates: []string{"grafana"}},
		{Key: helmchart.Key, Companion: true, Plugins: plugin.Set{helmchart.Plugin{}}, Chart: helmchart.Folder, Templates: []string{"helmchart"}},
		{Key: olm.Key, Short: "olm", Aliases: []string{olm.ScorecardKey}, Companion: true,
			Plugins: plugin.Set{olm.Plugin{}}, Templates: []string{"olm"}},
	}
}
