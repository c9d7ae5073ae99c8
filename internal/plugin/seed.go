package plugin

import (
	"io/fs"
	"slices"

	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
)

// preexisting lists files that a repository often has before it contains an
// operator. Their content is the user's choice, so they do not conflict.
var preexisting = []string{"AGENTS.md", "README.md", ".dockerignore", ".gitignore"}

// SeedInitFile seeds a file of a new project, but keeps a preexisting file of the
// repository.
func SeedInitFile(p *scaffold.Plan, name string, mode fs.FileMode, content []byte) error {
	if slices.Contains(preexisting, name) && p.Exists(name) && !p.HasBase(name) {
		if !p.Exists(project.File) {
			p.Warn(scaffold.Warning{File: name, Rule: "kept", Message: "existed before and stays unchanged"})
		}
		return nil
	}
	return p.Seed(name, mode, content)
}

// SeedOwn is a sink that seeds files, but leaves those that operon does not manage, unless the plan is forced. They
// stay unchanged, also for later versions.
func SeedOwn(p *scaffold.Plan) render.Sink {
	return func(name string, mode fs.FileMode, content []byte) error {
		if p.Unmanaged(name) && !p.Forced() {
			return nil
		}
		return p.Seed(name, mode, content)
	}
}
