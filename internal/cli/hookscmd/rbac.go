package hookscmd

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/hookproject"
	"github.com/operon-dev/operon/internal/hooks/rbac"
	"github.com/operon-dev/operon/internal/input"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/roles"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/term"
	"github.com/spf13/cobra"
)

// formatYAML is the output format that kubectl apply reads.
const formatYAML = "yaml"

// rbacOptions holds the flags of operon hooks rbac.
type rbacOptions struct {
	output    string
	namespace string
	crds      []string
	record    bool
	check     bool
	write     bool
	dryRun    bool
	diff      bool
	restore   command.WriteFlags // only its flag --restore
	timeout   time.Duration
}

func newRBAC(a *command.App) *cobra.Command {
	o := &rbacOptions{}
	cmd := &cobra.Command{
		Use:   "rbac [folder]",
		Short: "Generate least-privilege RBAC for hooks",
		Long: `Derive the RBAC rules that the ServiceAccount of the hooks in a folder (default:
hooks) needs, and print each rule with the places in the sources that need it:

    bindings    objects that the engine lists and watches, and webhooks
    markers     # +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get

A hook has a marker for each request that it sends itself, for example with
kubectl, and for each patch operation. A binding or marker with a namespace
results in a Role, all others in a ClusterRole. The command runs hooks with
--config, and does not contact a cluster.

--record first runs the tests in test/hooks with all permissions, and adds a
marker for each request that no rule allows. It needs an API server, as operon
hooks test does. Without tests, use operon hooks run --record.

--write writes the rules to ` + rbac.Path + `, with their origins as
comments. --check exits with 3 if that file is not up to date.`,
		Example: `  operon hooks rbac
  operon hooks rbac --record --write
  operon hooks rbac --check
  operon hooks rbac --output yaml --namespace my-hooks | kubectl apply -f -`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return o.derive(a, cmd, args) },
	}
	f := cmd.Flags()
	f.BoolVar(&o.write, "write", false, "write "+rbac.Path+" of the project")
	f.BoolVar(&o.check, "check", false, "exit with 3 if "+rbac.Path+" is not up to date, and write nothing")
	f.BoolVar(&o.record, "record", false, "first add markers for the requests that the hooks send in their tests")
	f.BoolVar(&o.dryRun, "dry-run", false, "with --record or --write: show the change without writing it")
	f.BoolVar(&o.diff, "diff", false, "with --check, --record or --write: show the change as a unified diff, without writing it")
	o.restore.BindRestore(cmd)
	f.StringVar(&o.namespace, "namespace", "", "namespace of the operator (default: the namespace of the project)")
	bindCRDs(cmd, &o.crds)
	bindConfigTimeout(cmd, &o.timeout)
	command.BindOutput(cmd, &o.output, formatYAML, command.FormatGitHub)
	cmd.ValidArgsFunction = command.FolderArgument
	command.CompleteNothing(cmd, "namespace")
	return cmd
}

func (o *rbacOptions) checkFlags(args []string) error {
	planned := o.check || o.write
	switch {
	case len(args) > 1:
		return fault.Usage("name one folder at a time", "one folder at most, got %d", len(args))
	case o.check && o.write:
		return fault.Usage("use only one of them", "--check and --write cannot be combined")
	case o.record && o.check:
		return fault.Usage("use only one of them", "--record and --check cannot be combined")
	case o.diff && !planned && !o.record:
		return fault.Usage("add --check, --record or --write", "--diff needs --check, --record or --write")
	case o.dryRun && !o.write && !o.record:
		return fault.Usage("add --record or --write", "--dry-run needs --record or --write")
	case len(o.restore.Restore) > 0 && !o.write:
		return fault.Usage("add --write", "--restore needs --write")
	case planned && o.output == formatYAML:
		return fault.Usage("use only one of them", "--output yaml prints the roles instead of writing or checking them")
	case planned && o.namespace != "":
		return fault.Usage("remove --namespace", "kustomize sets the namespace of the roles in a project")
	case o.output == command.FormatGitHub && !o.check:
		return fault.Usage("add --check, or use --output json", "--output github is a format of --check")
	}
	if err := checkTimeout(o.timeout, "10s"); err != nil {
		return err
	}
	return command.CheckOutput(o.output, formatYAML, command.FormatGitHub)
}

