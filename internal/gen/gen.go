// Package gen runs controller-tools' generators in this process: one load of
// the project's packages for all of them, read from the content of a plan (so
// that a kind which is not on disk yet gets its CRD in the same plan), with all
// output in memory until every generator has succeeded. The bytes are those of
// the controller-gen command of the same version with the same arguments.
//
// It is not a build system: it fetches no module, and never writes to the
// project. The work has three steps with plain data
// between them: load (plan to packages), generate (packages to a result) and
// record (result to plan). The first two are done for what changed since the last
// run, where that is known exactly; packages are loaded on a fast path, which
// declines whatever it does not read as controller-gen does, or on a slow one.
//
// One input lies outside of the arguments: the library behind plural names
// reads inflections.json and acronyms.json from the working folder of the
// process, as it does for the controller-gen command. And the go command is the
// one on the process's PATH, with the process's environment: it is started by
// libraries that ask the process for both.
package gen

import (
	"context"
	"path"
	"path/filepath"
	"strings"

	"github.com/operon-dev/operon/internal/gen/incremental/store"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
)

// Request says what to generate. The zero value of every field but Dir means
// the project's default.
type Request struct {
	// Dir is the absolute path of the project root, which the plan's paths and
	// the relative paths in arguments start from.
	Dir string
	// Project holds the default arguments: plugins["generate.operon.dev/v1"].args,
	// a list in controller-gen's syntax. Without them they are what the Makefile
	// of kubebuilder v4.15 passes.
	Project *project.Config

	// Args are arguments in controller-gen's syntax (crd:maxDescLen=0,
	// paths=./api/..., output:crd:dir=out). What they name replaces the
	// default, and the rest stays: the generators as a set, the paths as a set,
	// the output rule of each generator; a rule for all generators replaces
	// every default rule.
	Args []string
	// Only restricts the run to these generators, as far as the arguments name
	// them.
	Only []string
	// Paths replaces the paths, as repeated paths= arguments do.
	Paths []string
	// HeaderFile is the licence header of generated Go code. It is not put on
	// YAML, for it holds a Go comment.
	HeaderFile string
	// Year takes the place of " YEAR" in every header file.
	Year string

	// ThisYear is used for " YEAR" in the header file of the default arguments
	// when neither they nor Year set one and no generated file tells which year
	// the project is of. It is the caller's, for gen reads no clock.
	ThisYear string

	// Store keeps what was read for the next run; nil keeps nothing. It changes
	// no byte, no warning and no error.
	Store *store.Store
}

// Plan runs the generators that r asks for and adds their output to p, with
// warnings about markers that have no effect, about files that nothing
// generates any more, and about a header that gets lost. On an error it adds nothing. Wrong arguments exit 2,
// errors in the sources exit 1 and are all listed ([Problems]).
func Plan(ctx context.Context, r Request, p *scaffold.Plan) error {
	job, err := newJob(r, p)
	if err != nil {
		return err
	}
	src, err := newSources(r.Dir, p)
	if err != nil {
		return err
	}
	defer src.close()
	if err := job.validate(r, src); err != nil {
		return err
	}

	res, err := run(ctx, src, job)
	if err != nil {
		return err
	}
	if err := addOutputs(res, p); err != nil {
		return err
	}

	warnPinned(p)
	warnHeader(job, p)
	for _, w := range res.warnings {
		p.Warn(w)
	}
	if res.inputs != nil {
		p.DependsOn(res.inputs)
	}
	if !res.matched {
		// Nothing matched the paths: that says nothing about old output.
		return nil
	}
	return removeStale(job, res, src, p)
}

// addOutputs adds the outputs to the plan; what has no path is printed.
func addOutputs(res *result, p *scaffold.Plan) error {
	for _, o := range res.stands {
		if err := p.KeepGenerated(o.Generator, o.Path, o.Sum.String()); err != nil {
			return err
		}
	}
	for _, o := range res.outputs {
		if o.path == "" {
			p.Print(o.content)
			continue
		}
		if err := p.Generate(o.generator, o.path, o.content); err != nil {
			return err
		}
	}
	return nil
}

// inProject turns a path from an argument into the plan's form: relative to
// dir, with slashes. ok is false for a path that lies outside of dir.
func inProject(dir, name string) (rel string, ok bool) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	rel, err := filepath.Rel(dir, name)
	if err != nil {
		return "", false
	}
	rel = filepath.ToSlash(rel)
	if rel == ".." || strings.HasPrefix(rel, "../") || path.IsAbs(rel) {
		return "", false
	}
	return rel, true
}
