package enginetest

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
)

// sumOf returns a checksum of all inputs of verdicts: the texts and the sources of the
// oracle in dir. Its go.mod pins the engine.
func sumOf(dir string, texts []string) (string, error) {
	folders, err := modules(dir)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, text := range texts {
		_, _ = fmt.Fprintf(sum, "%q\n", text)
	}
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || d.Name() != "go.mod" && filepath.Ext(name) != ".go" {
				return err
			}
			rel, err := filepath.Rel(dir, name)
			if err != nil {
				return err
			}
			content, err := os.ReadFile(name)
			_, _ = fmt.Fprintf(sum, "%q %q\n", filepath.ToSlash(rel), content)
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%x", sum.Sum(nil)), nil
}

// modules returns the folder of an oracle's module, and the folders outside it that replace
// other modules.
func modules(dir string) ([]string, error) {
	name := filepath.Join(dir, "go.mod")
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	mod, err := modfile.Parse(name, content, nil)
	if err != nil {
		return nil, err
	}
	folders := []string{dir}
	for _, r := range mod.Replace {
		if strings.HasPrefix(r.New.Path, "../") {
			folders = append(folders, filepath.Join(dir, filepath.FromSlash(r.New.Path)))
		}
	}
	return folders, nil
}
