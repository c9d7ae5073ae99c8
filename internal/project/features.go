package project

import (
	"maps"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"k8s.io/apimachinery/pkg/util/validation"
)

// featuresKey is the key below plugins in PROJECT that tells what controllers
// have beside their own kind:
//
//	controllers.operon.dev/v1:
//	  resources:
//	  - {group: ship, domain: example.org, version: v1, kind: Frigate, name: frigate, owns: [apps/v1/StatefulSet]}
//
// It says no more than the code does, so that the code can be written again.
const featuresKey = "controllers.operon.dev/v1"

// Features is what a controller has beside its own kind. The lists are sorted.
type Features struct {
	Owns      []string // kinds whose objects it makes, as Target names them
	Watches   []string // kinds whose events make it look at objects of its own kind
	Labels    []string // what an object needs for the controller to look at it, as key=value
	Finalizer bool     // it cleans up before an object goes
}

// IsZero reports whether there is nothing.
func (p Features) IsZero() bool {
	return len(p.Owns)+len(p.Watches)+len(p.Labels) == 0 && !p.Finalizer
}

// Equal compares two.
func (p Features) Equal(o Features) bool {
	return slices.Equal(p.Owns, o.Owns) && slices.Equal(p.Watches, o.Watches) && slices.Equal(p.Labels, o.Labels) && p.Finalizer == o.Finalizer
}

// Features returns what PROJECT tells of r's controller of that name.
func (c *Config) Features(r Resource, controller string) Features {
	for _, entry := range c.featureEntries() {
		if m, ok := entry.(map[string]any); ok && sameEntry(m, featureEntry(r, controller)) {
			finalizer, _ := m["finalizer"].(bool)
			return Features{Owns: texts(m["owns"]), Watches: texts(m["watches"]), Labels: texts(m["labels"]), Finalizer: finalizer}
		}
	}
	return Features{}
}

// AllFeatures returns what PROJECT tells of all controllers of r together.
func (c *Config) AllFeatures(r Resource) Features {
	var all Features
	if known := c.Find(r.Group, r.Version, r.Kind); known != nil {
		r = *known
	}
	for _, name := range r.ControllerNames() {
		p := c.Features(r, name)
		all.Owns, all.Watches, all.Labels = sortedUnion(all.Owns, p.Owns), sortedUnion(all.Watches, p.Watches), sortedUnion(all.Labels, p.Labels)
		all.Finalizer = all.Finalizer || p.Finalizer
	}
	return all
}

// PutFeatures records it.
func (c *Config) PutFeatures(r Resource, controller string, p Features) {
	entry := featureEntry(r, controller)
	fields(entry).texts("owns", p.Owns).texts("watches", p.Watches).texts("labels", p.Labels).flag("finalizer", p.Finalizer)
	all := slices.Clone(c.featureEntries())
	if i := slices.IndexFunc(all, func(old any) bool { return sameEntry(old, entry) }); i >= 0 {
		all[i] = entry
	} else {
		all = append(all, entry)
	}
	notes := map[string]any{"resources": all}
	if old, ok := c.Plugins[featuresKey].(map[string]any); ok { // what others wrote there stays
		notes = maps.Clone(old)
		notes["resources"] = all
	}
	c.setPluginConfig(featuresKey, notes)
}

func (c *Config) featureEntries() []any {
	notes, _ := c.Plugins[featuresKey].(map[string]any)
	all, _ := notes["resources"].([]any)
	return all
}

// featureEntry is the entry of a controller, without what it has.
func featureEntry(r Resource, controller string) map[string]any {
	return fields{}.text("group", r.Group).text("domain", r.Domain).text("version", r.Version).text("kind", r.Kind).text("name", controller)
}

func texts(list any) []string {
	switch list := list.(type) {
	case []string:
		return slices.Clone(list)
	case []any:
		var all []string
		for _, item := range list {
			if s, ok := item.(string); ok {
				all = append(all, s)
			}
		}
		return all
	}
	return nil
}

// AddFeatures checks what is asked for r's controller of that name, and returns it with
// what the controller has already.
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

