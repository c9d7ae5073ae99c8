package project

import (
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
)

// checkCollisions checks r for collisions with the other resources of the project.
func (c *Config) checkCollisions(r Resource) error {
	for _, o := range c.Resources {
		if o.SameVersion(r) {
			continue
		}
		for _, check := range []func(r, o Resource) error{
			c.groupCollision, kindCollision, c.typeCollision, c.reconcilerCollision, c.controllerCollision, c.webhookCollision, c.aliasCollision,
		} {
			if err := check(r, o); err != nil {
				return err
			}
		}
	}
	return nil
}

// groupCollision rejects two groups in one folder: its package has one group version. In a project
// without multigroup, all types of a version share the default folder, so it rejects a second group
// in default folders. Controllers for external types do not count.
func (c *Config) groupCollision(r, o Resource) error {
	if r.API == nil || o.API == nil || r.QualifiedGroup() == o.QualifiedGroup() {
		return nil
	}
	if !c.inSharedFolder(r) || !c.inSharedFolder(o) {
		if dir := c.APIDir(r); dir == c.APIDir(o) {
			return fault.Usage("correct the paths of the resources in "+File+", or write another folder for new types: api below plugins and "+PlacesKey,
				"group %s: %s has the types of group %s", r.QualifiedGroup(), dir, o.QualifiedGroup())
		}
		return nil
	}
	use := "use --group " + o.Group
	if o.Group == "" {
		use = "omit --group"
	}
	if r.Group == o.Group { // the domains differ
		return fault.Usage("write domain: "+o.Domain+" in "+File+", or first use a folder for each group: operon edit --multigroup",
			"group %s: the project has the group %s, and its layout supports one group only", r.QualifiedGroup(), o.QualifiedGroup())
	}
	return fault.Usage(use+", or first use a folder for each group: operon edit --multigroup",
		"group %s: the project has the group %s, and its layout supports one group only", orEmpty(r.Group), orEmpty(o.Group))
}

// inSharedFolder reports whether the types of r are in the default folder of a project without
// multigroup.
func (c *Config) inSharedFolder(r Resource) bool {
	return !c.MultiGroup && !strings.Contains(c.Places().API, groupPlaceholder) && c.APIDir(r) == c.ruleDir(r)
}

func orEmpty(s string) string {
	if s == "" {
		return `""`
	}
	return s
}

// kindCollision rejects kinds that cannot be in one CRD or in one API group.
func kindCollision(r, o Resource) error {
	if r.QualifiedGroup() != o.QualifiedGroup() {
		return nil
	}
	if r.Kind == o.Kind {
		return versionMismatch(r, o)
	}
	switch {
	case r.Lower() == o.Lower():
		return fault.Usage("use --kind "+o.Kind, "kind %q differs from kind %q in the same group only in case", r.Kind, o.Kind)
	case r.Kind == o.Kind+"List" || r.Kind+"List" == o.Kind:
		return fault.Usage("choose another kind", "kind %q collides with %q: a kind has a list type with this name", r.Kind, o.Kind)
	case r.PluralName() == o.PluralName():
		hint := "choose another with --plural"
		if r.Lower() == o.PluralName() {
			hint = "use --kind " + o.Kind + ", or choose another plural with --plural"
		}
		return fault.Usage(hint, "plural %q of kind %q is the plural of kind %q", r.PluralName(), r.Kind, o.Kind)
	}
	return nil
}

// versionMismatch rejects another plural or scope: all versions of a kind are in one CRD.
func versionMismatch(r, o Resource) error {
	if r.API == nil || o.API == nil {
		return nil
	}
	if r.PluralName() != o.PluralName() {
		return fault.Usage("use --plural "+o.PluralName(), "plural %q differs from %q, the plural of %s in version %s",
			r.PluralName(), o.PluralName(), o.Kind, o.Version)
	}
	if r.API.Namespaced != o.API.Namespaced {
		scope := map[bool]string{true: "namespaced", false: "cluster-scoped"}
		flag := map[bool]string{true: "--namespaced", false: "--namespaced=false"}
		return fault.Usage("use "+flag[o.API.Namespaced], "%s is %s in version %s; all versions of a kind have the same scope",
			o.Kind, scope[o.API.Namespaced], o.Version)
	}
	return nil
}

