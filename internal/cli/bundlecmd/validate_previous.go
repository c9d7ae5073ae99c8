package bundlecmd

import (
	"context"
	"encoding/base64"
	"os"

	"github.com/blang/semver/v4"
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/cli/command/images"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/input"
	"github.com/operon-dev/operon/internal/jsonvalue"
	"github.com/operon-dev/operon/internal/olm/bundle"
	"github.com/operon-dev/operon/internal/olm/bundlecheck"
	"github.com/operon-dev/operon/internal/olm/catalog"
)

// findPrevious reads the bundle that is upgraded to this one. It is empty if none is
// asked for, or if the catalog has none.
func (o *validate) findPrevious(ctx context.Context, a *command.App, files map[string][]byte) (bundlecheck.Previous, error) {
	if o.previous != "" {
		previous, err := o.readPrevious(ctx, a, o.previous)
		if this := bundlecheck.NameOf(files); err == nil && this != "" && this == previous.Name {
			err = fault.Usage("name the bundle of the version that users have", "the previous bundle %s is %s, like the bundle that is validated", o.previous, this)
		}
		return previous, err
	}
	if o.catalog == "" {
		return bundlecheck.Previous{}, nil
	}
	if info, err := os.Stat(a.Path(o.catalog)); err != nil || !info.IsDir() {
		return bundlecheck.Previous{}, fault.Usage("name the folder of a catalog", "--catalog %s is not a folder", o.catalog)
	}
	c, found, err := catalog.Read(input.Folder(a.Path(o.catalog), input.Catalog))
	if err != nil {
		return bundlecheck.Previous{}, err
	}
	if len(found) > 0 {
		return bundlecheck.Previous{}, fault.Usage("run operon catalog validate "+o.catalog,
			"--catalog %s: %s: %s", o.catalog, found[0].Position(), found[0].Message)
	}
	b, err := bundle.Parse(files)
	if err != nil {
		return bundlecheck.Previous{}, nil //nolint:nilerr // the findings say what is wrong
	}
	replaces := jsonvalue.String(b.Spec(), "replaces")
	entry := predecessor(c, b, replaces)
	var previous bundlecheck.Previous
	if entry == nil {
		a.Notef("%s has no version of %s before %s", o.catalog, b.Package(), b.Version())
	} else if previous, err = o.fromCatalog(ctx, a, entry); err != nil {
		return previous, err
	}
	if replaces != "" && (entry == nil || entry.Name != replaces) {
		previous.Lacking = o.catalog
	}
	return previous, nil
}

// predecessor returns the bundle that this one replaces, or else the one with the highest version
// below, or nil.
func predecessor(c *catalog.Catalog, b *bundle.Bundle, replaces string) *catalog.Bundle {
	below, err := semver.Parse(b.Version())
	var best *catalog.Bundle
	var highest semver.Version
	for _, d := range c.Bundles {
		if d.Value.Package != b.Package() {
			continue
		}
		if d.Value.Name == replaces {
			return &d.Value
		}
		version, known := versionOf(d.Value)
		if known && err == nil && version.LT(below) && (best == nil || version.GT(highest)) {
			best, highest = &d.Value, version
		}
	}
	return best
}

func versionOf(b catalog.Bundle) (semver.Version, bool) {
	for _, p := range b.Properties {
		if p.Type == bundle.PropertyPackage {
			version, err := semver.Parse(jsonvalue.String(p.Value, "version"))
			return version, err == nil
		}
	}
	return semver.Version{}, false
}

// fromCatalog returns the bundle from its manifests in a catalog, or else from its image.
func (o *validate) fromCatalog(ctx context.Context, a *command.App, b *catalog.Bundle) (bundlecheck.Previous, error) {
	previous := bundlecheck.Previous{Name: b.Name}
	inline := false
	for _, p := range b.Properties {
		if p.Type != bundle.PropertyObject {
			continue
		}
		inline = true
		src, err := base64.StdEncoding.DecodeString(jsonvalue.String(p.Value, "data"))
		if err == nil {
			err = previous.AddObject(src)
		}
		if err != nil {
			return bundlecheck.Previous{}, fault.Usage("render the bundle again: operon catalog render", "%s: the property %s of %s is not valid: %v", o.catalog, p.Type, b.Name, err)
		}
	}
	if inline {
		return previous, nil
	}
	return o.readPrevious(ctx, a, b.Image)
}

// readPrevious reads the bundle at a place.
func (o *validate) readPrevious(ctx context.Context, a *command.App, place string) (bundlecheck.Previous, error) {
	files, err := images.BundleFiles(ctx, a, place, o.Registry)
	if err != nil {
		return bundlecheck.Previous{}, err
	}
	previous, errors := bundlecheck.ReadPrevious(files)
	if len(errors) > 0 {
		return bundlecheck.Previous{}, fault.Usage("run operon bundle validate "+place, "the previous bundle %s is invalid: %s: %s", place, errors[0].Position(), errors[0].Message)
	}
	return previous, nil
}
