// Package scaffold plans changes to the files of a project and applies them
// all or none. A Plan holds every change in memory, so that dry runs, diffs
// and later commands can look at it; Apply is the only writer. The package
// knows neither templates nor Kubernetes.
//
// Every method works on slash-separated paths relative to the root of an
// afero.Fs. A path never leads into .git or .operon, nor through a symbolic
// link out of the root.
//
// # What operon keeps in a project
//
//	.operon/base/<path>.base   the pristine content of each seeded file (committed)
//	.operon/generated.json     path, generator and SHA-256 of each generated file (committed)
//	.operon/journal/<n>/       plan.json and the old contents, of the last 20 commands (ignored by git)
//
// # What Apply protects from
//
// An error, a full disk, a cancelled context: Apply puts everything back
// before it returns. Going back takes only renames and removals.
//
// The death of the process at any point: Recover, which the next command
// calls, puts everything back.
//
// A power failure: the journal, and both versions of each file that existed
// before, are on the disk before the first file is touched; afterwards
// each of them has its old or its new content. New files are not waited for
// (that would cost a flush for each), so the files that were created in the
// seconds before a power failure may come out empty.
package scaffold

import (
	"bytes"
	"fmt"
	"io/fs"
	"slices"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/spf13/afero"
)

// Class says whose a file is.
type Class string

// The classes.
const (
	Seeded    Class = "seeded"    // the user's after the first write
	Shared    Class = "shared"    // created when missing, afterwards only edited
	Generated Class = "generated" // derived from other files, always replaced
)

// Options of a plan.
type Options struct {
	// Force replaces seeded files that the user changed. Their old content
	// stays in the journal.
	Force bool
	// KeepDeleted leaves seeded files away that an earlier command wrote and the
	// user deleted. Without it, they are created again.
	KeepDeleted bool
	// Command is the command line, for the journal.
	Command string
}

// Warning is something that the user should know about a source file. Line and
// Column start at 1; 0 means that they are not known. Message is one line; Lines
// are those to add to the file by hand, as they would stand there, or empty.
type Warning struct {
	File    string
	Line    int
	Column  int
	Rule    string
	Message string
	Lines   string
}

// String returns the warning as compilers write one: file:line:column: message
// (rule), with line and column as far as they are known. The lines to add are
// not part of it.
func (w Warning) String() string {
	place := w.File
	if w.Line > 0 {
		place += fmt.Sprintf(":%d", w.Line)
		if w.Column > 0 {
			place += fmt.Sprintf(":%d", w.Column)
		}
	}
	if place != "" {
		place += ": "
	}
	return place + w.Message + " (" + w.Rule + ")"
}

// Recorded is a generated file that an earlier command wrote.
type Recorded struct {
	Path      string
	Generator string
	SHA256    string // of the content as it was written, in hex
}

// Plan is a set of changes that is not yet written. It is meant for one
// command: make it, fill it, apply it once.
type Plan struct {
	tree     *tree
	force    bool
	deleted  bool // Options.KeepDeleted
	command  string
	entries  map[string]*entry
	standing map[string]bool // generated files that stay, by path
	records  records
	stored   []byte // generated.json as it is on disk
	warnings []Warning
	printed  bytes.Buffer
	sources  []func() ([]string, bool) // see DependsOn
}

// New returns an empty plan over the project in fsys. The caller holds the
// Lock and has called Recover; a project that an interrupted command left half
// written is refused.
func New(fsys afero.Fs, o Options) (*Plan, error) {
	p := &Plan{tree: newTree(fsys), force: o.Force, deleted: o.KeepDeleted, command: o.Command, entries: map[string]*entry{}, standing: map[string]bool{}}
	if err := checkFinished(p.tree); err != nil {
		return nil, err
	}
	var err error
	if p.stored, err = p.tree.state(recordsFile); err != nil {
		return nil, err
	}
	if p.records, err = parseRecords(p.stored); err != nil {
		return nil, err
	}
	return p, nil
}

