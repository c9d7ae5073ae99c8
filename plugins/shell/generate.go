package shell

import (
	"context"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks"
	"github.com/operon-dev/operon/internal/hooks/hookproject"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/operon-dev/operon/internal/hooks/rbac"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/roles"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/internal/hookscaffold"
)

const (
	hooksDir   = "hooks"
	libraryDir = hooksDir + "/lib"
	crdBases   = "config/crd/bases"

	// configTime is the time limit for a hook to print its configuration.
	configTime = 10 * time.Second
)

// generate plans the roles that are derived from the hooks in the plan. It runs the hooks with
// --config, with the PATH of the event's environment.
func generate(ctx context.Context, e plugin.Event, p *scaffold.Plan) error {
	if args := e.Args; len(args) > 0 {
		return fault.Usage("omit it", "%s is an argument of controller-gen, and this project has no Go code", args[0])
	}
	in, err := readHooks(ctx, e, p)
	if err != nil {
		return err
	}
	if in.Kinds, err = hookscaffold.Kinds(p, hookscaffold.IsYAML, crdBases); err != nil {
		return err
	}
	in.Webhooks, in.Namespace = e.Project.ProjectName, e.Project.Namespace()
	derived, err := rbac.Derive(in)
	if err != nil {
		return err
	}
	for _, f := range derived.Findings {
		p.Warn(scaffold.Warning{File: f.File, Line: f.Line, Column: f.Column, Rule: f.Rule, Message: f.Text()})
	}
	content, err := derived.Roles.File(roles.Scaffolded)
	if err != nil {
		return err
	}
	if err := warnGone(e.Project, p); err != nil {
		return err
	}
	return p.Generate(rbac.Generator, rbac.Path, content)
}

// warnGone warns about hooks that PROJECT records and that do not exist: the roles lack what they
// need.
func warnGone(c *project.Config, p *scaffold.Plan) error {
	files, err := Hooks(c)
	for _, f := range hookproject.Gone(files, p.Exists) {
		p.Warn(scaffold.Warning{File: f.File, Rule: f.Rule, Message: f.Message})
	}
	return err
}

// firstRoles plans the roles of a project without hooks, unless they exist.
func firstRoles(p *scaffold.Plan) error {
	if p.Exists(rbac.Path) {
		return nil
	}
	derived, err := rbac.Derive(rbac.Input{Kinds: kubeapi.Builtin()})
	if err != nil {
		return err
	}
	content, err := derived.Roles.File(roles.Scaffolded)
	if err != nil {
		return err
	}
	return p.Generate(rbac.Generator, rbac.Path, content)
}

// readHooks runs the hooks of the plan with --config in a copy of the project, and reads their
// sources.
func readHooks(ctx context.Context, e plugin.Event, p *scaffold.Plan) (rbac.Input, error) {
	none := rbac.Input{}
	content, mode := map[string][]byte{}, map[string]fs.FileMode{}
	for _, c := range p.Changes() {
		if strings.HasPrefix(c.Path, hooksDir+"/") && c.Op != scaffold.Keep && c.Op != scaffold.Conflict {
			content[c.Path], mode[c.Path] = c.After, c.Mode
		}
	}
	copied, err := hooks.CopyProject(e.Dir, hooksDir, content, mode)
	if err != nil {
		return none, fault.In("copy the hooks to run them", err)
	}
	defer copied.Close()
	found, passed, err := hooks.Discover(copied.Dir())
	if err != nil {
		return none, err
	}
	for _, f := range passed {
		p.Warn(scaffold.Warning{File: path.Join(hooksDir, f.File), Line: f.Line, Column: f.Column, Rule: f.Rule, Message: f.Message})
	}
	if err := hooks.NotExecutableError(hooksDir, hooks.IgnoredHooks(copied.Dir(), passed)); err != nil {
		return none, err
	}
	box, err := hooks.NewSandbox(copied.Dir(), e.Environment.Path, configTime)
	if err != nil {
		return none, err
	}
	defer box.Close()
	in, findings, err := hooks.ReadRBACInput(ctx, box, found, hooksDir)
	if err != nil {
		return none, err
	}
	return in, hookproject.FirstError(finding.InFolder(hooksDir, findings))
}
