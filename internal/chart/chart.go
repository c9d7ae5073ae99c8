// Package chart fetches, loads and renders Helm charts without a cluster.
//
// It loads charts with Helm's packages, but renders them itself: Helm's renderer registers all
// types of Kubernetes at each start of the program, which takes longer than most commands. The
// tests compare the results with Helm's.
package chart

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/input"
	"github.com/operon-dev/operon/internal/lazyregexp"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
)

// Error is an error in one file of a chart.
type Error struct {
	File         string // the path relative to the chart, with slashes; for dependencies it starts with charts/
	Line, Column int    // from 1; 0 if unknown
	Msg          string
}

func (e *Error) Error() string {
	switch {
	case e.File == "":
		return e.Msg
	case e.Line == 0:
		return e.File + ": " + e.Msg
	}
	if e.Column == 0 {
		return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Msg)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Msg)
}

// withHint adds what to do to an error of a chart.
func withHint(hint string, e *Error) error {
	return &fault.Error{Code: fault.CodeUsage, Hint: hint, Err: e}
}

// InFolder returns an error of a chart with its file as a path that starts with the folder of the
// chart. Other errors stay: then isChart is false.
func InFolder(folder string, err error) (located error, isChart bool) {
	var e *Error
	if !errors.As(err, &e) {
		return err, false
	}
	inFolder := *e
	inFolder.File = path.Join(folder, e.File)
	return &inFolder, true
}

// Load reads the chart in a folder. The error is an *Error.
func Load(dir string) (*chart.Chart, error) {
	files, err := ReadFolder(dir)
	if err != nil {
		return nil, err
	}
	return LoadFiles(files)
}

// LoadBare reads a folder with templates but without Chart.yaml as a chart with a given name, as
// addon-operator does. It ignores the folders of a module that do not belong to the chart. The
// error for an invalid chart is an *Error.
func LoadBare(dir, name string) (*chart.Chart, error) {
	files := []*loader.BufferedFile{{Name: "Chart.yaml", Data: []byte("name: " + strconv.Quote(name) + "\nversion: 0.2.0\n")}}
	err := filepath.WalkDir(dir, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if slices.Contains([]string{"crds", "docs", "hooks", "images", "lib"}, entry.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		content, err := input.ReadFile(file, input.Text)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, file)
		files = append(files, &loader.BufferedFile{Name: filepath.ToSlash(rel), Data: content})
		return err
	})
	if err != nil {
		return nil, err
	}
	c, err := loader.LoadFiles(files)
	if err != nil {
		return nil, loadError(err, contentIn(files))
	}
	return c, nil
}

// contentIn returns a function that returns the content of one of the files.
func contentIn(files []*loader.BufferedFile) func(name string) []byte {
	return func(name string) []byte {
		for _, f := range files {
			if f.Name == name {
				return f.Data
			}
		}
		return nil
	}
}

var (
	cannotLoad = lazyregexp.New(`^cannot load ([A-Za-z.]+): `)
	yamlLine   = lazyregexp.New(`yaml: (?:line (\d+): )?`)
	noMapping  = lazyregexp.New(`^error unmarshaling JSON: .*cannot unmarshal (\w+) into Go value of type map\[string\]interface \{\}$`)
)

// NotMapping returns the error for a file of values that is a list or a scalar instead of a mapping, or
// nil if the error of package yaml has another cause.
func NotMapping(file string, content []byte, err error) *Error {
	m := noMapping().FindStringSubmatch(err.Error())
	if m == nil {
		return nil
	}
	e := &Error{File: file, Msg: "the values are " + yamlType(m[1]) + ", not a mapping of names to values"}
	for i, line := range strings.Split(string(content), "\n") {
		if line = strings.TrimSpace(line); line != "" && line != "---" && line[0] != '#' {
			e.Line = i + 1
			break
		}
	}
	return e
}

// yamlType returns what package json calls array, bool, string or number, with its article.
func yamlType(name string) string {
	return cmp.Or(map[string]string{"array": "a list", "bool": "a boolean"}[name], "a "+name)
}

// loadError converts an error of Helm to an *Error. content returns the content of a file.
func loadError(err error, content func(name string) []byte) error {
	e := &Error{File: "Chart.yaml", Msg: strings.TrimSpace(err.Error())}
	if m := cannotLoad().FindStringSubmatch(e.Msg); m != nil {
		e.File, e.Msg = m[1], strings.TrimPrefix(e.Msg, m[0])
	}
	if values := NotMapping(e.File, content(e.File), errors.New(e.Msg)); values != nil {
		return values
	}
	e.Msg = strings.TrimPrefix(e.Msg, "error converting YAML to JSON: ")
	if m := yamlLine().FindStringSubmatch(e.Msg); m != nil {
		e.Line, _ = strconv.Atoi(m[1])
		e.Msg = strings.Replace(e.Msg, m[0], "", 1)
	}
	e.Msg = strings.TrimPrefix(strings.TrimPrefix(e.Msg, "validation: "), "chart.metadata.")
	return e
}
