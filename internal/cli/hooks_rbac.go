package cli

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks"
	"github.com/operon-dev/operon/internal/hooks/rbac"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/plugins/shell"
	"github.com/spf13/cobra"
)

// hooksRBAC holds the flags of `operon hooks rbac`.
type hooksRBAC struct {
	output    string
	namespace string
	crds      []string
	patches   []string
	check     bool
	write     bool
	diff      bool
	timeout   time.Duration
}

func newHooksRBAC(a *command.App) *cobra.Command {
	o := &hooksRBAC{}
	cmd := &cobra.Command{
		Use:   "rbac [folder]",
		Short: "Derive the least roles for hooks, and say where each rule comes from",
		Long: `Derive what the ServiceAccount of the hooks below the folder (hooks) must be
allowed to do, and nothing beside, from

    the bindings    what the engine lists and watches, and registers as webhooks
    markers         # +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get
    kubectl, oc     calls in scripts and in Python, and in what these source,
                    import or start
    operations      for the file of patches, where a script writes them out,
                    where tests in test/hooks expect them, and from --patches

A binding, a call or a marker that names namespaces gives a Role in each,
anything else a ClusterRole. What is known only when a hook runs is no guess but
a warning: a marker right above it says what it needs. So are requests that are
not looked at: those of curl and wget to the API server, of helm and its like,
and of Python's clients, such as the module kubernetes. The hooks are run with
--config, as hooks validate does; no cluster is asked.

--write puts the roles into ` + rbac.Path + `, with their reasons as
comments, and --check exits with 3 when that file is not as --write would make
it.`,
		Example: `  operon hooks rbac
  operon hooks rbac --check
  operon hooks rbac --output yaml --namespace my-hooks | kubectl apply -f -`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(a, cmd, args) },
	}
	f := cmd.Flags()
	f.BoolVar(&o.write, "write", false, "write "+rbac.Path+" of the project")
	f.BoolVar(&o.check, "check", false, "compare with "+rbac.Path+", write nothing, and exit with 3 when it differs")
	f.BoolVar(&o.diff, "diff", false, "with --check or --write: also show the change as a unified diff")
	f.StringVar(&o.namespace, "namespace", "", "the operator's namespace (default: the project's)")
	f.StringArrayVar(&o.patches, "patches", nil, "`file` with patch operations that hooks wrote")
	bindCRDs(cmd, &o.crds)
	bindConfigTime(cmd, &o.timeout)
	command.BindOutput(cmd, &o.output, "yaml", command.FormatGitHub)
	cmd.ValidArgsFunction = onlyFolders
	command.CompleteNothing(cmd, "namespace")
	return cmd
}

// validate checks the flags.
func (o *hooksRBAC) validate(args []string) error {
	planned := o.check || o.write
	switch {
	case len(args) > 1:
		return fault.Usage("derive from one folder at a time", "one folder at most, got %d", len(args))
	case o.check && o.write:
		return fault.Usage("leave one of them out", "--check writes nothing, and --write writes")
	case o.diff && !planned:
		return fault.Usage("add --check or --write", "--diff shows what --check or --write would change")
	case planned && o.output == "yaml":
		return fault.Usage("leave one of them out", "--output yaml prints the roles instead of writing or checking them")
	case planned && o.namespace != "":
		return fault.Usage("leave --namespace out", "the roles of a project get its namespace from kustomize")
	case o.output == command.FormatGitHub && !o.check:
		return fault.Usage("add --check, or use --output json", "--output github is a form of what --check reports")
	}
	if err := checkTimeout(o.timeout, "10s"); err != nil {
		return err
	}
	return command.CheckOutput(o.output, "yaml", command.FormatGitHub)
}

