// Package scaffold plans changes to the files of a project and applies them
// atomically. A Plan holds all changes in memory, so that dry runs and diffs can
// read them. Apply is the only writer. The package does not depend on templates
// or Kubernetes.
//
// All paths are slash-separated and relative to the root of an afero.Fs. A path
// must not be in .git or .operon, nor leave the root through a symbolic link.
//
// # State in a project
//
//	.operon/base.lines        the pristine content of each seeded file (committed)
//	.operon/generated.json    path, generator and SHA-256 of each generated file (committed)
//	.operon/journal/<n>/      plan.json and the old contents of the last 20 commands (ignored by git)
//
// # Failures
//
// On an error, a full disk or a cancelled context, Apply restores everything
// before it returns. Restoring needs only renames and removals.
//
// If the process is killed at any point, the next command calls Recover, which
// restores everything.
//
// On a power failure, each existing file has its old or its new content: the
// journal and both versions of the file are flushed before the first project
// file changes. New files are not flushed, because each flush is slow. Files that
// were created seconds before a power failure may be empty.
package scaffold

import (
	"bytes"
	"fmt"
	"io/fs"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/spf13/afero"
)

// Class says who owns a file.
type Class string

// The classes.
const (
	Seeded    Class = "seeded"    // belongs to the user after the first write
	Shared    Class = "shared"    // created if missing, then only edited
	Generated Class = "generated" // derived from other files, always replaced
)

// Options of a plan.
type Options struct {
	// Force replaces seeded files that the user changed. Their old content
	// stays in the journal.
	Force bool
	// Restore has paths of files and folders; "." is the project. Seeded files there
	// that the user deleted are created again. Other plans leave them deleted.
	Restore []string
	// Command is the command line, for the journal.
	Command string
}

// Recorded is a generated file that an earlier command wrote.
type Recorded struct {
	Path      string
	Generator string
	SHA256    string // of the written content, in hex
}

// Plan is a set of changes that are not written yet. A command makes one, fills
// it and applies it once.
type Plan struct {
	tree     *tree
	force    bool
	command  string
	entries  map[string]*entry
	kept     map[string]bool // generated files that stay, by path
	bases    bases
	records  records
	recorded []Recorded             // records, once Recorded has sorted them
	stored   []byte                 // generated.json as it is on disk
	added    func(path string) bool // see Adds
	warnings []Warning
	printed  bytes.Buffer
	sources  []func() ([]string, bool) // see DependsOn
	read     []string                  // see DependsOnFiles
	// templates opens UseTemplates'; nil: operon's own.
	templates func() (fs.FS, error)
}

// New returns an empty plan for the project in fsys. The caller holds the Lock
// and has called Recover: New fails if an interrupted command left the project
// half written.
func New(fsys afero.Fs, o Options) (*Plan, error) {
	t := newTree(fsys)
	p := &Plan{
		tree: t, bases: bases{tree: t}, force: o.Force, command: o.Command,
		entries: map[string]*entry{}, kept: map[string]bool{}, added: func(string) bool { return false },
	}
	if err := checkFinished(p.tree); err != nil {
		return nil, err
	}
	var err error
	if p.stored, err = p.tree.state(recordsFile); err != nil {
		return nil, err
	}
	doc, err := parseRecords(p.stored)
	p.records = doc.Files
	if err != nil {
		return nil, err
	}
	return p, p.restore(o.Restore)
}

// Seed plans a file that belongs to the user after the first write. Decide
// determines the result from the file and its base, including earlier moves and
// edits of the same plan. Later edits in the same plan change the pristine
// content. Seeding a path again with the same content has no effect; with other
// content it is an error. Only the executable bit of mode counts, and only for
// a file that is created or replaced by force.
func (p *Plan) Seed(path string, mode fs.FileMode, content []byte) error {
	e, err := p.based(path)
	if err != nil {
		return err
	}
	switch {
	case e.class == Seeded && bytes.Equal(e.seed, content):
		return nil
	case e.class == Seeded:
		return fmt.Errorf("%s is planned twice, with different content", path)
	case e.class != "":
		return fmt.Errorf("%s is planned as a %s and as a seeded file", path, e.class)
	}
	if e.movedFrom == "" {
		e.mode = fileMode(mode)
	}
	e.class, e.generator, e.currentBase = Seeded, "", e.pristine
	e.deleted = e.content == nil && e.currentBase != nil && !e.restore && !p.added(path)
	e.seed = present(bytes.Clone(content))
	e.pristine = e.seed
	return nil
}

