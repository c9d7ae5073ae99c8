package catalog

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/blang/semver/v4"
	"github.com/operon-dev/operon/internal/fault"
	"go.yaml.in/yaml/v3"
	k8syaml "sigs.k8s.io/yaml"
)

// The schemas of templates, from which a catalog is rendered.
const (
	schemaBasic  = "olm.template.basic"
	schemaSemver = "olm.semver"
)

// Rendered is a bundle as a catalog has it, with what its package takes from the
// ClusterServiceVersion.
type Rendered struct {
	Bundle      Bundle
	Description string
	Icon        *Icon
}

// Render returns the bundle that a template refers to by image.
type Render func(image string) (Rendered, error)

// IsTemplate reports whether a document is a template.
func IsTemplate(src []byte) bool {
	schema, err := templateSchema(src)
	return err == nil && (schema == schemaBasic || schema == schemaSemver)
}

// templateSchema returns the schema of a template. Keys of templates may begin with capitals.
func templateSchema(src []byte) (string, error) {
	var header struct{ Schema string }
	err := k8syaml.Unmarshal(src, &header)
	return header.Schema, err
}

// RenderTemplate returns the documents of the catalog that a template describes.
//
// A basic template (olm.template.basic) lists the documents of a catalog in entries; a bundle in
// it has an image only. A semver template (olm.semver) lists the images of bundles in
// candidate, fast and stable, and the channels follow from their versions.
func RenderTemplate(src []byte, render Render) ([]any, error) {
	schema, err := templateSchema(src)
	if err != nil {
		return nil, fault.Usage("correct the YAML of the template", "%v", err)
	}
	switch schema {
	case schemaBasic:
		return renderBasic(src, render)
	case schemaSemver:
		return renderSemver(src, render)
	default:
		return nil, fault.Usage("use "+schemaSemver+" or "+schemaBasic, "the template has the unknown schema %q", schema)
	}
}

// renderBasic renders a basic template.
func renderBasic(src []byte, render Render) ([]any, error) {
	var t struct{ Entries []yaml.Node }
	if err := yaml.Unmarshal(src, &t); err != nil {
		return nil, fault.Usage("correct the YAML of the template", "%v", err)
	}
	var docs []any
	for i := range t.Entries {
		node := &t.Entries[i]
		if schema := child(node, "schema"); schema == nil || schema.Value != SchemaBundle {
			docs = append(docs, node)
			continue
		}
		var b Bundle
		if err := node.Decode(&b); err != nil {
			return nil, fault.Usage("correct the bundle", "line %d: %v", node.Line, err)
		}
		if b.Image == "" || b.Package != "" || len(b.Properties)+len(b.RelatedImages) > 0 {
			return nil, fault.Usage("keep schema and image only", "line %d: a bundle in a basic template has an image and nothing else", node.Line)
		}
		r, err := render(b.Image)
		if err != nil {
			return nil, err
		}
		docs = append(docs, r.Bundle)
	}
	return docs, nil
}

// semverTemplate is a template of schema olm.semver.
type semverTemplate struct {
	Schema     string
	Major      bool   `json:"generateMajorChannels"`
	Minor      bool   `json:"generateMinorChannels"` // the default if neither is set
	Preference string `json:"defaultChannelTypePreference"`
	Candidate  imageList
	Fast       imageList
	Stable     imageList
}

type imageList struct{ Bundles []struct{ Image string } }

// channelSeries is a series of channels, such as stable-v1.0 and stable-v1.1.
type channelSeries struct {
	maturity string // candidate, fast or stable
	rank     int    // of the maturity, ascending
	kind     string // major or minor
}

// version is a bundle in the order of versions.
type version struct {
	semver.Version
	bundle string
}

// check validates the options of the template and sets their defaults.
func (t *semverTemplate) check() error {
	if !t.Major && !t.Minor {
		t.Minor = true
	}
	switch {
	case t.Preference == "" && t.Minor:
		t.Preference = "minor"
	case t.Preference == "":
		t.Preference = "major"
	case t.Preference != "minor" && t.Preference != "major":
		return fault.Usage("use minor or major", "defaultChannelTypePreference %q is unknown", t.Preference)
	case t.Preference == "minor" && !t.Minor:
		return fault.Usage("add generateMinorChannels: true", "the template prefers minor channels, but does not generate them")
	case t.Preference == "major" && !t.Major:
		return fault.Usage("add generateMajorChannels: true", "the template prefers major channels, but does not generate them")
	}
	return nil
}

