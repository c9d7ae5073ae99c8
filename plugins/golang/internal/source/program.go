package source

import (
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit/goedit"
)

// program is the project's part of a binary or of a test binary: the Go files of
// one folder, and those of the project's packages that they import, and so on.
// What a person moved into a package of its own is still part of it.
type Program []File

// program reads the files as they will be, those of dir first. The tests of
// dir count when asked for; a file that does not parse is left to the generators.
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

// some reports whether f is true of a file of the program.
func (all Program) Any(f func(*goedit.File) bool) bool {
	return slices.ContainsFunc(all, func(s File) bool { return f(s.Parsed) })
}

// in are the files of one folder.
func (all Program) In(dir string) Program {
	return slices.DeleteFunc(slices.Clone(all), func(s File) bool { return path.Dir(s.Name) != dir })
}
