package golang

import (
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
)

// checkPackage returns an error if the folder of r's types is not in the module, or would have two
// packages. PROJECT and the sources then disagree about the version or the path of a kind.
func checkPackage(c *project.Config, r project.Resource, p *scaffold.Plan) error {
	if r.API == nil || r.HasExternalTypes() {
		return nil
	}
	if r.Path != "" && !strings.HasPrefix(r.Path+"/", c.Repo+"/") {
		return fault.Usage("correct the path in "+project.File+", or add external: true if another module defines the types",
			"%s has the path %s for the types of kind %s, which is outside the module %s", project.File, r.Path, r.Kind, c.Repo)
	}
	files, err := source.Files(c.APIDir(r), false, p)
	if err != nil {
		return err
	}
	var first source.File
	for _, f := range files {
		switch {
		case f.Parsed.Package() == "main": // a program that the build ignores
		case first.Parsed == nil:
			first = f
		case f.Parsed.Package() != first.Parsed.Package():
			return fault.Usage("correct the version and the path of the resource in "+project.File,
				"%s records version %s of kind %s in %s, whose files would have the packages %s and %s",
				project.File, r.Version, r.Kind, c.APIDir(r), first.Parsed.Package(), f.Parsed.Package())
		}
	}
	return nil
}
