package projecttest

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// goFiles returns the files of a project that the go command reads to build, to vet and to tidy it: sources, and
// what describes modules. It returns all files if it embeds some or has code in C, which can include any.
func goFiles[F any](files map[string]F, content func(F) string) map[string]F {
	sources := maps.Clone(files)
	for name, f := range files {
		switch path.Ext(name) {
		case ".go":
			if text := content(f); strings.Contains(text, "//go:embed ") || strings.Contains(text, `"C"`) {
				return files
			}
		case ".mod", ".sum", ".work", ".s":
		default:
			if path.Base(name) != "modules.txt" { // of the folder vendor
				delete(sources, name)
			}
		}
	}
	return sources
}

// testedFiles returns the files of a project without those that tests of scaffolded projects do not read.
func testedFiles(files map[string]file) map[string]file {
	tested := maps.Clone(files)
	maps.DeleteFunc(tested, func(name string, _ file) bool {
		top, _, below := strings.Cut(name, "/")
		return below && slices.Contains([]string{".operon", ".github"}, top) ||
			!below && (path.Ext(name) == ".md" || slices.Contains([]string{"Dockerfile", ".golangci.yml", ".gitignore", ".dockerignore"}, name))
	})
	return tested
}
