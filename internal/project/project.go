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

// Resource is one version of one kind, and what the project has for it.
type Resource struct {
	Group       string       `json:"group,omitempty"`  // without the domain
	Domain      string       `json:"domain,omitempty"` // empty for Kubernetes' own kinds
	Version     string       `json:"version"`
	Kind        string       `json:"kind"`
	Plural      string       `json:"plural,omitempty"`     // only where it differs from the rule; see PluralName
	Path        string       `json:"path,omitempty"`       // Go import path of the types
	API         *API         `json:"api,omitempty"`        // nil: no types and no CRD here
	Controller  bool         `json:"controller,omitempty"` // one controller, named after the kind
	Controllers []Controller `json:"controllers,omitempty"`
	Webhooks    *Webhooks    `json:"webhooks,omitempty"`
	External    bool         `json:"external,omitempty"` // the types belong to another module
	Core        bool         `json:"core,omitempty"`     // the types belong to Kubernetes
	Module      string       `json:"module,omitempty"`   // of external types, as path or path@version
	// ClusterScoped says of external types that their objects live in no namespace.
	// The key is operon's own: kubebuilder drops it when it writes the file.
	ClusterScoped bool `json:"clusterScoped,omitempty"`
}

// API says that the project defines the types and their CRD.
type API struct {
	CRDVersion string `json:"crdVersion,omitempty"` // of apiextensions.k8s.io, always v1
	Namespaced bool   `json:"namespaced,omitempty"` // the scope is Namespaced, else Cluster
}

// Controller is a controller with a name of its own; a kind may have several.
type Controller struct {
	Name string `json:"name"`
}

// Webhooks says which webhooks the project serves for a resource.
type Webhooks struct {
	WebhookVersion string   `json:"webhookVersion,omitempty"` // of admissionregistration.k8s.io, always v1
	Defaulting     bool     `json:"defaulting,omitempty"`
	DefaultingPath string   `json:"defaultingPath,omitempty"` // URL path, when not the rule's
	Validation     bool     `json:"validation,omitempty"`
	ValidationPath string   `json:"validationPath,omitempty"` // URL path, when not the rule's
	Conversion     bool     `json:"conversion,omitempty"`
	Spoke          []string `json:"spoke,omitempty"` // versions that convert to this one, the hub
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

// SameKind compares full group and kind; the version may differ.
func (r Resource) SameKind(o Resource) bool {
	return r.QualifiedGroup() == o.QualifiedGroup() && r.Kind == o.Kind
}

// SameVersion compares full group, version and kind.
func (r Resource) SameVersion(o Resource) bool { return r.SameKind(o) && r.Version == o.Version }

// HasExternalTypes reports that the types of r are not this project's.
func (r Resource) HasExternalTypes() bool { return r.Core || r.External }

// IsNamespaced reports whether objects of r live in namespaces. A resource that
// stands for a controller alone has no API: the project knows it.
func (c *Config) IsNamespaced(r Resource) bool {
	if k, ok := r.Builtin(); ok {
		return k.Namespaced
	}
	if r.HasExternalTypes() {
		return !r.ClusterScoped
	}
	api := r.API
	if known := c.Find(r.Group, r.Version, r.Kind); api == nil && known != nil {
		api = known.API
	}
	return api == nil || api.Namespaced
}

// Namespace is the namespace that the manager runs in.
func (c *Config) Namespace() string { return c.ProjectName + "-system" }
