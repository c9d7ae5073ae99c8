// Package applyconfig generates the apply configurations of API packages with controller-tools' own generator.
//
// That generator reads and writes the disk in the working folder of its process, and ends the process after some
// errors. Therefore it runs in a copy of the project that has the changes of the plan, in a process of operon: see
// [Answer]. What it writes there becomes part of the plan. As it type-checks all dependencies from their sources, which
// takes seconds, the outputs are kept in the store until sources change that they depend on.
package applyconfig

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/environ"
	"github.com/operon-dev/operon/internal/gen/generate"
	"github.com/operon-dev/operon/internal/gen/load"
	"github.com/operon-dev/operon/internal/gen/output"
	"github.com/operon-dev/operon/internal/gen/overlay"
	"github.com/operon-dev/operon/internal/gen/progress"
	"github.com/operon-dev/operon/internal/gen/projectcopy"
	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/input"
	"sigs.k8s.io/controller-tools/pkg/applyconfiguration"
	"sigs.k8s.io/controller-tools/pkg/genall"
)

// storeKind is the kind of the entries in the store.
const storeKind = "applyconfig"

// way is how this generator loads packages.
const way = "a copy of the project"

// command is the first argument of a process that generates. The second one is a call as JSON.
const command = "operon-apply-configurations"

// call is what a process generates, in its working folder.
type call struct {
	Paths                       []string
	HeaderFile                  string
	ExternalApplyConfigurations []string
}

// Answer reports whether the arguments tell this process to generate. If so, it has generated and printed
// errors, and the caller exits with the code. The library prints to the stderr of the process.
func Answer(args []string, stderr io.Writer) (answered bool, code int) {
	var c call
	if len(args) != 2 || args[0] != command || json.Unmarshal([]byte(args[1]), &c) != nil {
		return false, 0
	}
	// The library would name this program in each file.
	var generator genall.Generator = applyconfiguration.Generator{
		HeaderFile: c.HeaderFile, ExternalApplyConfigurations: c.ExternalApplyConfigurations, OmitToolVersion: new(true),
	}
	generators := genall.Generators{&generator}
	run, err := generators.ForRoots(c.Paths...)
	if err != nil {
		_, _ = fmt.Fprintln(stderr, err)
		return true, 1
	}
	if run.Run() {
		return true, 1
	}
	return true, 0
}

// Run runs the generator for a job with its options.
func Run(ctx context.Context, files *overlay.Project, job *request.Job, options request.ApplyConfiguration) (*output.Result, error) {
	src, err := read(files, job.Paths)
	if err != nil {
		return nil, err
	}
	res := &output.Result{Way: way, Matched: len(src.folders) > 0, Folders: src.folders}
	if len(src.marked) > 0 {
		res.Outputs, err = outputsOf(ctx, files, job, options, src)
	}
	return res, err
}

// outputsOf returns the files for the marked packages, from the store if it has them.
func outputsOf(
	ctx context.Context, files *overlay.Project, job *request.Job, options request.ApplyConfiguration, src *sources,
) ([]generate.Output, error) {
	query, err := load.NewQuery(ctx, files, src.marked, job.Environ)
	if err != nil {
		return nil, err
	}
	text, err := header(files, options)
	if err != nil {
		return nil, err
	}
	var outputs []generate.Output
	key, keyed := src.key(query, options, text), src.keyed(query)
	if kept, ok := job.Store.Get(storeKind, key); ok && keyed && json.Unmarshal(kept, &outputs) == nil {
		return outputs, nil
	}
	if outputs, err = generateIn(ctx, query, job, options, text, src); err != nil {
		return nil, err
	}
	if content, err := json.Marshal(outputs); err == nil && keyed {
		job.Store.Put(storeKind, key, content)
	}
	return outputs, nil
}

// header returns the text of the header file with the year. The library would take the year from
// the clock.
func header(files *overlay.Project, options request.ApplyConfiguration) (string, error) {
	if options.HeaderFile == "" {
		return "", nil
	}
	content, err := files.Open(options.HeaderFile)
	if err != nil {
		return "", err
	}
	text := strings.ReplaceAll(string(content), "\r\n", "\n")
	if options.Year() != "" {
		text = strings.ReplaceAll(text, "YEAR", options.Year())
	}
	return text, nil
}

// generateIn generates for the marked packages in a copy of the project.
func generateIn(
	ctx context.Context, query *load.Query, job *request.Job, options request.ApplyConfiguration, header string, src *sources,
) ([]generate.Output, error) {
	files := query.Project
	c := call{ExternalApplyConfigurations: options.ExternalApplyConfigurations}
	copied, err := projectcopy.New(ctx, files)
	if err != nil {
		return nil, err
	}
	if header != "" {
		c.HeaderFile = filepath.Join(filepath.Dir(copied.Dir), "header.txt")
		if err := os.WriteFile(c.HeaderFile, []byte(header), 0o600); err != nil {
			return nil, err
		}
	}
	dir := filepath.Join(copied.Dir, files.Rel(query.Dir)) // of the module
	for _, folder := range src.marked {
		rel, err := filepath.Rel(dir, filepath.Join(copied.Dir, folder))
		if err != nil {
			return nil, err
		}
		c.Paths = append(c.Paths, "./"+filepath.ToSlash(rel))
	}
	argument, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	before, err := copied.Stats()
	if err != nil {
		return nil, err
	}
	progress.From(ctx)("generating "+request.ApplyConfigurations, 0, 0)
	cmd := environ.Command(ctx, dir, environ.With(query.Env, "PWD="+dir), job.Program, command, string(argument))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, failed(copied.Dir, stderr.String(), err).Fault(files)
	}
	return written(copied, before)
}

// failed returns the errors that a process printed.
func failed(dir, stderr string, err error) load.Problems {
	text := strings.TrimSpace(strings.ReplaceAll(stderr, dir+string(filepath.Separator), ""))
	if text == "" {
		return load.Problems{{Message: err.Error()}}
	}
	var all load.Problems
	for line := range strings.Lines(text) {
		all = append(all, load.Problem{Message: strings.TrimRight(line, "\r\n")})
	}
	return all
}

// written returns the files in a copy that were not there before, or were different.
func written(copied *projectcopy.Copy, before map[string]projectcopy.Stat) ([]generate.Output, error) {
	after, err := copied.Stats()
	if err != nil {
		return nil, err
	}
	var outputs []generate.Output
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if before[name] == after[name] {
			continue
		}
		content, err := input.ReadFile(filepath.Join(copied.Dir, filepath.FromSlash(name)), input.Data)
		if err != nil {
			return nil, err
		}
		outputs = append(outputs, generate.Output{Generator: request.ApplyConfigurations, Path: name, Content: content})
	}
	if len(outputs) == 0 {
		return nil, errors.New("the generator " + request.ApplyConfigurations + " wrote no file")
	}
	return outputs, nil
}
