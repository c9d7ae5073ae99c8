package project

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"golang.org/x/mod/modfile"
)

// FindRoot returns the nearest folder that holds PROJECT, from dir upward to
// the root of the filesystem, as git looks for its own. A folder called PROJECT
// is passed by; a file that cannot be read is an error.
func FindRoot(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fault.In("find the project", err)
	}
	other := "" // the nearest PROJECT that is no file
	for at := dir; ; at = filepath.Dir(at) {
		name := filepath.Join(at, File)
		switch info, err := os.Stat(name); {
		case err != nil:
		case info.Mode().IsRegular():
			return at, checkReadable(name)
		case other == "":
			other = name
		}
		if filepath.Dir(at) == at {
			return "", outside(dir, other)
		}
	}
}

func checkReadable(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return &fault.Error{Code: fault.CodeFailed, Hint: "give yourself the right to read that file", Err: err}
	}
	return f.Close()
}

func outside(dir, other string) error {
	msg := "no " + File + " file in " + dir + " or a folder above it"
	if other != "" {
		return fault.Usage("change into a project, or move "+other+" away and start one with operon init", "%s: %s is no file", msg, other)
	}
	return fault.Usage("change into a project, or start one with operon init", "%s", msg)
}

// DefaultName is a project name made of the folder's: in lower case, with "-"
// for what a name cannot hold. It may still be too long.
func DefaultName(dir string) string {
	name := strings.Map(func(r rune) rune {
		if isDigit(r) || isLetter(r) {
			return r
		}
		return '-'
	}, strings.ToLower(filepath.Base(dir)))
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '-' })
	if len(words) == 0 {
		return "operator"
	}
	return strings.Join(words, "-")
}

// DefaultRepo is the module path of go.mod, when there is one, else the
// folder's name, as go mod init would have it outside a known place.
func DefaultRepo(goMod []byte, dir string) (string, error) {
	if goMod != nil {
		repo := modfile.ModulePath(goMod)
		if repo == "" {
			return "", fault.Usage("add the line: module example.com/name", "go.mod names no module")
		}
		return repo, CheckRepo(repo)
	}
	if repo := filepath.Base(dir); CheckRepo(repo) == nil {
		return repo, nil
	}
	repo := DefaultName(dir)
	if err := CheckRepo(repo); err != nil {
		return "", fault.Usage("give the module path: --repo example.com/name",
			"the folder %s cannot name a Go module", filepath.Base(dir))
	}
	return repo, nil
}