// Seed plans a file that is the user's once it is written: Decide tells what
// becomes of it, as earlier moves and edits of the same plan have left it and
// its base. Edits that follow in the same plan belong to the pristine
// file. To seed a path again with the same content changes nothing; with other
// content it is an error. Only the executable bit of mode counts, and only for
// a file that is created or replaced by force.
func (p *Plan) Seed(path string, mode fs.FileMode, content []byte) error {
	e, err := p.entry(path)
	if err != nil {
		return err
	}
	switch {
	case e.class == Seeded && bytes.Equal(e.seed, content):
		return nil
	case e.class == Seeded:
		return fault.Failed("", "%s is planned twice with different content", path)
	case e.class != "":
		return fault.Failed("", "%s is planned as a %s and as a seeded file", path, e.class)
	}
	if e.moved == "" {
		e.mode = fileMode(mode)
	}
	e.class, e.generator, e.from = Seeded, "", e.pristine
	e.gone = p.deleted && e.content == nil && e.from != nil
	e.seed = present(bytes.Clone(content))
	e.pristine = e.seed
	return nil
}

// Share plans a file that several commands add to: it is created when it is
// missing, and otherwise stays as it is, on disk or in this plan.
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

// Generate plans a file that is derived from others. It replaces whatever is
// there, and generator and hash are recorded, so that a later command can tell
// whether the file is still its own. A file whose content is the same already
// is no change.
func (p *Plan) Generate(generator, path string, content []byte) error {
	e, err := p.entry(path)
	if err != nil {
		return err
	}
	if e.class != "" && e.class != Generated {
		return fault.Failed("", "%s is planned as a %s and as a generated file", path, e.class)
	}
	if generator == "" {
		return fault.Failed("", "%s is generated by a generator without a name", path)
	}
	e.class, e.mode, e.generator = Generated, fileMode(0), generator
	e.content, e.pristine = present(bytes.Clone(content)), nil
	return nil
}

// Edit plans a change to a file that exists, on disk or in this plan. f gets
// the content and returns the new one; it may be called twice, and its error
// is returned as it is.
//
// A file that this plan seeds has its pristine content edited, and Decide then
// brings the edit to the user's file. Any other file is edited itself, and its
// base alike, so that a later merge does not see the edit as the user's; a
// base on which f fails, because it lacks the place to edit, stays.
//
// The error wraps fs.ErrNotExist when the file does not exist.
func (p *Plan) Edit(path string, f func([]byte) ([]byte, error)) error {
	e, err := p.entry(path)
	if err != nil {
		return err
	}
	if !e.exists(p.force) && !e.gone {
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

// EditBase applies to the pristine content of a file an edit that Edit made in
// another file, where the user moved the lines. A file without pristine content
// stays, and so does content on which f fails.
func (p *Plan) EditBase(path string, f func([]byte) ([]byte, error)) error {
	e, err := p.entry(path)
	if err != nil || e.pristine == nil {
		return err
	}
	if next, err := f(bytes.Clone(e.pristine)); err == nil {
		e.pristine = present(next)
	}
	return nil
}

// Remove plans that nothing stands at path, and forgets what operon knew of
// it. A file that is already missing is no error.
func (p *Plan) Remove(path string) error {
	e, err := p.entry(path)
	if err != nil {
		return err
	}
	e.class, e.content, e.pristine, e.generator, e.edited, e.moved, e.gone = "", nil, nil, "", false, "", false
	return nil
}

// Read returns the content of a file as it will be after Apply. A file in
// conflict reads as it is on disk. The error wraps fs.ErrNotExist when there
// will be no such file.
func (p *Plan) Read(path string) ([]byte, error) {
	e, err := p.entry(path)
	if err != nil {
		return nil, err
	}
	_, content := e.outcome(p.force)
	if content == nil {
		return nil, notExist(path)
	}
	return bytes.Clone(content), nil
}

// Exists reports whether there will be a file at path after Apply.
func (p *Plan) Exists(path string) bool {
	e, err := p.entry(path)
	return err == nil && e.exists(p.force)
}

// Warn adds a warning, once.
func (p *Plan) Warn(w Warning) {
	if !slices.Contains(p.warnings, w) {
		p.warnings = append(p.warnings, w)
	}
}

// Warnings returns the warnings in the order in which they came.
func (p *Plan) Warnings() []Warning { return slices.Clone(p.warnings) }

// Print adds to the text that is the command's result on stdout, for what
// belongs to no file.
func (p *Plan) Print(text []byte) { p.printed.Write(text) }

// Printed returns that text.
func (p *Plan) Printed() []byte { return p.printed.Bytes() }

func notExist(path string) error {
	return fault.In(path, fs.ErrNotExist)
}

// fileMode reduces a mode to the two that are created.
func fileMode(m fs.FileMode) fs.FileMode {
	if m&0o111 != 0 {
		return 0o755
	}
	return 0o644
}
