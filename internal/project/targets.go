package project

import (
	"maps"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
)

// Target returns the kind that value names as group/version/Kind, of the project or of
// Kubernetes. The form version/Kind is for kinds without a group. flag is the name of
// the flag, for errors.
func (c *Config) Target(flag, value string) (Resource, error) {
	words := strings.Split(value, "/")
	if len(words) == 2 {
		words = slices.Insert(words, 0, "")
	}
	if len(words) != 3 || CheckVersion(words[1]) != nil || CheckKind(words[2]) != nil {
		hint := "write group/version/Kind, as in --" + flag + " apps/v1/StatefulSet,core/v1/Secret"
		if near := c.nearWords(words); near != "" {
			hint = "did you mean --" + flag + " " + near + "?"
		}
		return Resource{}, fault.Usage(hint, "--%s %q does not name a kind", flag, value)
	}
	group, version, kind := words[0], words[1], words[2]
	for _, r := range c.Resources {
		if (r.Group == group || r.QualifiedGroup() == group) && r.Version == version && r.Kind == kind && (r.API != nil || r.HasExternalTypes()) {
			return r, nil
		}
	}
	if k, err := FindCore(group, version, kind); err == nil {
		if k.Stored {
			return k.Resource(), nil
		}
		return Resource{}, fault.Usage("omit it", "--%s %s: the API server does not store objects of this kind, so there are no events", flag, value)
	}
	hint := "use a kind of Kubernetes " + KubernetesVersion + " or of the project"
	if near := c.nearTarget(group, version, kind); near != "" {
		hint = "did you mean --" + flag + " " + near + "?"
	}
	return Resource{}, fault.Usage(hint, "--%s %s: neither Kubernetes nor the project has this kind", flag, value)
}

// nearWords returns a suggestion for a value that is not of the form group/version/Kind, or "": a kind
// without a group and a version, or in lower case or plural.
func (c *Config) nearWords(words []string) string {
	switch {
	case len(words) == 1:
		return c.nearTarget("", "v1", words[0])
	case len(words) == 3 && CheckVersion(words[1]) == nil:
		return c.nearTarget(words[0], words[1], words[2])
	}
	return ""
}

// nearTarget returns a suggestion for an unknown kind, or "": the same kind name in
// another group or version, or a similar kind name.
func (c *Config) nearTarget(group, version, kind string) string {
	names := map[string][]string{} // by kind
	for _, name := range c.TargetNames() {
		k := name[strings.LastIndex(name, "/")+1:]
		names[k] = append(names[k], name)
	}
	meant := names[fault.Nearest(kind, slices.Sorted(maps.Keys(names)))]
	if len(meant) == 0 {
		return ""
	}
	if group == "" {
		group = "core"
	}
	wanted := group + "/" + version + "/" + kind
	return slices.MinFunc(meant, func(a, b string) int { return fault.Distance(wanted, a) - fault.Distance(wanted, b) })
}

// TargetNames returns the names of all kinds that Target finds.
func (c *Config) TargetNames() []string {
	var names []string
	for _, r := range c.Resources {
		if r.API != nil || r.HasExternalTypes() {
			names = append(names, r.targetName())
		}
	}
	for _, k := range CoreKinds() {
		if k.Stored {
			names = append(names, k.Resource().targetName())
		}
	}
	return sortedUnion(names, nil)
}

func (r Resource) targetName() string {
	return strings.TrimPrefix(r.Group+"/"+r.Version+"/"+r.Kind, "/")
}
