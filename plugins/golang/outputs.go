package golang

import (
	"path"
	"strings"

	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/project"
)

// The folders of generated manifests, unless the project has other arguments for the generators.
const (
	crdBases       = "config/crd/bases"
	webhookConfigs = "config/webhook"
)

// outputFolder returns the folder to which the generators write the artifacts of one of them, crd or
// webhook, by the arguments in PROJECT. Suites install them from there.
func outputFolder(c *project.Config, generator, usual string) string {
	recorded, _ := c.Plugins[request.ConfigKey].(map[string]any)
	args, _ := recorded["args"].([]any)
	for _, arg := range args {
		text, _ := arg.(string)
		for _, rule := range []string{":artifacts:config=", ":dir="} {
			if dir, ok := strings.CutPrefix(text, "output:"+generator+rule); ok && dir != "" && !path.IsAbs(dir) {
				return path.Clean(dir)
			}
		}
	}
	return usual
}
