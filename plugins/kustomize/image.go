package kustomize

import (
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/internal/deployment"
)

// addImage adds the image that the controller of r deploys to the environment of the manager. A value
// that the user changed stays.
func addImage(c *project.Config, r project.Resource, p *scaffold.Plan) error {
	o, ok := c.Operand(r)
	if !ok || r.API == nil {
		return nil
	}
	found := false
	if p.Exists(managerFile) {
		err := p.Edit(managerFile, func(src []byte) (next []byte, err error) {
			next, found, err = deployment.SetVariable(src, r.ImageVariable(), o.Image, p.Forced())
			return next, err
		})
		if err != nil {
			return fault.In("edit "+managerFile, err)
		}
	}
	if !found {
		p.Warn(scaffold.Warning{File: managerFile, Rule: "manager-not-found", Lines: "env:\n- name: " + r.ImageVariable() + "\n  value: " + o.Image,
			Message: "found no container named manager; set the variable " + r.ImageVariable() + " in its environment"})
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
		if content, _, err = deployment.SetVariable(content, r.ImageVariable(), o.Image, false); err != nil {
			return nil, err
		}
	}
	return content, nil
}
