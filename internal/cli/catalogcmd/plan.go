package catalogcmd

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/input"
	"github.com/operon-dev/operon/internal/olm/catalog"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/spf13/cobra"
)

const catalogFlag = "catalog"

// writer holds the flags of commands that change a catalog.
type writer struct {
	command.WriteFlags

	folder string
	cmd    *cobra.Command
}

func (w *writer) bind(cmd *cobra.Command) {
	w.cmd = cmd
	cmd.Flags().StringVar(&w.folder, catalogFlag, defaultFolder, "`folder` of the catalog")
	w.Bind(cmd)
	command.CompleteFolder(cmd, catalogFlag)
}

// plan calls build with a plan, and the path of a folder in it. The plan is for the project, or
// else for the working folder, where the journal is. A catalog cannot be that folder, because the
// journal is no part of it.
func (w *writer) plan(a *command.App, folder string, build func(p *scaffold.Plan, dir string) error) error {
	if flag := w.cmd.Flags().Lookup(catalogFlag); flag != nil && !flag.Changed {
		w.folder = a.ProjectFolder(defaultFolder)
		folder = w.folder
	}
	var roots []string
	if root, err := project.FindRoot(a.Dir); err == nil {
		roots = append(roots, root)
	}
	roots = append(roots, a.Dir)
	for _, root := range roots {
		dir, err := filepath.Rel(root, a.Path(folder))
		if err != nil || dir == "." || !filepath.IsLocal(dir) {
			continue
		}
		return a.WritePlan(w.cmd, root, w.WriteFlags, func(_ context.Context, p *scaffold.Plan) error {
			return build(p, filepath.ToSlash(dir))
		})
	}
	return fault.Usage("run the command in the folder around it", "%s is not a folder below the working folder", folder)
}

// readNew reads a catalog that may not exist yet.
func readNew(a *command.App, folder string) (*catalog.Catalog, error) {
	info, err := os.Stat(a.Path(folder))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &catalog.Catalog{}, nil
	case err == nil && !info.IsDir():
		return nil, fault.Usage("name a folder", "%s is a file", folder)
	}
	c, found, err := catalog.Read(input.Folder(a.Path(folder), input.Catalog))
	if err != nil || len(found) == 0 {
		return c, err
	}
	if err := checkContent(a, folder, c, found); err != nil {
		return nil, err
	}
	return nil, unreadable(folder, finding.InFolder(folder, found))
}

// unreadable is the error for a catalog with documents that cannot be read.
func unreadable(folder string, found []finding.Finding) error {
	return fault.Usage("run operon catalog validate "+folder, "%s: %s", found[0].Position(), found[0].Message)
}

// apply adds edits to the plan.
func apply(p *scaffold.Plan, dir string, edits catalog.Edits) error {
	for _, file := range edits.Files() {
		name := path.Join(dir, file)
		if p.Exists(name) {
			if err := p.Edit(name, func(src []byte) ([]byte, error) { return edits.Apply(file, src) }); err != nil {
				return fault.In(dir, err)
			}
			continue
		}
		src, err := edits.Apply(file, nil)
		if err != nil {
			return err
		}
		if err := p.Share(name, 0, src); err != nil {
			return err
		}
	}
	return nil
}

// verify refuses edits that OLM would refuse, unless the catalog has the same problem without them.
func verify(p *scaffold.Plan, dir string, before *catalog.Catalog, edits catalog.Edits) error {
	after := &catalog.Catalog{}
	files := map[string]bool{}
	for _, file := range append(before.Files(), edits.Files()...) {
		if files[file] {
			continue
		}
		files[file] = true
		src, err := p.Read(path.Join(dir, file))
		if err != nil {
			return err
		}
		if found := after.AddFile(file, src); len(found) > 0 {
			return unreadable(dir, found)
		}
	}
	if found := catalog.NewErrors(before.Validate(), after.Validate()); len(found) > 0 {
		return fault.Usage("use --replaces, --skips or --channels, or edit the entries first", "OLM would refuse the catalog: %s", found[0].Message)
	}
	return nil
}
