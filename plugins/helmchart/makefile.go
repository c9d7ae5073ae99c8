package helmchart

import (
	"bytes"

	"github.com/operon-dev/operon/internal/jsonvalue"
	"github.com/operon-dev/operon/internal/lazyregexp"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/internal/makefile"
	"go.yaml.in/yaml/v3"
)

var (
	deployTarget = lazyregexp.New(`(?m)^helm-deploy[ \t]*:`)
	chartDir     = lazyregexp.New(`(?m)^(HELM_CHART_DIR[ \t]*\?=[ \t]*)(.*)$`)
)

// addTargets appends the targets for releases of the chart to the Makefile, unless it has them.
func addTargets(c *project.Config, dir string, p *scaffold.Plan) error {
	return makefile.Append(p, "helmchart/makefile", func(src []byte) ([]byte, any) {
		if deployTarget().Match(src) {
			return src, nil
		}
		return src, struct{ Name, Namespace, Dir string }{c.ProjectName, namespaceOf(c, p), dir}
	})
}

// moveTargets replaces the folder of the chart in the Makefile.
func moveTargets(from, to string, p *scaffold.Plan) error {
	if !p.Exists(makefile.Name) {
		return nil
	}
	return p.Edit(makefile.Name, func(src []byte) ([]byte, error) {
		m := chartDir().FindSubmatchIndex(src)
		if m == nil || string(src[m[4]:m[5]]) != from {
			return src, nil
		}
		return append(append(bytes.Clone(src[:m[4]]), to...), src[m[5]:]...), nil
	})
}

// namespaceOf returns the namespace of config/default, or else the usual one.
func namespaceOf(c *project.Config, p *scaffold.Plan) string {
	settings := map[string]any{}
	if src, err := p.Read(defaultFile); err == nil && yaml.Unmarshal(src, &settings) == nil {
		if namespace := jsonvalue.String(settings, "namespace"); namespace != "" {
			return namespace
		}
	}
	return c.Namespace()
}
