package catalog

import (
	"encoding/base64"
	"maps"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/jsonvalue"
	"go.podman.io/image/v5/docker/reference"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Validate returns what OLM would refuse in the catalog, and what is probably wrong.
func (c *Catalog) Validate() []finding.Finding {
	v := validator{packages: map[string]*members{}}
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
			v.members(m)
		}
	}
	return finding.Sort(v.found)
}

// validator collects findings.
type validator struct {
	packages map[string]*members
	found    []finding.Finding
}

// members are the parts of a package.
type members struct {
	doc        Doc[Package]
	channels   []Doc[Channel]
	bundles    map[string]Doc[Bundle]
	versions   map[string]semver.Version // by the name of the bundle
	deprecated bool
}

// report adds a finding. The path leads to its line, as in LineOf.
func report[T any](v *validator, d Doc[T], r finding.Rule, path []any, format string, args ...any) {
	v.found = append(v.found, r.At(d.File, d.LineOf(path...), 0, format, args...))
}

func (v *validator) addPackage(p Doc[Package]) {
	name := p.Value.Name
	if v.packages[name] != nil {
		report(v, p, DuplicateName, []any{"name"}, "there is another package %s", name)
		return
	}
	v.packages[name] = &members{doc: p, bundles: map[string]Doc[Bundle]{}, versions: map[string]semver.Version{}}
	if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
		report(v, p, PackageName, []any{"name"}, "the package name %q is not a DNS label", name)
	}
	if icon := p.Value.Icon; icon != nil {
		data, err := base64.StdEncoding.DecodeString(icon.Data)
		if err != nil || len(data) == 0 || icon.MediaType == "" {
			report(v, p, IconData, []any{"icon"}, "the icon lacks a media type or valid base64 data")
		}
	}
}

func (v *validator) addChannel(ch Doc[Channel]) {
	c := ch.Value
	if c.Name == "" {
		report(v, ch, ChannelName, nil, "a channel of package %s has no name", c.Package)
		return
	}
	m := v.packages[c.Package]
	if m == nil {
		report(v, ch, UnknownPackage, []any{"package"}, "channel %s belongs to package %q, which the catalog lacks", c.Name, c.Package)
		return
	}
	if slices.ContainsFunc(m.channels, func(other Doc[Channel]) bool { return other.Value.Name == c.Name }) {
		report(v, ch, DuplicateName, []any{"name"}, "package %s has another channel %s", c.Package, c.Name)
		return
	}
	m.channels = append(m.channels, ch)
	seen := map[string]bool{}
	for i, e := range c.Entries {
		if seen[e.Name] {
			report(v, ch, DuplicateName, []any{"entries", i}, "channel %s has another entry %s", c.Name, e.Name)
		}
		seen[e.Name] = true
	}
}

func (v *validator) addBundle(d Doc[Bundle]) {
	b := d.Value
	m := v.packages[b.Package]
	switch {
	case m == nil:
		report(v, d, UnknownPackage, []any{"package"}, "bundle %s belongs to package %q, which the catalog lacks", b.Name, b.Package)
		return
	case b.Name == "":
		report(v, d, Syntax, nil, "a bundle of package %s has no name", b.Package)
		return
	}
	if _, ok := m.bundles[b.Name]; ok {
		report(v, d, DuplicateName, []any{"name"}, "package %s has another bundle %s", b.Package, b.Name)
		return
	}
	m.bundles[b.Name] = d
	v.properties(d)
	v.version(d, m)
	v.images(d)
}

// images validates the images of a bundle.
func (v *validator) images(d Doc[Bundle]) {
	b := d.Value
	hasObjects := slices.ContainsFunc(b.Properties, func(p Property) bool { return p.Type == PropertyObject })
	if b.Image == "" && !hasObjects {
		report(v, d, BundleImage, nil, "bundle %s has no image", b.Name)
	}
	if b.Image != "" && !validImage(b.Image) {
		report(v, d, BundleImage, []any{"image"}, "image %q of bundle %s is not a valid reference", b.Image, b.Name)
	}
	for i, r := range b.RelatedImages {
		if r.Image != "" && !validImage(r.Image) {
			report(v, d, BundleImage, []any{"relatedImages", i}, "related image %q of bundle %s is not a valid reference", r.Image, b.Name)
		}
	}
}

