package scaffold

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
)

// Apply writes the whole plan or nothing. When it fails or ctx is cancelled, it
// restores files, folders and modes before it returns; errors.Is finds the
// error of the context. It rejects a plan with conflicts, and files that
// changed after the plan read them. A plan without changes writes nothing.
func (p *Plan) Apply(ctx context.Context) error {
	if names := p.Conflicts(); len(names) > 0 {
		return fault.Differences("move them away, or use --force to replace them",
			"these files exist and differ: %s", strings.Join(names, ", "))
	}
	steps, err := p.steps()
	if err != nil || len(steps) == 0 {
		return err
	}
	a := &application{tree: p.tree, doc: journalDoc{Version: journalVersion, Command: p.command, Steps: steps}}
	if err := a.run(ctx); err != nil {
		return err
	}
	a.tidy()
	return nil
}

// steps returns the writes of the plan, sorted by path. It fails when two of
// them contradict each other.
func (p *Plan) steps() ([]step, error) {
	var steps []step
	for _, c := range p.Changes() {
		if c.Op == Keep {
			continue
		}
		s := step{Path: p.entries[c.Path].real, Op: c.Op, before: c.Before, after: c.After, mode: c.Mode}
		switch c.Op {
		case Delete: // removes a link, not its target
			var err error
			if s.Path, _, err = p.tree.resolve(c.Path, false); err != nil {
				return nil, err
			}
		case Move: // two files on disk; the new one has the user's text
			steps = append(steps, step{Path: p.entries[c.From].real, Op: Delete, before: c.Before, mode: c.Mode})
			s.Op, s.before, s.users = Create, nil, true
		}
		steps = append(steps, s)
	}
	state, err := p.stateSteps(len(steps) > 0)
	if err != nil {
		return nil, err
	}
	steps = append(steps, state...)
	slices.SortFunc(steps, func(a, b step) int { return cmp.Compare(a.Path, b.Path) })
	files := map[string]bool{}
	for i, s := range steps {
		steps[i].Before, steps[i].After = hashOrNone(s.before), hashOrNone(s.after)
		if files[s.Path] {
			return nil, fault.Failed("", "two planned paths are the same file, %s", s.Path)
		}
		files[s.Path] = true
	}
	for _, s := range steps {
		for d := parent(s.Path); d != ""; d = parent(d) {
			if files[d] {
				return nil, fault.Failed("", "%s is planned as a file, so it cannot contain %s", d, s.Path)
			}
		}
	}
	return steps, nil
}

// untouched is the hint of an error after which everything was restored.
const untouched = "no file was changed"

// application is one run of Apply.
type application struct {
	*tree
	doc   journalDoc
	dir   string   // the journal's folder
	made  []string // folders made for the journal, parents first
	armed bool     // pending.json may be in place
}

// run executes the plan, and rolls it back on an error.
func (a *application) run(ctx context.Context) error {
	err := a.forward(ctx)
	if err == nil {
		return nil
	}
	// Without a record no project file was touched, and Recover removes the rest of the journal.
	if back := a.back(); back != nil && a.armed {
		return &fault.Error{
			Code: fault.CodeFailed, Err: errors.Join(err, back),
			Msg:  "the project is half written",
			Hint: "the old files are in " + a.dir + "; the next command puts them back",
		}
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return &fault.Error{Code: fault.CodeFailed, Msg: "interrupted", Err: err, Hint: untouched}
	}
	return &fault.Error{Code: fault.Code(err), Err: err, Hint: cmp.Or(fault.HintOf(err), untouched)}
}

func (a *application) forward(ctx context.Context) error {
	for _, f := range []func(context.Context) error{a.open, a.stage, a.arm, a.place} {
		if err := f(ctx); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	// This rename commits the command.
	pending := path.Join(a.dir, pendingFile)
	if err := a.fsys.Rename(pending, path.Join(a.dir, finishedFile)); err != nil {
		return fileError("finish", pending, err)
	}
	return nil
}

// open creates the folders of a new journal.
func (a *application) open(ctx context.Context) error {
	numbers, err := a.journals()
	if err != nil {
		return err
	}
	n := 1
	if len(numbers) > 0 {
		n = numbers[len(numbers)-1] + 1
	}
	a.dir = journalPath(n)
	for _, d := range []string{stateDir, journalDir, a.dir, path.Join(a.dir, stagedDir), path.Join(a.dir, beforeDir)} {
		if err := ctx.Err(); err != nil {
			return err
		}
		gone, err := a.missing(d)
		if err != nil {
			return fileError("look at", d, err)
		}
		if !gone {
			continue
		}
		a.made = append(a.made, d) // before Mkdir: some file systems report an error although they created the folder
		if err := a.fsys.Mkdir(d, 0o755); err != nil {
			return fileError("create folder", d, err)
		}
	}
	return nil
}

// stage checks that no file changed since the plan read it. It writes the new
// content and a copy of the old content to the journal.
func (a *application) stage(ctx context.Context) error {
	out := stager{fsys: a.fsys}
	defer func() { _ = out.close() }()
	planned := map[string]bool{}
	for i, s := range a.doc.Steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		mode, err := a.unchanged(s)
		if err != nil {
			return err
		}
		if err := a.folders(s.Path, planned); err != nil {
			return err
		}
		if err := out.step(a.dir, i, s, mode); err != nil {
			return fileError("write", s.Path, err)
		}
	}
	if err := out.flush(); err != nil {
		return fileError("flush", a.dir, err)
	}
	return nil
}

