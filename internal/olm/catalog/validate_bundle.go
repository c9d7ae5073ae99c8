package catalog

import (
	"slices"

	"github.com/blang/semver/v4"
	"github.com/operon-dev/operon/internal/jsonvalue"
	"github.com/operon-dev/operon/internal/olm/bundle"
	"go.podman.io/image/v5/docker/reference"
)

func (v *validator) addBundle(d Doc[Bundle]) {
	b := d.Value
	m := v.packages[b.Package]
	switch {
	case m == nil:
		report(v, d, ruleUnknownPackage, []any{"package"}, "bundle %s belongs to package %q, which the catalog lacks", b.Name, b.Package)
		return
	case b.Name == "":
		report(v, d, ruleSyntax, nil, "a bundle of package %s has no name", b.Package)
		return
	}
	if _, ok := m.bundles[b.Name]; ok {
		report(v, d, ruleDuplicateName, []any{"name"}, "package %s has another bundle %s", b.Package, b.Name)
		return
	}
	m.bundles[b.Name] = d
	v.properties(d)
	v.version(d, m)
	v.images(d)
}

// properties validates the properties of a bundle.
func (v *validator) properties(d Doc[Bundle]) {
	for i, p := range d.Value.Properties {
		if problem := p.Problem(); problem != "" {
			report(v, d, RulePropertyValue, []any{"properties", i}, "bundle %s: %s", d.Value.Name, problem)
		} else if warning := p.Warning(); warning != "" {
			report(v, d, ruleNumber, []any{"properties", i}, "bundle %s: %s", d.Value.Name, warning)
		}
	}
}

// images validates the images of a bundle.
func (v *validator) images(d Doc[Bundle]) {
	b := d.Value
	hasObjects := slices.ContainsFunc(b.Properties, func(p bundle.Property) bool { return p.Type == bundle.PropertyObject })
	if b.Image == "" && !hasObjects {
		report(v, d, ruleBundleImage, nil, "bundle %s has no image", b.Name)
	}
	if b.Image != "" && !validImage(b.Image) {
		report(v, d, ruleBundleImage, []any{"image"}, "image %q of bundle %s is not a valid reference", b.Image, b.Name)
	}
	for i, r := range b.RelatedImages {
		if r.Image != "" && !validImage(r.Image) {
			report(v, d, ruleBundleImage, []any{"relatedImages", i}, "related image %q of bundle %s is not a valid reference", r.Image, b.Name)
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
func (v *validator) version(d Doc[Bundle], m *packageContent) {
	b := d.Value
	id, count := b.packageProperty()
	if count != 1 {
		report(v, d, ruleBundlePackage, []any{"properties"}, "bundle %s has %d properties olm.package instead of one", b.Name, count)
		return
	}
	if id.name != b.Package {
		report(v, d, ruleBundlePackage, []any{"properties"}, "property olm.package of bundle %s names package %q instead of %s", b.Name, id.name, b.Package)
	}
	version, err := semver.Parse(id.version)
	if err != nil {
		report(v, d, ruleBundleVersion, []any{"properties"}, "version %q of bundle %s is not a semantic version such as 1.0.0", id.version, b.Name)
		return
	}
	key := version.String() + " " + id.release
	for _, other := range slices.Sorted(slices.Values(m.byVersion[key])) {
		report(v, d, ruleBundleVersion, []any{"properties"}, "bundles %s and %s have the same version %s", other, b.Name, id.version)
	}
	m.byVersion[key] = append(m.byVersion[key], b.Name)
	m.versions[b.Name] = version
	v.release(d, id, version)
}

// release validates the release of a bundle, which is a part of its name.
func (v *validator) release(d Doc[Bundle], id packageID, version semver.Version) {
	if id.release == "" {
		return
	}
	if _, err := semver.Parse("0.0.0-" + id.release); err != nil {
		report(v, d, ruleBundleVersion, []any{"properties"}, "release %q of bundle %s is not of the form of a pre-release such as 1.2", id.release, d.Value.Name)
		return
	}
	if len(version.Build) > 0 {
		report(v, d, ruleBundleVersion, []any{"properties"}, "bundle %s has a release, so its version %s cannot have build metadata", d.Value.Name, id.version)
	}
	if want := d.Value.Package + "-v" + id.version + "-" + id.release; d.Value.Name != want {
		report(v, d, ruleBundleVersion, []any{"name"}, "bundle %s has a release, so its name must be %s", d.Value.Name, want)
	}
}

// packageID is the value of the property olm.package.
type packageID struct{ name, version, release string }

// packageProperty returns the first property olm.package, and the number of them.
func (b Bundle) packageProperty() (id packageID, count int) {
	for _, p := range b.Properties {
		if p.Type != bundle.PropertyPackage {
			continue
		}
		if count++; count == 1 {
			id = packageID{jsonvalue.String(p.Value, "packageName"), jsonvalue.String(p.Value, "version"), jsonvalue.String(p.Value, "release")}
		}
	}
	return id, count
}
