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

// Program reads the program in dir from the plan, with the files of dir first. With tests, it
// includes the tests of dir. It skips files that do not parse; the generators report them.
func (r *Reader) Program(repo, dir string, tests bool) (Program, error) {
	var all Program
	queue := []string{dir}
	for i := 0; i < len(queue); i++ {
		files, err := r.Files(queue[i], tests && i == 0)
		if err != nil {
			return nil, err
		}
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