func (o *rbacOptions) derive(a *command.App, cmd *cobra.Command, args []string) error {
	if err := o.checkFlags(args); err != nil {
		return err
	}
	folder := defaultFolder
	if len(args) == 1 {
		folder = args[0]
	} else if err := enterProject(a, pointers(o.crds)...); err != nil {
		return err
	}
	dir, err := shellHooksFolder(a, folder, "charts need rules, too: edit config/rbac/role.yaml by hand")
	if err != nil {
		return err
	}
	if o.record {
		added, err := o.recordIn(cmd, a, folder)
		if err != nil || o.dryRun && added {
			return err
		}
	}
	root := hookproject.Root(dir)
	if o.check || o.write {
		return o.writeFile(a, cmd, folder, root, dir)
	}
	cfg, webhooks, err := projectAround(a, root)
	if err != nil {
		return err
	}
	names := roles.Scaffolded
	if cfg != nil {
		names.Role, names.Account, names.Namespace = cfg.ProjectName+"-"+names.Role, cfg.ProjectName+"-"+names.Account, cfg.Namespace()
	}
	names.Namespace = cmp.Or(o.namespace, names.Namespace)
	if names.Namespace == "" && o.output == formatYAML {
		return fault.Usage("add --namespace", "outside of a project --output yaml needs the operator's namespace")
	}
	derived, err := o.deriveIn(cmd.Context(), a, root, dir, cfg, webhooks)
	if err != nil {
		return err
	}
	return o.print(a, derived, names)
}

// recordIn adds markers for the requests that hooks send in their tests. It reports whether there are any.
func (o *rbacOptions) recordIn(cmd *cobra.Command, a *command.App, folder string) (added bool, err error) {
	tests := testOptions{folder: folder, timeout: time.Minute}
	changes, err := tests.recordMarkers(cmd, a, nil, command.WriteFlags{Output: o.output, DryRun: o.dryRun, Diff: o.diff})
	return len(changes) > 0, err
}

// writeFile writes or checks the role file of the project.
func (o *rbacOptions) writeFile(a *command.App, cmd *cobra.Command, folder, root, dir string) error {
	if _, err := os.Stat(filepath.Join(root, project.File)); err != nil {
		return fault.Usage("print them with --output yaml", "%s is not in a project, so there is no file for the roles", folder)
	}
	if len(o.restore.Restore) > 0 && !o.dryRun {
		if err := o.restoreFirst(a, cmd, root); err != nil {
			return err
		}
		o.restore.Restore = nil
	}
	w := command.WriteFlags{
		Output: o.output, Diff: o.diff, Check: o.check, DryRun: o.check || o.dryRun, Restore: o.restore.Restore,
		ExtraFormats: []string{command.FormatGitHub},
	}
	return a.ChangeProject(cmd, command.Project{Root: root}, w, func(ctx context.Context, p command.Project) error {
		derived, err := o.deriveIn(ctx, a, root, dir, p.Config, webhookPrefix(a, p.Config))
		if err != nil {
			return err
		}
		if err := unknownKind(derived); o.check && err != nil {
			return err
		}
		for _, w := range warnings(derived) {
			p.Plan.Warn(w)
		}
		content, err := derived.Roles.File(roles.Scaffolded)
		if err != nil {
			return err
		}
		return p.Plan.Generate(rbac.Generator, rbac.Path, content)
	})
}

