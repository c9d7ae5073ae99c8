package plugin

import (
	"iter"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/lazyregexp"
)

// layoutKey matches a layout key of PROJECT version 3.
var layoutKey = lazyregexp.New(`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?\.[a-z0-9-]+/v[1-9][0-9]*(-alpha|-beta)?$`)

// notYet returns what operators with a layout of operator-sdk are based on, if operon has none.
func notYet(name string) string {
	if short, _, _ := strings.Cut(name, ".sdk.operatorframework.io/"); short == "ansible" {
		return "Ansible"
	}
	return ""
}

// CheckLayout returns an error for the layout of an operator-sdk project whose operator operon cannot
// change or test. Commands for manifests, bundles and catalogs need no plugin.
func CheckLayout(layout []string) error {
	for _, key := range layout {
		if other := notYet(key); other != "" {
			return fault.Usage("use operator-sdk for it; operon bundle, catalog, installer, kustomize, olm, run and scorecard work in this project",
				"operon does not have operators based on %s yet, and the layout is %s", other, strings.Join(layout, ", "))
		}
	}
	return nil
}

// Resolve maps the keys and short names of the plugins of a new project to full keys, in order and
// without duplicates. It keeps unknown full keys, which can belong to another tool. A short name that
// a layout and a companion share means the companion beside another layout, and otherwise the
// layout.
func (c Catalogue) Resolve(names []string) ([]string, error) {
	beside := slices.ContainsFunc(names, func(n string) bool {
		named := c.named(n)
		return len(named) == 1 && !named[0].Companion && !named[0].External
	})
	return c.resolve(names, beside, c.suggestion)
}

// ResolveCompanions is Resolve for plugins that an existing project gets.
func (c Catalogue) ResolveCompanions(names []string) ([]string, error) {
	return c.resolve(names, true, c.addable)
}

// resolve is Resolve. beside says that there is another layout, and hint returns the hint for an unknown name.
func (c Catalogue) resolve(names []string, beside bool, hint func(name string) string) ([]string, error) {
	var keys []string
	for _, n := range names {
		key := n
		if named := c.named(n); len(named) > 0 {
			chosen := named[max(0, slices.IndexFunc(named, func(e Entry) bool { return e.Companion == beside }))]
			if key = chosen.Key; chosen.PerCall {
				return nil, fault.Usage("use it with operon create api --plugins", "the plugin %s is for a single create api", n)
			} else if chosen.Existing {
				return nil, fault.Usage("use one of "+strings.Join(c.keys(), ", "), "the layout %s is for repositories that operon did not start", key)
			}
		} else if other := notYet(n); other != "" {
			return nil, fault.Usage("use operator-sdk for them", "operon does not have operators based on %s yet", other)
		} else if !layoutKey().MatchString(n) {
			return nil, fault.Usage(hint(n), "unknown plugin %q", n)
		}
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys, nil
}

// named returns the layouts with a name.
func (c Catalogue) named(name string) Catalogue {
	return slices.DeleteFunc(slices.Clone(c), func(e Entry) bool { return !slices.Contains(e.Names(), name) })
}

// suggestion returns a hint for an unknown layout name.
func (c Catalogue) suggestion(name string) string {
	var names, short []string
	for _, e := range c {
		if !e.Existing && !e.PerCall {
			names = append(names, e.Names()...)
			if name := e.Names()[min(1, len(e.Names())-1)]; !slices.Contains(short, name) {
				short = append(short, name)
			}
		}
	}
	if near := fault.Nearest(name, names); near != "" {
		return "did you mean " + near + "?"
	}
	return "valid plugins: " + strings.Join(short, ", ")
}

// addable returns a hint for an unknown name of a plugin that a command adds to a project.
func (c Catalogue) addable(name string) string {
	var names, short []string
	for _, e := range c {
		if e.Companion || e.External {
			names = append(names, e.Names()...)
			short = append(short, e.Names()[min(1, len(e.Names())-1)])
		}
	}
	if near := fault.Nearest(name, names); near != "" {
		return "did you mean " + near + "?"
	}
	return "valid plugins: " + strings.Join(short, ", ") + "; docs/plugins.md tells how to install others"
}

// Unknown returns the keys and names that the catalogue does not have.
func (c Catalogue) Unknown(names iter.Seq[string]) []string {
	var unknown []string
	for name := range names {
		if !slices.ContainsFunc(c, func(e Entry) bool { return slices.Contains(e.Names(), name) }) {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	return slices.Compact(unknown)
}
