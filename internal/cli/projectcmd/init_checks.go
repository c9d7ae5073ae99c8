package projectcmd

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/adopt"
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/environ"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/goenv"
	"github.com/operon-dev/operon/internal/input"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
)

// checkNested returns an error in a folder of another project: init is then likely in the
// wrong folder, because all other commands change that project. A new project of its own
// is possible in an empty folder, and in a Go module or repository of its own.
func checkNested(a *command.App) error {
	outer, err := project.FindRoot(filepath.Dir(a.Dir))
	if err != nil {
		return nil // no project around the folder
	}
	entries, err := os.ReadDir(a.Dir)
	if err != nil {
		return err
	}
	isFile := func(e os.DirEntry) bool { return !strings.HasPrefix(e.Name(), ".") }
	isOwn := func(e os.DirEntry) bool { return e.Name() == "go.mod" || e.Name() == ".git" }
	if slices.ContainsFunc(entries, isFile) && !slices.ContainsFunc(entries, isOwn) {
		return fault.Usage("run operon init in the folder of that project, or in an empty folder for a nested project",
			"this folder belongs to the project in %s", outer)
	}
	a.NoteOnce("note: this folder is inside the project in %s; creating a nested project", outer)
	return nil
}

// noteNew says what keeps a new project from working at some places.
func noteNew(a *command.App, cfg *project.Config) {
	if a.HasGo(cfg) {
		noteAround(a)
	}
	if strings.IndexAny(cfg.ProjectName, "0123456789") == 0 && !a.HasModules(cfg) {
		a.NoteOnce("note: API servers before Kubernetes 1.36 refuse Services whose names start with a digit, such as %s-controller-manager-metrics-service: "+
			"to run there, start in an empty folder with another --project-name", cfg.ProjectName)
	}
}

// noteAround names what is around a new project of Go code and affects it: a workspace above that leaves it out, for
// which the go command fails, and a project below, because generators read all Go modules there.
func noteAround(a *command.App) {
	work := goenv.Workspace(a.Dir, environ.Get(a.Environ, "GOWORK"))
	if text, err := input.ReadFile(work, input.Text); err == nil && goenv.LeavesOut(work, text, a.Dir) {
		if rel, err := filepath.Rel(a.Dir, work); err == nil {
			work = filepath.ToSlash(rel)
		}
		a.NoteOnce("note: %s does not use this module, so the go command finds no packages here: run `go work use .`, or set GOWORK=off", work)
	}
	for _, pattern := range []string{"*/", "*/*/"} {
		found, _ := fs.Glob(input.Sources(a.Dir, input.Text), pattern+project.File) // the pattern is valid
		for _, name := range found {
			if dir := path.Dir(name); !strings.HasPrefix(dir, ".") && !strings.Contains(dir, "testdata") {
				a.NoteOnce("note: %s is a project of its own; operon generate reads its kinds here, too, unless the controller-gen calls in the Makefile "+
					"have paths=./api/... paths=./cmd/... paths=./internal/... instead of paths=./...", dir)
				return
			}
		}
	}
}

// checkOperator returns an error in the folder of an operator that has no PROJECT file: a new project in it
// would have a second manager.
func checkOperator(a *command.App) error {
	if where, ok := adopt.HasManager(input.Sources(a.Dir, input.Text)); ok {
		return fault.Usage("run operon adopt, which records it in PROJECT; to start over, use another folder", "this folder has an operator: %s creates a manager", where)
	}
	return nil
}

// checkConflicts rejects flags that differ from the existing project.
func (o *initProject) checkConflicts(a *command.App, cfg *project.Config) error {
	keys, err := a.Catalogue.Resolve(o.plugins)
	if err != nil {
		return err
	}
	layout, companions := a.Catalogue.Split(keys)
	for _, key := range companions {
		if _, recorded := cfg.Plugins[key]; !recorded {
			return fault.Usage("use operon edit --plugins "+strings.Join(o.plugins, ","), "already initialized without the plugin %s", key)
		}
	}
	shared, err := cfg.Templates()
	if err != nil {
		return err
	}
	if o.cmd.Flags().Changed("templates") && o.templates != shared.String() {
		return fault.Usage("use operon edit --templates "+o.templates, "already initialized with --templates %q", shared)
	}
	for _, v := range []struct {
		flag, set, hint string
		same            bool
	}{
		{"domain", "--domain " + cfg.Domain, "for new kinds, change domain in PROJECT and run operon init without the flag", o.domain == cfg.Domain},
		{"project-name", "--project-name " + cfg.ProjectName, "remove the flag, or use an empty folder", o.name == cfg.ProjectName},
		{"plugins", "--plugins " + strings.Join(cfg.Layout, ","), "remove the flag, or use an empty folder",
			len(layout) == 0 || slices.Equal(layout, cfg.Layout)},
		{"multigroup", "--multigroup=" + strconv.FormatBool(cfg.MultiGroup), o.useEdit("multigroup"), o.multigroup == cfg.MultiGroup},
		{"namespaced", "--namespaced=" + strconv.FormatBool(cfg.Namespaced), o.useEdit("namespaced"), o.namespaced == cfg.Namespaced},
		{"webhook-certs", "--webhook-certs " + string(cfg.WebhookCerts()), o.useEdit("webhook-certs"),
			o.webhookCerts == string(cfg.WebhookCerts())},
	} {
		if o.cmd.Flags().Changed(v.flag) && !v.same {
			return fault.Usage(v.hint, "already initialized with %s", v.set)
		}
	}
	return nil
}

// useEdit names the command that changes what a flag of init sets.
func (o *initProject) useEdit(flag string) string {
	return "use operon edit --" + flag + "=" + o.cmd.Flags().Lookup(flag).Value.String()
}

// noGo rejects flags that apply only to Go projects. what completes "this ...".
func (o *initProject) noGo(what string) error {
	for _, flag := range []string{"fetch-deps", "multigroup", "skip-go-version-check", "webhook-certs"} {
		if o.cmd.Flags().Changed(flag) {
			return fault.Usage("remove the flag", "--%s applies to Go projects, and this %s", flag, what)
		}
	}
	return nil
}

// isSource reports whether a change affects what operon generate reads: markers in Go code, or
// executable hooks.
func isSource(c scaffold.Change) bool {
	if path.Ext(c.Path) != ".go" {
		return strings.HasPrefix(c.Path, "hooks/") && c.Mode&0o111 != 0
	}
	return !bytes.Equal(markers(c.Before), markers(c.After))
}

// markers returns the lines with markers for generators.
func markers(src []byte) []byte {
	var found []byte
	for line := range bytes.Lines(src) {
		if bytes.Contains(line, []byte("+kubebuilder:")) && !bytes.Contains(line, []byte("+kubebuilder:scaffold:")) {
			found = append(found, line...)
		}
	}
	return found
}
