package project

import (
	"go/token"
	"path"
	"slices"
	"strings"
)

// The layout rule, kubebuilder's: without multigroup api/<version>,
// internal/controller and internal/webhook/<version>; with it a folder named
// after the group comes in before the version. A resource without a group has
// no such folder either way. Paths use slashes and are relative to the root.

// MainFile is the file with the manager's func main.
const MainFile = "cmd/main.go"

// APIDir is the folder of r's types. A path that PROJECT records wins over the
// rule, be it r's own or that of another kind of the same group and version:
// one version of a group is one Go package.
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

// ruleDir is the folder of r's types when PROJECT records none.
func (c *Config) ruleDir(r Resource) string { return path.Join("api", c.groupDir(r), r.Version) }

// inRepo returns the recorded folder of r's types, when they belong to this project.
func (c *Config) inRepo(r Resource) (string, bool) {
	if r.External || r.Core || r.Path == "" || c.Repo == "" {
		return "", false
	}
	if r.Path == c.Repo {
		return ".", true
	}
	return strings.CutPrefix(r.Path, c.Repo+"/")
}

// APIPath is the import path of r's types. That of Kubernetes' own is not what
// PROJECT records: kubebuilder writes packages there that do not exist.
func (c *Config) APIPath(r Resource) string {
	if k, ok := r.Builtin(); ok {
		return k.Path
	}
	if r.Path != "" {
		return r.Path
	}
	return path.Join(c.Repo, c.APIDir(r))
}

// TypesFile is the file with the Go types of r.
func (c *Config) TypesFile(r Resource) string {
	return c.APIDir(r) + "/" + r.Lower() + "_types.go"
}

// ControllerDir is the folder of the controllers for r.
func (c *Config) ControllerDir(r Resource) string {
	return path.Join("internal/controller", c.groupDir(r))
}

// ControllerPath is the import path of ControllerDir.
func (c *Config) ControllerPath(r Resource) string { return path.Join(c.Repo, c.ControllerDir(r)) }

// ControllerPackage is the name of the package in ControllerDir: "controller",
// or the group's letters and digits.
func (c *Config) ControllerPackage(r Resource) string {
	if c.groupDir(r) == "" {
		return "controller"
	}
	name := alphanumeric(r.Group)
	if !token.IsIdentifier(name) || name == "main" { // a keyword, a leading digit
		return "group" + name
	}
	return name
}

// ControllerAlias is the name that cmd/main.go imports ControllerPath by, or ""
// when the package's own name does.
func (c *Config) ControllerAlias(r Resource) string {
	if c.groupDir(r) == "" {
		return ""
	}
	return c.ControllerPackage(r) + "controller"
}

// ControllerFile is the file of the controller with that name, in ControllerDir,
// without _controller.go or _controller_test.go at its end: frigate_backup for
// frigate-backup.
func ControllerFile(controller string) string { return strings.ReplaceAll(controller, "-", "_") }

// WebhookDir is the folder of the webhooks for r.
func (c *Config) WebhookDir(r Resource) string {
	return path.Join("internal/webhook", c.groupDir(r), r.Version)
}

// WebhookPath is the import path of WebhookDir.
func (c *Config) WebhookPath(r Resource) string { return path.Join(c.Repo, c.WebhookDir(r)) }

// WebhookAlias is the name that cmd/main.go imports WebhookPath by: webhookv1, or
// webhookshipv1 where each group has its folder.
func (c *Config) WebhookAlias(r Resource) string {
	return "webhook" + strings.ToLower(alphanumeric(c.groupDir(r))) + r.Version
}

func (c *Config) groupDir(r Resource) string {
	if c.MultiGroup {
		return r.Group
	}
	return ""
}

// SamplePath is the file that holds a sample object of r. Without a group, its
// name starts with the version. A kind that is not the project's has its sample
// with the tests, which alone use it.
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

// ExternalCRDPath is the file with the CRD of external types that the specs install.
func ExternalCRDPath(r Resource) string {
	return "test/crd/" + r.QualifiedGroup() + "_" + r.PluralName() + ".yaml"
}

// KindWords are the words that tell the kind of r from the others of the
// project: its own name, after the group where there may be several.
func (c *Config) KindWords(r Resource) []string {
	if c.MultiGroup && r.Group != "" {
		return []string{r.Group, r.Lower()}
	}
	return []string{r.Lower()}
}
