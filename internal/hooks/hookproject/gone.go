package hookproject

import (
	"path"
	"strings"

	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/project"
)

var ruleHookGone = finding.Rule{Name: "hook-gone", Summary: "a hook in PROJECT whose file is missing"}

// Gone returns a finding for each hook that PROJECT records and that does not exist. files
// are the paths of the recorded hooks, relative to the project root.
func Gone(files []string, exists func(path string) bool) []finding.Finding {
	var found []finding.Finding
	for _, file := range files {
		if !exists(file) {
			name := strings.TrimSuffix(path.Base(file), path.Ext(file))
			found = append(found, ruleHookGone.At(project.File, 0, 0, "the hook %s is missing: restore %s from version control, or remove the hook from %s", name, file, project.File))
		}
	}
	return found
}
