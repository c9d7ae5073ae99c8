package request

import (
	"path"
	"slices"
	"strings"
)

// Runs reports whether a job has a generator.
func (j *Jobs) Runs(generator string) bool {
	return len(j.With(generator)) > 0
}

// With returns the jobs with a generator.
func (j *Jobs) With(generator string) []*Job {
	return slices.DeleteFunc(slices.Clone(j.List), func(job *Job) bool { return !job.runs(generator) })
}

func (j *Job) runs(generator string) bool {
	return slices.ContainsFunc(j.Generators, func(g Generator) bool { return g.Name == generator })
}

// Missing returns the jobs with a generator if none of them reads a folder, which starts at the project's
// root. Without a job that has the generator, there is none.
func (j *Jobs) Missing(generator, folder string) []*Job {
	all := j.With(generator)
	if slices.ContainsFunc(all, func(job *Job) bool {
		return slices.ContainsFunc(job.Paths, func(pattern string) bool { return matches(pattern, folder) })
	}) {
		return nil
	}
	return all
}

// matches reports whether a pattern of packages selects a folder. An import path might.
func matches(pattern, folder string) bool {
	if pattern != "." && !strings.HasPrefix(pattern, "./") {
		return true
	}
	root, below := strings.CutSuffix(path.Clean(pattern), "...")
	root = path.Clean(root)
	return root == folder || below && (root == "." || strings.HasPrefix(folder, root+"/"))
}
