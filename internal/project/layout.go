package project

import (
	"cmp"
	"go/token"
	"path"
	"slices"
	"strings"
)

// The layout rule is kubebuilder's: api/<version>, internal/controller and
// internal/webhook/<version>. With multigroup, a folder with the name of the group is
// added before the version, unless the group is empty. Paths use slashes and are
// relative to the root. Places in PROJECT replace parts of the rule.

// DefaultMainFile is the file in which func main of a scaffolded project creates the manager.
const DefaultMainFile = "cmd/main.go"

// MainFile returns the file that creates the manager: cmd/main.go, or the recorded one.
func (c *Config) MainFile() string { return cmp.Or(c.Places().Main, DefaultMainFile) }

// APIDir returns the folder of r's types: the recorded one of r, or of another kind in
// the same group and version, which is the same Go package, or the default.
func (c *Config) APIDir(r Resource) string {
	if dir, ok := c.inRepo(r); ok {
		return dir
	}
	for _, o := range c.Resources {
		if o.API != nil && o.Version == r.Version && o.QualifiedGroup() == r.QualifiedGroup() {
			if dir, ok := c.inRepo(o); ok {
				return dir
			}
		}
	}
	return c.ruleDir(r)
}

// ruleDir returns the default folder of r's types.
func (c *Config) ruleDir(r Resource) string {
	if pattern := c.Places().API; pattern != "" {
		return folder(pattern, r)
	}
	return path.Join("api", c.groupDir(r), r.Version)
}

// inRepo returns the recorded folder of r's types if they belong to this project.
func (c *Config) inRepo(r Resource) (string, bool) {
	if r.External || r.Core || r.Path == "" || c.Repo == "" {
		return "", false
	}
	if r.Path == c.Repo {
		return ".", true
	}
	return strings.CutPrefix(r.Path, c.Repo+"/")
}

// APIPath returns the import path of r's types. For kinds of Kubernetes it ignores the
// recorded path: kubebuilder records packages that do not exist.
func (c *Config) APIPath(r Resource) string {
	if k, ok := r.Builtin(); ok {
		return k.Path
	}
	if r.Path != "" {
		return r.Path
	}
	return path.Join(c.Repo, c.APIDir(r))
}

// TypesFile returns the file with the Go types of r.
func (c *Config) TypesFile(r Resource) string {
	return path.Join(c.APIDir(r), r.Lower()+"_types.go")
}

// ControllerDir returns the folder of the controllers for r.
func (c *Config) ControllerDir(r Resource) string {
	if pattern := c.Places().Controllers; pattern != "" {
		return folder(pattern, r)
	}
	return path.Join("internal/controller", c.groupDir(r))
}

// ControllerPath returns the import path of ControllerDir.
func (c *Config) ControllerPath(r Resource) string { return path.Join(c.Repo, c.ControllerDir(r)) }

// ControllerPackage returns the name of a new package in ControllerDir: "controller", or
// the letters and digits of the group.
func (c *Config) ControllerPackage(r Resource) string { return packageName(c.ControllerDir(r)) }

// packageName returns the name of a new package in a folder: the letters and digits of its last
// element.
func packageName(dir string) string {
	name := alphanumeric(path.Base(dir))
	if !token.IsIdentifier(name) || name == "main" { // a keyword, a leading digit
		return "group" + name
	}
	return name
}

// ControllerAlias returns the name under which the manager's file imports ControllerPath, or ""
// for the name of the package.
func (c *Config) ControllerAlias(r Resource) string {
	perGroup := c.groupDir(r) != ""
	if pattern := c.Places().Controllers; pattern != "" {
		perGroup = path.Base(pattern) == groupPlaceholder && r.Group != ""
	}
	if !perGroup {
		return ""
	}
	return c.ControllerPackage(r) + "controller"
}

// ControllerFile returns the file name of a controller, without the suffix
// _controller.go or _controller_test.go: frigate_backup for frigate-backup.
func ControllerFile(controller string) string { return strings.ReplaceAll(controller, "-", "_") }

// ReconcilerFile returns the file of a controller for r.
func (c *Config) ReconcilerFile(r Resource, controller string) string {
	return path.Join(c.ControllerDir(r), ControllerFile(controller)+"_controller.go")
}

// WebhookDir returns the folder of the webhooks for r.
func (c *Config) WebhookDir(r Resource) string {
	if pattern := c.Places().Webhooks; pattern != "" {
		return folder(pattern, r)
	}
	return path.Join("internal/webhook", c.groupDir(r), r.Version)
}

// WebhookPackage returns the name of a new package in WebhookDir: the version, unless PROJECT has
// another place.
func (c *Config) WebhookPackage(r Resource) string { return packageName(c.WebhookDir(r)) }

// WebhookPath returns the import path of WebhookDir.
func (c *Config) WebhookPath(r Resource) string { return path.Join(c.Repo, c.WebhookDir(r)) }

// WebhookAlias returns the name under which the manager's file imports WebhookPath: webhookv1,
// or webhookshipv1 with multigroup. It is "" for a recorded folder without the version, whose
// package keeps its name.
func (c *Config) WebhookAlias(r Resource) string {
	group := c.groupDir(r)
	if pattern := c.Places().Webhooks; pattern != "" {
		if !strings.Contains(pattern, versionPlaceholder) {
			return ""
		}
		group = ""
		if strings.Contains(pattern, groupPlaceholder) {
			group = r.Group
		}
	}
	return "webhook" + strings.ToLower(alphanumeric(group)) + r.Version
}

func (c *Config) groupDir(r Resource) string {
	if c.MultiGroup {
		return r.Group
	}
	return ""
}

// SamplePath returns the file with a sample object of r. Without a group, its name
// starts with the version. Samples of external types are in the test folder.
func (c *Config) SamplePath(r Resource) string {
	words := []string{r.Version, r.Lower()}
	if r.Group != "" {
		words = slices.Insert(words, 0, r.Group)
	}
	dir := "config/samples/"
	if r.HasExternalTypes() {
		dir = "test/objects/"
	}
	return dir + strings.Join(words, "_") + ".yaml"
}

// ExternalCRDPath returns the file with the CRD of external types for the specs.
func ExternalCRDPath(r Resource) string {
	return "test/crd/" + r.QualifiedGroup() + "_" + r.PluralName() + ".yaml"
}

// KindWords returns the words that identify the kind of r in the project: its name, and
// with multigroup the group before it.
func (c *Config) KindWords(r Resource) []string {
	if c.MultiGroup && r.Group != "" {
		return []string{r.Group, r.Lower()}
	}
	return []string{r.Lower()}
}
