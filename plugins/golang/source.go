package golang

import (
	"path"
	"strings"

	"github.com/operon-dev/operon/internal/edit"
	"github.com/operon-dev/operon/internal/scaffold"
)

// source is a Go file.
type source struct {
	name string
	src  []byte
	file *edit.GoFile
}

// sources reads the Go files in dir as they will be, those of tests when asked
// for. What is wrong with a file that does not parse, the generators tell.
func sources(dir string, tests bool, p *scaffold.Plan) ([]source, error) {
	names, err := p.Files(dir)
	if err != nil {
		return nil, err
	}
	var all []source
	for _, base := range names {
		name := path.Join(dir, base)
		if !strings.HasSuffix(name, ".go") || isTest(name) && !tests {
			continue
		}
		src, err := p.Read(name)
		if err != nil {
			return nil, err
		}
		if file, err := edit.ParseGo(name, src); err == nil {
			all = append(all, source{name, src, file})
		}
	}
	return all, nil
}

func isTest(name string) bool { return strings.HasSuffix(name, "_test.go") }

// sourceWhere returns the first Go file in dir that is no test and passes ok, or "".
func sourceWhere(dir string, p *scaffold.Plan, ok func(*edit.GoFile) bool) (string, error) {
	all, err := sources(dir, false, p)
	for _, s := range all {
		if ok(s.file) {
			return s.name, nil
		}
	}
	return "", err
}

// declaredIn returns the file of the package in dir that declares name and is no
// test, or "".
func declaredIn(dir, name string, p *scaffold.Plan) (string, error) {
	return sourceWhere(dir, p, func(f *edit.GoFile) bool { return f.Declares()[name] > 0 })
}
