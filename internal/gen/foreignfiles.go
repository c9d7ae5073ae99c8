package gen

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/gen/controllertools"
	"github.com/operon-dev/operon/internal/gen/foreign"
	"github.com/operon-dev/operon/internal/gen/generate"
	"github.com/operon-dev/operon/internal/gen/othertools"
	"github.com/operon-dev/operon/internal/gen/output"
	"github.com/operon-dev/operon/internal/gen/overlay"
	"github.com/operon-dev/operon/internal/gen/request"
)

// foreign returns the files that have more than outdated output. People commit generated files with their sources,
// so a file that the last commit has is compared with the output for the sources of that commit, also by the version
// of controller-tools that the project installs. Other files are compared with the new output, and what it adds is no
// content of others.
func (s *settling) foreign(targets []target) (found []foreign.File, err error) {
	open := slices.DeleteFunc(targets, func(t target) bool { return t.decision.Word == request.Keep })
	var commit *foreign.Head
	made := map[string][]byte{} // for the sources of the commit
	var head *overlay.Project
	if at, ok := foreign.Commit(s.ctx, s.r.Dir, s.r.Environ); ok && len(open) > 0 {
		if head, err = at.Files(s.ctx); err != nil {
			return nil, err
		}
		head.Plan = s.p
		defer head.Close()
		jobs, err := s.ownJobs()
		if err != nil {
			return nil, err
		}
		if outputs, err := s.outputs(head, jobs); err == nil { // otherwise the commit cannot tell
			commit, made = at, outputs
		} else if s.ctx.Err() != nil {
			return nil, context.Cause(s.ctx)
		}
	}
	otherVersion := s.otherVersion()
	for _, t := range open {
		recorded := s.p.IsRecorded(t.Path)
		if commit != nil {
			committed, has := commit.Read(s.ctx, t.Path)
			if committed = withoutCR(committed); has && bytes.Equal(committed, t.disk) {
				f, differs := foreign.Compare(t.Path, committed, made[t.Path])
				explained := otherVersion && foreign.ExplainedByVersion(committed, made[t.Path])
				if differs && !explained {
					found = append(found, f)
				}
				continue
			}
		}
		if f, differs := foreign.Compare(t.Path, t.disk, t.Content); differs && (recorded || !f.Lacks) {
			found = append(found, f)
		}
	}
	slices.SortFunc(found, func(a, b foreign.File) int { return strings.Compare(a.Path, b.Path) })
	files := s.files
	if head != nil && len(found) > 0 {
		files = head
		if found, err = s.unexplained(found, head); err != nil {
			return nil, err
		}
	}
	if s.r.RunMake && len(found) > 0 {
		err = s.advise(found, files)
	}
	return found, err
}

// ownJobs returns the jobs without what only this command line asks for.
func (s *settling) ownJobs() (*request.Jobs, error) {
	r := s.r
	r.HeaderFile, r.Year, r.Args, r.Paths = "", "", nil, nil
	return request.Resolve(r, s.p)
}

// otherVersion reports whether the project installs another version of controller-tools than the one that generates, or a
// CRD mentions another one.
func (s *settling) otherVersion() bool {
	generates := controllertools.Version()
	if version, ok := s.jobs.OtherTools(); ok {
		generates = version
	}
	if pin := s.jobs.Pin().Version; pin != "" {
		return pin != generates
	}
	return slices.ContainsFunc(s.runs, func(run output.Run) bool {
		return slices.ContainsFunc(run.Outputs, func(o generate.Output) bool {
			disk, err := s.p.Read(o.Path)
			version := controllertools.VersionIn(disk)
			return err == nil && version != "" && version != generates
		})
	})
}

// unexplained removes the files that are, in the last commit, what the version of controller-tools makes that the
// project installs. It downloads nothing.
func (s *settling) unexplained(found []foreign.File, head *overlay.Project) ([]foreign.File, error) {
	version := s.jobs.Pin().Version
	if version == "" || !s.otherVersion() {
		return found, nil
	}
	tools, err := othertools.New(s.ctx, version, head)
	if err != nil {
		return nil, err
	}
	made := map[string][]byte{}
	for _, job := range s.jobs.List {
		offline := *job
		offline.Environ = append(slices.Clone(job.Environ), "GOPROXY=off", "GOFLAGS=-mod=mod")
		res, err := tools.Run(s.ctx, head, &offline)
		if err != nil { // the version is not in the module cache, or does not build
			return found, s.ctx.Err()
		}
		for _, o := range res.Outputs {
			made[o.Path] = o.Content
		}
	}
	return slices.DeleteFunc(found, func(f foreign.File) bool {
		disk, err := s.p.Read(f.Path)
		return err == nil && bytes.Equal(disk, made[f.Path])
	}), nil
}
