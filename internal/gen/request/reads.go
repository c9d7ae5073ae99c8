package request

import (
	"path"
	"slices"
	"strings"
)

// Missing returns the jobs with a generator if none of them reads a folder, which starts at the project's
// root. Without a job that has the generator, there is none.
func (j *Jobs) Missing(generator, folder string) []*Job {
	var all []*Job
	for _, job := range j.List {
		if !slices.ContainsFunc(job.Generators, func(g Generator) bool { return g.Name == generator }) {
			continue
		}
		if slices.ContainsFunc(job.Paths, func(pattern string) bool { return matches(pattern, folder) }) {
			return nil
		}
		all = append(all, job)
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
