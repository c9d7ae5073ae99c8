package generate

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gen/overlay"
	"github.com/operon-dev/operon/internal/gen/request"
	"sigs.k8s.io/controller-tools/pkg/genall"
	"sigs.k8s.io/controller-tools/pkg/loader"
)

// Output is a generated file, or with an empty path, text for stdout.
type Output struct {
	Generator string
	Path      string // slash-separated, relative to the root
	Package   string // import path of the package that it is code of; "" for configuration
	Content   []byte
}

// memory takes the place of the file system below controller-tools' output
// rules. Where they write one path twice, the last content wins, as it does on
// a disk.
type memory struct {
	dir    string
	files  []*memoryFile
	byPath map[string]int
	twice  bool  // a path was written twice
	err    error // the first output path that a plan cannot hold
}

type memoryFile struct {
	bytes.Buffer
	Output
}

func (*memoryFile) Close() error { return nil }

// rule returns the output rule for a generator: its own, into memory.
func (m *memory) rule(g request.Generator) genall.OutputRule { return memoryRule{m, g} }

func (m *memory) open(generator, path string) *memoryFile {
	f := &memoryFile{Output: Output{Generator: generator, Path: path}}
	if i, ok := m.byPath[path]; ok && path != "" {
		m.files[i], m.twice = f, true
		return f
	}
	m.byPath[path] = len(m.files)
	m.files = append(m.files, f)
	return f
}

func (m *memory) finish() []Output {
	res := make([]Output, len(m.files))
	for i, f := range m.files {
		res[i] = f.Output
		res[i].Content = f.Bytes()
	}
	return res
}

type memoryRule struct {
	*memory
	request.Generator
}

// Open implements genall.OutputRule. A nil package means configuration, any
// other one generated code of that package.
func (r memoryRule) Open(pkg *loader.Package, item string) (io.WriteCloser, error) {
	var folder string
	switch rule := r.Generator.Rule.(type) {
	case genall.OutputToDirectory:
		folder = string(rule)
	case genall.OutputArtifacts:
		switch {
		case pkg == nil:
			folder = string(rule.Config)
		case rule.Code != "":
			folder = string(rule.Code)
		case len(pkg.CompiledGoFiles) == 0:
			return nil, fmt.Errorf("cannot output to a package with no path on disk")
		default:
			folder = filepath.Dir(pkg.CompiledGoFiles[0])
		}
	default:
		switch rule {
		case genall.OutputToNothing:
			return &memoryFile{}, nil
		case genall.OutputToStdout:
			return r.open(r.Name, ""), nil
		}
		return nil, fmt.Errorf("unexpected output rule %T", rule)
	}
	name := filepath.Join(filepath.FromSlash(folder), item)
	rel, ok := overlay.Rel(r.dir, name)
	if !ok {
		err := r.outside(pkg, name)
		if r.err == nil {
			r.err = err
		}
		return nil, err
	}
	f := r.open(r.Name, rel)
	if pkg != nil {
		f.Package = pkg.PkgPath
	}
	return f, nil
}

// outside says why an output lies outside of the project: its name leads out, such as
// that of rbac:fileName=../../x, or its package is there. The code of a package goes
// beside its first file as compiled, which for one that cgo translates lies in Go's
// build cache: the next cleaning takes it away, and nobody compiles it.
func (r memoryRule) outside(pkg *loader.Package, name string) error {
	if pkg != nil && len(pkg.GoFiles) > 0 && filepath.Dir(pkg.GoFiles[0]) != filepath.Dir(name) {
		if file, ok := overlay.Rel(r.dir, pkg.GoFiles[0]); ok {
			return fault.Failed(`move the types to a file that does not import "C"`,
				`%s: package %s has no file without import "C", and controller-gen writes its code into Go's build cache then`, file, pkg.PkgPath)
		}
	}
	return request.OutsideError(r.Name, name)
}
