package request

import (
	"path"
	"path/filepath"

	"sigs.k8s.io/controller-tools/pkg/genall"
)

// Folder returns the folder, from the project's root, to which the first job with a generator writes
// the files that are no Go code. It returns "" if there is no such job, or if it writes elsewhere.
func (j *Jobs) Folder(generator string) string {
	for _, job := range j.List {
		for _, g := range job.Generators {
			if g.Name != generator {
				continue
			}
			var dir string
			switch rule := g.Rule.(type) {
			case genall.OutputArtifacts:
				dir = string(rule.Config)
			case genall.OutputToDirectory:
				dir = string(rule)
			}
			if dir == "" || !filepath.IsLocal(dir) {
				return ""
			}
			return path.Clean(filepath.ToSlash(dir))
		}
	}
	return ""
}
