// Package templates embeds the files that operon writes into projects. The path of a
// template contains the path of its output: templates/<plugin>/<tree>/<output path>.tmpl.
package templates

import "embed"

// FS holds the template trees of all plugins. "all:" keeps files whose names
// start with a dot or an underscore.
//
//go:embed all:addon all:autoupdate all:golang all:grafana all:helm all:helmchart all:hook all:kustomize all:olm all:shell
var FS embed.FS
