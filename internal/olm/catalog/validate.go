package catalog

import (
	"encoding/base64"
	"slices"

	"github.com/blang/semver/v4"
	"github.com/operon-dev/operon/internal/finding"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Validate returns what OLM would refuse in the catalog, and what is probably wrong.
func (c *Catalog) Validate() []finding.Finding {
	v := validator{packages: map[string]*packageContent{}}
	for _, p := range c.Packages {
		v.addPackage(p)
	}
	for _, ch := range c.Channels {
		v.addChannel(ch)
	}
	for _, b := range c.Bundles {
		v.addBundle(b)
	}
	for _, d := range c.Deprecations {
		v.deprecations(d)
	}
	for _, p := range c.Packages {
		if m := v.packages[p.Value.Name]; m != nil && m.doc.node == p.node {
			v.validatePackage(m)
		}
	}
	return finding.Sort(v.found)
}

// validator collects findings.
type validator struct {
	packages map[string]*packageContent
	found    []finding.Finding
}

// packageContent has the parts of a package.
type packageContent struct {
	doc        Doc[Package]
	channels   []Doc[Channel]
	bundles    map[string]Doc[Bundle]
	versions   map[string]semver.Version // by the name of the bundle
	byVersion  map[string][]string       // the names of bundles by version and release
	deprecated bool
}

// report adds a finding. The path leads to its line, as in LineOf.
func report[T any](v *validator, d Doc[T], r finding.Rule, path []any, format string, args ...any) {
	v.found = append(v.found, r.At(d.File, d.lineOf(path...), 0, format, args...))
}

func (v *validator) addPackage(p Doc[Package]) {
	name := p.Value.Name
	if v.packages[name] != nil {
		report(v, p, ruleDuplicateName, []any{"name"}, "there is another package %s", name)
		return
	}
	v.packages[name] = &packageContent{
		doc: p, bundles: map[string]Doc[Bundle]{}, versions: map[string]semver.Version{}, byVersion: map[string][]string{},
	}
	if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
		report(v, p, rulePackageName, []any{"name"}, "the package name %q is not a DNS label", name)
	}
	if icon := p.Value.Icon; icon != nil {
		if _, err := base64.StdEncoding.DecodeString(icon.Data); err != nil {
			report(v, p, ruleIconData, []any{"icon"}, "the data of the icon is not base64, so opm cannot read the catalog")
		} else if icon.Data == "" || icon.MediaType == "" {
			report(v, p, ruleIconEmpty, []any{"icon"}, "the icon lacks data or a media type")
		}
	}
}

func (v *validator) addChannel(ch Doc[Channel]) {
	c := ch.Value
	if c.Name == "" {
		report(v, ch, ruleChannelName, nil, "a channel of package %s has no name", c.Package)
		return
	}
	m := v.packages[c.Package]
	if m == nil {
		report(v, ch, ruleUnknownPackage, []any{"package"}, "channel %s belongs to package %q, which the catalog lacks", c.Name, c.Package)
		return
	}
	if slices.ContainsFunc(m.channels, func(other Doc[Channel]) bool { return other.Value.Name == c.Name }) {
		report(v, ch, ruleDuplicateName, []any{"name"}, "package %s has another channel %s", c.Package, c.Name)
		return
	}
	m.channels = append(m.channels, ch)
	seen := map[string]bool{}
	for i, e := range c.Entries {
		if seen[e.Name] {
			report(v, ch, ruleDuplicateName, []any{"entries", i}, "channel %s has another entry %s", c.Name, e.Name)
		}
		seen[e.Name] = true
	}
}

// validatePackage validates what the parts of a package say about each other.
func (v *validator) validatePackage(m *packageContent) {
	p := m.doc.Value
	inChannel := map[string]bool{}
	hasDefault := false
	for _, ch := range m.channels {
		hasDefault = hasDefault || ch.Value.Name == p.DefaultChannel
		for _, e := range ch.Value.Entries {
			inChannel[e.Name] = true
		}
		v.channel(ch, m)
	}
	switch {
	case len(m.channels) == 0:
		report(v, m.doc, ruleDefaultChannel, nil, "package %s has no channel", p.Name)
	case p.DefaultChannel == "":
		report(v, m.doc, ruleDefaultChannel, nil, "package %s has no defaultChannel", p.Name)
	case !hasDefault:
		report(v, m.doc, ruleDefaultChannel, []any{"defaultChannel"}, "package %s has no channel %s, its default", p.Name, p.DefaultChannel)
	}
	for name, b := range m.bundles {
		if !inChannel[name] {
			report(v, b, ruleBundleChannel, []any{"name"}, "bundle %s is in no channel", name)
		}
	}
}
