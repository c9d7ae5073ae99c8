package bundlecmd

import (
	"cmp"
	"path/filepath"

	"github.com/blang/semver/v4"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
	"k8s.io/apimachinery/pkg/util/validation"
)

func (o *generate) checkVersion() error {
	if o.version == "" {
		return nil
	}
	return checkVersion("--version", o.version)
}

// checkVersion validates the version that a flag or a key has.
func checkVersion(place, version string) error {
	if _, err := semver.Parse(version); err != nil {
		return fault.Usage("use three numbers without a v, as in --version 0.1.0", "%s %q is not a semantic version: %v", place, version, err)
	}
	return nil
}

func (o *generate) checkNames() error {
	if o.image != "" {
		if _, err := name.ParseReference(o.image); err != nil {
			return fault.Usage("use a name with a tag or digest, as in registry.example.org/fleet:v0.1.0", "--image %q is not the name of an image: %v", o.image, err)
		}
	}
	for _, channel := range o.channels {
		if err := checkName("--channels", channel); err != nil {
			return err
		}
	}
	for flag, value := range map[string]string{"package": o.pkg, "default-channel": o.defaultChannel} {
		if o.cmd.Flags().Changed(flag) {
			if err := checkName("--"+flag, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkName validates the name that a flag or a key has.
func checkName(place, name string) error {
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		return fault.Usage("use lowercase letters, digits, hyphens and dots", "%s %q is not a valid name", place, name)
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
		err = cmp.Or(err, checkName("package", b.Package))
	}
	if b.DefaultChannel != "" {
		err = cmp.Or(err, checkName("defaultChannel", b.DefaultChannel))
	}
	if b.SkipRange != "" {
		if _, bad := semver.ParseRange(b.SkipRange); bad != nil {
			err = cmp.Or(err, error(fault.Usage("use a range such as >=0.1.0 <0.2.0", "skipRange %q is not a range of versions", b.SkipRange)))
		}
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
	return cmp.Or(checkFolder("output-dir", o.outputDir), checkFolder("kustomize-dir", o.kustomizeDir))
}

func checkFolder(flag, dir string) error {
	if dir == "." || !filepath.IsLocal(dir) {
		return fault.Usage("use a path relative to the project", "--%s %s is not a folder in the project", flag, dir)
	}
	return nil
}
