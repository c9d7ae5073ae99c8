package bundlecmd

import (
	"cmp"
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/blang/semver/v4"
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/olm/bundle"
	"github.com/operon-dev/operon/internal/project"
	"sigs.k8s.io/yaml"
)

// release is what identifies a bundle.
type release struct {
	bundle.Metadata
	version  string // "" if nothing says it
	declared project.Bundle
	csv      []byte // the ClusterServiceVersion that exists, or nil
}

// release returns what identifies the bundle: from flags, from PROJECT, from the existing bundle,
// or by default, in this order.
func (o *generate) release(s command.Project) (release, error) {
	r := release{Metadata: bundle.Metadata{Package: s.Config.ProjectName, Channels: []string{"alpha"}}}
	var err error
	if r.declared, err = s.Config.Bundle(); err != nil {
		return r, err
	}
	if err := checkDeclared(r.declared); err != nil {
		return r, err
	}
	if err := r.readMetadata(s, path.Join(o.outputDir, bundle.AnnotationsFile)); err != nil {
		return r, err
	}
	r.Package = cmp.Or(o.pkg, r.declared.Package, r.Package)
	r.DefaultChannel = cmp.Or(o.defaultChannel, r.declared.DefaultChannel, r.DefaultChannel)
	for _, channels := range [][]string{r.declared.Channels, o.channels} {
		if len(channels) > 0 {
			r.Channels = channels
		}
	}
	if err := r.checkDefaultChannel(o.defaultChannel); err != nil {
		return r, err
	}
	if err := r.readVersion(s, path.Join(o.outputDir, bundle.ManifestsDir, bundle.CSVFile(r.Package))); err != nil {
		return r, err
	}
	r.version = cmp.Or(o.version, r.declared.Version, r.version)
	return r, nil
}

// readMetadata reads the metadata of the existing bundle.
func (r *release) readMetadata(s command.Project, file string) error {
	text, err := s.Plan.Read(file)
	if err != nil {
		return ignoreMissing(err)
	}
	values, err := bundle.ReadAnnotations(text)
	if err != nil {
		return fault.In(file, err)
	}
	r.Package = cmp.Or(values[bundle.PackageKey], r.Package)
	if channels := values[bundle.ChannelsKey]; channels != "" {
		r.Channels = strings.Split(channels, ",")
	}
	r.DefaultChannel = values[bundle.DefaultChannelKey]
	return nil
}

// readVersion reads the existing ClusterServiceVersion.
func (r *release) readVersion(s command.Project, file string) error {
	var err error
	if r.csv, err = s.Plan.Read(file); err != nil {
		return ignoreMissing(err)
	}
	var doc struct {
		Spec struct {
			Version string `json:"version"`
		} `json:"spec"`
	}
	if yaml.Unmarshal(r.csv, &doc) == nil { // a broken one is replaced
		if _, err := semver.Parse(doc.Spec.Version); err == nil {
			r.version = doc.Spec.Version
		}
	}
	return nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