// Share plans a file that several commands add to. It is created if it does not
// exist on disk or in this plan, and otherwise stays unchanged.
func (p *Plan) Share(path string, mode fs.FileMode, content []byte) error {
	e, err := p.entry(path)
	if err != nil {
		return err
	}
	if e.class == "" {
		e.class = Shared
	}
	if !e.exists(p.force) {
		e.class, e.mode, e.content, e.generator = Shared, fileMode(mode), present(bytes.Clone(content)), ""
	}
	return nil
}

// Generate plans a file that is derived from others. It replaces an existing
// file. The generator and the hash are recorded, so that a later command can
// detect changes by the user. A file with the same content does not change. A new file that this
// plan shares has the content with which it starts: the generator takes it over.
func (p *Plan) Generate(generator, path string, content []byte) error {
	e, err := p.entry(path)
	if err != nil {
		return err
	}
	if e.class != "" && e.class != Generated && (e.class != Shared || e.disk != nil) {
		return fmt.Errorf("%s is planned as a %s and as a generated file", path, e.class)
	}
	if generator == "" {
		return fmt.Errorf("the generator of %s has no name", path)
	}
	e.class, e.mode, e.generator = Generated, fileMode(0), generator
	e.content, e.pristine = present(bytes.Clone(content)), nil
	return nil
}

// Edit plans a change to a file that exists on disk or in this plan. f receives
// the content and returns the new content. f may be called twice; Edit returns
// its error unchanged.
//
// For a file that this plan seeds, Edit changes the pristine content, and
// Decide merges the edit into the user's file. For any other file, Edit changes
// the file and its base, so that a later merge does not attribute the edit to
// the user. The base stays unchanged if f fails on it because it lacks the
// place to edit.
//
// The error wraps fs.ErrNotExist if the file does not exist.
func (p *Plan) Edit(path string, f func([]byte) ([]byte, error)) error {
	e, err := p.based(path)
	if err != nil {
		return err
	}
	e.restored()
	switch {
	case e.exists(p.force) || e.deleted:
	case e.pristine != nil:
		return &fault.Error{Code: fault.CodeFailed, Msg: path + " is missing", Err: fs.ErrNotExist,
			Hint: "repeat the command with --restore " + path + ", or move its code back there"}
	default:
		return notExist(path)
	}
	if e.class == Seeded {
		next, err := f(bytes.Clone(e.pristine))
		if err != nil {
			return err
		}
		e.pristine = present(next)
		return nil
	}
	next, err := f(bytes.Clone(e.content))
	if err != nil {
		return err
	}
	e.content, e.edited = present(next), true
	return p.EditBase(path, f)
}

// EditBase applies an edit to the pristine content of a file, after Edit made
// it in another file to which the user moved the lines. It has no effect if
// there is no pristine content, or if f fails on it.
func (p *Plan) EditBase(path string, f func([]byte) ([]byte, error)) error {
	e, err := p.based(path)
	if err != nil || e.pristine == nil {
		return err
	}
	if next, err := f(bytes.Clone(e.pristine)); err == nil {
		e.pristine = present(next)
	}
	return nil
}

// Remove plans to delete the file at path, with its base and its record. A
// missing file is not an error.
func (p *Plan) Remove(path string) error {
	e, err := p.based(path)
	if err != nil {
		return err
	}
	e.class, e.content, e.pristine, e.rewritten, e.generator = "", nil, nil, nil, ""
	e.edited, e.movedFrom, e.deleted, e.restore = false, "", false, false
	return nil
}

// Read returns the content that a file will have after Apply. For a file in
// conflict it returns the content on disk. The error wraps fs.ErrNotExist if
// the file will not exist.
func (p *Plan) Read(path string) ([]byte, error) {
	e, err := p.entry(path)
	if err != nil {
		return nil, err
	}
	e.restored()
	_, content := e.outcome(p.force)
	if content == nil {
		return nil, notExist(path)
	}
	return bytes.Clone(content), nil
}

// Unreadable returns an error if a file that was read is not regular or too large.
func (p *Plan) Unreadable() error { return p.tree.unreadable }

// Exists reports whether the file at path will exist after Apply.
func (p *Plan) Exists(path string) bool {
	e, err := p.entry(path)
	return err == nil && e.exists(p.force)
}

func notExist(path string) error {
	return fault.In(path, fs.ErrNotExist)
}

// fileMode returns 0o755 for executables and 0o644 for all other files.
func fileMode(m fs.FileMode) fs.FileMode {
	if m&0o111 != 0 {
		return 0o755
	}
	return 0o644
}
