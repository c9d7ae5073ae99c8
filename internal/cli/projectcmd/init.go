// Package projectcmd implements the commands for a whole project: init, adopt and edit.
package projectcmd

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/spf13/cobra"
)

const (
	// initFile is a file that init seeds in every layout. If its merge base is missing,
	// operon cannot detect changes of the user.
	initFile = "Makefile"
	// makeVariable is a variable that only operon's Makefiles define.
	makeVariable = "\nOPERON "
)

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
	from        string // a PROJECT file, or the folder of a project

	webhookCerts string
	templates    string

	cmd      *cobra.Command
	options  *command.PluginFlags
	first    project.Resource // the first kind of charts, if the flags name one
	created  bool             // whether the command creates the project
	outdated bool             // whether generated files do not follow the changed sources
	nextStep string           // suggested next command
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
(charts with hooks), which addon-operator installs. With --plugins helm, it
installs a Helm chart for each object of a kind. --plugins olm, alone or with
one of these, adds what the Operator Lifecycle Manager needs.

Run init again to apply newer templates. Their changes are merged into files
that you edited. If you and a template changed the same lines, that is a
conflict, and nothing is written. Files that you deleted stay deleted; --restore
PATH creates them again. A deleted kustomization.yaml is written again with all
entries.`,
		Example: `  operon init --domain example.org --repo example.org/fleet
  operon init --domain example.org --owner "The Fleet Authors" --multigroup
  operon init --domain example.org --plugins shell --lang python
  operon init --domain example.org --plugins helm --helm-chart ../charts/galley
  operon init --from ../fleet`,
		Args: command.NoArgs,
		RunE: func(*cobra.Command, []string) error { return o.run(a) },
	}
	o.cmd = cmd
	f := cmd.Flags()
	f.StringVar(&o.domain, "domain", "my.domain", "domain of the API groups")
	f.StringVar(&o.name, "project-name", "", "name of the project and prefix of its objects (default: the name of the folder)")
	f.StringVar(&o.version, "project-version", "3", "version of the PROJECT file")
	f.StringSliceVar(&o.plugins, "plugins", []string{a.Catalogue[0].Key}, "layout of the project: plugin keys or short names")
	f.BoolVar(&o.multigroup, "multigroup", false, "allow several API groups, each in its own folder")
	f.BoolVar(&o.namespaced, "namespaced", false, "limit the manager to its own namespace, with a Role instead of a ClusterRole")
	f.StringVar(&o.from, "from", "", "PROJECT file or folder of a project whose settings and kinds the new project gets, without its code")
	bindWebhookCerts(cmd, &o.webhookCerts)
	bindTemplates(cmd, &o.templates)
	f.BoolVar(&o.fetchDeps, "fetch-deps", false, "download modules with the go command, which uses the network")
	f.BoolVar(&o.skipGoCheck, "skip-go-version-check", false, "skip the check that the go command is new enough")
	o.Bind(cmd)
	o.options = a.BindPluginFlags(cmd, plugin.Init)
	completeLayouts(a, cmd)
	command.CompleteValues(cmd, "project-version", "3")
	command.CompleteNothing(cmd, "domain", "project-name", "repo", "owner", "group", "version", "kind", "plural")
	command.GroupFlags(cmd, "Other flags",
		command.FlagGroup{Title: "The project", Flags: []string{"plugins", "domain", "project-name", "from", "project-version"}},
		command.FlagGroup{Title: "Operators in Go", Flags: []string{
			"repo", "owner", "license", "license-file", "multigroup", "namespaced", "webhook-certs", "fetch-deps", "skip-go-version-check",
		}},
		command.FlagGroup{Title: "Operators with hooks", Flags: []string{"lang"}},
		command.FlagGroup{Title: "Operators with charts", Flags: append([]string{"runtime"}, firstKindFlags...)},
	)
	return cmd
}

func (o *initProject) run(a *command.App) error {
	if o.version != "3" {
		return fault.Usage("remove --project-version", "project version %q is not supported: operon writes version 3", o.version)
	}
	if err := project.CheckWebhookCerts(o.webhookCerts); err != nil {
		return err
	}
	err := a.WritePlan(o.cmd, a.Dir, o.WriteFlags, func(ctx context.Context, p *scaffold.Plan) error {
		if o.from != "" {
			return o.createFrom(ctx, a, p)
		}
		cfg, err := command.LoadConfig(p)
		if errors.Is(err, fs.ErrNotExist) {
			o.created = true
			return o.create(ctx, a, p)
		}
		if err != nil {
			return err
		}
		return o.repeat(ctx, a, cfg, p)
	})
	if err != nil {
		return err
	}
	if o.created && o.from == "" && !o.cmd.Flags().Changed("domain") {
		a.Notef("note: the domain of the API groups is %s; to use another, change domain in PROJECT and run operon init", o.domain)
	}
	named := o.from != "" || o.cmd.Flags().Changed("project-name")
	if folder := filepath.Base(a.Dir); o.created && !named && !strings.EqualFold(o.name, folder) {
		a.Notef("note: the project name is %s, because %s is not a valid Kubernetes name; to choose another, start in an empty folder with --project-name", o.name, folder)
	}
	if o.first.Kind != "" && o.first.DoubtfulPlural() {
		a.NotePlural(o.first)
	}
	if o.DryRun {
		return nil
	}
	if o.outdated {
		a.Notef("note: init changed sources of generated files; run `operon generate`")
	}
	a.NextStep(o.nextStep)
	if !o.fetchDeps {
		return nil
	}
	if err := a.RunGo(o.cmd.Context(), a.Dir, a.Environ, a.Err, "mod", "download"); err != nil {
		return &fault.Error{Code: fault.Code(err), Msg: "go mod download", Err: err, Hint: "the project is written; run `go mod download` in it when the network is available"}
	}
	return nil
}

// create plans a new project.
func (o *initProject) create(ctx context.Context, a *command.App, p *scaffold.Plan) error {
	keys, err := a.Catalogue.Resolve(o.plugins)
	if err != nil {
		return err
	}
	layout, companions := a.Catalogue.Split(keys)
	if len(layout) == 0 {
		layout = []string{a.Catalogue[0].Key}
	}
	if o.name == "" {
		o.name = project.DefaultName(a.Dir)
	}
	if err := project.CheckName(o.name); err != nil {
		return err
	}
	if p.HasBase(initFile) {
		return fault.Usage("restore PROJECT from version control, or delete .operon to start over",
			"operon initialized a project here, but PROJECT is missing")
	}
	if err := checkNested(a); err != nil {
		return err
	}
	if err := checkOperator(a); err != nil {
		return err
	}
	if err := o.askDomain(ctx, a); err != nil {
		return err
	}
	cfg := &project.Config{
		Version: o.version, Domain: o.domain, ProjectName: o.name, Layout: layout,
		MultiGroup: o.multigroup, Namespaced: o.namespaced,
	}
	cfg.SetWebhookCerts(project.WebhookCerts(o.webhookCerts))
	for _, key := range companions {
		cfg.EncodePluginConfig(key, struct{}{})
	}
	if err := a.ChooseTemplates(ctx, cfg, a.Dir, o.templates); err != nil {
		return err
	}
	inv, err := o.planChecked(ctx, a, command.Project{Root: a.Dir, Config: cfg, Before: &project.Config{}, Plan: p})
	if err != nil {
		return err
	}
	if a.HasCharts(cfg) {
		if err := o.firstKind(ctx, a, inv); err != nil {
			return err
		}
	}
	return command.SaveConfig(cfg, p)
}

// planChecked is plan, with an error if the go command is too old for the project. Notes of the plan come before
// the error.
func (o *initProject) planChecked(ctx context.Context, a *command.App, created command.Project) (*command.Invocation, error) {
	if o.skipGoCheck || !a.Catalogue.Has(created.Config.Layout, plugin.GoCode) {
		return o.plan(ctx, a, created)
	}
	checked := startGoCheck(ctx, a)
	inv, err := o.plan(ctx, a, created)
	if tooOld := checked(); tooOld != nil {
		return nil, tooOld
	}
	return inv, err
}

// plan sends the init event to the project's plugins.
func (o *initProject) plan(ctx context.Context, a *command.App, p command.Project) (*command.Invocation, error) {
	o.nextStep = "operon create api --group <group> --version v1alpha1 --kind <Kind>"
	switch {
	case a.HasModules(p.Config):
		o.nextStep = "operon create module <name>"
		if err := o.noGo("is a hook project"); err != nil {
			return nil, err
		}
	case a.HasCharts(p.Config):
		if err := o.noGo("project installs charts"); err != nil {
			return nil, err
		}
	case a.HasHooks(p.Config):
		o.nextStep = "operon create hook <name> --on kubernetes:<Kind>"
		if err := o.noGo("is a hook project"); err != nil {
			return nil, err
		}
	}
	if o.created {
		noteNew(a, p.Config)
	}
	inv, err := a.NewInvocation(ctx, p, o.options)
	if err != nil {
		return nil, err
	}
	if inv.Environment.LicenseText, err = readLicense(a, inv.Options); err != nil {
		return nil, err
	}
	inv.Environment.Network = o.fetchDeps
	if err := p.Config.Validate(); err != nil {
		return nil, err
	}
	return inv, inv.Send(ctx, plugin.Event{Type: plugin.Init, Options: inv.Options, Replay: !o.created})
}
