package gen

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/environ"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gen/foreign"
	"github.com/operon-dev/operon/internal/gen/generate"
	"github.com/operon-dev/operon/internal/gen/output"
	"github.com/operon-dev/operon/internal/gen/overlay"
	"github.com/operon-dev/operon/internal/gen/progress"
	"github.com/operon-dev/operon/internal/gen/projectcopy"
	"github.com/operon-dev/operon/internal/input"
	"github.com/operon-dev/operon/internal/process"
)

// maxAfter limits how long the commands for a file may run.
const maxAfter = 60 * time.Second

// runAfter changes outputs by the commands that PROJECT names for them. They run in a copy of the project that has
// all outputs.
func (s *settling) runAfter() error {
	if err := s.regenerateFor(); err != nil {
		return err
	}
	scripts := map[string][]string{} // the paths of the outputs that a script changes
	for _, run := range s.runs {
		for _, o := range run.Outputs {
			if after := s.jobs.Decisions.For(o.Path).After; o.Path != "" && len(after) > 0 {
				script := strings.Join(after, "\n")
				scripts[script] = append(scripts[script], o.Path)
			}
		}
	}
	if len(scripts) == 0 {
		return nil
	}
	s.p.DependsOn(func() ([]string, bool) { return nil, false }) // what the commands read is unknown
	project, err := projectcopy.New(s.ctx, s.files)
	if err != nil {
		return err
	}
	for _, run := range s.runs {
		for _, o := range run.Outputs {
			if o.Path == "" {
				continue
			}
			if err := project.Write(o.Path, o.Content); err != nil {
				return err
			}
		}
	}
	for _, run := range s.runs {
		for _, o := range run.Outputs { // in the order of the outputs
			script := strings.Join(s.jobs.Decisions.For(o.Path).After, "\n")
			names := scripts[script]
			if o.Path == "" || len(names) == 0 {
				continue
			}
			delete(scripts, script)
			if err := s.runScript(project, script, names); err != nil {
				return err
			}
		}
	}
	return nil
}

// regenerateFor makes up-to-date files outputs if a command changes them: they are as the generators make them.
func (s *settling) regenerateFor() error {
	for i := range s.runs {
		res := *s.runs[i].Result
		res.Outputs, res.Unchanged = slices.Clone(res.Outputs), nil
		for _, o := range s.runs[i].Unchanged {
			if len(s.jobs.Decisions.For(o.Path).After) == 0 {
				res.Unchanged = append(res.Unchanged, o)
				continue
			}
			content, err := s.p.Read(o.Path)
			if err != nil {
				return err
			}
			res.Outputs = append(res.Outputs, generate.Output{Generator: o.Generator, Path: o.Path, Content: content})
		}
		s.runs[i].Result = &res
	}
	return nil
}

// runScript runs commands, and makes what they wrote the content of the outputs with these paths.
func (s *settling) runScript(project *projectcopy.Copy, script string, names []string) error {
	if err := s.r.Allow(s.ctx, script, s.checksum(script, names)); err != nil {
		return err
	}
	before, err := project.Stats()
	if err != nil {
		return err
	}
	if err := s.shell(project.Dir, script, maxAfter); err != nil {
		return err
	}
	after, err := project.Stats()
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		may := strings.Join(s.jobs.Decisions.For(name).After, "\n") == script
		if old, existed := before[name]; existed && old != after[name] && !may {
			return fault.Failed("if it has to, use --after "+name+"=COMMAND with the same command",
				"%q changed %s, for which PROJECT does not have this command", script, name)
		}
	}
	for _, name := range names {
		content, err := input.ReadFile(filepath.Join(project.Dir, filepath.FromSlash(name)), input.Data)
		if err != nil {
			return fault.Failed("correct the command", "%q removed %s", script, name)
		}
		for i := range s.runs {
			s.runs[i].Result = replaced(s.runs[i].Result, name, content)
		}
	}
	return nil
}

