package plugin

import (
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
)

// ResolveCall maps the keys and short names of the plugins for one call of a create command to full
// keys. Those of the project are valid, and with perCall, those that only a call can have.
func (c Catalogue) ResolveCall(names []string, p *project.Config, perCall bool) ([]string, error) {
	callable := c.callable(p, perCall)
	hint := "valid plugins: " + strings.Join(c.CallNames(p, perCall), ", ")
	var keys, known []string
	for _, e := range callable {
		known = append(known, e.Names()...)
	}
	for _, n := range names {
		has := func(e Entry) bool { return slices.Contains(e.Names(), n) }
		i := slices.IndexFunc(callable, has)
		switch {
		case i >= 0:
			keys = append(keys, callable[i].Key)
		case slices.Contains(p.Layout, n):
			keys = append(keys, n)
		case slices.ContainsFunc(c, has):
			return nil, fault.Usage(hint, "the plugin %s does not take part in this command", n)
		default:
			if near := fault.Nearest(n, known); near != "" {
				hint = "did you mean " + near + "?"
			}
			return nil, fault.Usage(hint, "unknown plugin %q", n)
		}
	}
	return keys, nil
}

// CallNames returns the short names with versions of the plugins that a call of a create command can name.
func (c Catalogue) CallNames(p *project.Config, perCall bool) []string {
	var names []string
	for _, e := range c.callable(p, perCall) {
		all := e.Names()
		names = append(names, all[len(all)-1])
	}
	return names
}

// callable returns the layouts that a call can name.
func (c Catalogue) callable(p *project.Config, perCall bool) Catalogue {
	return slices.DeleteFunc(slices.Clone(c), func(e Entry) bool {
		_, recorded := p.Plugins[e.Key]
		return (!e.PerCall || !perCall) && !slices.Contains(p.Layout, e.Key) && (!e.External || !recorded)
	})
}

// Called returns the plugins of a project that take part in a call that names these keys: all of operon, which
// depend on each other, and the external ones among the keys.
func (c Catalogue) Called(active Set, keys []string) Set {
	return slices.DeleteFunc(slices.Clone(active), func(p Plugin) bool { return c.rank(p) > 0 && !slices.Contains(keys, p.Name()) })
}
