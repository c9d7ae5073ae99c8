package project

import (
	"slices"
	"strings"
)

// Resource is one version of a kind and the parts that the project has for it.
type Resource struct {
	Group       string       `json:"group,omitempty"`  // without the domain
	Domain      string       `json:"domain,omitempty"` // empty for kinds of Kubernetes
	Version     string       `json:"version"`
	Kind        string       `json:"kind"`
	Plural      string       `json:"plural,omitempty"`     // only if it differs from the rule; see PluralName
	Path        string       `json:"path,omitempty"`       // Go import path of the types
	API         *API         `json:"api,omitempty"`        // nil: no types and no CRD here
	Controller  bool         `json:"controller,omitempty"` // one controller, named after the kind
	Controllers []Controller `json:"controllers,omitempty"`
	Webhooks    *Webhooks    `json:"webhooks,omitempty"`
	External    bool         `json:"external,omitempty"` // the types belong to another module
	Core        bool         `json:"core,omitempty"`     // the types belong to Kubernetes
	Module      string       `json:"module,omitempty"`   // of external types, as path or path@version
	// ClusterScoped is for external types whose objects are cluster-scoped. Only operon
	// knows the key: kubebuilder drops it when it writes the file.
	ClusterScoped bool `json:"clusterScoped,omitempty"`
}

// API is set if the project defines the types and their CRD.
type API struct {
	CRDVersion string `json:"crdVersion,omitempty"` // of apiextensions.k8s.io, always v1
	Namespaced bool   `json:"namespaced,omitempty"` // Namespaced scope; otherwise Cluster
	SSA        bool   `json:"ssa,omitempty"`        // it has apply configurations, for server-side apply
}

// Controller is a named controller. A kind may have several.
type Controller struct {
	Name string `json:"name"`
}

// Webhooks are the webhooks that the project serves for a resource.
type Webhooks struct {
	WebhookVersion string   `json:"webhookVersion,omitempty"` // of admissionregistration.k8s.io, always v1
	Defaulting     bool     `json:"defaulting,omitempty"`
	DefaultingPath string   `json:"defaultingPath,omitempty"` // URL path, if not the default
	Validation     bool     `json:"validation,omitempty"`
	ValidationPath string   `json:"validationPath,omitempty"` // URL path, if not the default
	Conversion     bool     `json:"conversion,omitempty"`
	Spoke          []string `json:"spoke,omitempty"` // versions that convert to this one, the hub
}

// SameKind reports whether full group and kind are equal. The version may differ.
func (r Resource) SameKind(o Resource) bool {
	return r.QualifiedGroup() == o.QualifiedGroup() && r.Kind == o.Kind
}

// SameVersion reports whether full group, version and kind are equal.
func (r Resource) SameVersion(o Resource) bool { return r.SameKind(o) && r.Version == o.Version }

// HasExternalTypes reports whether Kubernetes or another module defines the types
// of r, and not this project.
func (r Resource) HasExternalTypes() bool { return r.Core || r.External }

// InClientScheme reports whether client-go's scheme, from which managers and test suites start,
// contains the types of r.
func (r Resource) InClientScheme() bool {
	k, ok := r.Builtin()
	return r.Core && (!ok || k.Module == "")
}

// ControllerNames returns the names of r's controllers in PROJECT's order. The
// one that PROJECT records as "controller: true" is named after the kind.
func (r Resource) ControllerNames() []string {
	var names []string
	if r.Controller {
		names = append(names, r.Lower())
	}
	for _, c := range r.Controllers {
		names = append(names, c.Name)
	}
	return names
}

// WebhookTypes returns the types of webhooks that r has, of "defaulting",
// "validation" and "conversion".
func (r Resource) WebhookTypes() []string {
	if r.Webhooks == nil {
		return nil
	}
	var types []string
	for _, t := range []struct {
		name string
		on   bool
	}{{"defaulting", r.Webhooks.Defaulting}, {"validation", r.Webhooks.Validation}, {"conversion", r.Webhooks.Conversion}} {
		if t.on {
			types = append(types, t.name)
		}
	}
	return types
}

// IsNamespaced reports whether objects of r live in namespaces. A resource that
// stands for a controller alone has no API: then PROJECT's entry for the kind decides.
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

// HasApplyConfigurations reports whether a kind of the project has apply configurations.
func (c *Config) HasApplyConfigurations() bool {
	return c != nil && slices.ContainsFunc(c.Resources, Resource.HasApplyConfigurations)
}

// HasApplyConfigurations reports whether r has apply configurations.
func (r Resource) HasApplyConfigurations() bool { return r.API != nil && r.API.SSA }

// Scope returns the scope of r as CRDs and webhook rules write it: "Namespaced" or
// "Cluster".
func (c *Config) Scope(r Resource) string {
	if c.IsNamespaced(r) {
		return "Namespaced"
	}
	return "Cluster"
}

// ScopeOf reports whether objects live in namespaces, for a full API group and a
// resource as RBAC rules name it: a plural, possibly with a subresource. known is
// false for a resource of neither the project nor Kubernetes.
func (c *Config) ScopeOf(group, resource string) (namespaced, known bool) {
	plural, _, _ := strings.Cut(resource, "/")
	for _, r := range c.Resources {
		if r.QualifiedGroup() == group && r.PluralName() == plural {
			return c.IsNamespaced(r), true
		}
	}
	for _, k := range CoreKinds() {
		if k.Resource().QualifiedGroup() == group && k.Plural == plural {
			return k.Namespaced, true
		}
	}
	return false, false
}
