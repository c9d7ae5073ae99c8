// Package catalogcmd implements operon catalog: file-based catalogs for OLM.
package catalogcmd

import (
	"errors"
	"io/fs"
	"os"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/input"
	"github.com/operon-dev/operon/internal/olm/catalog"
	"github.com/spf13/cobra"
)

// defaultFolder is the folder of the catalog in a project, or else in the working folder.
const defaultFolder = "catalog"

// New returns the command catalog.
func New(a *command.App) *cobra.Command {
	return command.NewGroup("catalog", "Build and validate catalogs of operators",
		newInit(a), newAdd(a), newRender(a), newValidate(a), newGraph(a), newDockerfile(a), newImage(a), newExtension(a))
}

// oneFolder returns the folder of a catalog that arguments name, or the default.
func oneFolder(a *command.App, cmd *cobra.Command, args []string) (string, error) {
	return atMostOne(cmd, args, "folder", a.ProjectFolder(defaultFolder))
}

// oneBundle returns the place of a bundle that arguments name, or the default.
func oneBundle(a *command.App, cmd *cobra.Command, args []string) (string, error) {
	return atMostOne(cmd, args, "bundle", a.ProjectFolder("bundle"))
}

func atMostOne(cmd *cobra.Command, args []string, what, otherwise string) (string, error) {
	switch len(args) {
	case 0:
		return otherwise, nil
	case 1:
		return args[0], nil
	default:
		return "", fault.Usage("name one "+what, "%s accepts one %s, got %d", cmd.CommandPath(), what, len(args))
	}
}

// read reads the catalog in a folder. The findings are about documents that cannot be read.
func read(a *command.App, folder string) (*catalog.Catalog, []finding.Finding, error) {
	info, err := os.Stat(a.Path(folder))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, fault.Usage("run operon catalog init, or name the folder of a catalog", "%s does not exist", folder)
	case err == nil && !info.IsDir():
		return nil, nil, fault.Usage("name the folder of the file", "%s is a file", folder)
	case err != nil:
		return nil, nil, err
	}
	c, found, err := catalog.Read(input.Folder(a.Path(folder), input.Catalog))
	if err == nil {
		err = checkContent(a, folder, c, found)
	}
	if err != nil {
		return nil, nil, err
	}
	return c, finding.InFolder(folder, found), nil
}
