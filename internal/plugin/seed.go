package plugin

import (
	"io/fs"
	"slices"

	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
)

// earlier are files that a repository often has before there is an operator in
// it. They say what is the user's to say, so they are no conflict.
var earlier = []string{"AGENTS.md", "README.md", ".dockerignore", ".gitignore"}

// SeedFirst seeds a file of a new project, and keeps what the repository brought
// along.
func SeedFirst(p *scaffold.Plan, name string, mode fs.FileMode, content []byte) error {
	if slices.Contains(earlier, name) && p.Exists(name) && !p.HasBase(name) {
		if !p.Exists(project.File) {
			p.Warn(scaffold.Warning{File: name, Rule: "kept", Message: "it was here before and stays as it is"})
		}
		return nil
	}
	return p.Seed(name, mode, content)
}
