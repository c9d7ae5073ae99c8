// Package project is the PROJECT file: what a project is called, which plugins
// shape it and which resources it has. It also holds the rules that follow
// from that data, each in one place: where files lie (layout.go), what things
// are called (names.go), and which values are allowed (validate*.go). It reads
// and writes bytes, and knows neither commands nor templates.
package project

import "slices"

// File is the name of the file that makes a folder a project.
const File = "PROJECT"

// SchemaVersion is the only version of the PROJECT schema that operon reads.
const SchemaVersion = "3"

// Config is the content of PROJECT, version 3. The schema is kubebuilder's, so
// that either tool opens what the other wrote; keys that Config has no field
// for stay in the file (see Encode).
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
	Plugins     map[string]any `json:"plugins,omitempty"` // what each plugin remembers, by plugin key
}

// Find returns the resource with that group (without the domain), version and
// kind, or nil; one of the project's own domain before one of another. The
// result points into c.
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

// Put records r: in the place of the resource with the same full group, version
// and kind, or after all others. The plural is recorded where kubebuilder would
// not come to it by itself, and left out otherwise unless it stood there before.
func (c *Config) Put(r Resource) {
	i := slices.IndexFunc(c.Resources, func(old Resource) bool { return old.SameVersion(r) })
	switch plural := r.PluralName(); {
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

// Namespace is the namespace that the manager runs in.
func (c *Config) Namespace() string { return c.ProjectName + "-system" }
