package kustomize

import (
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/internal/workload"
)

// addImage adds the image that the controller of r deploys to the environment of the manager. A value
// that the user changed stays.
func addImage(e plugin.Event, p *scaffold.Plan) error {
	c, r := e.Project, *e.Resource
	o, ok := c.Operand(r)
	if !ok || r.API == nil {
		return nil
	}
	missing := "the file does not exist"
	if p.Exists(managerFile) {
		err := p.Edit(managerFile, func(src []byte) ([]byte, error) {
			return workload.SetVariable(src, c.ImageVariable(r), o.Image, p.Forced())
		})
		if err != nil {
			return fault.In("edit "+managerFile, err)
		}
		content, err := p.Read(managerFile)
		if err != nil {
			return err
		}
		if workload.HasVariable(content, c.ImageVariable(r)) {
			return nil
		}
		missing = "it has no Deployment"
	}
	if !e.Replay {
		lines := "env:\n- name: " + c.ImageVariable(r) + "\n  value: " + o.Image
		p.Warn(scaffold.Warning{File: managerFile, Rule: "manager-not-found", Lines: lines,
			Message: missing + ": set the variable " + c.ImageVariable(r) + " in the environment of the manager"})
	}
	return nil
}

// withImages returns the manifest of a new manager with the images of all operands.
func withImages(c *project.Config, content []byte) ([]byte, error) {
	for _, r := range c.Resources {
		o, ok := c.Operand(r)
		if !ok {
			continue
		}
		var err error
		if content, err = workload.SetVariable(content, c.ImageVariable(r), o.Image, false); err != nil {
			return nil, err
		}
	}
	return content, nil
}
