package goenv

import (
	"os"
	"path/filepath"

	"golang.org/x/mod/modfile"
)

// Workspace returns the go.work that the go command uses in a folder, or "" if there is none. gowork is the value of
// GOWORK in the environment.
func Workspace(dir, gowork string) string {
	switch gowork {
	case "":
	case "off":
		return ""
	default:
		return gowork
	}
	for ; ; dir = filepath.Dir(dir) {
		name := filepath.Join(dir, "go.work")
		if info, err := os.Stat(name); err == nil && !info.IsDir() {
			return name
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// LeavesOut reports whether a go.work with this content does not use the module in a folder. It is false for a go.work
// that does not parse, and for nil.
func LeavesOut(work string, text []byte, dir string) bool {
	if text == nil {
		return false
	}
	file, err := modfile.ParseWork(work, text, nil)
	if err != nil {
		return false
	}
	module, err := os.Stat(dir)
	if err != nil {
		return false
	}
	for _, use := range file.Use {
		folder := filepath.FromSlash(use.Path)
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(filepath.Dir(work), folder)
		}
		if used, err := os.Stat(folder); err == nil && os.SameFile(used, module) {
			return false
		}
	}
	return true
}
