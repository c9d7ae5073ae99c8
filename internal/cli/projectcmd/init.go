// Package projectcmd holds the commands about a project as a whole: init and edit.
package projectcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/spf13/cobra"
)

// completeLayouts offers the layout keys with what they are for.
func completeLayouts(a *command.App, cmd *cobra.Command) {
	var values []cobra.Completion
	for _, l := range a.Layouts {
		values = append(values, cobra.CompletionWithDesc(l.Key, l.Doc()))
	}
	command.CompleteFlag(cmd, "plugins", cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// everyInit is a file that the init of every layout seeds: without its base,
// operon did not start a project and cannot tell what the user changed in it.
const everyInit = "Makefile"

// initProject holds the flags of `operon init`.
type initProject struct {
	command.WriteFlags
	domain      string
	name        string
	version     string
	plugins     []string
	multigroup  bool
	namespaced  bool
	fetchDeps   bool
	skipGoCheck bool

	cmd     *cobra.Command
	options *command.PluginFlags
	then    string // what to do next
}

// NewInit returns the command init.
func NewInit(a *command.App) *cobra.Command {
	o := &initProject{}
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Create a project in the working folder",
		Long: `Write a complete project into the working folder: PROJECT, go.mod and go.sum, a
manager, kustomize configuration, Makefile, Dockerfile, workflows and tests. No
network is needed. Existing files are never overwritten.

With --plugins shell, the operator is a set of hooks in bash or Python, which
the engine shell-operator runs. With --plugins addon, it is a set of modules
(charts with hooks), which addon-operator installs.

Run init again to recreate missing files. Files that you changed are listed as
"keep" and stay as they are.`,
		Example: `  operon init --domain example.org --repo example.org/fleet
  operon init --domain example.org --owner "The Fleet Authors" --multigroup
  operon init --domain example.org --plugins shell --lang python`,
		Args: command.NoArgs,
		RunE: func(*cobra.Command, []string) error { return o.run(a) },
	}
	o.cmd = cmd
	f := cmd.Flags()
	f.StringVar(&o.domain, "domain", "my.domain", "domain of the API groups")
	f.StringVar(&o.name, "project-name", "", "name of the project and prefix of its objects (default: the name of the folder)")
	f.StringVar(&o.version, "project-version", "3", "version of the PROJECT file")
	f.StringSliceVar(&o.plugins, "plugins", []string{a.Layouts[0].Key}, "layout of the project: plugin keys or short names")
	f.BoolVar(&o.multigroup, "multigroup", false, "allow several API groups, each in its own folder")
	f.BoolVar(&o.namespaced, "namespaced", false, "limit the manager to its own namespace, with a Role instead of a ClusterRole")
	f.BoolVar(&o.fetchDeps, "fetch-deps", false, "run go mod download afterwards, which uses the network")
	f.BoolVar(&o.skipGoCheck, "skip-go-version-check", false, "skip the check that the go command is new enough")
	o.Bind(cmd)
	o.options = command.BindPluginFlags(cmd, a.Layouts.All(), plugin.Init)
	completeLayouts(a, cmd)
	command.CompleteValues(cmd, "project-version", "3")
	command.CompleteNothing(cmd, "domain", "project-name", "repo", "owner")
	command.GroupFlags(cmd, "Other flags",
		command.FlagGroup{Title: "The project", Flags: []string{"plugins", "domain", "project-name", "project-version"}},
		command.FlagGroup{Title: "Operators in Go", Flags: []string{"repo", "owner", "license", "license-file", "multigroup", "namespaced", "fetch-deps", "skip-go-version-check"}},
		command.FlagGroup{Title: "Operators with hooks", Flags: []string{"lang"}},
	)
	return cmd
}

func (o *initProject) run(a *command.App) error {
	if o.version != "3" {
		return fault.Usage("leave out --project-version", "project version %q is not supported: operon writes version 3", o.version)
	}
	err := a.WritePlan(o.cmd, a.Dir, o.WriteFlags, func(ctx context.Context, p *scaffold.Plan) error {
		cfg, err := command.LoadConfig(p)
		if errors.Is(err, fs.ErrNotExist) {
			return o.create(ctx, a, p)
		}
		if err != nil {
			return err
		}
		return o.repeat(ctx, a, cfg, p)
	})
	if err != nil || o.DryRun {
		return err
	}
	a.NextStep(o.then)
	if !o.fetchDeps {
		return nil
	}
	if err := a.RunGo(o.cmd.Context(), a.Dir, a.Environ, a.Err, "mod", "download"); err != nil {
		return &fault.Error{Code: fault.Code(err), Msg: "go mod download", Err: err, Hint: "the project is written; run `go mod download` in it once the network is there"}
	}
	return nil
}

// create plans a new project.
func (o *initProject) create(ctx context.Context, a *command.App, p *scaffold.Plan) error {
	layout, err := a.Layouts.Resolve(o.plugins)
	if err != nil {
		return err
	}
	if o.name == "" {
		o.name = project.DefaultName(a.Dir)
	}
	if err := project.CheckName(o.name); err != nil {
		return err
	}
	if p.HasBase(everyInit) {
		return fault.Usage("restore PROJECT from version control; to start anew, delete .operon first",
			"operon started a project here, and its PROJECT is gone")
	}
	if !o.cmd.Flags().Changed("domain") {
		a.Notef("note: the domain of the API groups is %s; give yours with --domain", o.domain)
	}
	if outer, err := project.FindRoot(filepath.Dir(a.Dir)); err == nil {
		a.Notef("note: this folder lies in the project %s; a project of its own is started in it", outer)
	}
	cfg := &project.Config{
		Version: o.version, Domain: o.domain, ProjectName: o.name, Layout: layout,
		MultiGroup: o.multigroup, Namespaced: o.namespaced,
	}
	if !o.skipGoCheck && !a.HasHooks(cfg) && !a.HasModules(cfg) {
		if err := checkGo(a, ctx); err != nil {
			return err
		}
	}
	if _, err := o.plan(ctx, a, command.Project{Root: a.Dir, Config: cfg, Plan: p}); err != nil {
		return err
	}
	return command.SaveConfig(cfg, p)
}

// repeat replays the project's events over the tree, so that a second init
// brings back what is missing and otherwise has nothing to do. Values that
// differ from the recorded ones are refused.
func (o *initProject) repeat(ctx context.Context, a *command.App, cfg *project.Config, p *scaffold.Plan) error {
	if err := o.agrees(a, cfg); err != nil {
		return err
	}
	if !p.HasBase(everyInit) {
		a.Notef("note: this project was started by another tool; use operon create and operon generate in it")
		return nil
	}
	inv, err := o.plan(ctx, a, command.Project{Root: a.Dir, Config: cfg, Plan: p})
	if err != nil {
		return err
	}
	if err := inv.Replay(ctx); err != nil {
		return err
	}
	return command.SaveConfig(cfg, p)
}

// agrees compares the given flags with an existing project.
func (o *initProject) agrees(a *command.App, cfg *project.Config) error {
	layout, err := a.Layouts.Resolve(o.plugins)
	if err != nil {
		return err
	}
	for _, v := range []struct {
		flag, have string
		same       bool
	}{
		{"domain", cfg.Domain, o.domain == cfg.Domain},
		{"project-name", cfg.ProjectName, o.name == cfg.ProjectName},
		{"plugins", strings.Join(cfg.Layout, ","), slices.Equal(layout, cfg.Layout)},
		{"multigroup", strconv.FormatBool(cfg.MultiGroup), o.multigroup == cfg.MultiGroup},
		{"namespaced", strconv.FormatBool(cfg.Namespaced), o.namespaced == cfg.Namespaced},
	} {
		if o.cmd.Flags().Changed(v.flag) && !v.same {
			return fault.Usage("leave the flag out, or start in an empty folder",
				"already initialised with --%s %s", v.flag, v.have)
		}
	}
	return nil
}

// plan sends the init event to the project's plugins.
func (o *initProject) plan(ctx context.Context, a *command.App, p command.Project) (*command.Invocation, error) {
	o.then = "operon create api --group <group> --version v1alpha1 --kind <Kind>"
	switch {
	case a.HasModules(p.Config):
		o.then = "operon create module <name>"
		if err := o.noGo(); err != nil {
			return nil, err
		}
	case a.HasHooks(p.Config):
		o.then = "operon create hook <name> --on kubernetes:<Kind>"
		if err := o.noGo(); err != nil {
			return nil, err
		}
	}
	inv, err := a.NewInvocation(p, o.options)
	if err != nil {
		return nil, err
	}
	if inv.Environment.LicenseText, err = readLicence(a, inv.Options); err != nil {
		return nil, err
	}
	if err := p.Config.Validate(); err != nil {
		return nil, err
	}
	return inv, inv.Send(ctx, plugin.Event{Type: plugin.Init, Options: inv.Options})
}

// noGo refuses the flags that are about Go.
func (o *initProject) noGo() error {
	for _, flag := range []string{"fetch-deps", "multigroup", "skip-go-version-check"} {
		if o.cmd.Flags().Changed(flag) {
			return fault.Usage("leave it out", "--%s is for projects in Go, and this one is of hooks", flag)
		}
	}
	return nil
}

// readLicence returns the content of the file that --license-file names, if it does:
// plugins do not read files outside the project.
func readLicence(a *command.App, options map[string]any) (string, error) {
	name, _ := options["license-file"].(string)
	if name == "" {
		return "", nil
	}
	refused := func(why any) error {
		return fault.Usage("give the path of a Go comment, such as the header of your files", "--license-file %s: %s", name, why)
	}
	file := name
	if !filepath.IsAbs(file) {
		file = filepath.Join(a.Dir, file)
	}
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return "", refused(fault.Reason(err))
	case !info.Mode().IsRegular() || info.Size() > maxLicence:
		return "", refused(fmt.Sprintf("is not a text file of at most %d KiB", maxLicence>>10))
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", refused(fault.Reason(err))
	}
	return string(text), nil
}

// maxLicence is the size, in bytes, above which a file is no header of others.
const maxLicence = 64 << 10
