// Package project reads, validates and writes the PROJECT file, which records the
// name, the plugins and the resources of a project. It also defines the rules that
// follow from these data: paths (layout.go), names (names.go) and valid values
// (validate*.go). It knows neither commands nor templates.
package project

import (
	"slices"
	"strings"
)

// File is the name of the file in the root of every project.
const File = "PROJECT"

// SchemaVersion is the only version of the PROJECT schema that operon reads.
const SchemaVersion = "3"

// AlphaVersion is the schema version that version 3 replaced in 2021.
const AlphaVersion = "3-alpha"

// Config is the content of PROJECT, version 3. The schema is kubebuilder's, so
// that each tool can open the projects of the other. Encode keeps keys that Config
// has no field for.
type Config struct {
	Version     string         `json:"version"`               // of the schema, always "3"
	Domain      string         `json:"domain,omitempty"`      // the suffix of every API group
	Repo        string         `json:"repo,omitempty"`        // the Go module path; empty in a project without Go
	ProjectName string         `json:"projectName,omitempty"` // the prefix of names in the cluster
	CLIVersion  string         `json:"cliVersion,omitempty"`  // of the tool that wrote it last, for that tool's upgrades; operon never sets it
	Layout      []string       `json:"layout,omitempty"`      // keys of the plugins, in order
	MultiGroup  bool           `json:"multigroup,omitempty"`  // folders per API group
	Namespaced  bool           `json:"namespaced,omitempty"`  // the manager watches its own namespace only
	Resources   []Resource     `json:"resources,omitempty"`
	Plugins     map[string]any `json:"plugins,omitempty"` // configuration of plugins, by plugin key
}

// Recorded returns the resource with the full group, version and kind of r, or the zero Resource.
func (c *Config) Recorded(r Resource) Resource {
	if i := slices.IndexFunc(c.Resources, r.SameVersion); i >= 0 {
		return c.Resources[i]
	}
	return Resource{}
}

// Find returns the resource with that group (without the domain), version and kind, or
// nil. It prefers the domain of the project. The result points into c.
func (c *Config) Find(group, version, kind string) *Resource {
	var found *Resource
	for i := range c.Resources {
		r := &c.Resources[i]
		if r.Group != group || r.Version != version || r.Kind != kind {
			continue
		}
		if r.Domain == c.Domain {
			return r
		}
		if found == nil {
			found = r
		}
	}
	return found
}

// GroupDomain returns the domain of new kinds in a group: the domain of the kinds that the project defines in it, or
// the domain of the project. Groups of repositories that operon did not start can have other domains.
func (c *Config) GroupDomain(group string) string {
	domain, found := c.Domain, false
	for _, r := range c.Resources {
		switch {
		case r.Group != group || r.API == nil:
		case r.Domain == c.Domain:
			return c.Domain
		case !found:
			domain, found = r.Domain, true
		}
	}
	return domain
}

// Put replaces the resource with the same full group, version and kind, or appends r.
// It records the plural if kubebuilder would derive another one, or if the plural was
// recorded before.
func (c *Config) Put(r Resource) {
	i := slices.IndexFunc(c.Resources, func(old Resource) bool { return old.SameVersion(r) })
	plural := r.PluralName()
	switch {
	case plural != r.peerPlural():
		r.Plural = plural
	case i < 0 || c.Resources[i].Plural != r.Plural:
		r.Plural = ""
	}
	if i < 0 {
		c.Resources = append(c.Resources, r)
		return
	}
	c.Resources[i] = r
}

// Namespace returns the namespace that the manager runs in.
func (c *Config) Namespace() string { return c.ProjectName + "-system" }

// versionKey is the plugin key under which operon records its version. cliVersion
// belongs to kubebuilder and operator-sdk.
const versionKey = "cli.operon.dev/v1"

// RecordVersion records the version of the operon that writes PROJECT.
func (c *Config) RecordVersion(version string) {
	c.SetPluginKey(versionKey, "version", version)
}

// LayoutGo is the layout key of projects in Go, which kubebuilder records, too.
const LayoutGo = "go.kubebuilder.io/v4"

// IsOldGoLayout reports whether a layout key means an earlier layout of kubebuilder for Go.
func IsOldGoLayout(key string) bool {
	return key == "go" || strings.HasPrefix(key, "go.kubebuilder.io/v2") || strings.HasPrefix(key, "go.kubebuilder.io/v3") ||
		key == "go.kubebuilder.io/v4-alpha"
}
