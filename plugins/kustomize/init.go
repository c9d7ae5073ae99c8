package kustomize

import (
	"io/fs"

	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
)

const managerFile = "config/manager/manager.yaml"

// initProject plans the manifests that every project has.
func initProject(c *project.Config, p *scaffold.Plan) error {
	return tree("kustomize/init", nil, initData(c), p, func(name string, mode fs.FileMode, content []byte) (err error) {
		if name == managerFile {
			if content, err = withImages(c, content); err != nil {
				return err
			}
		}
		return p.Seed(name, mode, content)
	})
}
