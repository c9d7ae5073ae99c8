package bundlecmd

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/image"
	"github.com/operon-dev/operon/internal/olm/bundle"
	"github.com/operon-dev/operon/internal/project"
	"k8s.io/apimachinery/pkg/util/validation"
)

func (o *generate) checkVersion() error {
	if !o.cmd.Flags().Changed("version") {
		return nil
	}
	return checkVersion("--version", o.version)
}

// checkVersion validates the version that a flag or a key has.
func checkVersion(place, version string) error {
	if _, err := semver.Parse(version); err == nil {
		return nil
	}
	if number, ok := strings.CutPrefix(version, "v"); ok {
		if _, err := semver.Parse(number); err == nil {
			return fault.Usage("drop the v: "+number, "%s %q starts with a v", place, version)
		}
	}
	return fault.Usage("use three numbers without leading zeros and without a v, as in --version 0.1.0", "%s %q is not a semantic version", place, version)
}

func (o *generate) checkNames() error {
	if o.image != "" {
		if _, err := (image.Registry{}).ParseReference(o.image); err != nil {
			return fault.In("--image", err)
		}
	}
	for _, channel := range o.channels {
		if err := checkName("--channels", channel); err != nil {
			return err
		}
	}
	if o.cmd.Flags().Changed("package") {
		if err := checkPackage("--package", o.pkg); err != nil {
			return err
		}
	}
	if o.cmd.Flags().Changed("default-channel") {
		return checkName("--default-channel", o.defaultChannel)
	}
	return nil
}

// checkDefaultChannel validates a default channel that a flag or PROJECT names. That of the existing
// bundle may be another one: a bundle can be in a channel that is not the default.
func (r *release) checkDefaultChannel(flag string) error {
	place := "--default-channel"
	if flag == "" {
		place = project.File + ": defaultChannel"
	}
	channels := slices.Concat(r.Channels, r.declared.Channels)
	if cmp.Or(flag, r.declared.DefaultChannel) == "" || slices.Contains(channels, r.DefaultChannel) {
		return nil
	}
	return fault.Usage("name one of them, or add it to the channels", "%s %q is not one of the channels: %s", place, r.DefaultChannel, strings.Join(r.Channels, ", "))
}

// checkName validates the name that a flag or a key has.
func checkName(place, name string) error {
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		return fault.Usage("use lowercase letters, digits, hyphens and dots", "%s %q is not a valid name", place, name)
	}
	return nil
}

// checkPackage validates the name of a package that a flag or a key has, as catalogs do.
func checkPackage(place, name string) error {
	if len(validation.IsDNS1123Label(name)) > 0 {
		return fault.Usage("use at most 63 lowercase letters, digits and hyphens", "%s %q is not a DNS label", place, name)
	}
	return nil
}

// checkBundleName validates the name of another bundle that a key has.
func checkBundleName(key, name string) error {
	if !bundle.IsName(name) {
		return fault.Usage("use the name of a ClusterServiceVersion, such as fleet.v0.1.0", "%s %q is not the name of a bundle", key, name)
	}
	return nil
}

// checkDeclared validates what PROJECT declares.
func checkDeclared(b project.Bundle) error {
	var err error
	if b.Version != "" {
		err = checkVersion("version", b.Version)
	}
	for _, channel := range b.Channels {
		err = cmp.Or(err, checkName("channels", channel))
	}
	if b.Package != "" {
		err = cmp.Or(err, checkPackage("package", b.Package))
	}
	if b.DefaultChannel != "" {
		err = cmp.Or(err, checkName("defaultChannel", b.DefaultChannel))
	}
	if b.Replaces != "" {
		err = cmp.Or(err, checkBundleName("replaces", b.Replaces))
	}
	for _, name := range b.Skips {
		err = cmp.Or(err, checkBundleName("skips", name))
	}
	if b.SkipRange != "" && !bundle.IsRange(b.SkipRange) {
		err = cmp.Or(err, error(fault.Usage("use a range such as >=0.1.0 <0.2.0", "skipRange %q is not a range of versions", b.SkipRange)))
	}
	if b.Description != "" && !filepath.IsLocal(filepath.FromSlash(b.Description)) {
		err = cmp.Or(err, error(fault.Usage("use a path relative to the project", "description %s is not a file in the project", b.Description)))
	}
	if err != nil {
		return project.InPluginConfig(project.BundlePlugin, err)
	}
	return nil
}

func (o *generate) checkFolders() error {
	o.outputDir, o.kustomizeDir = filepath.ToSlash(filepath.Clean(o.outputDir)), filepath.ToSlash(filepath.Clean(o.kustomizeDir))
	err := cmp.Or(checkFolder("output-dir", o.outputDir), checkFolder("kustomize-dir", o.kustomizeDir))
	if err == nil && (within(o.outputDir, o.kustomizeDir) || within(o.kustomizeDir, o.outputDir)) {
		err = fault.Usage("use a folder of its own, such as bundle", "--output-dir %s overlaps the kustomization %s", o.outputDir, o.kustomizeDir)
	}
	return err
}

// within reports whether a folder is the folder parent, or below it.
func within(folder, parent string) bool {
	return folder == parent || strings.HasPrefix(folder, parent+"/")
}

func checkFolder(flag, dir string) error {
	if dir == "." || !filepath.IsLocal(dir) {
		return fault.Usage("use a path relative to the project", "--%s %s is not a folder in the project", flag, dir)
	}
	return nil
}