// folders records the missing folders above name, parents first. planned holds
// the folders that are already recorded.
func (a *application) folders(name string, planned map[string]bool) error {
	first := len(a.doc.Dirs)
	for d := parent(name); d != "" && !a.dirs[d] && !planned[d]; d = parent(d) {
		gone, err := a.missing(d)
		if err != nil {
			return fileError("look at", d, err)
		}
		if !gone {
			break
		}
		planned[d] = true
		a.doc.Dirs = slices.Insert(a.doc.Dirs, first, d)
	}
	return nil
}

// unchanged returns the mode of the file of a step, or an error if the file
// changed since the plan read it.
func (a *application) unchanged(s step) (fs.FileMode, error) {
	info, err := a.lstat(s.Path)
	var now string
	if err == nil {
		now, err = a.hashOf(s.Path, info)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist) && s.before == nil:
		return s.mode, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return 0, fileError("read", s.Path, err)
	case now == s.Before || now == isLink && s.Op == Delete:
		return info.Mode() & permissions, nil
	}
	return 0, fault.Failed("run the command again", "%s changed while the command was running", s.Path)
}

// arm writes the record of the journal. When it returns, everything needed to
// restore existing files is durable.
func (a *application) arm(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	src, err := json.MarshalIndent(a.doc, "", "  ")
	if err != nil {
		return err
	}
	out := stager{fsys: a.fsys}
	defer func() { _ = out.close() }()
	pending := path.Join(a.dir, pendingFile)
	if err := out.write(pending+".tmp", append(src, '\n'), 0o644, durable); err != nil {
		return fileError("write", pending, err)
	}
	if err := out.flush(); err != nil {
		return fileError("write", pending, err)
	}
	a.armed = true
	if err := a.fsys.Rename(pending+".tmp", pending); err != nil {
		return fileError("write", pending, err)
	}
	if slices.ContainsFunc(a.doc.Steps, func(s step) bool { return s.before != nil }) {
		return a.syncDirs()
	}
	return nil
}

// syncDirs makes the directory entries of the journal durable.
func (a *application) syncDirs() error {
	if runtime.GOOS == "windows" { // which cannot flush a folder
		return nil
	}
	dirs := []string{path.Join(a.dir, stagedDir), path.Join(a.dir, beforeDir)}
	for _, d := range a.made {
		dirs = append(dirs, cmp.Or(parent(d), "."))
	}
	slices.Sort(dirs)
	for _, d := range slices.Compact(dirs) {
		f, err := a.fsys.Open(d)
		if err != nil {
			return fileError("open folder", d, err)
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			return fileError("flush folder", d, err)
		}
	}
	return nil
}

// place creates the folders and renames every staged file to its destination.
func (a *application) place(ctx context.Context) error {
	for _, d := range a.doc.Dirs {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := a.fsys.Mkdir(d, 0o755); err != nil {
			return fileError("create folder", d, err)
		}
	}
	for i, s := range a.doc.Steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		from, to := numbered(a.dir, stagedDir, i), s.Path
		if s.Op == Delete {
			from, to = s.Path, numbered(a.dir, beforeDir, i)
		}
		if err := a.fsys.Rename(from, to); err != nil {
			return fileError(string(s.Op), s.Path, err)
		}
	}
	return nil
}

// back undoes everything that forward did.
func (a *application) back() error {
	var err error
	switch {
	case a.armed:
		err = a.rollback(a.dir, &a.doc)
	case slices.Contains(a.made, a.dir):
		err = a.discard(a.dir)
	}
	for _, d := range slices.Backward(a.made) {
		if err == nil {
			_, err = a.removeEmpty(d)
		}
	}
	return err
}

// tidy removes leftovers of a finished command. Its errors are ignored: the
// leftovers are harmless, and prune removes them later.
func (a *application) tidy() {
	for _, kind := range []string{stagedDir, beforeDir} {
		_, _ = a.removeEmpty(path.Join(a.dir, kind))
	}
	for _, s := range a.doc.Steps {
		for d := parent(s.Path); s.Op == Delete && d != ""; d = parent(d) {
			if removed, err := a.removeEmpty(d); err != nil || !removed {
				break
			}
		}
	}
	a.prune()
}
