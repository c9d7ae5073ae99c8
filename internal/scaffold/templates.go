package scaffold

import (
	"io/fs"
	"strings"
	"sync"
)

// UseTemplates makes plugins render the templates that open returns instead of operon's own. open is called when a
// plugin is about to render the first one.
func (p *Plan) UseTemplates(open func() (fs.FS, error)) { p.templates = sync.OnceValues(open) }

// Templates returns the templates to render: UseTemplates', or else the given ones. If they cannot be opened,
// reading each of them fails with the reason.
func (p *Plan) Templates(own fs.FS) fs.FS {
	if p.templates == nil {
		return own
	}
	opened, err := p.templates()
	if err != nil {
		return unreadable{err}
	}
	return opened
}

// unreadable is a file system in which nothing can be opened.
type unreadable struct{ err error }

func (u unreadable) Open(string) (fs.File, error) { return nil, u.err }

// HasTemplates reports whether the project has the folder TemplatesDir.
func (p *Plan) HasTemplates() (bool, error) {
	missing, err := p.tree.missing(TemplatesDir)
	if err != nil {
		return false, fileError("stat", TemplatesDir, err)
	}
	return !missing, nil
}

// isTemplate reports whether a path belongs to a template of the project.
func isTemplate(name string) bool { return strings.HasPrefix(name, TemplatesDir+"/") }
