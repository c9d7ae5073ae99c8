package runcmd

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/input"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/watch"
)

// program is a program that runs the operator of a project.
type program struct {
	path  string   // where it is built, absolute
	build []string // the arguments of go build
	env   []string // of go build, for what the environment does not say
	args  []string // of the program
	note  string   // a warning about the program, or ""

	isSource func(path string) bool // reports whether a file of the project is built into the program
	inputs   func(ctx context.Context, a *command.App) inputs
	last     inputs
	remove   func() // removes temporary files
}

// inputs are files of a project besides the sources of the program. Folders stand for all files below.
type inputs struct {
	embedded []string // that can be built into the program
	data     []string // that the program reads when it starts
}

// counts reports whether the operator can change when a file of the project is saved.
func (p *program) counts(file string) bool {
	if watch.IsScratch(file) && path.Base(file) != ".helmignore" {
		return false
	}
	return file == watch.Everything || p.isSource(file) || isBelow(file, p.last.data) || isBelow(file, p.last.embedded)
}

// isBelow reports whether a path is one of those in list, or is below one.
func isBelow(file string, list []string) bool {
	return slices.ContainsFunc(list, func(top string) bool { return file == top || top == "." || strings.HasPrefix(file, top+"/") })
}

// compile builds the program, and returns a value that differs if the program or its data do.
func (p *program) compile(ctx context.Context, a *command.App) (state string, err error) {
	done := a.NoteSlow()
	err = a.RunGo(ctx, a.Dir, append(slices.Clone(p.env), a.Environ...), a.Err, append([]string{"build"}, p.build...)...)
	done()
	if err != nil {
		return "", fault.In("go build", err)
	}
	sum := sha256.New()
	err = hashFile(sum, p.path)
	for _, top := range p.last.data {
		err = errors.Join(err, filepath.WalkDir(filepath.Join(a.Dir, filepath.FromSlash(top)), func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			rel, err := filepath.Rel(a.Dir, name)
			if err != nil || !p.counts(filepath.ToSlash(rel)) {
				return err
			}
			return hashFile(sum, name)
		}))
	}
	return string(sum.Sum(nil)), err
}

// hashFile adds the name and the content of a file to a hash.
func hashFile(sum io.Writer, name string) error {
	f, err := input.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	fmt.Fprintf(sum, "%q", name) //nolint:errcheck // a hash accepts all writes
	_, err = io.Copy(sum, f)
	return err
}

// binary is where Makefiles build the manager.
func binary(root string) string {
	name := filepath.Join(root, "bin", "manager")
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return name
}

// goProgram returns the manager of a Go project.
func goProgram(root string, c *project.Config) (*program, error) {
	src, err := input.ReadFile(filepath.Join(root, filepath.FromSlash(c.MainFile())), input.Text)
	if err != nil {
		return nil, fault.Failed("restore it, or record the file that creates the manager in PROJECT, as in plugins: {"+project.PlacesKey+": {main: cmd/manager/main.go}}", "%s: %v", c.MainFile(), fault.Reason(err))
	}
	if !bytes.HasPrefix(src, []byte("package main")) && !bytes.Contains(src, []byte("\npackage main")) {
		return nil, fault.Failed("run the program that imports it", "%s, which creates the manager, is not in a package main", c.MainFile())
	}
	p := &program{
		// As operon image does: then both compile the dependencies once.
		path: binary(root), build: []string{"-trimpath", "-o", binary(root), "./" + path.Dir(c.MainFile())},
		// Generated files follow from the others.
		isSource: func(file string) bool {
			return watch.IsSource(file) && !strings.HasPrefix(path.Base(file), "zz_generated.")
		},
		inputs: func(ctx context.Context, a *command.App) inputs { return inputs{embedded: embedding(ctx, a)} },
		remove: func() {},
	}
	p.env = command.ImageEnviron(root)
	// As make run does: a log for a person. Not every manager has the flag.
	if bytes.Contains(src, []byte("controller-runtime/pkg/log/zap")) && bytes.Contains(src, []byte(".BindFlags(flag.CommandLine)")) {
		p.args = []string{"--zap-devel"}
	}
	return p, nil
}

// embedding returns the folders of the packages in a project that embed files.
func embedding(ctx context.Context, a *command.App) []string {
	var out bytes.Buffer
	silent := *a
	silent.Err = io.Discard // go build reports errors
	args := []string{"list", "-e", "-find", "-f", "{{if .EmbedPatterns}}{{.Dir}}{{end}}", "./..."}
	if err := silent.RunGo(ctx, a.Dir, a.Environ, &out, args...); err != nil {
		return nil
	}
	var folders []string
	for line := range strings.Lines(out.String()) {
		if rel, err := filepath.Rel(a.Dir, strings.TrimSpace(line)); err == nil {
			folders = append(folders, filepath.ToSlash(rel))
		}
	}
	return folders
}
