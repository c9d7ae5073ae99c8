package projectcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/project/migrate"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// editProject holds the flags of `operon edit`.
type editProject struct {
	command.WriteFlags
	multigroup   bool
	namespaced   bool
	webhookCerts string
	templates    string
	plugins      []string
	version      string

	cmd      *cobra.Command
	settings []string // the flags that change the project, except for the flags of plugins
	options  *command.PluginFlags
}

// NewEdit returns the command edit.
func NewEdit(a *command.App) *cobra.Command {
	o := &editProject{}
	cmd := &cobra.Command{
		Use:   "edit",
		Short: "Change layout, scope, certificates or license, or add plugins",
		Long: `Change the layout of the project, the scope of its manager, who issues the
certificates of its webhooks, what runs its charts, or the header of its Go
files, and update all that depends on it: packages, imports, tests, paths,
permissions and manifests. Your code stays. All changes can be reverted, except
--plugins and --project-version.

With --namespaced, the manager watches its own namespace. In a project that
operon started, defaulting and validating webhooks are then called only for this
namespace and for cluster-scoped objects, and the README explains how to add
namespaces.`,
		Example: `  # Use a folder for each API group, which a second group needs
  operon edit --multigroup

  # Limit the manager to its own namespace, with a Role instead of a ClusterRole
  operon edit --namespaced

  # Revert both
  operon edit --multigroup=false --namespaced=false

  # Let the manager issue the certificates of its webhooks, without cert-manager
  operon edit --webhook-certs self

  # Prepare the project for bundles
  operon edit --plugins olm

  # Use the templates that the team shares
  operon edit --templates ../templates

  # Make a Helm chart of the manifests in the folder charts
  operon edit --plugins helm --output-dir charts

  # Run charts with a Go module of the project instead of an image
  operon edit --runtime module

  # Convert PROJECT from version 3-alpha
  operon edit --project-version 3

  # Change the owner in the header of all Go files
  operon edit --owner "The Fleet Authors"`,
		Args: command.NoArgs,
		RunE: func(*cobra.Command, []string) error { return o.run(a) },
	}
	o.cmd = cmd
	f := cmd.Flags()
	f.BoolVar(&o.multigroup, "multigroup", false, "use a folder for each API group")
	f.BoolVar(&o.namespaced, "namespaced", false, "limit the manager to its own namespace, with a Role instead of a ClusterRole")
	bindWebhookCerts(cmd, &o.webhookCerts)
	bindTemplates(cmd, &o.templates)
	f.StringSliceVar(&o.plugins, "plugins", nil, "add a plugin beside the layout: "+describeCompanions(a.Catalogue))
	f.StringVar(&o.version, "project-version", project.SchemaVersion, "convert PROJECT from version 3-alpha to this version")
	command.CompleteFlag(cmd, "plugins", func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return command.CompleteMissing(append(a.Catalogue.Companions(), a.InstalledPlugins()...), typed)
	})
	command.CompleteValues(cmd, "project-version", project.SchemaVersion)
	f.VisitAll(func(f *pflag.Flag) { o.settings = append(o.settings, f.Name) })
	o.BindMake(cmd, "deepcopy methods, CRDs and RBAC")
	o.BindForce(cmd)
	o.Bind(cmd)
	o.options = a.BindPluginFlags(cmd, plugin.Edit)
	cmd.Flags().Lookup("license").DefValue = "" // without the flag, the header stays
	return cmd
}

// describeCompanions lists the plugins that edit can add.
func describeCompanions(layouts plugin.Catalogue) string {
	var list []string
	for _, l := range layouts {
		if name, companion := layouts.Companion(l.Key); companion {
			list = append(list, name+" ("+l.Doc()+")")
		}
	}
	return strings.Join(list, ", ")
}

func (o *editProject) run(a *command.App) error {
	changed := o.cmd.Flags().Changed
	if changed("project-version") {
		return o.migrate(a)
	}
	if settings := slices.Concat(o.settings, o.options.Names()); !slices.ContainsFunc(settings, changed) {
		return fault.Usage("add one of --"+strings.Join(settings, ", --"), "nothing to edit")
	}
	if err := project.CheckWebhookCerts(o.webhookCerts); err != nil {
		return err
	}
	companions, err := o.companions(a)
	if err != nil {
		return err
	}
	o.HideKept = true
	return a.InProject(o.cmd, o.WriteFlags, func(ctx context.Context, s command.Project) error {
		if a.HasHooks(s.Config) || a.HasModules(s.Config) {
			if err := o.withoutGo(); err != nil {
				return err
			}
		}
		if a.HasCharts(s.Config) && (changed("multigroup") || changed("webhook-certs")) {
			return fault.Usage("remove the flag", "--multigroup and --webhook-certs apply to Go projects, and this project installs charts")
		}
		if changed("multigroup") && o.multigroup != s.Config.MultiGroup {
			s.Config.SetMultiGroup(o.multigroup)
		}
		if changed("namespaced") {
			s.Config.Namespaced = o.namespaced
		}
		if changed("webhook-certs") {
			s.Config.SetWebhookCerts(project.WebhookCerts(o.webhookCerts))
		}
		if changed("templates") {
			if err := a.ChooseTemplates(ctx, s.Config, s.Root, o.templates); err != nil {
				return err
			}
		}
		for _, key := range companions {
			if _, recorded := s.Config.Plugins[key]; !recorded && !slices.Contains(s.Config.Layout, key) {
				s.Config.EncodePluginConfig(key, struct{}{})
			}
		}
		if err := s.Config.ValidateLayout(); err != nil {
			return err
		}
		return o.plan(ctx, a, s)
	})
}