// restoreFirst creates deleted files again, because the rules of restored hooks are derived from the
// files.
func (o *rbacOptions) restoreFirst(a *command.App, cmd *cobra.Command, root string) error {
	w := command.WriteFlags{Output: o.output, Restore: o.restore.Restore, ExtraFormats: []string{command.FormatGitHub},
		Report: func(command.PlanReport) error {
			a.Notef("note: created the deleted files again: %s", strings.Join(o.restore.Restore, ", "))
			return nil
		}}
	return a.ChangeProject(cmd, command.Project{Root: root}, w, func(context.Context, command.Project) error { return nil })
}

func (o *rbacOptions) deriveIn(
	ctx context.Context, a *command.App, root, dir string, cfg *project.Config, webhooks string,
) (rbac.Result, error) {
	derived, err := loader(a, o.timeout).DeriveRoles(ctx, root, dir, cfg, hookproject.RoleOptions{
		WorkDir: a.Dir, CRDs: o.crds, Namespace: o.namespace, Webhooks: webhooks,
	})
	return derived, explainNoHooks(a, err)
}

// projectAround returns the project at root, or nil if there is none, and the name of its
// engine's webhook configurations.
func projectAround(a *command.App, root string) (cfg *project.Config, webhooks string, err error) {
	src, err := input.ReadFile(filepath.Join(root, project.File), input.Text)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, "", nil
	case err != nil:
		return nil, "", fault.In("read the project", err)
	}
	if cfg, err = command.ParseConfig(src); err != nil {
		return nil, "", err
	}
	return cfg, webhookPrefix(a, cfg), nil
}

// webhookPrefix returns the name that a scaffolded shell-operator gives its webhook
// configurations, or "" for the engine's default.
func webhookPrefix(a *command.App, cfg *project.Config) string {
	if a.HasHooks(cfg) {
		return cfg.ProjectName
	}
	return ""
}

// unknownKind returns an error if an unknown kind makes the rules incomplete.
func unknownKind(r rbac.Result) error {
	for _, f := range r.Findings {
		if f.Rule == rbac.RuleUnknownKind {
			return fault.Differences(f.Hint, "%s: %s", roles.Place(f.File, f.Line), f.Message)
		}
	}
	return nil
}

func warnings(r rbac.Result) []scaffold.Warning {
	var all []scaffold.Warning
	for _, f := range r.Findings {
		all = append(all, scaffold.Warning{File: f.File, Line: f.Line, Column: f.Column, Rule: f.Rule, Message: f.Text()})
	}
	return all
}

// rolesFrame is the JSON report.
type rolesFrame struct {
	command.Frame
	Warnings []command.WarningFrame `json:"warnings"`
	Items    []roles.RoleReport     `json:"items"`
}

// print prints the roles and the warnings. It omits the warning about an unknown kind,
// which is the error.
func (o *rbacOptions) print(a *command.App, r rbac.Result, n roles.Names) error {
	all := warnings(r)
	if o.output == command.FormatJSON {
		f := rolesFrame{command.NewFrame("hooks rbac", "Roles"), []command.WarningFrame{}, r.Roles.Report(n)}
		for _, w := range all {
			f.Warnings = append(f.Warnings, command.WarningFrame(w))
		}
		if err := command.PrintJSON(a.Out, f); err != nil {
			return err
		}
		return unknownKind(r)
	}
	text := r.Roles.Text(n, func(origin string) string { return command.Painter(a.Out, a.Getenv)(term.Faint, origin) })
	if o.output == formatYAML {
		content, err := r.Roles.YAML(n)
		if err != nil {
			return err
		}
		text = string(content)
	}
	if err := a.Print(text); err != nil {
		return err
	}
	if i := slices.IndexFunc(all, func(w scaffold.Warning) bool { return w.Rule == rbac.RuleUnknownKind }); i >= 0 {
		all = slices.Delete(all, i, i+1)
	}
	a.PrintWarnings(all)
	return unknownKind(r)
}
