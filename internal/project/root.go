package project

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/goenv"
	"github.com/operon-dev/operon/internal/input"
	"golang.org/x/mod/modfile"
)

// FindRoot returns the nearest folder with a PROJECT file, from dir upward. It ignores
// folders with the name PROJECT. A file that cannot be read is an error.
func FindRoot(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fault.In("find the project", err)
	}
	other := "" // the nearest PROJECT that is not a regular file
	lost := ""  // the nearest folder in which operon initialized a project
	for at := dir; ; at = filepath.Dir(at) {
		name := filepath.Join(at, File)
		info, err := os.Stat(name)
		switch {
		case err != nil:
		case info.Mode().IsRegular():
			return at, checkReadable(name)
		case other == "":
			other = name
		}
		if _, err := os.Stat(filepath.Join(at, ".operon", "base.lines")); err == nil && lost == "" {
			lost = at
		}
		if filepath.Dir(at) == at {
			return "", notFound(dir, other, lost)
		}
	}
}

// CheckModuleFiles returns an error if a file with the requirements of the module in a folder, or of its workspace, is not
// regular or too large. The go command would wait for it, or read it whole. gowork is the value of GOWORK in the environment.
func CheckModuleFiles(dir, gowork string) error {
	var files []string
	if work := goenv.Workspace(dir, gowork); work != "" {
		files = append(files, work, work+".sum")
	}
	for at, up := dir, ""; at != up; at, up = filepath.Dir(at), at {
		files = append(files, filepath.Join(at, "go.mod"), filepath.Join(at, "go.sum"), filepath.Join(at, "vendor", "modules.txt"))
	}
	for _, file := range files {
		if err := input.Check(file, input.Text); err != nil {
			if rel, err := filepath.Rel(dir, file); err == nil {
				file = filepath.ToSlash(rel)
			}
			return fault.Failed("restore the file, or remove it", "%s is %v", file, fault.Reason(err))
		}
	}
	return nil
}

func checkReadable(name string) error {
	f, err := input.Open(name)
	if err != nil {
		return &fault.Error{Code: fault.CodeFailed, Hint: "make the file readable for your user", Err: err}
	}
	return f.Close()
}

// notFound returns the error of a folder outside any project.
func notFound(dir, other, lost string) error {
	msg := "no " + File + " file in " + dir + " or its parent folders"
	if other != "" {
		return fault.Usage("change to the folder of a project, or rename "+other+" and start a project with operon init",
			"%s: %s is not a regular file", msg, other)
	}
	if lost != "" {
		return fault.Usage("restore it from version control", "operon initialized a project in %s, but %s is missing", lost, File)
	}
	return fault.Usage("change to the folder of a project, start one with operon init, or record an existing operator with operon adopt", "%s", msg)
}

// DefaultName returns the name of a project in dir: the name of the folder in lower case,
// with "-" instead of invalid characters. It can be too long for CheckName.
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

// DefaultRepo returns the module path of a new project: the path in go.mod, or the name of the
// folder if goMod is nil.
func DefaultRepo(goMod []byte, dir string) (string, error) {
	if goMod != nil {
		repo := modfile.ModulePath(goMod)
		if repo == "" {
			return "", fault.Usage("add the line: module example.com/name", "go.mod has no module line")
		}
		return repo, CheckRepo(repo)
	}
	if repo := filepath.Base(dir); CheckRepo(repo) == nil {
		return repo, nil
	}
	repo := DefaultName(dir)
	if err := CheckRepo(repo); err != nil {
		return "", fault.Usage("add the module path: --repo example.com/name",
			"the folder name %s is not a valid module path", filepath.Base(dir))
	}
	return repo, nil
}

// CheckModule returns an error if the module in go.mod is not the one in PROJECT.
func (c *Config) CheckModule(goMod []byte) error {
	path := modfile.ModulePath(goMod)
	if path == "" || path == c.Repo {
		return nil
	}
	return fault.Usage("write repo: "+path+" in "+File+", and correct the paths of the resources; or run `go mod edit -module "+c.Repo+"`",
		"%s has the repo %s, but go.mod has the module %s", File, c.Repo, path)
}