func (o *hooksRBAC) run(a *command.App, cmd *cobra.Command, args []string) error {
	if err := o.validate(args); err != nil {
		return err
	}
	folder := "hooks"
	if len(args) == 1 {
		folder = args[0]
	}
	dir, err := shellHooks(a, folder, "what charts install counts, too: config/rbac/role.yaml is yours to narrow")
	if err != nil {
		return err
	}
	root := aroundHooks(dir)
	if !o.check && !o.write {
		cfg, names, err := o.names(root)
		if err != nil {
			return err
		}
		derived, err := o.derive(cmd.Context(), a, root, dir, cfg)
		if err != nil {
			return err
		}
		return o.print(a, derived, names)
	}
	if _, err := os.Stat(filepath.Join(root, project.File)); err != nil {
		return fault.Usage("print them with --output yaml", "there is no PROJECT around %s, so there is no place for roles", folder)
	}
	w := command.WriteFlags{Output: o.output, Diff: o.diff, Check: o.check, DryRun: o.check, ExtraFormats: []string{command.FormatGitHub}}
	return a.InProjectAt(cmd, root, w, func(ctx context.Context, s command.Project) error {
		derived, err := o.derive(ctx, a, root, dir, s.Config)
		if err != nil {
			return err
		}
		if err := unknownKinds(derived); err != nil {
			return err
		}
		for _, w := range rbacWarnings(derived) {
			s.Plan.Warn(w)
		}
		content, err := derived.File(rbac.Scaffolded)
		if err != nil {
			return err
		}
		return s.Plan.Generate(rbac.Generator, rbac.Path, content)
	})
}

// names are those of the objects, as they are installed, and the project is nil when
// there is none.
func (o *hooksRBAC) names(root string) (cfg *project.Config, n rbac.Names, err error) {
	n = rbac.Scaffolded
	src, err := os.ReadFile(filepath.Join(root, project.File))
	switch {
	case err == nil:
		if cfg, err = command.ParseConfig(src); err != nil {
			return nil, n, err
		}
		n.Role, n.Account, n.Namespace = cfg.ProjectName+"-"+n.Role, cfg.ProjectName+"-"+n.Account, cfg.Namespace()
	case !errors.Is(err, fs.ErrNotExist):
		return nil, n, fault.Failed("", "%v", err)
	}
	n.Namespace = cmp.Or(o.namespace, n.Namespace)
	if n.Namespace == "" && o.output == "yaml" {
		return nil, n, fault.Usage("add --namespace", "outside of a project --output yaml needs the operator's namespace")
	}
	return cfg, n, nil
}

// derive reads everything and derives the roles.
func (o *hooksRBAC) derive(ctx context.Context, a *command.App, root, dir string, cfg *project.Config) (rbac.Result, error) {
	var none rbac.Result
	found, passed, err := hooks.Discover(dir)
	if err != nil {
		return none, err
	}
	shown, err := filepath.Rel(root, dir)
	if err != nil {
		return none, fault.Failed("", "%v", err)
	}
	if len(found) == 0 {
		return none, noHooksIn(a, shown, passed)
	}
	sandbox, err := hooks.NewSandbox(dir, a.Getenv("PATH"), o.timeout)
	if err != nil {
		return none, err
	}
	defer sandbox.Close()
	in, findings, err := hooks.Permissions(ctx, sandbox, found, filepath.ToSlash(shown))
	if err != nil {
		return none, err
	}
	if err := refusal(findings); err != nil {
		return none, err
	}
	if in.Kinds, err = projectKinds(a, root, o.crds); err != nil {
		return none, err
	}
	if in.Recorded, err = o.recorded(a, root); err != nil {
		return none, err
	}
	in.Namespace = o.namespace
	if cfg != nil {
		in.Namespace = cmp.Or(o.namespace, cfg.Namespace())
		if slices.Contains(cfg.Layout, shell.Key) {
			in.Webhooks = cfg.ProjectName
		}
	}
	return rbac.Derive(in), nil
}

// recorded are the files with patch operations: tests, and what the user names.
func (o *hooksRBAC) recorded(a *command.App, root string) ([]rbac.Source, error) {
	var all []rbac.Source
	tests := filepath.Join(root, filepath.FromSlash(rbac.TestDir))
	err := filepath.WalkDir(tests, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !rbac.IsTest(name) {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(name)
		all = append(all, rbac.Source{Path: filepath.ToSlash(rel), Text: text})
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fault.Failed("", "%v", err)
	}
	for _, name := range o.patches {
		text, err := os.ReadFile(inDir(a, name))
		if err != nil {
			return nil, fault.Usage("name a file with patch operations", "--patches %s: %v", name, errors.Unwrap(err))
		}
		all = append(all, rbac.Source{Path: filepath.ToSlash(name), Text: text})
	}
	return all, nil
}
