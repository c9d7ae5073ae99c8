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
//	pending.json   the record, while the tree may be half written
//	plan.json      the record, once the command is finished
//	reverted.json  the record, when going back left a file to the user
//
// The record appears as pending.json in one rename before the first file of
// the tree is touched, and becomes plan.json in one rename after the last: a
// folder without any record has touched nothing.
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
	Dirs    []string `json:"dirs,omitempty"` // folders that are created, parents first
	Steps   []step   `json:"steps"`
}

// step is one file of a journal; its place in the list names its files in
// staged and before.
type step struct {
	Path   string `json:"path"` // with links followed
	Op     Op     `json:"op"`   // create, update or delete
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"` // SHA-256 of the contents, in hex

	before, after []byte
	mode          fs.FileMode // of the file after the step
	users         bool        // after holds what only the user can write again
}

func numbered(dir, kind string, i int) string {
	return path.Join(dir, kind, fmt.Sprintf("%04d", i))
}

// journals returns the numbers in use, ascending.
func (t *tree) journals() ([]int, error) {
	resolved, info, err := t.resolve(journalDir, false)
	switch {
	case err != nil:
		return nil, err
	case resolved != journalDir || info != nil && !info.IsDir():
		return nil, fault.Failed("", "%s must be a folder, and no link may lead to it", journalDir)
	case info == nil:
		return nil, nil
	}
	infos, err := t.readDir(journalDir)
	if err != nil {
		return nil, fileError("list", journalDir, err)
	}
	var numbers []int
	for _, info := range infos {
		n, err := strconv.Atoi(info.Name())
		if err == nil && info.IsDir() && info.Name() == path.Base(journalPath(n)) {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

func journalPath(n int) string { return fmt.Sprintf("%s/%06d", journalDir, n) }

// checkFinished refuses a project with an unfinished journal. Only the last
// journal can be one, for no command starts above it.
func checkFinished(t *tree) error {
	numbers, err := t.journals()
	if err != nil || len(numbers) == 0 {
		return err
	}
	dir := journalPath(numbers[len(numbers)-1])
	done, err := t.missing(path.Join(dir, pendingFile))
	if err != nil {
		return fileError("look at", dir, err)
	}
	if !done {
		return fault.Failed("run a command without --dry-run: it restores the files first",
			"an interrupted command left the project half written (%s)", dir)
	}
	return nil
}

// Recover puts back what a command left half written when its process died,
// and reports whether there was anything to do. It must be called under the
// Lock and before New. It can itself be interrupted at any point and called
// again.
//
// A file that was changed after the interruption is the user's and stays; its
// old content is then kept in the journal.
func Recover(fsys afero.Fs) (bool, error) {
	t := newTree(fsys)
	numbers, err := t.journals()
	if err != nil {
		return false, err
	}
	did := false
	for _, n := range slices.Backward(numbers) {
		again, err := t.recoverJournal(journalPath(n))
		did = did || again
		if err != nil {
			return did, err
		}
	}
	if !did && len(numbers) > 0 {
		return false, nil
	}
	// What is left when even the first journal was cut short: empty folders.
	for _, d := range []string{journalDir, stateDir} {
		removed, err := t.removeEmpty(d)
		if err != nil {
			return did, fileError("remove", d, err)
		}
		did = did || removed
	}
	return did, nil
}

func (t *tree) recoverJournal(dir string) (bool, error) {
	for _, name := range []string{finishedFile, revertedFile} {
		gone, err := t.missing(path.Join(dir, name))
		if err != nil {
			return false, fileError("look at", dir, err)
		}
		if !gone {
			return false, nil
		}
	}
	doc, err := t.pending(dir)
	if err != nil {
		return false, err
	}
	if doc == nil {
		return true, t.discard(dir)
	}
	return true, t.rollback(dir, doc)
}

// pending reads the record of an unfinished journal; nil when there is none.
// The record is not trusted: it must not reach out of the project.
func (t *tree) pending(dir string) (*journalDoc, error) {
	src, err := t.state(path.Join(dir, pendingFile))
	if err != nil || src == nil {
		return nil, err
	}
	var doc journalDoc
	err = json.Unmarshal(src, &doc)
	if err == nil && doc.Version != journalVersion {
		err = fmt.Errorf("version %d, this operon knows %d", doc.Version, journalVersion)
	}
	for _, s := range doc.Steps {
		err = errors.Join(err, t.checkStep(s.Path))
	}
	for _, d := range doc.Dirs {
		err = errors.Join(err, t.checkStep(d))
	}
	if err != nil {
		f := fault.Failed("compare the files with version control, then delete "+dir,
			"the journal of an interrupted command, %s, is damaged", path.Join(dir, pendingFile))
		f.Err = err
		return nil, f
	}
	return &doc, nil
}

// checkStep accepts the paths that Apply can have recorded: those of plans and
// of operon's state, with links followed.
func (t *tree) checkStep(name string) error {
	if name != stateDir && !strings.HasPrefix(name, stateDir+"/") {
		if err := checkName(name); err != nil {
			return err
		}
	} else if err := checkLocal(name); err != nil || strings.HasPrefix(name+"/", journalDir+"/") {
		return errors.Join(err, fmt.Errorf("path %q lies in the journal", name))
	}
	resolved, _, err := t.resolve(name, false)
	if err == nil && resolved != name {
		err = leaves(name)
	}
	return err
}

// prune removes all but the last journals. What stays for want of rights is
// tried again by the next command.
func (t *tree) prune() {
	numbers, err := t.journals()
	if err != nil || len(numbers) <= keptJournals {
		return
	}
	for _, n := range numbers[:len(numbers)-keptJournals] {
		_ = t.fsys.RemoveAll(journalPath(n))
	}
}