// targets checks the kinds that r's controller has and is to have beside its own.
func (c *Config) targets(flag string, r Resource, have, asked []string) ([]string, error) {
	names := slices.Clone(have)
	for _, value := range asked {
		t, err := c.Target(flag, value)
		switch {
		case err != nil:
			return nil, err
		case t.SameKind(r):
			return nil, fault.Usage("leave it out", "--%s %s: the controller has the events of its own kind", flag, value)
		case flag == "owns" && c.IsNamespaced(r) && !c.IsNamespaced(t):
			return nil, fault.Usage("use --watches "+value+", or make "+r.Kind+" cluster-scoped",
				"--owns %s: an object in a namespace cannot own one outside of it, and %s has namespaces", value, r.Kind)
		}
		names = append(names, t.targetName())
	}
	names = sortedUnion(names, nil)
	kinds := map[string]string{} // the code goes by the kind's name
	for _, name := range names {
		kind := strings.ToLower(name[strings.LastIndex(name, "/")+1:])
		if other, ok := kinds[kind]; ok {
			return nil, fault.Usage("use one of them", "--%s: %s and %s are kinds of the same name", flag, other, name)
		}
		kinds[kind] = name
	}
	return names, nil
}

// Target finds the kind that value names as group/version/Kind, in the project
// or in Kubernetes; a kind of the project without a group is version/Kind. flag
// is the one that has the value, for messages.
func (c *Config) Target(flag, value string) (Resource, error) {
	words := strings.Split(value, "/")
	if len(words) == 2 {
		words = slices.Insert(words, 0, "")
	}
	if len(words) != 3 || CheckVersion(words[1]) != nil || CheckKind(words[2]) != nil {
		return Resource{}, fault.Usage("write group/version/Kind, as in --"+flag+" apps/v1/StatefulSet,core/v1/Secret",
			"--%s %q does not name a kind", flag, value)
	}
	group, version, kind := words[0], words[1], words[2]
	for _, r := range c.Resources {
		if (r.Group == group || r.QualifiedGroup() == group) && r.Version == version && r.Kind == kind && (r.API != nil || r.HasExternalTypes()) {
			return r, nil
		}
	}
	if k, err := FindCore(group, version, kind); err == nil {
		if k.Stored {
			return k.Resource(), nil
		}
		return Resource{}, fault.Usage("leave it out", "--%s %s: no objects of that kind are stored, so there are no events", flag, value)
	}
	hint := "name a kind of Kubernetes " + KubernetesVersion + " or of the project"
	if near := c.nearTarget(group, version, kind); near != "" {
		hint = "did you mean --" + flag + " " + near + "?"
	}
	return Resource{}, fault.Usage(hint, "--%s %s: neither Kubernetes nor the project has that kind", flag, value)
}

// nearTarget is the name of the kind that was meant, or "": one of that name, if
// need be of another group or version, or else one with a name like it.
func (c *Config) nearTarget(group, version, kind string) string {
	names := map[string][]string{} // by kind
	for _, name := range c.TargetNames() {
		k := name[strings.LastIndex(name, "/")+1:]
		names[k] = append(names[k], name)
	}
	meant := names[fault.Nearest(kind, slices.Sorted(maps.Keys(names)))]
	if len(meant) == 0 {
		return ""
	}
	if group == "" {
		group = "core"
	}
	wanted := group + "/" + version + "/" + kind
	return slices.MinFunc(meant, func(a, b string) int { return fault.Distance(wanted, a) - fault.Distance(wanted, b) })
}

// TargetNames are the names of the kinds that Target finds.
func (c *Config) TargetNames() []string {
	var names []string
	for _, r := range c.Resources {
		if r.API != nil || r.HasExternalTypes() {
			names = append(names, r.targetName())
		}
	}
	for _, k := range CoreKinds() {
		if k.Stored {
			names = append(names, k.Resource().targetName())
		}
	}
	return sortedUnion(names, nil)
}

func (r Resource) targetName() string {
	return strings.TrimPrefix(r.Group+"/"+r.Version+"/"+r.Kind, "/")
}

// checkLabel checks a label by the rules of Kubernetes: its key may have a prefix
// that is a DNS subdomain, and its value may be empty.
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

// checkLabels refuses a value for a key that has another one: no object of a kind
// has both, and its sample is for all of its controllers.
func (c *Config) checkLabels(r Resource, controller string, asked []string) error {
	values := map[string]string{}
	for _, label := range slices.Concat(c.AllFeatures(r).Labels, c.Features(r, controller).Labels, asked) {
		key, value, _ := strings.Cut(label, "=")
		if old, ok := values[key]; ok && old != value {
			return fault.Usage("leave it out, or change the label by hand: in the code, in the sample and in "+File,
				"--label %s: controllers of %s look for %s=%s", label, r.Kind, key, old)
		}
		values[key] = value
	}
	return nil
}