// validImage uses the library that the validators of operator-framework/api link, because such a
// library compiles its regular expressions when operon starts.
func validImage(image string) bool {
	_, err := reference.ParseNormalizedNamed(image)
	return err == nil
}

// version validates the property olm.package of a bundle.
func (v *validator) version(d Doc[Bundle], m *members) {
	b := d.Value
	id, count := b.packageProperty()
	if count != 1 {
		report(v, d, BundlePackage, []any{"properties"}, "bundle %s has %d properties olm.package instead of one", b.Name, count)
		return
	}
	if id.name != b.Package {
		report(v, d, BundlePackage, []any{"properties"}, "property olm.package of bundle %s names package %q instead of %s", b.Name, id.name, b.Package)
	}
	version, err := semver.Parse(id.version)
	if err != nil {
		report(v, d, BundleVersion, []any{"properties"}, "version %q of bundle %s is not a semantic version such as 1.0.0", id.version, b.Name)
		return
	}
	for _, other := range slices.Sorted(maps.Keys(m.versions)) {
		if m.versions[other].String() == version.String() && m.release(other) == id.release {
			report(v, d, BundleVersion, []any{"properties"}, "bundles %s and %s have the same version %s", other, b.Name, id.version)
		}
	}
	m.versions[b.Name] = version
	v.release(d, id, version)
}

// release validates the release of a bundle, which is a part of its name.
func (v *validator) release(d Doc[Bundle], id packageID, version semver.Version) {
	if id.release == "" {
		return
	}
	if _, err := semver.Parse("0.0.0-" + id.release); err != nil {
		report(v, d, BundleVersion, []any{"properties"}, "release %q of bundle %s is not of the form of a pre-release such as 1.2", id.release, d.Value.Name)
		return
	}
	if len(version.Build) > 0 {
		report(v, d, BundleVersion, []any{"properties"}, "bundle %s has a release, so its version %s cannot have build metadata", d.Value.Name, id.version)
	}
	if want := d.Value.Package + "-v" + id.version + "-" + id.release; d.Value.Name != want {
		report(v, d, BundleVersion, []any{"name"}, "bundle %s has a release, so its name must be %s", d.Value.Name, want)
	}
}

// release returns the release of a bundle.
func (m *members) release(bundle string) string {
	id, _ := m.bundles[bundle].Value.packageProperty()
	return id.release
}

// packageID is the value of the property olm.package.
type packageID struct{ name, version, release string }

// packageProperty returns the first property olm.package, and the number of them.
func (b Bundle) packageProperty() (id packageID, count int) {
	for _, p := range b.Properties {
		if p.Type != PropertyPackage {
			continue
		}
		if count++; count == 1 {
			id = packageID{jsonvalue.String(p.Value, "packageName"), jsonvalue.String(p.Value, "version"), jsonvalue.String(p.Value, "release")}
		}
	}
	return id, count
}

// propertyKeys are the keys of properties that OLM interprets. All of them are strings.
var propertyKeys = map[string][]string{
	PropertyPackage:         {"packageName", "version"},
	PropertyPackageRequired: {"packageName", "versionRange"},
	PropertyGVK:             {"group", "kind", "version"},
	PropertyGVKRequired:     {"group", "kind", "version"},
	PropertyObject:          {"data"},
	PropertyCSVMetadata:     {},
	PropertyConstraint:      {},
}

