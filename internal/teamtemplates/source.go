package teamtemplates

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gomod"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/spf13/afero"
	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
)

// Team has the templates of the team that a project uses.
type Team struct {
	Folder string     // of the shared templates, absolute; empty: the project shares none
	Shared []Template // of the folder or module that PROJECT names
	Own    []Template // of the project itself
	// Unknown has an error for each file that replaces none of operon's templates. Renames of
	// templates in a newer operon lead to such files, too.
	Unknown []error
}

// All returns all templates. Of two with the same name, the last one counts.
func (t Team) All() []Template { return slices.Concat(t.Shared, t.Own) }

// Open reads the templates of the team of a project, which are inputs of its plan. at is the folder of
// the project.
func Open(ctx context.Context, at gomod.Go, c *project.Config, p *scaffold.Plan, own fs.FS) (t Team, err error) {
	if err := t.readShared(ctx, at, c, p, own); err != nil {
		return t, err
	}
	var unknown []error
	t.Own, unknown, err = readTemplates(p, "", own)
	t.Unknown = append(t.Unknown, unknown...)
	return t, err
}

// readShared reads the templates of the folder or module that PROJECT names.
func (t *Team) readShared(ctx context.Context, at gomod.Go, c *project.Config, p *scaffold.Plan, own fs.FS) error {
	source, err := c.Templates()
	if err != nil || source == (project.TemplateSource{}) {
		return err
	}
	name := source.String()
	if t.Folder, err = folder(ctx, at, source); err != nil {
		return err
	}
	src, err := scaffold.New(afero.NewReadOnlyFs(afero.NewBasePathFs(afero.NewOsFs(), t.Folder)), scaffold.Options{})
	if err != nil {
		return fault.In(name, err)
	}
	if t.Shared, t.Unknown, err = readTemplates(src, name, own); err != nil {
		return err
	}
	if len(t.Shared) == 0 {
		return fault.Usage("operon templates copy NAME --dir creates them", "%s has no templates in %s", name, scaffold.TemplatesDir)
	}
	in, _ := src.Inputs()
	for _, list := range [][]string{in.Looked, in.Listed} {
		for _, path := range list {
			p.DependsOnFiles(filepath.Join(t.Folder, filepath.FromSlash(path)))
		}
	}
	return nil
}

// folder returns the folder of a source. A module must be in the module cache, with the content that
// PROJECT records.
func folder(ctx context.Context, at gomod.Go, s project.TemplateSource) (string, error) {
	if s.Module == "" {
		dir := s.Path
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(at.Dir, filepath.FromSlash(dir))
		}
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return "", fault.Usage("name a folder, or a module as MODULE@VERSION, with --templates", "the folder of templates %s does not exist", s.Path)
		}
		return dir, nil
	}
	dir, sum, err := Module(ctx, at, s)
	if err == nil && sum != s.Sum {
		err = fault.Failed("find out who changed it; operon edit --templates "+s.String()+" records the new content", "%s does not have the content that PROJECT records: %s instead of %s", s, sum, s.Sum)
	}
	return dir, err
}

// Module returns the folder of a module in the module cache, and its hash as in go.sum. It fetches
// nothing.
func Module(ctx context.Context, at gomod.Go, s project.TemplateSource) (folder, sum string, err error) {
	m := module.Version{Path: s.Module, Version: s.Version}
	if err := module.Check(m.Path, m.Version); err != nil {
		return "", "", fault.Usage("write MODULE@VERSION, as in example.org/templates@v1.2.0", "--templates %s: %v", s, err)
	}
	found, err := at.Cached(ctx, gomod.Module{Path: m.Path, Version: m.Version})
	if err != nil {
		return "", "", err
	}
	if found.Dir == "" {
		return "", "", fault.Usage("fetch it: go mod download "+s.String(), "the templates %s are not in the module cache", s)
	}
	sum, err = dirhash.HashDir(found.Dir, m.String(), dirhash.Hash1)
	return found.Dir, sum, err
}

// IsOutside reports whether the shared templates are outside of the project, also through a link.
func (t Team) IsOutside(root string) bool {
	if t.Folder == "" {
		return false
	}
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		return true
	}
	dir, err := filepath.EvalSymlinks(t.Folder)
	if err != nil {
		return true
	}
	rel, err := filepath.Rel(root, dir)
	return err != nil || !filepath.IsLocal(rel)
}