// typeCollision rejects two Go types with one name in a package.
func (c *Config) typeCollision(r, o Resource) error {
	if r.API == nil || o.API == nil || c.APIDir(r) != c.APIDir(o) {
		return nil
	}
	types := func(r Resource) []string {
		return []string{r.Kind, r.Kind + "List", r.Kind + "Spec", r.Kind + "Status"}
	}
	for _, name := range types(r) {
		if slices.Contains(types(o), name) {
			return fault.Usage("choose another kind", "kind %q collides with %q: both need the Go type %s in %s", r.Kind, o.Kind, name, c.APIDir(r))
		}
	}
	return nil
}

// reconcilerCollision rejects two controllers with the same type or file in a package.
// File names are in lower case.
func (c *Config) reconcilerCollision(r, o Resource) error {
	if c.ControllerDir(r) != c.ControllerDir(o) {
		return nil
	}
	for _, controller := range r.ControllerNames() {
		name := r.Reconciler(controller)
		if !slices.ContainsFunc(o.reconcilers(), func(other string) bool { return strings.EqualFold(name, other) }) {
			continue
		}
		if controller != r.Lower() {
			return fault.Usage("use another --controller-name",
				"controller name %q: %s already has %s, for kind %s in version %s", controller, c.ControllerDir(o), name, o.Kind, o.Version)
		}
		if r.SameKind(o) {
			return fault.Usage("use --controller=false: one controller handles all versions of a kind",
				"kind %s already has a controller, for version %s", o.Kind, o.Version)
		}
		return fault.Usage("use --controller=false, or a folder for each group: operon edit --multigroup",
			"%s already has %s, for kind %s of group %s", c.ControllerDir(o), name, o.Kind, o.QualifiedGroup())
	}
	return nil
}

// webhookCollision rejects two webhooks with the same URL path, and two kinds whose
// webhooks have the same types and files in a package.
func (c *Config) webhookCollision(r, o Resource) error {
	if r.Webhooks == nil || o.Webhooks == nil {
		return nil
	}
	for _, path := range r.webhookPaths() {
		if slices.Contains(o.webhookPaths(), path) {
			return fault.Usage("choose another path", "webhook path %s is already the path of %s %s", path, o.Version, o.Kind)
		}
	}
	if r.Lower() == o.Lower() && c.WebhookDir(r) == c.WebhookDir(o) {
		hint := "use a folder for each group: operon edit --multigroup"
		if r.SameKind(o) {
			hint = "write a folder for each version in " + File + ": webhooks below plugins and " + PlacesKey + ", with " + versionPlaceholder
		}
		return fault.Usage(hint, "%s already has the webhooks of kind %s of group %s", c.WebhookDir(o), o.Kind, orEmpty(o.QualifiedGroup()))
	}
	return nil
}

// controllerCollision rejects two controllers with the same name in the manager.
func (c *Config) controllerCollision(r, o Resource) error {
	for _, controller := range r.ControllerNames() {
		name := c.ControllerName(r, controller)
		for _, other := range o.ControllerNames() {
			if c.ControllerName(o, other) == name {
				return fault.Usage("use another --controller-name", "controller name %q: kind %s of group %s has a controller with the name %s in the manager",
					controller, o.Kind, orEmpty(o.QualifiedGroup()), name)
			}
		}
	}
	return nil
}

// aliasCollision rejects two packages that cmd/main.go would import under one name. Groups of the
// same name in different domains are different packages, but kinds of one name would have the same
// files.
func (c *Config) aliasCollision(r, o Resource) error {
	differ := r.QualifiedGroup() != o.QualifiedGroup()
	if r.Core || o.Core || !differ {
		return nil
	}
	if r.Group == o.Group && r.Group != "" {
		if r.Lower() != o.Lower() {
			return nil
		}
		return fault.Usage("choose another kind", "kind %s: the group %s has it, too, and its files would have the same names", r.Kind, o.QualifiedGroup())
	}
	alias, other := r.ImportAlias(), o.ImportAlias()
	if c.ControllerAlias(r) != "" && c.ControllerAlias(r) == c.ControllerAlias(o) {
		alias, other = c.ControllerAlias(r), c.ControllerAlias(o)
	}
	if alias != other {
		return nil
	}
	return fault.Usage("choose another --group", "groups %s and %s have the same Go name %s, because they differ only in punctuation",
		orEmpty(r.Group), orEmpty(o.Group), alias)
}
