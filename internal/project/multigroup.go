package project

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
)

// Clone returns a copy. Commands can change its lists and maps without an effect on c.
func (c *Config) Clone() *Config {
	clone := *c
	clone.Resources = slices.Clone(c.Resources)
	clone.Plugins = maps.Clone(c.Plugins)
	return &clone
}

// SetMultiGroup changes between one folder for all groups and a folder per group. Types
// in the default folder move; those in other folders stay.
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

// ValidateLayout checks that the layout supports all resources.
func (c *Config) ValidateLayout() error {
	var groups []string
	for _, r := range c.Resources {
		if r.API != nil && !r.HasExternalTypes() && c.inSharedFolder(r) && !slices.Contains(groups, r.QualifiedGroup()) {
			groups = append(groups, r.QualifiedGroup())
		}
	}
	if !c.MultiGroup && len(groups) > 1 {
		return fault.Usage("keep multigroup: true in "+File+", or move the kinds of other groups to their own projects",
			"the project has kinds in the groups %s; without multigroup it can have one group", strings.Join(groups, ", "))
	}
	for _, r := range c.Resources {
		if err := c.ValidateResource(r); err != nil {
			return err
		}
	}
	return nil
}
