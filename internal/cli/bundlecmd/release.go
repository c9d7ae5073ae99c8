package bundlecmd

import (
	"cmp"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/lazyregexp"
	"github.com/operon-dev/operon/internal/olm/bundle"
	"github.com/operon-dev/operon/internal/olm/csv"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"
)

// release is what identifies a bundle.
type release struct {
	bundle.Metadata
	version  string // "" if nothing says it
	declared project.Bundle
	csv      []byte // the ClusterServiceVersion that exists, or nil
	unknown  bool   // no file has the metadata of the existing bundle
}

// defaultChannel is the channel of a new bundle. Its name says how mature the operator is, by OLM's convention.
const defaultChannel = "candidate"

// release returns what identifies the bundle: from flags, from PROJECT, from the existing bundle,
// or by default, in this order. The first version is that in the tag of the manager's image.
func (o *generate) release(s command.Project) (release, error) {
	r := release{Metadata: bundle.Metadata{Package: s.Config.ProjectName, Channels: []string{defaultChannel}}}
	var err error
	if r.declared, err = s.Config.Bundle(); err != nil {
		return r, err
	}
	if err := checkDeclared(r.declared); err != nil {
		return r, err
	}
	if err := r.readMetadata(s, o.outputDir); err != nil {
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
	if r.unknown && r.csv != nil && len(r.declared.Channels)+len(o.channels) == 0 {
		s.Plan.Warn(scaffold.Warning{File: path.Join(o.outputDir, bundle.AnnotationsFile), Rule: "metadata-missing", Message: "the file is missing, so the bundle is in the channel " + defaultChannel + "; use --channels for others"})
	}
	r.version = cmp.Or(o.version, r.declared.Version, r.version)
	if r.version == "" && r.csv == nil {
		r.version = taggedVersion(cmp.Or(o.image, makefileImage(s.Plan)))
	}
	return r, nil
}

// checkName returns an error if the ClusterServiceVersion has no version, or a name that OLM cannot put into labels.
func (r *release) checkName(outputDir string) error {
	switch {
	case r.version == "" && r.csv != nil:
		return fault.Usage("restore it from version control, or add --version, as in --version 0.1.0", "the ClusterServiceVersion in %s cannot be read, or has no version", outputDir)
	case r.version == "":
		return fault.Usage("add --version, as in --version 0.1.0; or with make: make bundle VERSION=0.1.0", "the bundle has no version yet")
	}
	name := csv.Name(r.Package, r.version)
	if problems := slices.Concat(validation.IsDNS1123Subdomain(name), validation.IsValidLabelValue(name)); len(problems) > 0 {
		return fault.Usage("choose a shorter --package, or a --version with lowercase letters, digits, hyphens and dots",
			"the ClusterServiceVersion cannot have the name %q: %s", name, problems[0])
	}
	return nil
}

// taggedVersion returns the version in the tag of an image, or "" if the tag has none.
func taggedVersion(image string) string {
	name := image[strings.LastIndex(image, "/")+1:]
	_, tag, _ := strings.Cut(name, ":")
	version := strings.TrimPrefix(tag, "v")
	if _, err := semver.Parse(version); err != nil {
		return ""
	}
	return version
}

// imageLine matches the default of the image in a Makefile.
var imageLine = lazyregexp.New(`(?m)^IMG *\??= *(\S+)`)

// makefileImage returns the image that the project builds by default, or "" if its Makefile does not say it.
func makefileImage(p *scaffold.Plan) string {
	src, err := p.Read("Makefile")
	if err != nil {
		return ""
	}
	if m := imageLine().FindSubmatch(src); m != nil {
		return string(m[1])
	}
	return ""
}

// readMetadata reads the metadata of the existing bundle. If somebody deleted its file, the labels in the
// Dockerfile say the same.
func (r *release) readMetadata(s command.Project, dir string) error {
	file := path.Join(dir, bundle.AnnotationsFile)
	text, err := s.Plan.Read(file)
	var values map[string]string
	switch {
	case err == nil:
		if values, err = bundle.ReadAnnotations(text); err != nil {
			return fault.In(file, err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	default:
		text, err := s.Plan.Read(bundle.Dockerfile(dir))
		if err != nil {
			r.unknown = errors.Is(err, fs.ErrNotExist)
			return ignoreMissing(err)
		}
		values = bundle.Labels(text)
		r.Extra = bundle.Custom(values)
		s.Plan.Warn(scaffold.Warning{File: file, Rule: "metadata-missing", Message: "the file is missing, so package, channels and further lines come from the labels in " + bundle.Dockerfile(dir)})
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
