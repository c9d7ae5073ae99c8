package gen

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gen/foreign"
	"github.com/operon-dev/operon/internal/gen/generate"
	"github.com/operon-dev/operon/internal/gen/output"
	"github.com/operon-dev/operon/internal/gen/overlay"
	"github.com/operon-dev/operon/internal/gen/record"
	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/scaffold"
)

// settling decides about outputs that would change files which operon did not write.
type settling struct {
	ctx   context.Context
	r     Request
	files *overlay.Project
	jobs  *request.Jobs
	runs  []output.Run
	p     *scaffold.Plan
}

// target is an output that would change a file.
type target struct {
	generate.Output
	disk     []byte
	decision request.Decision
}

// settle applies the decisions in PROJECT, and the policy of the request to files about which it says nothing. A file
// that is only out of date is no error.
func (s *settling) settle() error {
	if err := s.checkDecided(); err != nil {
		return err
	}
	if err := s.runAfter(); err != nil {
		return err
	}
	targets, err := s.targets()
	if err != nil || len(targets) == 0 {
		return err
	}
	if s.r.Foreign == request.Add {
		return s.merge(targets)
	}
	for _, t := range targets {
		if t.decision.Word == request.Keep {
			s.warnKept(t)
			s.leave(t.Path, nil)
		}
	}
	if s.r.Foreign == request.Overwrite {
		return nil
	}
	found, err := s.foreign(targets)
	if err == nil && len(found) > 0 {
		err = &foreign.Undecided{Files: found}
	}
	return err
}

// checkDecided returns an error for a decision of this command about a file that nothing generates.
func (s *settling) checkDecided() error {
	for _, name := range s.r.Decided {
		all := request.Decisions{name: {Word: request.Keep}}
		if !slices.ContainsFunc(s.runs, func(run output.Run) bool {
			return slices.ContainsFunc(run.Sums(), func(o record.Output) bool { return all.For(o.Path).Word != "" })
		}) {
			return fault.Usage("operon generate --explain lists the folders of the outputs", "nothing generates %s", name)
		}
	}
	return nil
}

// targets returns the outputs that would change files which operon did not write, and those that PROJECT keeps. Outputs
// that PROJECT replaces, or changes by commands, are none.
func (s *settling) targets() (all []target, err error) {
	commit := sync.OnceValues(func() (*foreign.Head, bool) { return foreign.Commit(s.ctx, s.r.Dir, s.r.Environ) })
	seen := map[string]bool{}
	for _, run := range s.runs {
		for _, o := range run.Outputs {
			t := target{Output: o, decision: s.jobs.Decisions.For(o.Path)}
			if o.Path == "" || seen[o.Path] || t.decision.Word == request.Replace || len(t.decision.After) > 0 {
				continue
			}
			seen[o.Path] = true
			if t.decision.Word == request.Keep && !s.p.Exists(o.Path) {
				s.leave(o.Path, nil) // operon never writes it
				continue
			}
			if t.disk, err = s.p.Disk(o.Path); err != nil {
				return nil, err
			}
			t.disk = withoutCR(t.disk)
			switch {
			case t.disk == nil:
			case bytes.Equal(t.disk, o.Content):
			case t.decision.Word == request.Keep:
				all = append(all, t)
			case s.p.Unchanged(o.Path), o.Generator == "rbac" && foreign.IsNewRole(t.disk):
			case s.r.Foreign != request.Overwrite && s.wroteElsewhere(t, commit):
			default:
				all = append(all, t)
			}
		}
	}
	return all, nil
}

// wroteElsewhere reports whether operon wrote the content of a file in another commit.
func (s *settling) wroteElsewhere(t target, commit func() (*foreign.Head, bool)) bool {
	if !s.p.IsRecorded(t.Path) {
		return false
	}
	head, ok := commit()
	return ok && head.Recorded(s.ctx, sha(t.disk))
}

// withoutCR returns a text with the line endings that the generators write. git may check out others.
func withoutCR(text []byte) []byte {
	if text == nil {
		return nil
	}
	return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
}

func sha(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// leave takes an output out of the plan.
func (s *settling) leave(path string, content []byte) {
	for i := range s.runs {
		s.runs[i].Leave(path, content)
	}
}

// merge limits outputs to what the planned sources add.
func (s *settling) merge(targets []target) error {
	before := &overlay.Project{Dir: s.files.Dir, Plan: s.files.Plan, Changed: map[string][]byte{}}
	defer before.Close()
	base, err := s.outputs(before, onDisk(s.jobs, s.files.Dir))
	if err != nil {
		return fault.In("generate without the new files", err)
	}
	for _, t := range targets {
		was, made := base[t.Path]
		switch {
		case made && bytes.Equal(was, t.Content):
			s.leave(t.Path, nil)
		case t.decision.Word == request.Keep:
			s.leave(t.Path, nil)
			s.p.Warn(scaffold.Warning{File: t.Path, Rule: "kept", Message: "PROJECT keeps this file, so it lacks what the command adds"})
		case made && bytes.Equal(was, t.disk):
		default:
			content, err := foreign.Merge(t.Path, was, t.disk, t.Content)
			if err != nil {
				return err
			}
			s.leave(t.Path, content)
		}
	}
	return nil
}

// onDisk returns jobs without the paths to folders that only the plan has.
func onDisk(jobs *request.Jobs, dir string) *request.Jobs {
	res := *jobs
	res.List = nil
	for _, job := range jobs.List {
		j := *job
		j.Paths = slices.DeleteFunc(slices.Clone(job.Paths), func(pattern string) bool {
			if !strings.HasPrefix(pattern, ".") {
				return false // an import path
			}
			_, err := os.Stat(overlay.Join(dir, strings.TrimSuffix(pattern, "/...")))
			return errors.Is(err, fs.ErrNotExist)
		})
		if len(j.Paths) > 0 {
			res.List = append(res.List, &j)
		}
	}
	return &res
}

// outputs returns what the jobs generate for other files of the project, by path.
func (s *settling) outputs(files *overlay.Project, jobs *request.Jobs) (map[string][]byte, error) {
	runs, err := runAll(s.ctx, s.r, files, jobs)
	if err != nil {
		return nil, err
	}
	made := map[string][]byte{}
	for _, run := range runs {
		for _, o := range run.Outputs {
			made[o.Path] = o.Content
		}
		for _, o := range run.Unchanged { // the file on the disk is up to date
			if made[o.Path], err = s.p.Read(o.Path); err != nil {
				return nil, err
			}
		}
	}
	return made, nil
}
