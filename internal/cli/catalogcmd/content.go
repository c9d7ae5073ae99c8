package catalogcmd

import (
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/input"
	"github.com/operon-dev/operon/internal/lazyregexp"
	"github.com/operon-dev/operon/internal/olm/bundle"
	"github.com/operon-dev/operon/internal/olm/catalog"
)

// projectFiles are files of a project or a repository, relative to its folder.
var projectFiles = []string{"PROJECT", "go.mod", ".git/HEAD"}

// catalogSchema is in a file of a catalog, also if the file is not valid YAML.
var catalogSchema = lazyregexp.New(`(?m)^[\s{]*"?schema"?\s*:\s*["']?olm\.`)

// checkContent returns an error if a folder has no catalog. Otherwise, each of its files would
// be a finding. Files that .indexignore excludes do not count.
func checkContent(a *command.App, folder string, c *catalog.Catalog, found []finding.Finding) error {
	unreadable := func(names ...string) bool {
		return slices.ContainsFunc(found, func(f finding.Finding) bool { return slices.Contains(names, f.File) })
	}
	hint := "name the folder of a catalog; to start one: operon catalog init PACKAGE --default-channel CHANNEL"
	if inner := path.Join(filepath.ToSlash(folder), defaultFolder); isFolder(a.Path(inner)) {
		hint = "name its catalog: " + inner
	}
	switch {
	case unreadable(bundle.AnnotationsFile):
		return fault.Usage("to validate the bundle: operon bundle validate "+folder, "%s is a bundle, not a catalog", folder)
	case unreadable(projectFiles...):
		return fault.Usage(hint+"; or exclude the other files in .indexignore", "%s is the folder of a project, not of a catalog", folder)
	case len(c.Packages)+len(c.Channels)+len(c.Bundles) > 0:
		return nil
	}
	for _, f := range found {
		name := filepath.Join(a.Path(folder), filepath.FromSlash(f.File))
		if src, err := input.ReadFile(name, input.Catalog); err != nil || catalogSchema().Match(src) {
			return nil // the findings say why the catalog cannot be read
		}
	}
	return fault.Usage(hint, "%s has no package, channel or bundle of a catalog", folder)
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}
