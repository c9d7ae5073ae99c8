package scaffold

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
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
	a := &transaction{tree: p.tree, doc: journalDoc{Version: journalVersion, Command: p.command, Steps: steps}}
	if err := a.run(ctx); err != nil {
		return err
	}
	a.removeLeftovers(a.dir, a.doc.Steps)
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
			return nil, fmt.Errorf("two planned paths are the same file, %s", s.Path)
		}
		files[s.Path] = true
	}
	for _, s := range steps {
		for d := parent(s.Path); d != ""; d = parent(d) {
			if files[d] {
				return nil, fmt.Errorf("%s is planned as a file, so it cannot contain %s", d, s.Path)
			}
		}
	}
	return steps, nil
}

// untouched is the hint of an error after which everything was restored.
const untouched = "no file was changed"

// transaction is one run of Apply.
type transaction struct {
	*tree
	doc      journalDoc
	dir      string   // the journal's folder
	created  []string // folders made for the journal, parents first
	recorded bool     // pending.json may be in place
}

// run executes the plan, and rolls it back on an error.
func (a *transaction) run(ctx context.Context) error {
	err := a.execute(ctx)
	if err == nil {
		return nil
	}
	// Without a record no project file was touched, and Recover removes the rest of the journal.
	if back := a.revert(); back != nil && a.recorded {
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

func (a *transaction) execute(ctx context.Context) error {
	for _, f := range []func(context.Context) error{a.open, a.stage, a.writeRecord, a.place} {
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

// place creates the folders and renames every staged file to its destination.
func (a *transaction) place(ctx context.Context) error {
	for _, d := range a.doc.Dirs {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := a.fsys.Mkdir(d, 0o755)
		if errors.Is(err, fs.ErrExist) {
			return changedMeanwhile(d)
		}
		if err != nil {
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
		if err := a.stillUnchanged(s); err != nil {
			return err
		}
		if err := a.fsys.Rename(from, to); err != nil {
			return fileError(string(s.Op), s.Path, err)
		}
	}
	return nil
}

// stillUnchanged returns an error if the file of a step changed since stage compared its content:
// flushing the journal can take seconds, in which an editor may save the file.
func (a *transaction) stillUnchanged(s step) error {
	info, err := a.lstat(s.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if s.found == nil {
			return nil
		}
	case err != nil:
		return fileError("stat", s.Path, err)
	case s.found != nil && sameFile(s.found, info):
		return nil
	}
	return changedMeanwhile(s.Path)
}

// sameFile reports whether lstat found the same file twice, without a change of it in between. A
// file of a file system in memory has no identity.
func sameFile(a, b fs.FileInfo) bool {
	return a.Mode() == b.Mode() && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) &&
		(os.SameFile(a, b) || !os.SameFile(a, a))
}

// revert undoes everything that execute did.
func (a *transaction) revert() error {
	var err error
	switch {
	case a.recorded:
		err = a.rollback(a.dir, &a.doc)
	case slices.Contains(a.created, a.dir):
		err = a.discard(a.dir)
	}
	for _, d := range slices.Backward(a.created) {
		if err == nil {
			_, err = a.removeEmpty(d)
		}
	}
	return err
}

// removeLeftovers removes what a finished command leaves: the folders that it emptied,
// empty folders of its journal, and old journals. Errors are ignored, because the
// leftovers are harmless. stagedDir goes last: if it exists, a killed command was not
// done, and Recover repeats this. Without it, an empty folder is the user's.
func (t *tree) removeLeftovers(dir string, steps []step) {
	for _, s := range steps {
		for d := parent(s.Path); s.Op == Delete && d != ""; d = parent(d) {
			_, err := t.removeEmpty(d)
			if missing, statErr := t.missing(d); err != nil || statErr != nil || !missing {
				break
			}
		}
	}
	for _, kind := range []string{beforeDir, stagedDir} {
		_, _ = t.removeEmpty(path.Join(dir, kind))
	}
	t.prune()
}
