package source

import (
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit/goedit"
)

// Program is the project's part of a binary or of a test binary: the Go files of one folder
// and of all packages of the project that they import, directly or indirectly. Code that the
// user moved to another package is therefore still part of it.
type Program []File

// Program reads the program in dir from the plan, with the files of dir first. It skips files
// that do not parse; the generators report them.
func (r *Reader) Program(repo, dir string) (Program, error) { return r.program(repo, dir, r.Files) }

// TestProgram reads the program in dir as Program does, including the tests of dir.
func (r *Reader) TestProgram(repo, dir string) (Program, error) {
	return r.program(repo, dir, r.filesAndTests)
}

// program reads the files of dir with read, and the files of the packages that they import.
func (r *Reader) program(repo, dir string, read func(dir string) ([]File, error)) (Program, error) {
	var all Program
	queue := []string{dir}
	for i := 0; i < len(queue); i++ {
		files, err := read(queue[i])
		if err != nil {
			return nil, err
		}
		read = r.Files
		all = append(all, files...)
		for _, s := range files {
			for _, imported := range s.Parsed.Imports() {
				if in, ok := strings.CutPrefix(imported, repo+"/"); ok && !slices.Contains(queue, in) {
					queue = append(queue, in)
				}
			}
		}
	}
	return all, nil
}

// Any reports whether f is true for at least one file of the program.
func (all Program) Any(f func(*goedit.File) bool) bool {
	return slices.ContainsFunc(all, func(s File) bool { return f(s.Parsed) })
}

// In returns the files of one folder.
func (all Program) In(dir string) Program {
	return slices.DeleteFunc(slices.Clone(all), func(s File) bool { return path.Dir(s.Name) != dir })
}
