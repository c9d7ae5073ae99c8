package project

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
)

// Clone returns a copy that shares nothing which a command changes.
func (c *Config) Clone() *Config {
	clone := *c
	clone.Resources = slices.Clone(c.Resources)
	clone.Plugins = maps.Clone(c.Plugins)
	return &clone
}

// SetMultiGroup switches to folders per group, or back. Types that lie where the
// rule has them follow it; those that the user keeps elsewhere stay there.
func (c *Config) SetMultiGroup(on bool) {
	old := c.Clone()
	c.MultiGroup = on
	for i := range c.Resources {
		r := &c.Resources[i]
		if dir, ok := c.inRepo(*r); ok && dir == old.ruleDir(*r) {
			r.Path = path.Join(c.Repo, c.ruleDir(*r))
		}
	}
}

// ValidateLayout checks that the resources fit the layout that was switched to.
func (c *Config) ValidateLayout() error {
	var groups []string
	for _, r := range c.Resources {
		if r.API != nil && !r.HasExternalTypes() && !slices.Contains(groups, r.QualifiedGroup()) {
			groups = append(groups, r.QualifiedGroup())
		}
	}
	if !c.MultiGroup && len(groups) > 1 {
		return fault.Usage("keep the folders per group, or move the kinds of all groups but one to projects of their own",
			"the project has kinds in the groups %s, and without multigroup there is room for one", strings.Join(groups, ", "))
	}
	for _, r := range c.Resources {
		if err := c.ValidateResource(r); err != nil {
			return err
		}
	}
	return nil
}
