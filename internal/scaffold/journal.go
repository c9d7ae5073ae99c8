package scaffold

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/spf13/afero"
)

// A journal is the folder of one command under journalDir:
//
//	staged/<i>     the new content of step i, until it is renamed into place
//	before/<i>     the old file of step i
//	pending.json   the record, while the command writes to the project
//	plan.json      the record, after the command finished
//	reverted.json  the record, after a rollback that kept a file the user changed
//
// A rename creates the record as pending.json before the first project file
// changes, and another one turns it into plan.json after the last: a folder
// without a record has not touched the project.
const (
	journalDir   = stateDir + "/journal"
	stagedDir    = "staged"
	beforeDir    = "before"
	pendingFile  = "pending.json"
	finishedFile = "plan.json"
	revertedFile = "reverted.json"

	journalVersion = 1
	keptJournals   = 20
)

// journalDoc is the record of a journal.
type journalDoc struct {
	Version int      `json:"version"`
	Command string   `json:"command,omitempty"`
	Dirs    []string `json:"dirs,omitempty"` // folders to create, parents first
	Steps   []step   `json:"steps"`
}

// step is one file of a journal. Its index in the list names its files in
// staged and before.
type step struct {
	Path   string `json:"path"` // with links resolved
	Op     Op     `json:"op"`   // create, update or delete
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"` // SHA-256 of the contents, in hex

	before, after []byte
	mode          fs.FileMode // after the step
	found         fs.FileInfo // of the old file when its content was compared; nil: none
	users         bool        // operon cannot reproduce the new content
}

func numbered(dir, kind string, i int) string {
	return path.Join(dir, kind, fmt.Sprintf("%04d", i))
}

// journals returns the numbers of the existing journals, ascending.
func (t *tree) journals() ([]int, error) {
	resolved, info, err := t.resolve(journalDir, false)
	switch {
	case err != nil:
		return nil, err
	case resolved != journalDir || info != nil && !info.IsDir():
		return nil, fault.Failed("remove it, then repeat the command", "%s must be a folder, not reached through a symbolic link", journalDir)
	case info == nil:
		return nil, nil
	}
	entries, err := t.readDir(journalDir)
	if err != nil {
		return nil, fileError("list", journalDir, err)
	}
	var numbers []int
	for _, entry := range entries {
		n, err := strconv.Atoi(entry.Name())
		if err == nil && entry.IsDir() && entry.Name() == path.Base(journalPath(n)) {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

func journalPath(n int) string { return fmt.Sprintf("%s/%06d", journalDir, n) }

// checkFinished returns an error for a project with an unfinished journal. Only
// the last journal can be unfinished, because every command recovers first.
func checkFinished(t *tree) error {
	numbers, err := t.journals()
	if err != nil || len(numbers) == 0 {
		return err
	}
	dir := journalPath(numbers[len(numbers)-1])
	done, err := t.missing(path.Join(dir, pendingFile))
	if err != nil {
		return fileError("stat", dir, err)
	}
	if !done {
		return fault.Failed("run a command without --dry-run: it restores the files first",
			"an interrupted command left the project half written (%s)", dir)
	}
	return nil
}

// Recover restores a project after a command was killed while writing, and
// reports whether there was anything to do. The caller holds the Lock and has
// not yet called New. Recover can be interrupted at any point and repeated.
//
// A file that was changed after the interruption belongs to the user and stays;
// the journal then keeps its old content.
func Recover(fsys afero.Fs) (bool, error) {
	t := newTree(fsys)
	numbers, err := t.journals()
	if err != nil {
		return false, err
	}
	recovered := false
	for _, n := range slices.Backward(numbers) {
		unfinished, err := t.recoverJournal(journalPath(n))
		recovered = recovered || unfinished
		if err != nil {
			return recovered, err
		}
	}
	if !recovered && len(numbers) > 0 {
		return false, nil
	}
	// Empty folders remain if the command was killed before the first journal was complete.
	for _, d := range []string{journalDir, stateDir} {
		removed, err := t.removeEmpty(d)
		if err != nil {
			return recovered, fileError("remove", d, err)
		}
		recovered = recovered || removed
	}
	return recovered, nil
}

// recoverJournal restores what an unfinished journal changed. It reports whether the
// journal was unfinished.
func (t *tree) recoverJournal(dir string) (bool, error) {
	for _, name := range []string{finishedFile, revertedFile} {
		missing, err := t.missing(path.Join(dir, name))
		if err != nil {
			return false, fileError("stat", dir, err)
		}
		if !missing {
			t.finish(dir)
			return false, nil
		}
	}
	doc, recorded, err := t.record(dir, pendingFile)
	if err != nil {
		return false, err
	}
	if !recorded {
		return true, t.discard(dir)
	}
	return true, t.rollback(dir, &doc)
}

// finish removes the leftovers of a command that was killed after it finished.
func (t *tree) finish(dir string) {
	if done, err := t.missing(path.Join(dir, stagedDir)); err != nil || done {
		return
	}
	if doc, recorded, err := t.record(dir, finishedFile); err == nil && recorded {
		t.removeLeftovers(dir, doc.Steps)
	}
}

// record reads the record of a journal. recorded is false if there is none. The
// record is not trusted: its paths must stay inside the project.
func (t *tree) record(dir, file string) (doc journalDoc, recorded bool, err error) {
	src, err := t.state(path.Join(dir, file))
	if err != nil || src == nil {
		return doc, false, err
	}
	err = json.Unmarshal(src, &doc)
	if err == nil && doc.Version != journalVersion {
		err = fmt.Errorf("version %d; this operon supports version %d", doc.Version, journalVersion)
	}
	for _, s := range doc.Steps {
		err = errors.Join(err, t.checkStep(s.Path))
	}
	for _, d := range doc.Dirs {
		err = errors.Join(err, t.checkStep(d))
	}
	if err != nil {
		f := fault.Failed("compare the files with version control, then delete "+dir,
			"the journal of an interrupted command, %s, is damaged", path.Join(dir, file))
		f.Err = err
		return doc, false, f
	}
	return doc, true, nil
}

// checkStep accepts the paths that Apply can record: paths of plans and of
// operon's state, with links resolved.
func (t *tree) checkStep(name string) error {
	if name != stateDir && !strings.HasPrefix(name, stateDir+"/") {
		if err := checkName(name); err != nil {
			return err
		}
	} else if err := checkLocal(name); err != nil || strings.HasPrefix(name+"/", journalDir+"/") {
		return errors.Join(err, fmt.Errorf("path %q is in the journal", name))
	}
	resolved, _, err := t.resolve(name, false)
	if err == nil && resolved != name {
		err = outsideRoot(name)
	}
	return err
}

// prune removes all but the last keptJournals journals. Errors are ignored,
// because the next command tries again.
func (t *tree) prune() {
	numbers, err := t.journals()
	if err != nil || len(numbers) <= keptJournals {
		return
	}
	for _, n := range numbers[:len(numbers)-keptJournals] {
		_ = t.fsys.RemoveAll(journalPath(n))
	}
}
