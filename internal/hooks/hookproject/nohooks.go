package hookproject

import (
	"path"
	"path/filepath"

	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks"
)

// NoHooksError reports a folder without hooks.
type NoHooksError struct {
	Folder        string // as the user named it
	NotExecutable string // the path of a script in it that lacks the executable bit, or ""
}

// newNoHooksError returns the error for a folder. The findings come from
// hooks.Discover.
func newNoHooksError(folder string, findings []finding.Finding) *NoHooksError {
	e := &NoHooksError{Folder: folder}
	for _, f := range findings {
		if f.Rule == hooks.RuleNotExecutable.Name {
			e.NotExecutable = path.Join(filepath.ToSlash(folder), f.File)
		}
	}
	return e
}

// Error implements error.
func (e *NoHooksError) Error() string { return "there are no hooks in " + e.Folder }

// Discover returns the shell-operator hooks in the folder dir. folder is its name as
// given by the user. The error is a *NoHooksError if there are no hooks.
func Discover(dir, folder string) ([]hooks.Hook, error) {
	found, findings, err := hooks.Discover(dir)
	if err == nil && len(found) == 0 {
		err = newNoHooksError(folder, findings)
	}
	return found, err
}
