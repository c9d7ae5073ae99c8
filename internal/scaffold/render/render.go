// Package render turns a tree of templates into files. The path of a template is
// the path of its output, and the template looks like its output: values are
// computed in Go, and the template only prints them.
package render

import (
	"bytes"
	"fmt"
	"go/format"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"text/template"

	"github.com/Masterminds/sprig/v3"
	"github.com/operon-dev/operon/internal/lazyregexp"
	"github.com/operon-dev/operon/internal/watchdog"
)

// Sink receives a rendered file: its slash-separated path in the project, its
// permission bits and its content.
type Sink func(name string, mode fs.FileMode, content []byte) error

// Only returns a Sink that passes only the named files to sink.
func Only(sink Sink, names ...string) Sink {
	return func(name string, mode fs.FileMode, content []byte) error {
		if !slices.Contains(names, name) {
			return nil
		}
		return sink(name, mode, content)
	}
}

// Suffix marks a file that is executed as a text/template. Other files are
// copied unchanged.
const Suffix = ".tmpl"

// Tree renders every file below dir of fsys into sink, in lexical order.
//
// "[name]" in a path is replaced with vars[name], which may contain slashes; an
// unknown name is an error. Go files are formatted. A file that starts with
// "#!" is executable, because an embed.FS has no modes. A template that renders
// only white space writes no file.
func Tree(fsys fs.FS, dir string, vars map[string]string, data any, sink Sink) error {
	return fs.WalkDir(fsys, dir, func(template string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := fill(strings.TrimPrefix(template, dir+"/"), vars)
		if err != nil {
			return fmt.Errorf("template %s: %w", template, err)
		}
		content, err := file(fsys, template, data)
		if err != nil {
			return explain(fsys, template, err)
		}
		if len(bytes.TrimSpace(content)) == 0 {
			return nil
		}
		mode := fs.FileMode(0o644)
		if bytes.HasPrefix(content, []byte("#!")) {
			mode = 0o755
		}
		return sink(strings.TrimSuffix(name, Suffix), mode, content)
	})
}

var placeholder = lazyregexp.New(`\[([a-z]+)\]`)

func fill(name string, vars map[string]string) (string, error) {
	var unknown string
	out := placeholder().ReplaceAllStringFunc(name, func(m string) string {
		v, ok := vars[m[1:len(m)-1]]
		if !ok {
			unknown = m
		}
		return v
	})
	if unknown != "" {
		return "", fmt.Errorf("unknown placeholder %s", unknown)
	}
	return path.Clean(out), nil
}

func file(fsys fs.FS, name string, data any) ([]byte, error) {
	src, err := fs.ReadFile(fsys, name)
	if err != nil || !strings.HasSuffix(name, Suffix) {
		return src, err
	}
	content, err := Text(name, string(src), data)
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(name, ".go"+Suffix) && len(bytes.TrimSpace(content)) > 0 {
		if content, err = format.Source(content); err != nil {
			return nil, fmt.Errorf("template %s: output does not parse: %w", name, err)
		}
	}
	return content, nil
}

// Text executes one template; name is used in errors. A missing map key is an
// error. The template functions are the hermetic ones of sprig, except those
// with random results.
func Text(name, src string, data any) ([]byte, error) {
	t, err := parse(name, src)
	if err != nil {
		return nil, err
	}
	defer watchdog.Enter("the template " + name)()
	var b bytes.Buffer
	if err := t.Execute(&b, data); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Parse returns an error if a template does not parse.
func Parse(name, src string) error {
	_, err := parse(name, src)
	return err
}

func parse(name, src string) (*template.Template, error) {
	return template.New(name).Option("missingkey=error").Funcs(functions()).Parse(src)
}

var functions = sync.OnceValue(func() template.FuncMap {
	m := sprig.HermeticTxtFuncMap()
	for name := range m {
		if strings.HasPrefix(name, "gen") {
			delete(m, name)
		}
	}
	for _, name := range []string{"shuffle", "randInt", "bcrypt", "htpasswd", "encryptAES", "uuidv4"} {
		delete(m, name)
	}
	watchdog.Bound(m)
	return m
})
