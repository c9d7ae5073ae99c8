package rbac

import (
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/lazyregexp"
	helmchart "helm.sh/helm/v3/pkg/chart"
)

// used are the keys of values on which templates can depend. Most booleans of large charts are parts
// of objects that templates print as a whole, such as a securityContext.
type used struct {
	keys   map[string]bool // named in a template, or in a condition of a dependency
	ranged map[string]bool // named in an action with range, whose variables have no names of keys
}

var (
	keyName     = lazyregexp.New(`[A-Za-z0-9_-]+`)
	rangeAction = lazyregexp.New(`\brange\b`)
)

func usedIn(templates []template, c *helmchart.Chart) used {
	u := used{map[string]bool{}, map[string]bool{}}
	for _, t := range templates {
		for line := range strings.Lines(t.text) {
			isRange := rangeAction().MatchString(line)
			for _, name := range keyName().FindAllString(line, -1) {
				u.keys[name] = true
				if isRange {
					u.ranged[name] = true
				}
			}
		}
	}
	for _, conditions := range conditionsOf(c, nil) {
		for _, p := range conditions {
			u.keys[p[len(p)-1]] = true
		}
	}
	for _, entry := range c.Metadata.Dependencies {
		for _, tag := range entry.Tags {
			u.keys[tag] = true
		}
	}
	return u
}

// has reports whether templates can depend on the boolean at a path.
func (u used) has(path []string) bool {
	return u.keys[path[len(path)-1]] || slices.ContainsFunc(path[:len(path)-1], func(key string) bool { return u.ranged[key] })
}
