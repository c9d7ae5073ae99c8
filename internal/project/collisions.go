package project

import (
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
)

// checkCollisions checks r against every other resource of the project.
func (c *Config) checkCollisions(r Resource) error {
	for _, o := range c.Resources {
		if o.SameVersion(r) {
			continue
		}
		for _, clash := range []func(r, o Resource) error{c.groupCollision, kindCollision, c.typeCollision, c.reconcilerCollision, c.controllerCollision, c.webhookCollision, c.aliasCollision} {
			if err := clash(r, o); err != nil {
				return err
			}
		}
	}
	return nil
}

// groupCollision: without multigroup all types of a version share one folder, so
// one group is all there can be. Controllers for external types are no matter.
func (c *Config) groupCollision(r, o Resource) error {
	if c.MultiGroup || r.API == nil || o.API == nil || r.QualifiedGroup() == o.QualifiedGroup() {
		return nil
	}
	use := "use --group " + o.Group
	if o.Group == "" {
		use = "leave --group out"
	}
	return fault.Usage(use+", or give each group a folder first: operon edit --multigroup",
		"group %s: the project has the group %s already, and folders for one group only", orEmpty(r.Group), orEmpty(o.Group))
}

func orEmpty(s string) string {
	if s == "" {
		return `""`
	}
	return s
}

// kindCollision: what one CRD, or the CRDs of one group, cannot hold.
func kindCollision(r, o Resource) error {
	if r.QualifiedGroup() != o.QualifiedGroup() {
		return nil
	}
	if r.Kind == o.Kind {
		return versionMismatch(r, o)
	}
	switch {
	case r.Lower() == o.Lower():
		return fault.Usage("use --kind "+o.Kind, "kind %q differs from the kind %q of the same group in case only", r.Kind, o.Kind)
	case r.Kind == o.Kind+"List" || r.Kind+"List" == o.Kind:
		return fault.Usage("choose another kind", "kind %q clashes with %q: a kind has a list type of that name", r.Kind, o.Kind)
	case r.PluralName() == o.PluralName():
		return fault.Usage("choose another with --plural", "plural %q of kind %q is that of kind %q", r.PluralName(), r.Kind, o.Kind)
	}
	return nil
}

// versionMismatch: all versions of a kind stand in one CRD, with one plural and
// one scope.
func versionMismatch(r, o Resource) error {
	if r.API == nil || o.API == nil {
		return nil
	}
	if r.PluralName() != o.PluralName() {
		return fault.Usage("use --plural "+o.PluralName(), "plural %q differs from %q, that of %s in version %s",
			r.PluralName(), o.PluralName(), o.Kind, o.Version)
	}
	if r.API.Namespaced != o.API.Namespaced {
		scope := map[bool]string{true: "namespaced", false: "cluster-scoped"}
		flag := map[bool]string{true: "--namespaced", false: "--namespaced=false"}
		return fault.Usage("use "+flag[o.API.Namespaced], "%s is %s in version %s, and a kind has one scope in all versions",
			o.Kind, scope[o.API.Namespaced], o.Version)
	}
	return nil
}

// typeCollision: the types of one package.
func (c *Config) typeCollision(r, o Resource) error {
	if r.API == nil || o.API == nil || c.APIDir(r) != c.APIDir(o) {
		return nil
	}
	types := func(r Resource) []string {
		return []string{r.Kind, r.Kind + "List", r.Kind + "Spec", r.Kind + "Status"}
	}
	for _, name := range types(r) {
		if slices.Contains(types(o), name) {
			return fault.Usage("choose another kind", "kind %q clashes with %q: both need the Go type %s in %s", r.Kind, o.Kind, name, c.APIDir(r))
		}
	}
	return nil
}

// reconcilerCollision: the controllers of one package, and their files, whose names
// are in lower case.
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
			return fault.Usage("give another --controller-name",
				"controller name %q: %s stands in %s already, for kind %s in version %s", controller, name, c.ControllerDir(o), o.Kind, o.Version)
		}
		if r.SameKind(o) {
			return fault.Usage("use --controller=false: one controller serves all versions of a kind",
				"kind %s has its controller already, for version %s", o.Kind, o.Version)
		}
		return fault.Usage("use --controller=false, or folders per group (multigroup: true in PROJECT)",
			"%s stands in %s already, for kind %s of group %s", name, c.ControllerDir(o), o.Kind, o.QualifiedGroup())
	}
	return nil
}

// webhookCollision: the URL paths that one manager serves, and the webhooks of one
// package, whose types and files are named after the kind.
func (c *Config) webhookCollision(r, o Resource) error {
	if r.Webhooks == nil || o.Webhooks == nil {
		return nil
	}
	for _, path := range r.webhookPaths() {
		if slices.Contains(o.webhookPaths(), path) {
			return fault.Usage("choose another path", "webhook path %s is that of %s %s already", path, o.Version, o.Kind)
		}
	}
	if r.Lower() == o.Lower() && c.WebhookDir(r) == c.WebhookDir(o) {
		return fault.Usage("use folders per group: operon edit --multigroup",
			"%s has the webhooks of kind %s of group %s already", c.WebhookDir(o), o.Kind, orEmpty(o.QualifiedGroup()))
	}
	return nil
}

// controllerCollision: the controllers of the manager, which keeps metrics by name.
func (c *Config) controllerCollision(r, o Resource) error {
	for _, controller := range r.ControllerNames() {
		name := c.ControllerName(r, controller)
		for _, other := range o.ControllerNames() {
			if c.ControllerName(o, other) == name {
				return fault.Usage("give another --controller-name", "controller name %q: kind %s of group %s has a controller that the manager calls %s",
					controller, o.Kind, orEmpty(o.QualifiedGroup()), name)
			}
		}
	}
	return nil
}

// aliasCollision: what cmd/main.go imports under one name.
func (c *Config) aliasCollision(r, o Resource) error {
	differ := r.QualifiedGroup() != o.QualifiedGroup()
	if r.Core || o.Core || !differ {
		return nil
	}
	alias, other := r.ImportAlias(), o.ImportAlias()
	if c.ControllerAlias(r) != "" && c.ControllerAlias(r) == c.ControllerAlias(o) {
		alias, other = c.ControllerAlias(r), c.ControllerAlias(o)
	}
	if alias != other {
		return nil
	}
	return fault.Usage("choose another --group", "groups %s and %s get the same Go name %s, for they differ in punctuation only",
		orEmpty(r.Group), orEmpty(o.Group), alias)
}
