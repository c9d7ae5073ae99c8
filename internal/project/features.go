package project

import (
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"k8s.io/apimachinery/pkg/util/validation"
)

// featuresKey is the key below plugins in PROJECT that records the features of
// controllers:
//
//	controllers.operon.dev/v1:
//	  resources:
//	  - {group: ship, domain: example.org, version: v1, kind: Frigate, name: frigate, owns: [apps/v1/StatefulSet]}
//
// The code has them too. operon needs the record to write the code again.
const featuresKey = "controllers.operon.dev/v1"

// Features are what a controller does beyond reconciling its own kind. The lists
// are sorted; owned and watched kinds have the form that Target reads.
type Features struct {
	Owns      []string `json:"owns,omitempty"`      // kinds of objects that it creates
	Watches   []string `json:"watches,omitempty"`   // kinds whose events trigger it
	Labels    []string `json:"labels,omitempty"`    // key=value, which objects need to be reconciled
	Finalizer bool     `json:"finalizer,omitempty"` // it cleans up before an object is deleted
}

// featureEntry is the record of one controller.
type featureEntry struct {
	Group   string `json:"group,omitempty"`
	Domain  string `json:"domain,omitempty"`
	Version string `json:"version,omitempty"`
	Kind    string `json:"kind,omitempty"`
	Name    string `json:"name,omitempty"`
	Features
}

// IsZero reports whether the controller has no features.
func (f Features) IsZero() bool {
	return len(f.Owns)+len(f.Watches)+len(f.Labels) == 0 && !f.Finalizer
}

// Equal reports whether both have the same features.
func (f Features) Equal(o Features) bool {
	return slices.Equal(f.Owns, o.Owns) && slices.Equal(f.Watches, o.Watches) && slices.Equal(f.Labels, o.Labels) && f.Finalizer == o.Finalizer
}

// Features returns the features of r's controller of that name: the recorded ones, and those
// that follow from an operand.
func (c *Config) Features(r Resource, controller string) Features {
	return c.RecordedFeatures(r, controller).with(c.operandFeatures(r, controller))
}

// RecordedFeatures returns the features of r's controller of that name that PROJECT records one by one.
func (c *Config) RecordedFeatures(r Resource, controller string) Features {
	wanted := entryOf(r, controller, Features{})
	for _, entry := range c.entries(featuresKey) {
		if m, ok := entry.(map[string]any); ok && sameEntry(m, wanted) {
			finalizer, _ := m["finalizer"].(bool)
			return Features{Owns: texts(m["owns"]), Watches: texts(m["watches"]), Labels: texts(m["labels"]), Finalizer: finalizer}
		}
	}
	return Features{}
}

// AllFeatures returns the recorded features of all controllers of r together.
func (c *Config) AllFeatures(r Resource) Features {
	var all Features
	if known := c.Find(r.Group, r.Version, r.Kind); known != nil {
		r = *known
	}
	for _, name := range r.ControllerNames() {
		all = all.with(c.Features(r, name))
	}
	return all
}

// with returns the features of both.
func (f Features) with(o Features) Features {
	return Features{
		Owns: sortedUnion(f.Owns, o.Owns), Watches: sortedUnion(f.Watches, o.Watches), Labels: sortedUnion(f.Labels, o.Labels),
		Finalizer: f.Finalizer || o.Finalizer,
	}
}

// PutFeatures records the features of r's controller of that name.
func (c *Config) PutFeatures(r Resource, controller string, f Features) {
	c.putEntry(featuresKey, entryOf(r, controller, f))
}

func entryOf(r Resource, controller string, f Features) map[string]any {
	return plainData(featureEntry{r.Group, r.Domain, r.Version, r.Kind, controller, f})
}

// texts returns the strings of a list.
func texts(list any) []string {
	items, _ := list.([]any)
	var all []string
	for _, item := range items {
		if s, ok := item.(string); ok {
			all = append(all, s)
		}
	}
	return all
}

// AddFeatures validates new features for r's controller of that name and returns them
// together with the recorded ones.
func (c *Config) AddFeatures(r Resource, controller string, asked Features) (Features, error) {
	have := c.Features(r, controller)
	p := Features{Finalizer: have.Finalizer || asked.Finalizer}
	var err error
	if p.Owns, err = c.targets("owns", r, have.Owns, asked.Owns); err != nil {
		return p, err
	}
	if p.Watches, err = c.targets("watches", r, have.Watches, asked.Watches); err != nil {
		return p, err
	}
	for _, label := range asked.Labels {
		if err := checkLabel(label); err != nil {
			return p, err
		}
	}
	p.Labels = sortedUnion(have.Labels, asked.Labels)
	return p, c.checkLabels(r, controller, asked.Labels)
}

func sortedUnion(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// targets validates new owned or watched kinds and returns them with the recorded ones.
func (c *Config) targets(flag string, r Resource, have, asked []string) ([]string, error) {
	names := slices.Clone(have)
	for _, value := range asked {
		t, err := c.Target(flag, value)
		switch {
		case err != nil:
			return nil, err
		case t.SameKind(r):
			return nil, fault.Usage("omit it", "--%s %s: the controller always watches its own kind", flag, value)
		case flag == "owns" && c.IsNamespaced(r) && !c.IsNamespaced(t):
			return nil, fault.Usage("use --watches "+value+", or make "+r.Kind+" cluster-scoped",
				"--owns %s: a namespaced object cannot own a cluster-scoped one, and %s is namespaced", value, r.Kind)
		}
		names = append(names, t.targetName())
	}
	names = sortedUnion(names, nil)
	kinds := map[string]string{} // generated names contain only the kind
	for _, name := range names {
		kind := strings.ToLower(name[strings.LastIndex(name, "/")+1:])
		if other, ok := kinds[kind]; ok {
			return nil, fault.Usage("use one of them", "--%s: %s and %s have the same kind name", flag, other, name)
		}
		kinds[kind] = name
	}
	return names, nil
}

// checkLabel validates a label as Kubernetes does: the key may have a DNS subdomain as
// prefix, and the value may be empty.
// https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/
func checkLabel(s string) error {
	const hint = "write key=value, as in --label target=that-database"
	key, value, found := strings.Cut(s, "=")
	if !found {
		return fault.Usage(hint, "--label %q has no value", s)
	}
	for _, wrong := range [][]string{validation.IsQualifiedName(key), validation.IsValidLabelValue(value)} {
		if len(wrong) > 0 {
			rule, _, _ := strings.Cut(wrong[0], " (e.g.")
			return fault.Usage(hint, "--label %q: %s", s, rule)
		}
	}
	return nil
}

// checkLabels rejects a second value for a key: an object cannot have both, and all
// controllers of a kind share its sample.
func (c *Config) checkLabels(r Resource, controller string, asked []string) error {
	values := map[string]string{}
	for _, label := range slices.Concat(c.AllFeatures(r).Labels, c.Features(r, controller).Labels, asked) {
		key, value, _ := strings.Cut(label, "=")
		if old, ok := values[key]; ok && old != value {
			return fault.Usage("omit it, or change the label in the code, in the sample and in "+File,
				"--label %s: controllers of %s select %s=%s", label, r.Kind, key, old)
		}
		values[key] = value
	}
	return nil
}