// replaced returns a result whose output with a path has other content.
func replaced(r *output.Result, name string, content []byte) *output.Result {
	res := *r
	res.Outputs = slices.Clone(r.Outputs)
	for i := range res.Outputs {
		if res.Outputs[i].Path == name {
			res.Outputs[i].Content = content
		}
	}
	return &res
}

// checksum identifies a script with the content of the files in the project that it names, except for those that it
// changes.
func (s *settling) checksum(script string, changes []string) string {
	text := []byte(s.files.Dir + "\n" + script)
	words := strings.FieldsFunc(script, func(r rune) bool { return strings.ContainsRune(" \t\n;&|()<>\"'", r) })
	if slices.Contains(words, "make") {
		words = append(words, "GNUmakefile", "makefile", "Makefile")
	}
	for _, word := range words {
		word = path.Clean(word)
		if slices.Contains(changes, word) {
			continue
		}
		name := filepath.Join(s.files.Dir, filepath.FromSlash(word))
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			content, _ := s.files.Read(name) // a file that is not readable fails when it runs
			text = append(text, content...)
		}
	}
	return sha(text)
}

// shell runs a script in a folder for a limited time.
func (s *settling) shell(dir, script string, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(s.ctx, limit)
	defer cancel()
	first, _, _ := strings.Cut(script, "\n")
	progress.From(ctx)("running "+first, 0, 0)
	var out process.Output
	env := environ.With(foreign.WithoutGit(s.r.Environ), "PWD="+dir, "MAKEFLAGS=", "MAKELEVEL=")
	cmd := environ.Command(ctx, dir, env, "sh", "-ec", script)
	cmd.Stdout, cmd.Stderr = &out, &out
	err := process.Run(cmd)
	printed := strings.TrimSpace(strings.ReplaceAll(string(out.Bytes()), dir+string(filepath.Separator), ""))
	if lines := strings.Split(printed, "\n"); len(lines) > maxPrinted {
		printed = strings.Join(lines[len(lines)-maxPrinted:], "\n")
	}
	hint := "correct the command, or what it runs"
	if printed != "" {
		hint += "; it printed\n" + printed
	}
	switch {
	case err == nil:
		return out.Err()
	case s.ctx.Err() != nil:
		return context.Cause(s.ctx)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fault.Failed(hint, "%q did not end within %s", script, limit)
	case errors.Is(err, exec.ErrWaitDelay):
		return fault.Failed(hint, "%q ended, but left a process in the background", script)
	}
	return fault.Failed(hint, "%q failed: %v", script, err)
}

// maxPrinted limits how many lines of what a command printed are part of an error.
const maxPrinted = 10

// The command of --run-make, and how long it may take: it can compile controller-gen. Without OPERON, the Makefile of
// operon calls controller-gen.
const (
	makeCommand = "make generate manifests OPERON="
	maxMake     = 10 * time.Minute
)

// advise runs the project's own make in a copy of files, and says for each file what the result means.
func (s *settling) advise(found []foreign.File, files *overlay.Project) error {
	if err := s.r.Allow(s.ctx, makeCommand, s.checksum(makeCommand, nil)); err != nil {
		return err
	}
	project, err := projectcopy.New(s.ctx, files)
	if err != nil {
		return err
	}
	before, err := project.Stats()
	if err != nil {
		return err
	}
	if err := s.shell(project.Dir, makeCommand, maxMake); err != nil {
		return err
	}
	after, err := project.Stats()
	if err != nil {
		return err
	}
	for i, f := range found {
		disk, err := s.p.Read(f.Path)
		if err != nil {
			return err
		}
		made, err := input.ReadFile(filepath.Join(project.Dir, filepath.FromSlash(f.Path)), input.Data)
		switch {
		case err != nil || before[f.Path] == after[f.Path]:
			found[i].Advice = "make does not write this file: --keep"
		case bytes.Equal(made, disk):
			found[i].Advice = "make changes the file after controller-gen: --after"
		default:
			found[i].Advice = "make writes other content, too: --replace"
		}
	}
	return nil
}
