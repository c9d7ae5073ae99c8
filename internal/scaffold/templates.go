package scaffold

import (
	"io/fs"
	"strings"
)

// UseTemplates makes plugins render the templates in fsys instead of operon's own.
func (p *Plan) UseTemplates(fsys fs.FS) { p.templates = fsys }

// Templates returns the templates to render: those of UseTemplates, or else the given ones.
func (p *Plan) Templates(own fs.FS) fs.FS {
	if p.templates != nil {
		return p.templates
	}
	return own
}

// HasTemplates reports whether the project has the folder TemplatesDir.
func (p *Plan) HasTemplates() (bool, error) {
	missing, err := p.tree.missing(TemplatesDir)
	if err != nil {
		return false, fileError("stat", TemplatesDir, err)
	}
	return !missing, nil
}

// isTemplate reports whether a path is that of a template of the project.
func isTemplate(name string) bool { return strings.HasPrefix(name, TemplatesDir+"/") }
