package createcmd

import (
	"errors"
	"io/fs"
	"path"
	"slices"

	"github.com/operon-dev/operon/internal/adopt"
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/input"
	"github.com/operon-dev/operon/internal/project"
)

// usualAPI is the folder with the types of projects whose PROJECT records no other.
const usualAPI = "api"

// checkPlace refuses to begin the usual folder for the types of r in a repository that has its types in others, and
// whose PROJECT does not record them.
func checkPlace(s command.Project, r project.Resource) error {
	if s.Config.Places().API != "" {
		return nil
	}
	dir := s.Config.APIDir(r)
	for _, begun := range []string{dir, usualAPI} {
		names, err := s.Plan.Below(begun)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if slices.ContainsFunc(names, func(name string) bool { return path.Ext(name) == ".go" }) {
			return nil
		}
	}
	folders := adopt.KindFolders(input.Sources(s.Root, input.Text))
	if len(folders) == 0 {
		return nil
	}
	return fault.Failed("run operon adopt, which records the folders of the repository in "+project.File+", and repeat the command; "+
		"or record the usual folder: plugins: {"+project.PlacesKey+`: {api: "`+usualAPI+`/{version}"}}`,
		"new types would go to %s, but this repository has types in %s", dir, folders[0])
}