// properties validates the properties of a bundle.
func (v *validator) properties(d Doc[Bundle]) {
	for i, p := range d.Value.Properties {
		path := []any{"properties", i}
		keys, known := propertyKeys[p.Type]
		value, isMap := p.Value.(map[string]any)
		switch {
		case p.Type == "":
			report(v, d, PropertyValue, path, "a property of bundle %s has no type", d.Value.Name)
		case p.Value == nil:
			report(v, d, PropertyValue, path, "property %s of bundle %s has no value", p.Type, d.Value.Name)
		case known && !isMap:
			report(v, d, PropertyValue, path, "the value of property %s of bundle %s is not an object", p.Type, d.Value.Name)
		}
		for _, key := range keys {
			if _, isString := value[key].(string); isMap && !isString {
				report(v, d, PropertyValue, path, "property %s of bundle %s needs %s, a string", p.Type, d.Value.Name, key)
			}
		}
		if data, isString := value["data"].(string); p.Type == PropertyObject && isString {
			if _, err := base64.StdEncoding.DecodeString(data); err != nil {
				report(v, d, PropertyValue, path, "data of property %s of bundle %s is not base64", p.Type, d.Value.Name)
			}
		}
		if p.Type == PropertyPackageRequired {
			if text := jsonvalue.String(value, "versionRange"); text != "" && !validRange(text) {
				report(v, d, PropertyValue, path, "versionRange %q of bundle %s is not a range of versions such as >=1.0.0 <2.0.0", text, d.Value.Name)
			}
		}
	}
}

func validRange(text string) bool {
	_, err := semver.ParseRange(text)
	return err == nil
}

// members validates what the parts of a package say about each other.
func (v *validator) members(m *members) {
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
		report(v, m.doc, DefaultChannel, nil, "package %s has no channel", p.Name)
	case p.DefaultChannel == "":
		report(v, m.doc, DefaultChannel, nil, "package %s has no defaultChannel", p.Name)
	case !hasDefault:
		report(v, m.doc, DefaultChannel, []any{"defaultChannel"}, "package %s has no channel %s, its default", p.Name, p.DefaultChannel)
	}
	for name, b := range m.bundles {
		if !inChannel[name] {
			report(v, b, BundleChannel, []any{"name"}, "bundle %s is in no channel", name)
		}
	}
}

// deprecations validates the deprecations of a package.
func (v *validator) deprecations(d Doc[Deprecations]) {
	m := v.packages[d.Value.Package]
	if m == nil {
		report(v, d, UnknownPackage, []any{"package"}, "deprecations of package %q, which the catalog lacks", d.Value.Package)
		return
	}
	if m.deprecated {
		report(v, d, DuplicateName, []any{"package"}, "package %s has other deprecations", d.Value.Package)
	}
	m.deprecated = true
	seen := map[string]bool{}
	for i, e := range d.Value.Entries {
		path := []any{"entries", i}
		schema, name := e.Reference.Schema, e.Reference.Name
		if seen[schema+" "+name] {
			report(v, d, DuplicateName, path, "%s %s is deprecated twice", strings.TrimPrefix(schema, "olm."), name)
		}
		seen[schema+" "+name] = true
		if e.Message == "" {
			report(v, d, DeprecationTarget, path, "a deprecation of package %s has no message", d.Value.Package)
		}
		if problem := m.deprecationProblem(schema, name); problem != "" {
			report(v, d, DeprecationTarget, path, "%s", problem)
		}
	}
}

// deprecationProblem returns what is wrong with the reference of a deprecation, or "".
func (m *members) deprecationProblem(schema, name string) string {
	switch schema {
	case SchemaPackage:
		if name != "" {
			return "the deprecation of a package must not have a name"
		}
	case SchemaChannel:
		if !slices.ContainsFunc(m.channels, func(ch Doc[Channel]) bool { return ch.Value.Name == name }) {
			return "the deprecated channel " + name + " does not exist"
		}
	case SchemaBundle:
		if _, ok := m.bundles[name]; !ok {
			return "the deprecated bundle " + name + " does not exist"
		}
	default:
		return "the schema of a deprecation is olm.package, olm.channel or olm.bundle"
	}
	return ""
}
