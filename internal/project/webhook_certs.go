package project

import (
	"cmp"
	"maps"
	"slices"

	"github.com/operon-dev/operon/internal/fault"
)

// webhooksKey is the key below plugins in PROJECT that records who issues the certificates
// of the webhook server:
//
//	webhooks.operon.dev/v1:
//	  certs: self
//
// Without the key, it is cert-manager.
const webhooksKey = "webhooks.operon.dev/v1"

// WebhookCerts names who issues the certificates of the webhook server.
type WebhookCerts string

// CertManager is the default. With SelfCerts, the manager creates and renews its
// certificates.
const (
	CertManager WebhookCerts = "cert-manager"
	SelfCerts   WebhookCerts = "self"
)

// CheckWebhookCerts validates the value of a flag.
func CheckWebhookCerts(s string) error {
	if s := WebhookCerts(s); s == CertManager || s == SelfCerts {
		return nil
	}
	return fault.Usage("use cert-manager, or self for certificates that the manager makes", "--webhook-certs %q is unknown", s)
}

// checkWebhookCerts validates the recorded value. Treating an unknown one as cert-manager
// would generate another configuration than the project has.
func (c *Config) checkWebhookCerts() error {
	notes, _ := c.Plugins[webhooksKey].(map[string]any)
	by, ok := notes["certs"]
	if !ok || by == string(CertManager) || by == string(SelfCerts) {
		return nil
	}
	return fault.Usage("use cert-manager or self, or a newer operon", "PROJECT has the unknown value %v for certs of plugins.%s", by, webhooksKey)
}

// WebhookCerts returns who issues the certificates of the webhook server.
func (c *Config) WebhookCerts() WebhookCerts {
	notes, _ := c.Plugins[webhooksKey].(map[string]any)
	by, _ := notes["certs"].(string)
	return cmp.Or(WebhookCerts(by), CertManager)
}

// SetWebhookCerts records who issues the certificates. It keeps keys of newer versions.
func (c *Config) SetWebhookCerts(by WebhookCerts) {
	if c.WebhookCerts() == by {
		return
	}
	old, _ := c.Plugins[webhooksKey].(map[string]any)
	notes := map[string]any{}
	maps.Copy(notes, old)
	if notes["certs"] = string(by); by == CertManager {
		delete(notes, "certs")
	}
	c.setPluginConfig(webhooksKey, notes)
	if len(notes) == 0 {
		delete(c.Plugins, webhooksKey)
	}
	if len(c.Plugins) == 0 {
		c.Plugins = nil
	}
}

// HasWebhooks reports whether the manager serves webhooks.
func (c *Config) HasWebhooks() bool {
	return slices.ContainsFunc(c.Resources, func(r Resource) bool { return r.Webhooks != nil })
}

// CallingObjects are the objects that make the API server call the manager.
type CallingObjects struct {
	Mutating, Validating bool     // the generated webhook configuration
	CRDs                 []string // names of the CRDs with conversion
}

// CallingObjects returns the objects that make the API server call the manager.
func (c *Config) CallingObjects() CallingObjects {
	var o CallingObjects
	for _, r := range c.Resources {
		if r.Webhooks == nil {
			continue
		}
		o.Mutating, o.Validating = o.Mutating || r.Webhooks.Defaulting, o.Validating || r.Webhooks.Validation
		if r.Webhooks.Conversion && !slices.Contains(o.CRDs, r.CRDName()) {
			o.CRDs = append(o.CRDs, r.CRDName())
		}
	}
	return o
}

// CRDName returns the name of the CRD of r.
func (r Resource) CRDName() string { return r.PluralName() + "." + r.QualifiedGroup() }