// renderSemver renders a semver template.
func renderSemver(src []byte, render Render) ([]any, error) {
	var t semverTemplate
	if err := k8syaml.UnmarshalStrict(src, &t); err != nil {
		return nil, fault.Usage("correct the template", "%v", err)
	}
	if err := t.check(); err != nil {
		return nil, err
	}
	bundles := map[string]Rendered{} // by image
	p := Package{Schema: SchemaPackage}
	var channels []Channel
	best := candidate{}
	for rank, list := range []struct {
		maturity string
		imageList
	}{{"candidate", t.Candidate}, {"fast", t.Fast}, {"stable", t.Stable}} {
		versions, err := list.versions(&p, bundles, render)
		if err != nil {
			return nil, err
		}
		for kind, wanted := range map[string]bool{"major": t.Major, "minor": t.Minor} {
			if !wanted {
				continue
			}
			made := channelSeries{list.maturity, rank, kind}.channels(p.Name, versions)
			for _, m := range made {
				channels = append(channels, m.channel)
				if m.rank, m.preferred = rank, kind == t.Preference; m.better(best) {
					best = m
				}
			}
		}
	}
	if len(bundles) == 0 {
		return nil, fault.Usage("list images in candidate, fast or stable", "the template has no bundles")
	}
	p.DefaultChannel = best.channel.Name
	head := best.channel.Entries[len(best.channel.Entries)-1].Name
	slices.SortFunc(channels, func(a, b Channel) int { return cmp.Compare(a.Name, b.Name) })
	docs := []any{nil}
	for _, ch := range channels {
		docs = append(docs, ch)
	}
	for _, r := range slices.SortedFunc(maps.Values(bundles), func(a, b Rendered) int { return cmp.Compare(a.Bundle.Name, b.Bundle.Name) }) {
		docs = append(docs, r.Bundle)
		if r.Bundle.Name == head {
			p.Description, p.Icon = r.Description, r.Icon
		}
	}
	docs[0] = p
	return docs, nil
}

// versions renders the bundles of a list, and returns them in ascending order.
func (l imageList) versions(p *Package, bundles map[string]Rendered, render Render) ([]version, error) {
	var versions []version
	for _, b := range l.Bundles {
		r, ok := bundles[b.Image]
		if !ok {
			var err error
			if r, err = render(b.Image); err != nil {
				return nil, err
			}
			bundles[b.Image] = r
		}
		id, _ := r.Bundle.packageProperty()
		v, err := semver.Parse(id.version)
		if err != nil {
			return nil, fault.Usage("correct the version of the bundle", "bundle %s has version %q, which is not a semantic version", r.Bundle.Name, id.version)
		}
		if p.Name == "" {
			p.Name = id.name
		}
		if id.name != p.Name {
			return nil, fault.Usage("use one template for each package", "bundle %s belongs to package %s instead of %s", r.Bundle.Name, id.name, p.Name)
		}
		for _, other := range versions {
			if other.EQ(v) { // build metadata does not count
				return nil, fault.Usage("remove one of them", "bundles %s and %s have versions that cannot be ordered", other.bundle, r.Bundle.Name)
			}
		}
		versions = append(versions, version{v, r.Bundle.Name})
	}
	slices.SortFunc(versions, func(a, b version) int { return a.Compare(b.Version) })
	return versions, nil
}

// candidate is a channel that may become the default channel.
type candidate struct {
	channel   Channel
	rank      int
	lowest    semver.Version
	preferred bool // of the preferred kind
}

// better reports whether c is the better default channel: more mature, then with higher
// versions, then of the preferred kind.
func (c candidate) better(than candidate) bool {
	switch {
	case than.channel.Name == "":
		return true
	case c.rank != than.rank:
		return c.rank > than.rank
	case c.lowest.NE(than.lowest):
		return c.lowest.GT(than.lowest)
	default:
		return c.preferred && !than.preferred
	}
}

// channels returns the channels of a series. The last patch release of each minor version
// replaces that of the previous minor version, and skips all others of its major version.
func (s channelSeries) channels(pkg string, versions []version) []candidate {
	var made []candidate
	var previous string // the last patch release of the previous minor version
	var skips []string  // all lower versions of the major version
	for i, v := range versions {
		name := fmt.Sprintf("%s-v%d", s.maturity, v.Major)
		if s.kind == "minor" {
			name += fmt.Sprintf(".%d", v.Minor)
		}
		if i > 0 && versions[i-1].Major != v.Major {
			previous, skips = "", nil
		} else if i > 0 && versions[i-1].Minor != v.Minor {
			previous = versions[i-1].bundle
		}
		if len(made) == 0 || made[len(made)-1].channel.Name != name {
			made = append(made, candidate{channel: Channel{Schema: SchemaChannel, Package: pkg, Name: name}, lowest: v.Version})
		}
		e := Entry{Name: v.bundle}
		last := i+1 == len(versions) || versions[i+1].Major != v.Major || versions[i+1].Minor != v.Minor
		if last {
			e.Replaces = previous
			e.Skips = slices.DeleteFunc(slices.Clone(skips), func(name string) bool { return name == previous })
			slices.Sort(e.Skips)
		}
		skips = append(skips, v.bundle)
		ch := &made[len(made)-1].channel
		ch.Entries = append(ch.Entries, e)
	}
	return made
}
