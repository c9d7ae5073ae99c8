package suites

import (
	"path"
	"strings"

	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/project"
)

// CRDFolder returns the folder with the CRDs that suites install.
func CRDFolder(c *project.Config) string { return outputFolder(c, "crd", "config/crd/bases") }

// WebhookFolder returns the folder with the manifests of webhooks that suites install.
func WebhookFolder(c *project.Config) string { return outputFolder(c, "webhook", "config/webhook") }

// outputFolder returns the folder to which the generators write the artifacts of one of them, crd or
// webhook, by the arguments in PROJECT, or else the usual one.
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
