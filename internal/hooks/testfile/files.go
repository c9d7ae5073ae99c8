// Package testfile has what tests of hooks and tests of charts share: it reads their YAML files,
// compares objects with expectations, and reports results.
package testfile

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/input"
	"go.yaml.in/yaml/v3"
)

// ReadAll reads one test file, or all test files below a folder. It skips files in the
// folder that contain Kubernetes objects. shown is the path to show to the user.
func ReadAll[F any](path, shown string, read func(path, shown string) (F, error)) ([]F, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		f, err := read(path, shown)
		return []F{f}, err
	}
	var files []F
	err = filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(name) != ".yaml" && filepath.Ext(name) != ".yml" {
			return err
		}
		rel, err := filepath.Rel(path, name)
		if err != nil {
			return err
		}
		if holdsObjects(name) {
			return nil
		}
		f, err := read(name, filepath.ToSlash(filepath.Join(shown, rel)))
		files = append(files, f)
		return err
	})
	return files, err
}

// holdsObjects reports whether a file starts with a Kubernetes object.
func holdsObjects(path string) bool {
	content, err := input.ReadFile(path, input.Text)
	if err != nil {
		return false
	}
	var keys map[string]any
	err = yaml.NewDecoder(bytes.NewReader(content)).Decode(&keys)
	return err == nil && keys["apiVersion"] != nil && keys["kind"] != nil
}

// Parse returns the document in the content of a test file. The hint and the keys are for a file
// that is empty.
func Parse(content []byte, shown, hint, keys string) (*yaml.Node, error) {
	document := &yaml.Node{}
	if err := yaml.Unmarshal(content, document); err != nil {
		return nil, fault.Usage("check the indentation, quotes and brackets of this line", "%s:%v", shown, yamledit.SyntaxError(content, err))
	}
	if len(document.Content) == 0 {
		return nil, fault.Usage(hint, "%s: the file is empty; it needs the keys %s", shown, keys)
	}
	return document, nil
}

// Match returns the tests whose names match a regular expression, the value of --run. form is the
// form of the names, such as HOOK/NAME.
func Match[T any](tests []T, name func(T) string, expression, form string) ([]T, error) {
	pattern, err := regexp.Compile(expression)
	if err != nil {
		return nil, fault.Usage("use the syntax of Go's package regexp", "--run: %v", err)
	}
	var matching []T
	for _, t := range tests {
		if pattern.MatchString(name(t)) {
			matching = append(matching, t)
		}
	}
	if len(matching) == 0 {
		return nil, fault.Usage("--run is matched against "+form+" of each test", "--run %s matches no test", expression)
	}
	return matching, nil
}

// Pattern returns a regular expression that matches the name of a test, for completion.
func Pattern(name string) string {
	if re, err := regexp.Compile(name); err != nil || !re.MatchString(name) {
		return regexp.QuoteMeta(name)
	}
	return name
}
