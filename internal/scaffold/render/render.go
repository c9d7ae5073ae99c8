// Package render turns a tree of templates into files. A template lies where
// its output goes and looks like it; everything that needs thought is computed
// in Go and only printed by the template.
package render

import (
	"bytes"
	"fmt"
	"go/format"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig/v3"
)

// Sink receives a rendered file: its slash-separated path in the project, its
// permission bits and its content.
type Sink func(name string, mode fs.FileMode, content []byte) error

// Only passes the named files on to sink, and leaves the others out.
func Only(sink Sink, names ...string) Sink {
	return func(name string, mode fs.FileMode, content []byte) error {
		if !slices.Contains(names, name) {
			return nil
		}
		return sink(name, mode, content)
	}
}

// Suffix marks a file that is executed as a text/template. A file without it
// is copied as it is.
const Suffix = ".tmpl"

// Tree renders every file below dir of fsys into sink, in lexical order.
//
// "[name]" in a path is replaced by vars[name], which may hold slashes; an
// unknown name is an error. Go files are formatted. A file that starts with
// "#!" is executable, for an embed.FS keeps no modes. A template whose output
// is empty but for white space writes no file.
func Tree(fsys fs.FS, dir string, vars map[string]string, data any, sink Sink) error {
	return fs.WalkDir(fsys, dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		out, err := fill(strings.TrimPrefix(name, dir+"/"), vars)
		if err != nil {
			return fmt.Errorf("template %s: %w", name, err)
		}
		content, err := file(fsys, name, data)
		if err != nil {
			return err
		}
		if len(bytes.TrimSpace(content)) == 0 {
			return nil
		}
		mode := fs.FileMode(0o644)
		if bytes.HasPrefix(content, []byte("#!")) {
			mode = 0o755
		}
		return sink(strings.TrimSuffix(out, Suffix), mode, content)
	})
}

var placeholder = regexp.MustCompile(`\[([a-z]+)\]`)

func fill(name string, vars map[string]string) (string, error) {
	var unknown string
	out := placeholder.ReplaceAllStringFunc(name, func(m string) string {
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
// error, and the only functions are the hermetic ones of sprig, less those
// whose result differs from run to run.
func Text(name, src string, data any) ([]byte, error) {
	t, err := template.New(name).Option("missingkey=error").Funcs(functions()).Parse(src)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, data); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func functions() template.FuncMap {
	m := sprig.HermeticTxtFuncMap()
	for name := range m {
		if strings.HasPrefix(name, "gen") {
			delete(m, name)
		}
	}
	for _, name := range []string{"shuffle", "randInt", "bcrypt", "htpasswd", "encryptAES", "uuidv4"} {
		delete(m, name)
	}
	return m
}