// migrate converts PROJECT to the schema version that operon reads. Other changes need that
// version first.
func (o *editProject) migrate(a *command.App) error {
	other := func(flag string) bool { return flag != "project-version" && o.cmd.Flags().Changed(flag) }
	switch {
	case o.version != project.SchemaVersion:
		return fault.Usage("use --project-version "+project.SchemaVersion, "project version %q is not supported", o.version)
	case slices.ContainsFunc(slices.Concat(o.settings, o.options.Names()), other):
		return fault.Usage("run operon edit --project-version "+project.SchemaVersion+" first", "--project-version cannot be combined with other changes")
	}
	root, err := project.FindRoot(a.Dir)
	if err != nil {
		return err
	}
	var converted []byte
	err = a.WritePlan(o.cmd, root, o.WriteFlags, func(_ context.Context, p *scaffold.Plan) error {
		convert := func(src []byte) ([]byte, error) { return migrate.Alpha(src, p.Read) }
		src, err := p.Read(project.File)
		if err != nil {
			return err
		}
		if _, err := convert(src); err != nil {
			return &fault.Error{Code: fault.Code(err), Msg: project.File + ":" + err.Error(), Hint: fault.HintOf(err)}
		}
		if err := p.Edit(project.File, convert); err != nil {
			return err
		}
		converted, err = p.Read(project.File)
		return err
	})
	if err != nil {
		return err
	}
	if config, err := command.ParseConfig(converted); err == nil {
		if _, err := a.Catalogue.Active(config); err != nil {
			note := fmt.Sprintf("the code does not change: %v", err)
			if slices.ContainsFunc(config.Layout, project.IsOldGoLayout) {
				note += "; run operon adopt"
			}
			a.Notef("note: %s", note)
		}
	}
	return nil
}

// companions returns the keys of the plugins to add. Only plugins that accompany a layout can
// be added later.
func (o *editProject) companions(a *command.App) ([]string, error) {
	keys, err := a.Catalogue.ResolveCompanions(o.plugins)
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		if !a.Catalogue.CanAdd(key) {
			return nil, fault.Usage("start a project of that layout with operon init --plugins", "the plugin %s cannot be added to a project", key)
		}
	}
	return keys, nil
}

// withoutGo rejects flags that apply only to Go projects.
func (o *editProject) withoutGo() error {
	changed := o.cmd.Flags().Changed
	switch {
	case changed("namespaced"):
		return fault.Usage("remove the flag: hooks choose their namespaces, and their permissions follow",
			"--namespaced applies to Go projects, and this is a hook project")
	case changed("multigroup"):
		return fault.Usage("remove the flag: a hook project can always have several API groups",
			"--multigroup applies to Go projects, and this is a hook project")
	case changed("webhook-certs"):
		return fault.Usage("remove the flag: the engine reads a certificate that cert-manager makes",
			"--webhook-certs applies to Go projects, and this is a hook project")
	}
	return nil
}

// plan sends the edit event to the plugins. If the layout or the shared templates changed in a project that operon
// initialized, it then replays the events of PROJECT with the new settings. This updates the parts of files that depend
// on them, and the merge bases for later commands.
func (o *editProject) plan(ctx context.Context, a *command.App, s command.Project) error {
	inv, err := a.NewInvocation(ctx, s, o.options)
	if err != nil {
		return err
	}
	if inv.Environment.LicenseText, err = readLicense(a, inv.Options); err != nil {
		return err
	}
	if o.cmd.Flags().Changed("templates") {
		if err := inv.CheckTemplates(); err != nil {
			return err
		}
	}
	if _, err := s.Plan.Read(initFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	initialized := s.Plan.HasBase(initFile)
	if err := inv.Send(ctx, plugin.Event{Type: plugin.Edit, Options: inv.Options}); err != nil {
		return err
	}
	before := s.Before
	changedLayout := before.MultiGroup != s.Config.MultiGroup || before.Namespaced != s.Config.Namespaced ||
		before.WebhookCerts() != s.Config.WebhookCerts() ||
		slices.ContainsFunc(o.options.ChangedOwners(), func(key string) bool { return !a.Catalogue.CanAdd(key) })
	changedPlugins := !reflect.DeepEqual(before.Plugins, s.Config.Plugins)
	changed := changedLayout || changedPlugins || len(s.Plan.Changes()) > 0
	if changed && initialized && (changedLayout || o.cmd.Flags().Changed("templates")) { // operon's templates do not depend on plugins
		if err := inv.Send(ctx, plugin.Event{Type: plugin.Init, Replay: true}); err != nil {
			return err
		}
		if err := inv.Replay(ctx); err != nil {
			return err
		}
	}
	switch {
	case changed && o.Make && (changedLayout || o.runsExternal(a, inv.Plugins, before)):
		return inv.Generate(ctx)
	case changedPlugins || o.cmd.Flags().Changed("plugins"): // the code does not depend on other plugins
		inv.Plugins = a.Catalogue.ActiveCompanions(s.Config)
		return inv.Generate(ctx)
	}
	return nil
}

// runsExternal reports whether the command adds an external plugin, or has a flag of one. It may have written types.
func (o *editProject) runsExternal(a *command.App, active plugin.Set, before *project.Config) bool {
	owners := o.options.ChangedOwners()
	return slices.ContainsFunc(active, func(p plugin.Plugin) bool {
		_, recorded := before.Plugins[p.Name()]
		added := !recorded && !slices.Contains(before.Layout, p.Name())
		return a.Catalogue.IsExternal(p.Name()) && (added || slices.Contains(owners, p.Name()))
	})
}
