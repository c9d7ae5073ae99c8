package createcmd

import (
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gomod"
	"github.com/operon-dev/operon/internal/project"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// externalFlags locate types that another Go module defines.
type externalFlags struct {
	path, domain, module string
	flags                *pflag.FlagSet
}

var externalFlagNames = []string{"external-api-module", "external-api-path", "external-api-domain"}

func (o *externalFlags) bind(cmd *cobra.Command) {
	o.flags = cmd.Flags()
	o.flags.StringVar(&o.path, "external-api-path", "", "Go import path of the external kind's types (default: searched in the modules of go.mod)")
	o.flags.StringVar(&o.domain, "external-api-domain", "", "domain of the external kind's API group (default: from its Go package)")
	o.flags.StringVar(&o.module, "external-api-module", "", "Go module of the external kind, with @version if go.mod does not have it")
}

// isSet reports whether any of the flags is set.
func (o *externalFlags) isSet() bool {
	return o.path != "" || o.module != "" || o.flags.Changed("external-api-domain")
}

// check validates each flag by itself, without the project.
func (o *externalFlags) check() error {
	if o.path != "" && module.CheckImportPath(o.path) != nil {
		return fault.Usage("use a path such as --external-api-path github.com/acme/operator/api/v1",
			"external-api-path %q is not a Go import path", o.path)
	}
	if err := project.CheckDomain(o.domain); err != nil {
		return fault.Usage("use the API group without --group and the dot, for example io for cert-manager.io", "external-api-%s", err)
	}
	if o.module == "" {
		return nil
	}
	m := gomod.Parse(o.module)
	if module.CheckPath(m.Path) != nil {
		return fault.Usage("use a module such as --external-api-module github.com/acme/operator@v1.2.3",
			"external-api-module %q is not a Go module path", m.Path)
	}
	if strings.Contains(o.module, "@") && semver.Canonical(m.Version) != strings.TrimSuffix(m.Version, "+incompatible") {
		return fault.Usage("use a version such as @v1.2.3; `go list -m "+m.Path+"@latest` shows the newest",
			"external-api-module %s: %q is not the version of a module", o.module, m.Version)
	}
	if o.path != "" && !m.Holds(o.path) {
		return fault.Usage("remove one of the flags", "package %s is not in module %s", o.path, m.Path)
	}
	return nil
}

// checkConflicts rejects flags that differ from PROJECT.
func (o *externalFlags) checkConflicts(old project.Resource) error {
	m := gomod.Parse(o.module)
	switch {
	case !o.isSet():
		return nil
	case old.Core:
		return coreFlagsError(old)
	case !old.External && o.flags.Changed("external-api-domain") && o.domain != old.Domain:
		return fault.Usage("remove --external-api-path, -domain and -module for the kind of this project; the other kind needs another project",
			"%s %s of this project and that of %s need the same files", old.Version, old.Kind, strings.TrimPrefix(old.Group+"."+o.domain, "."))
	case !old.External:
		return fault.Usage("remove --external-api-path, -domain and -module", "kind %s is a type of this project", old.Kind)
	}
	for _, v := range []struct{ flag, want, have string }{
		{"path", o.path, old.Path},
		{"domain", o.domain, old.Domain},
		{"module", m.Path, gomod.Parse(old.Module).Path},
	} {
		if o.flags.Changed("external-api-"+v.flag) && v.have != "" && v.want != v.have {
			return fault.Usage("remove --external-api-"+v.flag, "--external-api-%s %s: %s has %s for kind %s",
				v.flag, v.want, project.File, v.have, old.Kind)
		}
	}
	return nil
}

// coreFlagsError returns the error of flags for external types with a built-in kind.
func coreFlagsError(r project.Resource) error {
	return fault.Usage("remove --external-api-path, -domain and -module",
		"%s is a built-in Kubernetes kind of group %s, not a kind of another module", r.Kind, r.Group)
}
